//! Exact chunk sequences for every way a frame can go (checklist items 128–138 and 146).

use std::sync::atomic::{AtomicU32, Ordering};

use protocol::{FinishReason, IdSource, ToolCall, ToolOutcome, project::chat::chunk_of};
use serde_json::json;

use super::*;

/// Ids that count.
#[derive(Default)]
struct Counting(AtomicU32);

impl IdSource for Counting {
    fn time_ordered(&self) -> String {
        (self.0.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    }

    fn unguessable(&self) -> String {
        self.time_ordered()
    }

    fn secret(&self) -> Option<String> {
        None
    }
}

struct Written {
    frame: Frame,
    ids: Counting,
}

impl Written {
    fn new() -> Self {
        let mut frame = Frame::new(MessageId::new("m"));
        frame.open(MessageFacts::default(), None).unwrap();
        Self { frame, ids: Counting::default() }
    }

    fn text(mut self, delta: &str) -> Self {
        self.frame.say(SegmentKind::Text, delta.to_owned()).unwrap();
        self
    }

    fn reasoning(mut self, delta: &str) -> Self {
        self.frame.say(SegmentKind::Reasoning, delta.to_owned()).unwrap();
        self
    }

    fn begin(mut self, id: &str) -> Self {
        self.frame.start_call(Some(id), "t", "t", &self.ids).unwrap();
        self
    }

    fn request(mut self, id: &str) -> Self {
        let call = ToolCall { id: ToolCallId::new(id), name: "t".to_owned(), input: json!({}) };
        self.frame.request(call, None).unwrap();
        self
    }

    fn model_done(mut self) -> Self {
        self.frame.end_model_turn(ModelCall::default()).unwrap();
        self
    }

    fn done(mut self, id: &str) -> Self {
        self.frame.settle(&ToolCallId::new(id), ToolOutcome::Done { output: json!(1) }).unwrap();
        self
    }

    fn failed(mut self, id: &str) -> Self {
        self.frame.settle(&ToolCallId::new(id), ToolOutcome::Failed { message: "no".to_owned() }).unwrap();
        self
    }

    fn next_step(mut self) -> Self {
        self.frame.finish_step().unwrap();
        self
    }

    fn finished(mut self) -> Vec<String> {
        self.frame.close(FrameEnd::Finished { reason: FinishReason::Stop }).unwrap();
        self.lines()
    }

    fn error(mut self) -> Vec<String> {
        self.frame.close(FrameEnd::Failed { message: "boom".to_owned() }).unwrap();
        self.lines()
    }

    fn cancelled(mut self) -> Vec<String> {
        self.frame.close(FrameEnd::Cancelled).unwrap();
        self.frame.close(FrameEnd::Cancelled).unwrap();
        self.lines()
    }

