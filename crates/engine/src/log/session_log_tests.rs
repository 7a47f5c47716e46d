//! The promises of the log: stored before visible, numbers used once, and what readers receive from memory.

use std::pin::pin;

use futures::poll;
use protocol::{
    FinishReason, FrameEnd, MessageId, MessageRef, Part, Role, RunEnd, RunId, SegmentKind, SessionId,
    ToolCallId, ToolOutcome, WorkspaceId,
    project::chat::{Reading, View},
    wire::chat::Profile,
};
use serde_json::Value;
use store::{Log, SessionRecord, Sessions};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    SystemClock,
    log::writer::LogWriter,
    services::for_tests::TemporaryStore,
    session::{
        chat_surface::{ChatSurface, Found, MERGE_ABOVE},
        viewer::{ViewError, Viewer},
    },
};

const SURFACE: ChatSurface = ChatSurface { profile: Profile::Common };
const READING: Reading = Reading { view: View::WholeMessage, last_resume: 0, edge: 0 };

/// A session whose run has just begun: events 1 to 3 are stored.
struct Chat {
    stored: Arc<TemporaryStore>,
    flusher: Arc<Flusher>,
    log: Arc<SessionLog>,
}

impl Chat {
    async fn begun() -> Self {
        let stored = Arc::new(TemporaryStore::new());
        let target = SessionTarget::New { workspace: workspace(), id: SessionId::new("chat") };
        let log = open(&stored, target, 0);
        let chat = Self { stored, flusher: Arc::default(), log };
        assert_eq!(chat.append(beginning()).await.unwrap(), 3);
        chat
    }

    fn writer(&self) -> LogWriter {
        LogWriter::new(Arc::clone(&self.log), Arc::clone(&self.flusher))
    }

    async fn append(&self, events: Vec<SessionEvent>) -> Result<Seq, StoreError> {
        self.writer().append(events, vec![message(answer())]).await
    }

    fn visible(&self) -> Seq {
        self.log.visible.borrow().seq
    }

    async fn is_stored(&self, seq: Seq) -> bool {
        self.stored.store.is_stored(self.log.key().unwrap(), seq).await.unwrap()
    }

    async fn record(&self) -> SessionRecord {
        self.stored.store.session(&workspace(), &SessionId::new("chat")).await.unwrap().unwrap()
    }

    /// The log as the next run, or the next process, opens it.
    async fn opened_again(&self) -> Self {
        let record = self.record().await;
        let stored = Arc::clone(&self.stored);
        let log = open(&stored, SessionTarget::Known(record.key), record.high_water);
        Self { stored, flusher: Arc::default(), log }
    }

    fn find(&self, cursor: Seq) -> Found {
        SURFACE.find(&self.log, cursor, self.visible(), &answer(), &READING)
    }
}

fn open(stored: &TemporaryStore, target: SessionTarget, high_water: Seq) -> Arc<SessionLog> {
    let store = Arc::clone(&stored.store) as Arc<dyn Store>;
    SessionLog::new(store, Arc::new(SystemClock), target, high_water)
}

fn workspace() -> WorkspaceId {
    WorkspaceId::new("w")
}

fn answer() -> MessageId {
    MessageId::new("answer")
}

fn message(id: MessageId) -> UiMessage {
    let text = Part::Text { text: "hello".to_owned(), state: None };
    UiMessage { id, role: Role::User, metadata: None, parts: vec![text] }
}

fn run() -> RunId {
    RunId::new("run_1")
}

fn beginning() -> Vec<SessionEvent> {
    let question = MessageId::new("question");
    let answers = MessageRef::first(question.clone());
    vec![
        SessionEvent::MessageAccepted { message: message(question), revision: 0, parent: None, facts: None },
        SessionEvent::RunStarted { run: run(), answers, message: answer(), options: Box::default() },
        SessionEvent::FrameOpened { message: answer(), metadata: Box::default(), parent: None },
    ]
}

fn delta_of(message: MessageId, segment: u32, delta: &str) -> SessionEvent {
    SessionEvent::SegmentDelta { message, segment, kind: SegmentKind::Text, delta: delta.to_owned() }
}

