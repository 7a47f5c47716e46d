//! The owner of a session over a runner that a test controls: which runs begin, when, and what each client is answered.

use std::sync::atomic::Ordering;

use futures::poll;
use protocol::{Role, RunOptions, SessionId, WhenBusy, WorkspaceId, planted::Unread};
use store::{Queue as _, Sessions};
use tokio::sync::oneshot;

use super::*;
use crate::{
    services::for_tests::TemporaryStore,
    session::{
        fake_runner::{Call, Counts, FakeRun, FakeRunner, Order, message},
        request::{SendKind, Submit},
        runner::{Ending, Resume},
        viewer::ViewError,
    },
};

/// One session, over a fake runner.
struct Chat {
    stored: TemporaryStore,
    services: Arc<Services>,
    sessions: Arc<SessionRegistry>,
    calls: mpsc::UnboundedReceiver<Call>,
    counts: Arc<Counts>,
}

type Replied<T> = oneshot::Receiver<Result<T, EngineError>>;

impl Chat {
    fn new() -> Self {
        let stored = TemporaryStore::new();
        let services = stored.services();
        let counts = Arc::<Counts>::default();
        let (runner, calls) = FakeRunner::new(Arc::clone(&services), Arc::clone(&counts));
        let sessions = SessionRegistry::new(Arc::clone(&services), runner);
        Self { stored, services, sessions, calls, counts }
    }

    /// A session whose first message, `m1`, is being answered.
    async fn answering() -> (Self, FakeRun) {
        let mut chat = Self::new();
        chat.send("m1", WhenBusy::Reject).await.unwrap().unwrap();
        let run = chat.started("m1").await;
        (chat, run)
    }

    /// A session whose first answer waits for the approval `apr_1`.
    async fn parked() -> (Self, FakeRun) {
        let (chat, run) = Self::answering().await;
        run.ask("apr_1").await;
        run.order(Order::Park);
        chat.idle().await;
        (chat, run)
    }

    fn name() -> SessionName {
        SessionName::new(WorkspaceId::new("w"), SessionId::new("chat"))
    }

    fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Replied<T> {
        let (reply, replied) = oneshot::channel();
        self.sessions.send(Self::name(), command(reply)).unwrap();
        replied
    }

    fn send_text(&self, id: &str, text: &str, when_busy: WhenBusy) -> Replied<Following> {
        let message = message(Role::User, &MessageId::new(id), text);
        let submit = Submit { message, edits: None, after: None, earlier: Unread::default() };
        let SessionName { workspace, session } = Self::name();
        let options = RunOptions { when_busy: Some(when_busy), ..RunOptions::default() };
        let request = SendRequest { workspace, session, kind: SendKind::Submit(submit), options };
        self.ask(|reply| Command::Send { request: Box::new(request), reply })
    }

    fn send(&self, id: &str, when_busy: WhenBusy) -> Replied<Following> {
        self.send_text(id, "hello", when_busy)
    }

    async fn queue(&self, id: &str) -> Following {
        let following = self.send(id, WhenBusy::Queue).await.unwrap().unwrap();
        assert!(matches!(following, Following::Queued(_)));
        following
    }

    fn stop(&self, at: Option<&str>) -> Replied<Stopped> {
        let at = at.map(MessageId::new);
        self.ask(|reply| Command::Stop { at, reply })
    }

    fn answer(&self, approval: &str, decision: Decision) -> Replied<()> {
        let approval = ApprovalId::new(approval);
        self.ask(|reply| Command::Answer { approval, decision, reply })
    }

    /// The run that begins next; it answers this message.
    async fn started(&mut self, answers: &str) -> FakeRun {
        let Some(Call::Started(run)) = self.calls.recv().await else { panic!("another call came first") };
        assert_eq!(run.answers(), answers);
        run
    }

    async fn resumed(&mut self) -> (FakeRun, Resume) {
        let Some(Call::Resumed(run, how)) = self.calls.recv().await else {
            panic!("another call came first")
        };
        (run, how)
    }

    /// Whether the runner was called since the test last looked.
    fn was_called(&mut self) -> bool {
        self.calls.try_recv().is_ok()
    }

    /// Waits until the actor has carried out what it was sent.
    async fn settle(&self) {
        self.ask(|reply| Command::Watch { after: None, reply }).await.unwrap().unwrap();
    }

    /// Waits until the run and the actor have ended.
    async fn idle(&self) {
        let tracker = &self.services.tasks.tracker;
        tracker.close();
        tracker.wait().await;
        tracker.reopen();
        assert_eq!(self.live(), 0);
    }

    /// How many actors there are.
    fn live(&self) -> usize {
        self.sessions.load(&Self::name().workspace).0
    }