    /// One word or two per chunk.
    fn lines(mut self) -> Vec<String> {
        let line = |event: &SessionEvent| {
            let chunk = serde_json::to_value(chunk_of(event)?).unwrap();
            let id = ["id", "toolCallId"].into_iter().find_map(|key| chunk[key].as_str());
            let kind = chunk["type"].as_str().unwrap();
            Some(id.map_or_else(|| kind.to_owned(), |id| format!("{kind} {id}")))
        };
        let events = self.frame.take();
        // What was written is what a restored frame holds.
        let restored = Frame::rebuild(MessageId::new("m"), &events).unwrap();
        assert_eq!(restored.message(), self.frame.message());
        assert!(restored.is_closed() && restored.open.is_none() && !restored.step_open);
        assert!(restored.open_calls().is_empty(), "every call has a result");
        events.iter().filter_map(line).collect()
    }
}

#[test]
fn text_only() {
    let lines = Written::new().text("a").text("").text("b").model_done().next_step().finished();
    let text = ["text-start s0", "text-delta s0", "text-delta s0", "text-end s0"];
    assert_eq!(lines, [&["start", "start-step"][..], &text, &["finish-step", "finish"]].concat());
}

#[test]
fn text_tool_text() {
    let lines = Written::new()
        .text("a")
        .begin("c1")
        .request("c1")
        .model_done()
        .done("c1")
        .next_step()
        .text("b")
        .model_done()
        .finished();
    assert_eq!(
        lines,
        [
            "start",
            "start-step",
            "text-start s0",
            "text-delta s0",
            "text-end s0",
            "tool-input-start c1",
            "tool-input-available c1",
            "tool-output-available c1",
            "finish-step",
            "start-step",
            "text-start s1",
            "text-delta s1",
            "text-end s1",
            "finish-step",
            "finish"
        ]
    );
}

#[test]
fn reasoning_then_text_are_never_open_together() {
    let lines = Written::new().reasoning("r").text("a").reasoning("r").model_done().finished();
    assert_eq!(
        lines,
        [
            "start",
            "start-step",
            "reasoning-start s0",
            "reasoning-delta s0",
            "reasoning-end s0",
            "text-start s1",
            "text-delta s1",
            "text-end s1",
            "reasoning-start s2",
            "reasoning-delta s2",
            "reasoning-end s2",
            "finish-step",
            "finish"
        ]
    );
}

#[test]
fn parallel_tools_keep_their_pairs_and_ids_are_made_unique() {
    let mut written = Written::new().begin("c1");
    let second = written.frame.start_call(Some("c1"), "t", "t", &written.ids).unwrap();
    assert_eq!(second.as_str(), "call_1", "an id that is taken is replaced");
    let lines =
        written.request("c1").request("call_1").model_done().done("c1").done("call_1").next_step().finished();
    assert_eq!(
        lines,
        [
            "start",
            "start-step",
            "tool-input-start c1",
            "tool-input-start call_1",
            "tool-input-available c1",
            "tool-input-available call_1",
            "tool-output-available c1",
            "tool-output-available call_1",
            "finish-step",
            "finish"
        ]
    );
}

#[test]
fn a_tool_error_has_no_output_and_a_second_result_is_dropped() {
    let lines = Written::new().request("c1").model_done().failed("c1").done("c1").failed("c1").finished();
    assert_eq!(
        lines,
        ["start", "start-step", "tool-input-available c1", "tool-output-error c1", "finish-step", "finish"]
    );
}

#[test]
fn a_result_for_a_call_nobody_announced_is_announced_first() {
    let lines = Written::new().done("ghost").finished();
    assert_eq!(
        lines,
        [
            "start",
            "start-step",
            "tool-input-available ghost",
            "tool-output-available ghost",
            "finish-step",
            "finish"
        ]
    );
}

#[test]
fn the_end_of_a_model_turn_closes_the_segment_and_may_come_twice() {
    let lines = Written::new().text("a").model_done().model_done().text("b").finished();
    assert_eq!(
        lines,
        [
            "start",
            "start-step",
            "text-start s0",
            "text-delta s0",
            "text-end s0",
            "text-start s1",
            "text-delta s1",
            "text-end s1",
            "finish-step",
            "finish"
        ]
    );
}

#[test]
fn an_error_before_the_first_token_opens_nothing() {
    assert_eq!(Written::new().error(), ["start", "message-metadata", "error"]);
}

#[test]
fn an_error_in_the_middle_of_text_keeps_and_closes_it() {
    let lines = Written::new().text("a").error();
    let text = ["text-start s0", "text-delta s0", "text-end s0"];
    let end = ["finish-step", "message-metadata", "error"];
    assert_eq!(lines, [&["start", "start-step"][..], &text, &end].concat());
}

#[test]
fn a_cancel_in_the_middle_of_tools_closes_each_as_an_error_once() {
    let lines = Written::new().begin("c1").request("c1").begin("c2").cancelled();
    assert_eq!(
        lines,
        [
            "start",
            "start-step",
            "tool-input-start c1",
            "tool-input-available c1",
            "tool-input-start c2",
            "tool-output-error c1",
            "tool-input-error c2",
            "finish-step",
            "message-metadata",
            "abort"
        ]
    );
}

#[test]
fn an_empty_run_is_a_message_without_parts() {
    assert_eq!(Written::new().model_done().finished(), ["start", "finish"]);
}

#[test]
fn a_call_that_a_restart_cut_off_is_known_by_the_log_and_not_by_its_words() {
    let mut written = Written::new().begin("c");
    written.frame.resume(RunId::new("r")).unwrap();
    let cut_off = HashSet::from([ToolCallId::new("c")]);
    assert_eq!(*written.frame.cut_off(), cut_off);
    let rebuilt = Frame::rebuild(MessageId::new("m"), &written.frame.take()).unwrap();
    assert_eq!(*rebuilt.cut_off(), cut_off);
    let mut written = Written::new().begin("c");
    written.frame.reject(&ToolCallId::new("c"), "t", json!({}), CUT_OFF.to_owned()).unwrap();
    assert!(written.frame.cut_off().is_empty());
}

#[test]
fn the_result_of_a_background_agent_is_reported_with_its_call_and_without_a_chunk() {
    let mut written = Written::new().begin("c").request("c").model_done();
    let agent = SessionId::new("sub_1");
    written.frame.will_report(ToolCallId::new("c"), agent.clone());
    let mut written = written.done("c").done("c");
    let events = written.frame.take();
    let [.., report, settled] = events.as_slice() else { panic!("{events:?}") };
    assert!(report.reported().unwrap().includes(&agent));
    assert_eq!(chunk_of(report), None);
    assert!(matches!(settled, SessionEvent::ToolSettled { .. }));
}

#[test]
fn facts_of_the_message_are_those_of_all_its_events() {
    let mut frame = Frame::new(MessageId::new("m"));
    let facts =
        MessageFacts { model: Some("a/b".to_owned()), ..MessageFacts::of_status(MessageStatus::Queued) };
    frame.open(facts, None).unwrap();
    frame.start_delegation().unwrap();
    assert_eq!(
        (frame.facts().status, frame.facts().model.as_deref()),
        (Some(MessageStatus::Running), Some("a/b"))
    );
    frame.fail(ErrorCode::Internal, "boom".to_owned()).unwrap();
    assert_eq!(
        (frame.facts().status, frame.facts().error_code),
        (Some(MessageStatus::Failed), Some(ErrorCode::Internal))
    );
    assert_eq!(*frame.facts(), frame.message().facts());
}