fn delta(delta: &str) -> SessionEvent {
    delta_of(answer(), 0, delta)
}

/// A boundary event.
fn settled() -> SessionEvent {
    let outcome = ToolOutcome::Done { output: Value::Null };
    SessionEvent::ToolSettled { message: answer(), call: ToolCallId::new("call"), outcome }
}

fn closed() -> SessionEvent {
    let end = FrameEnd::Finished { reason: FinishReason::Stop };
    SessionEvent::FrameClosed { message: answer(), end, metadata: Box::default() }
}

fn ended() -> SessionEvent {
    SessionEvent::RunEnded { run: run(), message: answer(), end: RunEnd::Finished }
}

fn queued(id: &str) -> SessionEvent {
    let message = message(MessageId::new(id));
    SessionEvent::MessageQueued { message, edits: None, after: None, options: Box::default() }
}

/// The numbers and the deltas in serialised events.
fn deltas(bytes: &[u8]) -> Vec<(Seq, String)> {
    let text = std::str::from_utf8(bytes).unwrap();
    let event = |event: &str| {
        let (id, data) = event.split_once("\ndata: ").unwrap();
        let chunk: Value = serde_json::from_str(data).unwrap();
        (id.strip_prefix("id: ").unwrap().parse().unwrap(), chunk["delta"].as_str().unwrap_or("-").to_owned())
    };
    text.split_terminator("\n\n").map(event).collect()
}

fn events(found: Found) -> (Vec<(Seq, String)>, Seq, bool) {
    match found {
        Found::Events { bytes, cursor, ended } => (deltas(&bytes), cursor, ended),
        Found::Stored => panic!("the events are not in memory"),
        Found::Others => panic!("the events belong to another message"),
    }
}

fn pairs(expected: &[(Seq, &str)]) -> Vec<(Seq, String)> {
    expected.iter().map(|(seq, delta)| (*seq, (*delta).to_owned())).collect()
}

#[tokio::test]
async fn a_boundary_event_is_visible_only_after_it_is_stored() {
    let chat = Chat::begun().await;
    let storing = chat.log.storing.lock().await;
    let mut append = pin!(chat.append(vec![delta("a"), settled()]));
    assert!(poll!(append.as_mut()).is_pending());
    assert_eq!((chat.visible(), chat.is_stored(4).await), (3, false), "the store has not answered");
    drop(storing);
    assert_eq!(append.await.unwrap(), 5);
    assert_eq!((chat.visible(), chat.is_stored(4).await, chat.is_stored(5).await), (5, true, true));
}

#[tokio::test]
async fn an_agent_publishes_nothing_above_a_boundary_event_that_another_is_still_storing() {
    let chat = Chat::begun().await;
    let storing = chat.log.storing.lock().await;
    let mut boundary = pin!(chat.append(vec![settled()]));
    assert!(poll!(boundary.as_mut()).is_pending());
    let mut after = pin!(chat.append(vec![delta("a")]));
    assert!(poll!(after.as_mut()).is_pending());
    assert_eq!(chat.visible(), 3);
    drop(storing);
    assert_eq!((boundary.await.unwrap(), after.await.unwrap(), chat.visible()), (4, 5, 5));
}

#[tokio::test]
async fn deltas_are_visible_at_once_and_stored_by_the_next_flush() {
    let chat = Chat::begun().await;
    let storing = chat.log.storing.lock().await;
    assert_eq!(chat.append(vec![delta("a"), delta("b")]).await.unwrap(), 5);
    assert_eq!((chat.visible(), chat.log.held().rows_waiting, chat.is_stored(4).await), (5, 1, false));
    drop(storing);
    chat.log.flush(false).await.unwrap();
    assert_eq!((chat.log.held().rows_waiting, chat.is_stored(5).await), (0, true));
}

#[tokio::test]
async fn events_that_must_be_durable_are_stored_even_if_none_is_a_boundary() {
    let chat = Chat::begun().await;
    assert_eq!(chat.writer().append_durably(vec![delta("a")]).await.unwrap(), 4);
    assert!(chat.is_stored(4).await);
}

