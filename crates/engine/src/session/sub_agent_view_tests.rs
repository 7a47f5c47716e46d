//! When a reader of one message receives what, of the sub-agents below it. Time is paused and advanced by hand.

use protocol::{
    FinishReason, FrameEnd, FrameParent, MessageFacts, RunId, SessionId, ToolCall, ToolOutcome,
    project::chat::View,
};
use tokio::time::advance;

use super::*;

/// A reader of the message `top`, as [`super::super::viewer::Viewer`] uses a view.
struct Reader {
    view: SubAgentView,
    seq: Seq,
    reading: Reading,
}

impl Reader {
    fn new(lane: Option<SubAgentStream>) -> Self {
        let reading = Reading { view: View::WholeMessage, last_resume: 0, edge: 0 };
        Self { view: SubAgentView::new(id("top"), lane, Profile::default()), seq: 0, reading }
    }

    /// A reader whose message has called `c1`, which started the agent `sub`; the first output was received.
    fn of_sub_agent(lane: Option<SubAgentStream>) -> Self {
        let mut reader = Self::new(lane);
        assert!(!reader.take([opened("sub", "top", "c1")]).is_empty());
        reader
    }

    /// Events of sub-agents that are visible together, and what is sent until the reader has read all of them.
    fn take(&mut self, events: impl IntoIterator<Item = SessionEvent>) -> Vec<Value> {
        let mut out = Vec::new();
        for event in events {
            self.seq += 1;
            self.view.take(&mut out, self.seq, &event, &self.reading);
        }
        self.view.send_due(&mut out);
        chunks(&out)
    }

    /// An event of the message itself. The event's own chunk is `null` in what is sent.
    fn own(&mut self, event: SessionEvent) -> Vec<Value> {
        self.seq += 1;
        let mut out = Vec::new();
        let is_special = self.view.own(&mut out, self.seq, &event);
        let mut sent = chunks(&out);
        if !is_special {
            sent.push(Value::Null);
        }
        sent
    }

    /// What is sent when this time has passed and no event came.
    async fn after(&mut self, milliseconds: u64) -> Vec<Value> {
        advance(Duration::from_millis(milliseconds)).await;
        let mut out = Vec::new();
        self.view.send_due(&mut out);
        chunks(&out)
    }

    /// In how many milliseconds something is due.
    fn due_in(&self) -> Option<u128> {
        self.view.deadline().map(|deadline| deadline.duration_since(Instant::now()).as_millis())
    }
}

fn chunks(out: &[u8]) -> Vec<Value> {
    let events = std::str::from_utf8(out).unwrap().split_terminator("\n\n");
    let data = |event: &str| event.split_once("data: ").unwrap().1.to_owned();
    events.map(|event| serde_json::from_str(&data(event)).unwrap()).collect()
}

/// The call, the text and whether it is preliminary, of the only chunk.
fn only_snapshot(sent: &[Value]) -> (String, String, bool) {
    let [sent] = sent else { panic!("{sent:?}") };
    assert_eq!(sent["type"], "tool-output-available");
    (string(&sent["toolCallId"]), text(&sent["output"]), sent["preliminary"] == true)
}

fn preliminary(text: &str) -> (String, String, bool) {
    ("c1".to_owned(), text.to_owned(), true)
}

fn last(text: &str) -> (String, String, bool) {
    ("c1".to_owned(), text.to_owned(), false)
}