    async fn record(&self) -> Option<SessionRecord> {
        let SessionName { workspace, session } = Self::name();
        self.stored.store.session(&workspace, &session).await.unwrap()
    }

    async fn status(&self) -> RunStatus {
        self.record().await.unwrap().last_run.unwrap().status
    }

    async fn queued(&self) -> Vec<String> {
        let key = self.record().await.unwrap().key;
        let queued = self.stored.store.queued(key).await.unwrap();
        queued.iter().map(|queued| queued.id().to_string()).collect()
    }
}

/// Reads to the end; returns the last chunk.
async fn read(following: &mut Following) -> String {
    let mut all = Vec::new();
    while let Some(bytes) = following.next().await {
        all.extend(bytes.unwrap());
    }
    let text = String::from_utf8(all).unwrap();
    text.trim_end().rsplit("data: ").next().unwrap().to_owned()
}

/// Why a queued message never began.
async fn refusal(following: &mut Following) -> EngineError {
    match following.next().await {
        Some(Err(ViewError::NotBegun(error))) => *error,
        _ => panic!("the message began"),
    }
}

#[tokio::test]
async fn a_message_starts_a_run_and_the_actor_leaves_when_it_has_ended() {
    let mut chat = Chat::new();
    let mut following = chat.send("m1", WhenBusy::Reject).await.unwrap().unwrap();
    let run = chat.started("m1").await;
    assert_eq!((chat.live(), chat.status().await), (1, RunStatus::Running));
    run.end();
    assert_eq!(read(&mut following).await, r#"{"type":"finish","finishReason":"stop"}"#);
    chat.idle().await;
    assert_eq!(chat.status().await, RunStatus::Ended(RunEnd::Finished));
    chat.send("m2", WhenBusy::Reject).await.unwrap().unwrap();
    chat.started("m2").await.end();
    chat.idle().await;
}

#[tokio::test]
async fn a_title_is_asked_for_when_the_first_run_has_ended() {
    let (chat, run) = Chat::answering().await;
    assert_eq!(chat.counts.titles.load(Ordering::SeqCst), 0);
    run.end();
    chat.idle().await;
    assert_eq!(chat.counts.titles.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_message_is_rejected_while_a_run_is_active() {
    let (mut chat, run) = Chat::answering().await;
    let rejected = chat.send("m2", WhenBusy::Reject).await.unwrap();
    assert!(matches!(rejected, Err(EngineError::Busy)));
    assert!(!chat.was_called() && !run.cancel.is_cancelled());
    run.end();
    chat.idle().await;
    assert!(!chat.was_called());
}

#[tokio::test]
async fn queued_messages_begin_in_order_one_when_the_other_has_ended() {
    let (mut chat, first) = Chat::answering().await;
    let (mut second, mut third) = (chat.queue("m2").await, chat.queue("m3").await);
    assert_eq!(chat.queued().await, ["m2", "m3"]);
    assert!(!chat.was_called());
    first.end();
    let run = chat.started("m2").await;
    chat.settle().await;
    assert!(!chat.was_called(), "one run at a time");
    assert_eq!(chat.queued().await, ["m3"]);
    run.end();
    assert_eq!(read(&mut second).await, r#"{"type":"finish","finishReason":"stop"}"#);
    let run = chat.started("m3").await;
    run.end();
    read(&mut third).await;
    chat.idle().await;
    assert_eq!(chat.record().await.unwrap().queued, 0);
    assert_eq!(chat.counts.most_active.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_full_queue_refuses_the_next_message() {
    let (mut chat, run) = Chat::answering().await;
    for number in 0..MAX_QUEUED {
        chat.queue(&format!("q{number}")).await;
    }
    let refused = chat.send("one-more", WhenBusy::Queue).await.unwrap();
    assert!(matches!(refused, Err(EngineError::QueueFull(MAX_QUEUED))));
    let stopped = chat.stop(None);
    run.cancel.cancelled().await;
    run.end();
    assert_eq!(stopped.await.unwrap().unwrap(), Stopped::Cancelled);
    chat.idle().await;
    assert!(!chat.was_called());
}

#[tokio::test]
async fn an_interrupting_message_cancels_the_run_and_begins_before_queued_ones() {
    let (mut chat, first) = Chat::answering().await;
    let _queued = chat.queue("m2").await;
    let mut interrupts = chat.send("m3", WhenBusy::Interrupt);
    first.cancel.cancelled().await;
    assert!(poll!(&mut interrupts).is_pending() && !chat.was_called(), "the first run has not ended");
    first.end();
    let run = chat.started("m3").await;
    assert!(matches!(interrupts.await.unwrap(), Ok(Following::Run(_))));
    assert!(!run.cancel.is_cancelled());
    run.end();
    chat.started("m2").await.end();
    chat.idle().await;
    assert_eq!(chat.counts.most_active.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_same_message_again_joins_its_run_while_it_is_active_and_afterwards() {
    let (mut chat, run) = Chat::answering().await;
    let mut joined = chat.send("m1", WhenBusy::Reject).await.unwrap().unwrap();
    let other = chat.send_text("m1", "something else", WhenBusy::Queue).await.unwrap();
    assert!(matches!(other, Err(EngineError::IdConflict)));
    run.end();
    let end = read(&mut joined).await;
    chat.idle().await;
    let mut replayed = chat.send("m1", WhenBusy::Reject).await.unwrap().unwrap();
    assert_eq!(read(&mut replayed).await, end);
    chat.idle().await;
    assert!(!chat.was_called(), "it was answered once");
}

#[tokio::test]
async fn a_queued_message_that_is_sent_again_is_queued_once_and_both_clients_follow_it() {
    let (mut chat, run) = Chat::answering().await;
    let (mut one, mut two) = (chat.queue("m2").await, chat.queue("m2").await);
    assert_eq!(chat.queued().await, ["m2"]);
    let other = chat.send_text("m2", "something else", WhenBusy::Queue).await.unwrap();
    assert!(matches!(other, Err(EngineError::IdConflict)));
    run.end();
    chat.started("m2").await.end();
    assert_eq!(read(&mut one).await, read(&mut two).await);
    chat.idle().await;
    assert!(!chat.was_called());
}

#[tokio::test]
async fn a_stop_withdraws_queued_messages_and_is_answered_when_the_run_has_ended() {
    let (mut chat, run) = Chat::answering().await;
    let mut queued = chat.queue("m2").await;
    let mut stopped = chat.stop(None);
    run.cancel.cancelled().await;
    assert!(matches!(refusal(&mut queued).await, EngineError::QueueWithdrawn));
    chat.settle().await;
    assert!(poll!(&mut stopped).is_pending(), "the run has not ended");
    run.end();
    assert_eq!(stopped.await.unwrap().unwrap(), Stopped::Cancelled);
    chat.idle().await;
    assert_eq!(chat.status().await, RunStatus::Ended(RunEnd::Cancelled));
    assert!(!chat.was_called() && chat.queued().await.is_empty());
}

#[tokio::test]
async fn a_stop_that_names_a_queued_message_withdraws_only_that_one() {
    let (mut chat, run) = Chat::answering().await;
    let (mut second, _third) = (chat.queue("m2").await, chat.queue("m3").await);
    assert_eq!(chat.stop(Some("m2")).await.unwrap().unwrap(), Stopped::Withdrawn);
    assert!(matches!(refusal(&mut second).await, EngineError::QueueWithdrawn));
    assert_eq!(chat.stop(Some("unknown")).await.unwrap().unwrap(), Stopped::Idle);
    assert!(!run.cancel.is_cancelled());
    run.end();
    chat.started("m3").await.end();
    chat.idle().await;
}

#[tokio::test]
async fn a_stop_without_a_run_finds_nothing() {
    let (chat, run) = Chat::answering().await;
    run.end();
    chat.idle().await;
    assert_eq!(chat.stop(None).await.unwrap().unwrap(), Stopped::Idle);
    let unknown = Chat::new();
    assert!(matches!(unknown.stop(None).await.unwrap(), Err(EngineError::SessionNotFound)));
    unknown.idle().await;
}

#[tokio::test]
async fn a_stop_ends_a_parked_run() {
    let (mut chat, _run) = Chat::parked().await;
    assert_eq!(chat.status().await, RunStatus::Parked);
    assert_eq!(chat.stop(None).await.unwrap().unwrap(), Stopped::Cancelled);
    assert!(matches!(chat.calls.recv().await, Some(Call::Ended(Ending::StoppedWhileParked))));
    assert_eq!(chat.status().await, RunStatus::Ended(RunEnd::Cancelled));
}

#[tokio::test]
async fn a_delete_ends_the_run_and_the_queue_and_removes_the_session() {
    let (mut chat, run) = Chat::answering().await;
    let mut queued = chat.queue("m2").await;
    let mut deleted = chat.ask(|reply| Command::Delete { followers: Vec::new(), reply });
    run.cancel.cancelled().await;
    assert!(poll!(&mut deleted).is_pending(), "the run has not ended");
    assert!(chat.record().await.is_some());
    run.end();
    deleted.await.unwrap().unwrap();
    assert!(matches!(refusal(&mut queued).await, EngineError::SessionNotFound));
    chat.idle().await;
    assert!(chat.record().await.is_none() && !chat.was_called());
    let again = chat.ask(|reply| Command::Delete { followers: Vec::new(), reply });
    assert!(matches!(again.await.unwrap(), Err(EngineError::SessionNotFound)));
}

#[tokio::test]
async fn an_answer_resumes_a_parked_run_with_that_decision() {
    let (mut chat, parked) = Chat::parked().await;
    let unknown = chat.answer("apr_2", Decision::new(true, None)).await.unwrap();
    assert!(matches!(unknown, Err(EngineError::ApprovalNotFound)) && !chat.was_called());
    let decision = Decision::new(false, Some("too dangerous".to_owned()));
    chat.answer("apr_1", decision.clone()).await.unwrap().unwrap();
    let (run, how) = chat.resumed().await;
    assert_eq!(run.record.message, parked.record.message);
    let Resume::Answer { decisions, outputs } = how else { panic!("it was resumed for another reason") };
    assert!(outputs.is_empty());
    assert_eq!((decisions.len(), &decisions[0].decision), (1, &decision));
    assert_eq!(decisions[0].approval, ApprovalId::new("apr_1"));
    chat.answer("apr_1", decision).await.unwrap().unwrap();
    let other = chat.answer("apr_1", Decision::new(true, None)).await.unwrap();
    assert!(matches!(other, Err(EngineError::ApprovalSettled)), "a question is answered once");
    run.end();
    chat.idle().await;
    assert!(!chat.was_called());
    assert_eq!(chat.status().await, RunStatus::Ended(RunEnd::Finished));
}

#[tokio::test]
async fn an_answer_that_the_run_did_not_read_resumes_it_after_it_has_parked() {
    let (mut chat, run) = Chat::answering().await;
    run.ask("apr_1").await;
    let mut answered = chat.answer("apr_1", Decision::new(true, None));
    chat.settle().await;
    assert!(poll!(&mut answered).is_pending() && !chat.was_called());
    run.order(Order::Park);
    answered.await.unwrap().unwrap();
    let (run, how) = chat.resumed().await;
    assert!(matches!(how, Resume::Answer { .. }));
    run.end();
    chat.idle().await;
}

#[tokio::test]
async fn a_new_message_withdraws_the_question_of_a_parked_run() {
    let (mut chat, _run) = Chat::parked().await;
    chat.send("m2", WhenBusy::Reject).await.unwrap().unwrap();
    assert!(matches!(chat.calls.recv().await, Some(Call::Ended(Ending::Withdrawn))));
    chat.started("m2").await.end();
    chat.idle().await;
}

#[tokio::test]
async fn a_run_whose_task_breaks_off_cuts_its_readers_and_the_next_reader_resumes_it() {
    let mut chat = Chat::new();
    let mut following = chat.send("m1", WhenBusy::Reject).await.unwrap().unwrap();
    chat.started("m1").await.order(Order::Panic);
    let broken = loop {
        match following.next().await {
            Some(Ok(_)) => {}
            other => break other,
        }
    };
    assert!(matches!(broken, Some(Err(ViewError::BrokenOff))));
    chat.idle().await;
    assert_eq!(chat.status().await, RunStatus::Running, "nothing says that it ended");
    let viewer = chat.ask(|reply| Command::Watch { after: None, reply }).await.unwrap().unwrap();
    let (run, how) = chat.resumed().await;
    assert!(matches!(how, Resume::Recover(_)));
    run.end();
    read(&mut viewer.unwrap().into()).await;
    chat.idle().await;
    assert_eq!(chat.status().await, RunStatus::Ended(RunEnd::Finished));
}

#[tokio::test]
async fn after_shutdown_commands_are_refused_and_queued_messages_stay_queued() {
    let (mut chat, run) = Chat::answering().await;
    let mut queued = chat.queue("m2").await;
    chat.services.tasks.shutdown.cancel();
    let (reply, _replied) = oneshot::channel();
    let refused = chat.sessions.send(Chat::name(), Command::Stop { at: None, reply });
    assert!(matches!(refused, Err(EngineError::ShuttingDown)));
    assert!(!run.cancel.is_cancelled());
    run.end();
    assert!(matches!(refusal(&mut queued).await, EngineError::ShuttingDown));
    chat.idle().await;
    assert!(!chat.was_called());
    assert_eq!(chat.queued().await, ["m2"]);
}

#[tokio::test]
async fn an_actor_without_work_leaves_at_once() {
    let chat = Chat::new();
    assert!(chat.ask(|reply| Command::Watch { after: None, reply }).await.unwrap().unwrap().is_none());
    chat.idle().await;
}