#[tokio::test(start_paused = true)]
async fn the_flusher_stores_deltas_within_a_tenth_of_a_second() {
    let chat = Chat::begun().await;
    let end = CancellationToken::new();
    let writes = async {
        for number in 4..8 {
            chat.append(vec![delta("a")]).await.unwrap();
            let appended = Instant::now();
            while chat.log.held().rows_waiting > 0 {
                sleep(Duration::from_millis(1)).await;
            }
            assert!(appended.elapsed() <= Duration::from_millis(100), "{:?}", appended.elapsed());
            // The flush has begun; wait for its end.
            drop(chat.log.storing.lock().await);
            assert!(chat.is_stored(number).await);
        }
        end.cancel();
    };
    tokio::join!(writes, chat.flusher.run(end.clone()));
}

#[tokio::test(start_paused = true)]
async fn the_flusher_stores_what_is_left_before_it_ends() {
    let chat = Chat::begun().await;
    let end = CancellationToken::new();
    end.cancel();
    // The flusher may see the deltas or the end first; several times, so that both happen.
    for number in 4..24 {
        chat.append(vec![delta("a")]).await.unwrap();
        chat.flusher.run(end.clone()).await;
        assert!(chat.is_stored(number).await);
    }
}

#[tokio::test]
async fn a_new_log_starts_above_numbers_that_were_published_and_never_stored() {
    let chat = Chat::begun().await;
    let published = chat.append(vec![delta("a"), delta("b")]).await.unwrap();
    let next = chat.opened_again().await;
    assert!(!chat.is_stored(published).await);
    let first = next.append(vec![settled()]).await.unwrap();
    assert!(first > published, "{first}");
    assert_eq!(first, 3 + RESERVE + 1, "it starts above all numbers that were reserved");
}

#[tokio::test]
async fn no_event_is_published_above_the_stored_mark() {
    let chat = Chat::begun().await;
    assert_eq!(chat.record().await.high_water, 3 + RESERVE);
    chat.log.state.lock().high_water = 4;
    chat.append(vec![delta("the last reserved number")]).await.unwrap();
    assert!(!chat.is_stored(4).await);
    chat.append(vec![delta("above it")]).await.unwrap();
    assert!(chat.is_stored(5).await, "the mark is stored before the event is visible");
    assert_eq!(chat.record().await.high_water, 5 + RESERVE);
}

#[tokio::test]
async fn the_next_numbers_are_reserved_when_half_of_them_are_used() {
    let chat = Chat::begun().await;
    chat.log.state.lock().last = 2 + RESERVE / 2;
    chat.append(vec![settled()]).await.unwrap();
    assert_eq!(chat.record().await.high_water, 3 + RESERVE);
    chat.append(vec![settled()]).await.unwrap();
    assert_eq!(chat.record().await.high_water, 4 + RESERVE / 2 + RESERVE);
}

#[tokio::test]
async fn the_end_of_a_run_releases_reserved_numbers_that_it_did_not_use() {
    let chat = Chat::begun().await;
    chat.append(vec![closed(), ended()]).await.unwrap();
    assert_eq!(chat.record().await.high_water, 5);
    assert_eq!(chat.opened_again().await.append(vec![settled()]).await.unwrap(), 6);
}

#[tokio::test]
async fn a_run_is_over_once_its_pause_or_end_is_stored() {
    for last in [ended(), SessionEvent::RunParked { run: run(), message: answer() }] {
        let chat = Chat::begun().await;
        chat.append(vec![delta("a"), settled()]).await.unwrap();
        let storing = chat.log.storing.lock().await;
        let mut writer = chat.writer();
        let over = writer.run_over();
        let mut append = pin!(writer.append(vec![last], vec![message(answer())]));
        assert!(poll!(append.as_mut()).is_pending());
        assert!(!over.get());
        drop(storing);
        append.await.unwrap();
        assert!(over.get());
    }
}

