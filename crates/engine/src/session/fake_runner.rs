//! A runner for tests of the owner of a session: its runs do what a test says.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use protocol::{
    ApprovalId, FinishReason, FrameEnd, InteractionKind, MessageId, Part, Role, RunEnd, Seq, SessionEvent,
    ToolCall, ToolCallId, UiMessage,
};
use serde_json::json;
use store::{RunRecord, RunStatus, SessionRecord};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    chat_surface::ChatSurface,
    live_run::{EndedRun, LiveRun},
    log_end::{LogEnd, append_without_run},
    registry::SessionHandle,
    rules::SessionRules,
    runner::{AnsweredApproval, Ending, FailedStart, NewRun, Resume, Runner, StartedRun},
};
use crate::{
    EngineError,
    log::writer::LogWriter,
    mailbox::{activity::Activity, answer::ANSWERS, directory::AgentDirectory},
    services::Services,
    session_name::SessionName,
};

/// Starts runs that do what a test says, and reports every call.
pub(super) struct FakeRunner {
    services: Arc<Services>,
    calls: mpsc::UnboundedSender<Call>,
    counts: Arc<Counts>,
}

#[derive(Default)]
pub(super) struct Counts {
    active: AtomicUsize,
    /// How many runs were active at the same time at most.
    pub(super) most_active: AtomicUsize,
    /// How many titles were asked for.
    pub(super) titles: AtomicUsize,
}

/// A call of the runner.
pub(super) enum Call {
    Started(FakeRun),
    Resumed(FakeRun, Resume),
    Ended(Ending),
}

/// A run as the test sees it. It is held until the test gives it an order that ends it.
pub(super) struct FakeRun {
    pub(super) record: RunRecord,
    pub(super) cancel: CancellationToken,
    orders: mpsc::UnboundedSender<Order>,
}

pub(super) enum Order {
    /// Ask for an approval and go on.
    Ask(ApprovalId, oneshot::Sender<()>),
    Park,
    /// End: cancelled if the owner asked for it, else finished.
    End,
    Panic,
}

impl FakeRun {
    pub(super) fn answers(&self) -> &str {
        self.record.answers.id.as_str()
    }

    pub(super) async fn ask(&self, approval: &str) {
        let (asked, was_asked) = oneshot::channel();
        assert!(self.orders.send(Order::Ask(ApprovalId::new(approval), asked)).is_ok());
        was_asked.await.unwrap();
    }

    pub(super) fn order(&self, order: Order) {
        assert!(self.orders.send(order).is_ok());
    }

    pub(super) fn end(&self) {
        self.order(Order::End);
    }
}

impl FakeRunner {
    pub(super) fn new(
        services: Arc<Services>,
        counts: Arc<Counts>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Call>) {
        let (calls, reported) = mpsc::unbounded_channel();
        (Arc::new(Self { services, calls, counts }), reported)
    }

    fn begin(
        &self,
        record: RunRecord,
        mut writer: LogWriter,
        began: Seq,
        may_need_title: bool,
    ) -> (LiveRun, FakeRun) {
        let over = writer.run_over();
        let cancel = self.services.tasks.runs.child_token();
        let (answers, unread) = mpsc::channel(ANSWERS);
        let (orders, mut received) = mpsc::unbounded_channel();
        let activity = Arc::new(Activity::default());
        let agents = Arc::new(AgentDirectory::new(record.message.clone(), Arc::clone(&activity)));
        let counts = Arc::clone(&self.counts);
        let active = counts.active.fetch_add(1, Ordering::SeqCst) + 1;
        counts.most_active.fetch_max(active, Ordering::SeqCst);
        let (log, run, cancelled) = (Arc::clone(writer.log()), record.clone(), cancel.clone());
        let task = self.services.tasks.tracker.spawn(async move {
            let _at_work = activity.begin();
            loop {
                let events = match received.recv().await {
                    Some(Order::Ask(approval, asked)) => {
                        writer.append(vec![question(&run, approval)], Vec::new()).await.unwrap();
                        asked.send(()).unwrap();
                        continue;
                    }
                    Some(Order::Park) => {
                        vec![SessionEvent::RunParked { run: run.id.clone(), message: run.message.clone() }]
                    }
                    Some(Order::Panic) => panic!("as the test wants it"),
                    Some(Order::End) if cancelled.is_cancelled() => end_of(&run, RunEnd::Cancelled),
                    Some(Order::End) | None => end_of(&run, RunEnd::Finished),
                };
                writer.append(events, vec![message(Role::Assistant, &run.message, "done")]).await.unwrap();
                counts.active.fetch_sub(1, Ordering::SeqCst);
                return EndedRun { writer, answers: unread };
            }
        });
        let fake = FakeRun { record: record.clone(), cancel: cancel.clone(), orders };
        let rules = Arc::new(SessionRules::empty(&self.services.tools.rules));
        let surface = ChatSurface::of(&self.services);
        let live = LiveRun {
            record,
            log,
            began,
            rejected: Arc::default(),
            over,
            surface,
            cancel,
            answers,
            agents,
            rules,
            may_need_title,
            task,
        };
        (live, fake)
    }