fn string(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The text of a message.
fn text(message: &Value) -> String {
    message["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect()
}

/// What a lane sent, one line each: the name and the text, status or type of chunk in it.
fn lines(sent: &[Value]) -> Vec<String> {
    let line = |sent: &Value| {
        assert_eq!(sent["transient"], true);
        let data = &sent["data"];
        assert_eq!((&data["toolCallId"], &data["messageId"]), (&json!("c1"), &json!("sub")));
        let chunk = &data["chunk"];
        let about =
            [&data["delta"], &data["status"], &chunk["delta"], &chunk["inputTextDelta"], &chunk["type"]];
        let about = about.into_iter().find_map(Value::as_str).unwrap_or_default();
        format!("{} {about}", string(&sent["type"]).replace("data-sub-agent-", "")).trim_end().to_owned()
    };
    sent.iter().map(line).collect()
}

fn id(text: &str) -> MessageId {
    MessageId::new(text)
}

fn call(text: &str) -> ToolCallId {
    ToolCallId::new(text)
}

fn opened_in(message: &str, parent: &str, by: &str, background: bool) -> SessionEvent {
    let parent = FrameParent {
        message: id(parent),
        call: call(by),
        root: id("top"),
        chat: SessionId::new(format!("chat_{message}")),
        task: "work".to_owned(),
        context: Value::Null,
        background,
    };
    let metadata =
        Box::new(MessageFacts { agent_name: Some("helper".to_owned()), ..MessageFacts::default() });
    SessionEvent::FrameOpened { message: id(message), metadata, parent: Some(Box::new(parent)) }
}

fn opened(message: &str, parent: &str, by: &str) -> SessionEvent {
    opened_in(message, parent, by, false)
}

fn step(message: &str) -> SessionEvent {
    SessionEvent::StepStarted { message: id(message) }
}

fn step_finished(message: &str) -> SessionEvent {
    SessionEvent::StepFinished { message: id(message) }
}

fn segment(message: &str, segment: u32) -> SessionEvent {
    SessionEvent::SegmentOpened { message: id(message), segment, kind: SegmentKind::Text }
}

fn delta(message: &str, delta: &str) -> SessionEvent {
    let kind = SegmentKind::Text;
    SessionEvent::SegmentDelta { message: id(message), segment: 0, kind, delta: delta.to_owned() }
}

fn segment_closed(message: &str, segment: u32) -> SessionEvent {
    SessionEvent::SegmentClosed { message: id(message), segment, kind: SegmentKind::Text, provider: None }
}

fn calls(message: &str, by: &str) -> SessionEvent {
    let call = ToolCall { id: call(by), name: "tool".to_owned(), input: json!({}) };
    SessionEvent::ToolRequested { message: id(message), call, provider: None }
}

fn settled(message: &str, by: &str) -> SessionEvent {
    let outcome = ToolOutcome::Done { output: json!("report") };
    SessionEvent::ToolSettled { message: id(message), call: call(by), outcome }
}

fn closed(message: &str) -> SessionEvent {
    let end = FrameEnd::Finished { reason: FinishReason::Stop };
    SessionEvent::FrameClosed { message: id(message), end, metadata: Box::default() }
}

fn parked(message: &str) -> SessionEvent {
    SessionEvent::RunParked { run: RunId::new("run_1"), message: id(message) }
}

#[tokio::test(start_paused = true)]
async fn the_first_snapshot_is_sent_at_once() {
    let mut reader = Reader::new(None);
    assert!(reader.view.is_empty());
    let sent = reader.take([opened("sub", "top", "c1")]);
    assert_eq!(only_snapshot(&sent), preliminary(""));
    assert_eq!(sent[0]["output"]["id"], "sub");
    assert!(!reader.view.is_empty() && reader.due_in().is_none());
}

#[tokio::test(start_paused = true)]
async fn snapshots_follow_at_most_every_40_ms_when_parts_begin_and_every_200_ms_while_text_grows() {
    let mut reader = Reader::of_sub_agent(None);
    assert!(reader.take([step("sub"), segment("sub", 0)]).is_empty());
    assert_eq!(reader.due_in(), Some(40));
    assert!(reader.after(39).await.is_empty());
    assert_eq!(only_snapshot(&reader.after(1).await), preliminary(""));
    assert!(reader.take([delta("sub", "a")]).is_empty());
    assert_eq!(reader.due_in(), Some(200));
    assert!(reader.after(150).await.is_empty());
    assert!(reader.take([delta("sub", "b")]).is_empty(), "more text does not postpone it");
    assert!(reader.after(49).await.is_empty());
    assert_eq!(only_snapshot(&reader.after(1).await), preliminary("ab"));
    assert!(reader.due_in().is_none(), "nothing is new");
    assert!(reader.after(1_000).await.is_empty());
    assert_eq!(
        only_snapshot(&reader.take([delta("sub", "c")])),
        preliminary("abc"),
        "none was sent for long"
    );
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_part_hurries_a_snapshot_that_waits_for_more_text() {
    let mut reader = Reader::of_sub_agent(None);
    assert!(reader.take([step("sub"), segment("sub", 0)]).is_empty());
    assert_eq!(reader.after(40).await.len(), 1);
    assert!(reader.take([delta("sub", "a")]).is_empty());
    assert!(reader.after(10).await.is_empty());
    assert!(reader.take([segment_closed("sub", 0)]).is_empty());
    assert_eq!(reader.due_in(), Some(30));
    assert_eq!(only_snapshot(&reader.after(30).await), preliminary("a"));
}

#[tokio::test(start_paused = true)]
async fn a_long_message_is_sent_less_often() {
    let mut reader = Reader::of_sub_agent(None);
    let long = "x".repeat(SLOWER_EVERY);
    assert!(reader.take([step("sub"), segment("sub", 0), delta("sub", &long)]).is_empty());
    assert_eq!(reader.after(200).await.len(), 1);
    assert!(reader.take([delta("sub", "a")]).is_empty());
    assert_eq!(reader.due_in(), Some(400));
}

#[tokio::test(start_paused = true)]
async fn the_newest_state_is_sent_before_a_pause_and_before_the_end() {
    for end in [parked("top"), closed("top")] {
        let mut reader = Reader::of_sub_agent(None);
        assert!(reader.take([step("sub"), segment("sub", 0), delta("sub", "newest")]).is_empty());
        let sent = reader.own(end);
        assert_eq!(only_snapshot(&sent[..1]), preliminary("newest"));
        assert_eq!(sent[1..], [Value::Null], "then the event itself");
        assert!(reader.due_in().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn the_result_of_the_call_is_the_whole_message_and_takes_the_number_of_its_event() {
    let mut reader = Reader::of_sub_agent(None);
    assert!(reader.take([step("sub"), segment("sub", 0), delta("sub", "all"), closed("sub")]).is_empty());
    let mut out = Vec::new();
    assert!(reader.view.own(&mut out, 17, &settled("top", "c1")));
    assert!(out.starts_with(b"id: 17\n"));
    assert_eq!(only_snapshot(&chunks(&out)), last("all"));
    assert!(reader.view.is_empty() && reader.due_in().is_none(), "no snapshot may follow the result");
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_is_not_replaced_by_the_message_of_its_agent() {
    let mut reader = Reader::of_sub_agent(None);
    let outcome = ToolOutcome::Failed { message: "stopped".to_owned() };
    let failed = SessionEvent::ToolSettled { message: id("top"), call: call("c1"), outcome };
    assert_eq!(reader.own(failed), [Value::Null]);
    assert!(reader.view.is_empty() && reader.after(1_000).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn agents_of_a_sub_agent_are_inside_its_snapshot() {
    let mut reader = Reader::of_sub_agent(None);
    let below = [step("below"), segment("below", 0), delta("below", "deep")];
    let started = [step("sub"), calls("sub", "c2"), opened("below", "sub", "c2")];
    assert!(reader.take(started.into_iter().chain(below)).is_empty());
    let sent = reader.after(40).await;
    assert_eq!(only_snapshot(&sent), preliminary(""), "the snapshot is that of the call of this message");
    let part = sent[0]["output"]["parts"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&part["toolCallId"], &part["preliminary"]), (&json!("c2"), &json!(true)));
    assert_eq!(
        (string(&part["output"]["id"]), text(&part["output"])),
        ("below".to_owned(), "deep".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn each_call_has_its_own_interval() {
    let mut reader = Reader::of_sub_agent(None);
    assert!(reader.after(30).await.is_empty());
    let sent = reader.take([step("sub"), opened("other", "top", "c2")]);
    assert_eq!(only_snapshot(&sent), ("c2".to_owned(), String::new(), true));
    assert_eq!(reader.due_in(), Some(10));
    assert_eq!(only_snapshot(&reader.after(10).await), preliminary(""));
}

#[tokio::test(start_paused = true)]
async fn events_of_messages_that_are_not_below_this_one_are_skipped() {
    let mut reader = Reader::new(None);
    let other = [opened("sub", "elsewhere", "c1"), step("sub"), segment("sub", 0), delta("sub", "a")];
    assert!(reader.take(other).is_empty());
    assert!(reader.view.is_empty() && reader.due_in().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_begins_inside_the_message_receives_what_came_before_with_the_next_change() {
    let mut reader = Reader::new(None);
    for event in [opened("sub", "top", "c1"), step("sub"), segment("sub", 0), delta("sub", "before ")] {
        reader.view.read_up(false, &event);
    }
    assert!(reader.due_in().is_none() && !reader.view.is_empty());
    assert_eq!(only_snapshot(&reader.take([delta("sub", "after")])), preliminary("before after"));
    reader.view.read_up(true, &settled("top", "c1"));
    assert!(reader.view.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_final_message_of_a_background_agent_waits_for_the_end_of_the_step() {
    let mut reader = Reader::new(None);
    assert_eq!(reader.take([opened_in("sub", "top", "c1", true)]).len(), 1);
    let sent = reader.own(settled("top", "c1"));
    assert_eq!(only_snapshot(&sent), preliminary(""), "the call has a result, but the agent still works");
    assert_eq!(reader.own(step_finished("top")), [Value::Null]);
    assert_eq!(reader.own(step("top")), [Value::Null]);
    assert!(reader.take([step("sub"), segment("sub", 0), delta("sub", "all"), closed("sub")]).is_empty());
    assert!(reader.after(1_000).await.is_empty() && !reader.view.is_empty());
    let sent = reader.own(step_finished("top"));
    assert_eq!(only_snapshot(&sent[..1]), last("all"));
    assert_eq!(sent[1..], [Value::Null], "then the event itself");
    assert!(reader.view.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_final_message_of_a_background_agent_is_sent_at_once_between_steps() {
    let mut reader = Reader::new(None);
    assert_eq!(reader.take([opened_in("sub", "top", "c1", true)]).len(), 1);
    reader.own(settled("top", "c1"));
    reader.own(step_finished("top"));
    let sent = reader.take([step("sub"), segment("sub", 0), delta("sub", "all"), closed("sub")]);
    assert_eq!(only_snapshot(&sent), last("all"));
    assert!(reader.view.is_empty() && reader.due_in().is_none());
}

#[tokio::test(start_paused = true)]
async fn the_chunks_of_an_agent_are_passed_on_instead_of_snapshots() {
    let mut reader = Reader::new(Some(SubAgentStream::Chunks));
    let sent = reader.take([opened("sub", "top", "c1"), step("sub"), segment("sub", 0)]);
    assert_eq!(lines(&sent), ["start", "chunk start", "chunk start-step", "chunk text-start"]);
    assert_eq!((&sent[0]["data"]["agentName"], &sent[0]["data"]["seq"]), (&json!("helper"), &json!(1)));
    assert!(reader.due_in().is_none());
    assert_eq!(lines(&reader.take([closed("sub")])), ["chunk finish", "end finished"]);
    assert_eq!(only_snapshot(&reader.own(settled("top", "c1"))), last(""), "the result is the whole message");
}

#[tokio::test(start_paused = true)]
async fn only_the_text_of_an_agent_is_passed_on_to_a_client_that_asked_for_text() {
    let mut reader = Reader::new(Some(SubAgentStream::Text));
    let started = reader.take([opened("sub", "top", "c1"), step("sub"), segment("sub", 0)]);
    assert_eq!(lines(&started), ["start"]);
    assert_eq!(lines(&reader.take([delta("sub", "words"), segment_closed("sub", 0)])), ["delta words"]);
    let kind = SegmentKind::Reasoning;
    let thought = "thought".to_owned();
    let silent = [
        SessionEvent::SegmentOpened { message: id("sub"), segment: 1, kind },
        SessionEvent::SegmentDelta { message: id("sub"), segment: 1, kind, delta: thought },
        SessionEvent::SegmentClosed { message: id("sub"), segment: 1, kind, provider: None },
        SessionEvent::ToolInputStarted {
            message: id("sub"),
            call: call("c2"),
            tool: "tool".to_owned(),
            written: None,
        },
        SessionEvent::ToolInputDelta { message: id("sub"), call: call("c2"), delta: "{}".to_owned() },
        calls("sub", "c2"),
    ];
    assert!(reader.take(silent).is_empty());
    let stopped =
        SessionEvent::FrameClosed { message: id("sub"), end: FrameEnd::Cancelled, metadata: Box::default() };
    assert_eq!(lines(&reader.take([stopped])), ["end cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn text_is_held_a_moment_and_joined() {
    let mut reader = Reader::of_sub_agent(Some(SubAgentStream::Chunks));
    reader.take([step("sub"), segment("sub", 0)]);
    assert!(reader.take([delta("sub", "one ")]).is_empty());
    assert_eq!(reader.due_in(), Some(150), "little text is held longer");
    assert!(reader.after(100).await.is_empty());
    assert!(reader.take([delta("sub", "two")]).is_empty());
    assert_eq!(reader.due_in(), Some(50));
    let sent = reader.after(50).await;
    assert_eq!(lines(&sent), ["chunk one two"]);
    assert_eq!(sent[0]["data"]["seq"], reader.seq, "it has the number of the newest delta in it");
    assert!(reader.due_in().is_none());
}

#[tokio::test(start_paused = true)]
async fn enough_text_is_held_for_50_ms_only() {
    let mut reader = Reader::of_sub_agent(Some(SubAgentStream::Chunks));
    reader.take([step("sub"), segment("sub", 0)]);
    let enough = "x".repeat(LANE_ENOUGH);
    assert!(reader.take([delta("sub", &enough)]).is_empty());
    assert_eq!(reader.due_in(), Some(50));
    assert_eq!(reader.after(50).await.len(), 1);
    assert!(reader.take([delta("sub", "a")]).is_empty());
    assert!(reader.after(20).await.is_empty());
    assert!(reader.take([delta("sub", &enough)]).is_empty());
    assert_eq!(reader.due_in(), Some(30), "counted from the first of the held deltas");
}

#[tokio::test(start_paused = true)]
async fn very_much_text_is_sent_in_pieces_and_not_held_again() {
    let mut reader = Reader::of_sub_agent(Some(SubAgentStream::Text));
    reader.take([step("sub"), segment("sub", 0)]);
    let much = "x".repeat(LANE_BYTES);
    let sent = reader.take([delta("sub", &much), delta("sub", "rest")]);
    assert_eq!(lines(&sent), [format!("delta {much}"), "delta rest".to_owned()]);
}

#[tokio::test(start_paused = true)]
async fn held_text_is_released_before_the_next_other_event_of_its_agent() {
    for (lane, released) in [
        (SubAgentStream::Chunks, ["chunk words", "chunk text-end"].as_slice()),
        (SubAgentStream::Text, ["delta words"].as_slice()),
    ] {
        let mut reader = Reader::of_sub_agent(Some(lane));
        reader.take([step("sub"), segment("sub", 0)]);
        assert!(reader.take([delta("sub", "words")]).is_empty());
        assert_eq!(lines(&reader.take([segment_closed("sub", 0)])), released);
        assert!(reader.due_in().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn deltas_of_two_agents_are_held_apart() {
    let mut reader = Reader::of_sub_agent(Some(SubAgentStream::Text));
    reader.take([opened("other", "top", "c2")]);
    let begun = [step("sub"), segment("sub", 0), step("other"), segment("other", 0)];
    let said = [delta("sub", "a"), delta("other", "x"), delta("sub", "b"), delta("other", "y")];
    assert!(reader.take(begun.into_iter().chain(said)).is_empty());
    assert_eq!(lines(&reader.take([segment_closed("sub", 0)])), ["delta ab"]);
    let sent = reader.after(150).await;
    let [sent] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!((&sent["data"]["messageId"], &sent["data"]["delta"]), (&json!("other"), &json!("xy")));
}

#[tokio::test(start_paused = true)]
async fn held_text_is_released_before_the_result_the_pause_and_the_end() {
    for event in [settled("top", "c1"), parked("top"), closed("top")] {
        let mut reader = Reader::of_sub_agent(Some(SubAgentStream::Text));
        reader.take([step("sub"), segment("sub", 0)]);
        assert!(reader.take([delta("sub", "words")]).is_empty());
        let sent = reader.own(event);
        assert_eq!((lines(&sent[..1]), sent.len()), (vec!["delta words".to_owned()], 2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_lane_shows_no_pause_of_an_agent_and_no_old_transient_data() {
    let mut reader = Reader::of_sub_agent(Some(SubAgentStream::Chunks));
    let resumed = SessionEvent::RunResumed { run: RunId::new("run_1"), message: id("sub") };
    assert!(reader.take([parked("sub"), resumed]).is_empty());
    let transient = || SessionEvent::DataPushed {
        message: id("sub"),
        name: "progress".to_owned(),
        id: None,
        data: json!(1),
        transient: true,
    };
    reader.reading.edge = reader.seq + 1;
    assert!(reader.take([transient()]).is_empty(), "a replay");
    assert_eq!(lines(&reader.take([transient()])), ["chunk data-progress"]);
}