#[tokio::test]
async fn events_that_the_store_refuses_stay_unseen_and_wait_for_the_next_flush() {
    let chat = Chat::begun().await;
    chat.append(vec![delta("a")]).await.unwrap();
    chat.stored.store.delete_session(chat.log.key().unwrap()).await.unwrap();
    assert!(matches!(chat.append(vec![settled()]).await, Err(StoreError::Conflict)));
    assert_eq!((chat.visible(), chat.log.held().rows_waiting), (4, 2));
    let numbers = |row: &Row| match row {
        Row::Event(entry) => entry.seq,
        Row::Deltas(row) => row.from,
    };
    assert_eq!(chat.log.state.lock().unsaved.iter().map(numbers).collect::<Vec<_>>(), [4, 5]);
}

#[tokio::test]
async fn a_log_that_was_given_up_refuses_events_and_cuts_its_readers_off() {
    let chat = Chat::begun().await;
    let mut viewer = Viewer::new(Arc::clone(&chat.log), SURFACE, 0, answer(), READING).of_run(0);
    assert!(viewer.next().await.unwrap().is_ok());
    chat.log.break_off();
    assert!(matches!(viewer.next().await, Some(Err(ViewError::BrokenOff))));
    assert!(viewer.next().await.is_none());
    for event in [settled(), delta("a")] {
        assert!(matches!(chat.append(vec![event]).await, Err(StoreError::Unavailable(_))));
    }
    assert!(matches!(
        chat.log.append_session_events(vec![queued("q")]).await,
        Err(StoreError::Unavailable(_))
    ));
    assert_eq!(chat.visible(), 3);
}

#[tokio::test]
async fn a_reader_that_keeps_up_receives_each_delta_and_one_far_behind_receives_them_joined() {
    let chat = Chat::begun().await;
    let last = 3 + MERGE_ABOVE + 1;
    chat.append((4..last).map(|_| delta("x")).collect()).await.unwrap();
    chat.append(vec![delta_of(answer(), 1, "other")]).await.unwrap();
    let (near, cursor, ended) = events(chat.find(last - 3));
    assert_eq!(near, pairs(&[(last - 2, "x"), (last - 1, "x"), (last, "other")]));
    assert_eq!((cursor, ended), (last, false));
    let (far, cursor, _) = events(chat.find(3));
    let joined = "x".repeat((last - 4) as usize);
    assert_eq!(far, pairs(&[(last - 1, &joined), (last, "other")]), "only deltas of one segment are joined");
    assert_eq!(cursor, last);
}

#[tokio::test]
async fn a_reader_stops_at_the_events_of_another_message() {
    let chat = Chat::begun().await;
    let other = MessageId::new("sub-agent");
    chat.append(vec![delta("a"), delta_of(other.clone(), 0, "b"), delta("c")]).await.unwrap();
    let (found, cursor, _) = events(chat.find(3));
    assert_eq!((found, cursor), (pairs(&[(4, "a")]), 4));
    assert!(matches!(chat.find(4), Found::Others));
    let entries = chat.log.entries(4, chat.visible()).unwrap();
    let numbers: Vec<_> = entries.iter().map(|entry| (entry.seq, entry.event.message().cloned())).collect();
    assert_eq!(numbers, [(5, Some(other)), (6, Some(answer()))]);
    assert_eq!(events(chat.find(5)).0, pairs(&[(6, "c")]));
}

#[tokio::test]
async fn a_reader_receives_nothing_after_the_end_of_its_message() {
    let chat = Chat::begun().await;
    chat.append(vec![delta("a"), closed(), ended()]).await.unwrap();
    let (found, cursor, ended) = events(chat.find(3));
    assert_eq!((found, cursor, ended), (pairs(&[(4, "a"), (5, "-")]), 5, true));
}

#[tokio::test]
async fn a_reader_receives_no_event_that_is_not_visible_yet() {
    let chat = Chat::begun().await;
    chat.append(vec![delta("a")]).await.unwrap();
    let storing = chat.log.storing.lock().await;
    let mut append = pin!(chat.append(vec![delta("b"), settled()]));
    assert!(poll!(append.as_mut()).is_pending());
    assert_eq!(events(chat.find(3)).0, pairs(&[(4, "a")]));
    assert_eq!(chat.log.entries(3, chat.visible()).unwrap().len(), 1);
    drop(storing);
    append.await.unwrap();
    assert_eq!(events(chat.find(4)).1, 6);
}