    fn report(&self, call: Call) {
        assert!(self.calls.send(call).is_ok());
    }
}

#[async_trait]
impl Runner for FakeRunner {
    async fn start(&self, _: &SessionName, new: NewRun) -> Result<StartedRun, EngineError> {
        let NewRun { end, mut events, answers, options, .. } = new;
        let log = end.open(&self.services);
        let began = log.last();
        let record = RunRecord {
            id: self.services.ids.run(),
            message: self.services.ids.message(),
            answers,
            status: RunStatus::Running,
            first_seq: log.last() + events.len() as Seq + 1,
            last_resume: 0,
            options,
        };
        let (run, message) = (record.id.clone(), record.message.clone());
        let (answers, options) = (record.answers.clone(), Box::new(record.options.clone()));
        events.push(SessionEvent::RunStarted { run, answers, message: message.clone(), options });
        events.push(SessionEvent::FrameOpened { message, metadata: Box::default(), parent: None });
        let mut writer = LogWriter::new(log, Arc::clone(&self.services.tasks.flusher));
        writer.append(events, Vec::new()).await?;
        let (live, fake) = self.begin(record, writer, began, end.is_young);
        self.report(Call::Started(fake));
        let viewer = live.watch();
        Ok(StartedRun { live, viewer })
    }

    async fn resume(
        &self,
        _: &SessionName,
        record: &SessionRecord,
        run: RunRecord,
        how: Resume,
    ) -> Result<Option<StartedRun>, EngineError> {
        let mut events = Vec::new();
        if let Resume::Answer { decisions, .. } = &how {
            events.extend(decisions.iter().map(|answered| answer_event(&run, answered)));
        }
        events.push(SessionEvent::RunResumed { run: run.id.clone(), message: run.message.clone() });
        let log = LogEnd::from(record).open(&self.services);
        let began = log.last();
        let mut writer = LogWriter::new(log, Arc::clone(&self.services.tasks.flusher));
        let last_resume = writer.append(events, Vec::new()).await?;
        let run = RunRecord { last_resume, status: RunStatus::Running, ..run };
        let (live, fake) = self.begin(run, writer, began, false);
        self.report(Call::Resumed(fake, how));
        let viewer = live.watch_continuation();
        Ok(Some(StartedRun { live, viewer }))
    }

    async fn end(&self, record: &SessionRecord, run: &RunRecord, ending: Ending) -> Result<(), EngineError> {
        let end = match ending {
            Ending::Withdrawn | Ending::Rejected(_) => RunEnd::Withdrawn,
            Ending::StoppedWhileParked | Ending::Stopped => RunEnd::Cancelled,
            Ending::Crashed(_) => RunEnd::Failed,
        };
        let closed = vec![message(Role::Assistant, &run.message, "ended")];
        append_without_run(&self.services, record, end_of(run, end), closed).await?;
        self.report(Call::Ended(ending));
        Ok(())
    }

    async fn fail_to_start(&self, _: &SessionRecord, _: FailedStart) -> Result<(), EngineError> {
        panic!("no test makes a queued message fail");
    }

    fn write_title(&self, _: SessionHandle) {
        self.counts.titles.fetch_add(1, Ordering::SeqCst);
    }
}

fn question(run: &RunRecord, approval: ApprovalId) -> SessionEvent {
    let call = ToolCall { id: ToolCallId::new("call"), name: "tool".to_owned(), input: json!({}) };
    SessionEvent::ApprovalAsked {
        message: run.message.clone(),
        approval,
        call,
        question: None,
        kind: InteractionKind::Approval,
        raised: false,
    }
}

fn answer_event(run: &RunRecord, answered: &AnsweredApproval) -> SessionEvent {
    SessionEvent::ApprovalAnswered {
        message: run.message.clone(),
        approval: answered.approval.clone(),
        approved: answered.decision.approved,
        reason: answered.decision.reason.clone(),
        withdrawn: false,
        kind: InteractionKind::Approval,
        answers: None,
        by: Some(answered.decision.by),
        raised: false,
    }
}

fn end_of(run: &RunRecord, end: RunEnd) -> Vec<SessionEvent> {
    let message = run.message.clone();
    let closed = match end {
        RunEnd::Cancelled => FrameEnd::Cancelled,
        _ => FrameEnd::Finished { reason: FinishReason::Stop },
    };
    vec![
        SessionEvent::FrameClosed { message: message.clone(), end: closed, metadata: Box::default() },
        SessionEvent::RunEnded { run: run.id.clone(), message, end },
    ]
}

pub(super) fn message(role: Role, id: &MessageId, text: &str) -> UiMessage {
    let text = Part::Text { text: text.to_owned(), state: None };
    UiMessage { id: id.clone(), role, metadata: None, parts: vec![text] }
}