#[tokio::test]
async fn events_that_left_memory_must_be_read_from_the_store() {
    let chat = Chat::begun().await;
    let long = "x".repeat(TAIL_BYTES / 3);
    chat.append((0..5).map(|_| delta(&long)).collect()).await.unwrap();
    assert!(chat.log.held().tail_bytes <= TAIL_BYTES && chat.log.held().rows_waiting == 0);
    assert!(matches!(chat.find(3), Found::Stored));
    assert!(chat.log.entries(3, 8).is_none());
    assert!(!chat.log.remembers(4) && chat.log.remembers(8) && !chat.log.remembers(9));
    assert_eq!(events(chat.find(7)).1, 8);
    let read = chat.stored.store.read_log(chat.log.key().unwrap(), 3, 1).await.unwrap();
    assert_eq!(read[0].event.message(), Some(&answer()));
}

#[tokio::test]
async fn events_that_are_not_stored_stay_in_memory() {
    let chat = Chat::begun().await;
    let storing = chat.log.storing.lock().await;
    let long = "x".repeat(TAIL_BYTES / 3);
    let mut append = pin!(chat.append((0..5).map(|_| delta(&long)).collect()));
    assert!(poll!(append.as_mut()).is_pending(), "so many deltas are stored before more are accepted");
    chat.log.state.lock().trim(TAIL_BYTES);
    assert!(chat.log.held().tail_bytes > TAIL_BYTES && chat.log.remembers(4) && !chat.log.remembers(3));
    drop(storing);
    append.await.unwrap();
}

#[tokio::test]
async fn events_of_the_session_itself_are_stored_and_readers_of_messages_skip_them() {
    let chat = Chat::begun().await;
    chat.append(vec![delta("a")]).await.unwrap();
    chat.log.append_session_events(vec![queued("q")]).await.unwrap();
    assert!(chat.is_stored(5).await, "with the deltas before it");
    assert_eq!(chat.record().await.queued, 1);
    chat.append(vec![delta("b")]).await.unwrap();
    let (found, cursor, _) = events(chat.find(3));
    assert_eq!((found, cursor), (pairs(&[(4, "a"), (6, "b")]), 6));
}

#[tokio::test]
async fn a_reader_is_cut_off_by_the_end_of_its_own_run_and_not_by_the_end_of_an_earlier_one() {
    let chat = Chat::begun().await;
    chat.log.end_run();
    let next = chat.log.last();
    let mut later = Viewer::new(Arc::clone(&chat.log), SURFACE, next, answer(), READING).of_run(next);
    assert!(poll!(pin!(later.next())).is_pending(), "the run before is over, this one is not");
    chat.append(vec![delta("a")]).await.unwrap();
    assert!(later.next().await.unwrap().is_ok());
    chat.log.end_run();
    assert!(matches!(later.next().await, Some(Err(ViewError::BrokenOff))));
}

#[tokio::test]
async fn an_event_is_written_once_for_all_readers_of_a_surface() {
    let chat = Chat::begun().await;
    chat.append(vec![delta("a")]).await.unwrap();
    let (first, again) = (events(chat.find(3)).0, events(chat.find(3)).0);
    assert_eq!(first, again);
    let written = chat.log.with_tail(3, 4, |mut entries| {
        entries.next().map(|entry| entry.shared(|| panic!("it was written before")).clone())
    });
    assert!(written.flatten().is_some_and(|bytes| !bytes.is_empty()));
}

#[tokio::test]
async fn appends_without_a_run_release_the_numbers_and_leave_little_in_memory() {
    let chat = Chat::begun().await;
    let last = chat.log.append_without_run(vec![queued("q")], Vec::new()).await.unwrap();
    assert_eq!((chat.record().await.high_water, chat.visible()), (last, last));
    chat.append(vec![delta(&"x".repeat(4 * IDLE_BYTES)), settled()]).await.unwrap();
    assert!(chat.log.held().tail_bytes > IDLE_BYTES);
    chat.log.end_run();
    assert!(chat.log.held().tail_bytes <= IDLE_BYTES);
    assert!(chat.log.remembers(chat.log.last()));
}
