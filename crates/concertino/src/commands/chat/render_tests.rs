//! Whole sequences of chunks and what is printed for them: in a pipe and on a terminal of 80 columns, with and without
//! colour.

use std::time::{Duration, Instant};

use protocol::{Chunk, MessageFold, MessageId};
use serde_json::json;

use super::*;
use crate::commands::chat::text::width;

const PIPE: OutputSettings = OutputSettings { terminal: false, color: false, columns: 80 };
const TERMINAL: OutputSettings = OutputSettings { terminal: true, color: false, columns: 80 };
const COLORED: OutputSettings = OutputSettings { terminal: true, color: true, columns: 80 };

struct RenderTest {
    renderer: Renderer,
    fold: MessageFold,
    now: Instant,
    pieces: Vec<Piece>,
}

impl RenderTest {
    fn new(settings: OutputSettings) -> Self {
        let fold = MessageFold::new(MessageId::new("m"));
        Self { renderer: Renderer::new(settings), fold, now: Instant::now(), pieces: Vec::new() }
    }

    fn chunk(&mut self, chunk: Value) -> &mut Self {
        let chunk: Chunk<'static> = serde_json::from_value(chunk).unwrap();
        self.fold.apply(&chunk).unwrap();
        self.pieces.extend(self.renderer.show(self.fold.message(), self.now));
        self
    }

    fn chunks(&mut self, chunks: &[Value]) -> &mut Self {
        for chunk in chunks {
            self.chunk(chunk.clone());
        }
        self
    }

    fn later(&mut self, ms: u64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        self
    }

    fn note(&mut self, style: TextStyle, text: &str) -> &mut Self {
        self.pieces.extend(self.renderer.note(style, text));
        self
    }

    /// What is printed to standard output and to standard error.
    fn streams(&mut self) -> (String, String) {
        self.pieces.extend(self.renderer.finish());
        let (mut answer, mut info) = (String::new(), String::new());
        for piece in &self.pieces {
            match piece {
                Piece::Answer(text) => answer.push_str(text),
                Piece::Info(text) => info.push_str(text),
            }
        }
        (answer, info)
    }

    fn raw(&mut self) -> String {
        self.pieces.extend(self.renderer.finish());
        self.pieces.iter().map(|(Piece::Answer(text) | Piece::Info(text))| text.as_str()).collect()
    }

    /// What is on the screen after lines have been rewritten.
    fn screen(&mut self) -> String {
        let raw = self.raw();
        let last = |line: &str| line.rsplit("\r\u{1b}[K").next().unwrap_or_default().to_owned();
        raw.split('\n').map(last).collect::<Vec<_>>().join("\n")
    }
}

fn text(id: &str, deltas: &[&str]) -> Vec<Value> {
    let mut chunks = vec![json!({ "type": "text-start", "id": id })];
    chunks.extend(deltas.iter().map(|delta| json!({ "type": "text-delta", "id": id, "delta": delta })));
    chunks.push(json!({ "type": "text-end", "id": id }));
    chunks
}

fn call(id: &str, tool: &str, input: Value) -> Value {
    json!({ "type": "tool-input-available", "toolCallId": id, "toolName": tool, "input": input })
}

fn output(id: &str, output: Value) -> Value {
    json!({ "type": "tool-output-available", "toolCallId": id, "output": output })
}

fn progress(id: &str, output: Value) -> Value {
    json!({ "type": "tool-output-available", "toolCallId": id, "output": output, "preliminary": true })
}

fn plan(first: &str, second: &str) -> Value {
    json!({ "type": "data-plan", "id": "plan", "data": { "explanation": "Two steps.", "steps": [
        { "step": "Book the hall", "status": first }, { "step": "Invite everybody", "status": second },
    ] } })
}

fn tool_turn(settings: OutputSettings) -> RenderTest {
    let mut shown = RenderTest::new(settings);
    shown
        .chunks(&text("s0", &["Let me ", "look."]))
        .chunk(json!({ "type": "tool-input-start", "toolCallId": "c", "toolName": "time-now" }))
        .chunk(call("c", "time-now", json!({ "timezone": "Asia/Tokyo" })))
        .later(120)
        .chunk(output("c", json!({ "iso": "…" })))
        .chunks(&text("s1", &["It is ", "noon.\n"]));
    shown
}

#[test]
fn a_compaction_is_one_line_once_it_is_done() {
    let compaction =
        |status: &str| json!({ "type": "data-compaction", "id": "c", "data": { "status": status } });
    let mut shown = RenderTest::new(PIPE);
    shown.chunk(compaction("running")).chunk(compaction("done")).chunks(&text("s0", &["Noon.\n"]));
    let (answer, info) = shown.streams();
    assert_eq!(
        (answer.as_str(), info.as_str()),
        ("Noon.\n", "≡ the older part of this chat was summarised for the model\n")
    );
}

#[test]
fn in_a_pipe_only_the_answer_goes_to_standard_output() {
    let (answer, info) = tool_turn(PIPE).streams();
    assert_eq!(answer, "Let me look.\n\nIt is noon.\n");
    assert_eq!(info, "● time-now  Asia/Tokyo\n✓ time-now  120 ms\n");
}

#[test]
fn on_a_terminal_a_call_is_one_line_that_is_rewritten() {
    let mut shown = tool_turn(TERMINAL);
    assert_eq!(
        shown.raw(),
        "Let me look.\n\n● time-now  …\r\u{1b}[K● time-now  Asia/Tokyo\r\u{1b}[K✓ time-now  Asia/Tokyo  120 ms\n\nIt is noon.\n"
    );
    assert_eq!(shown.screen(), "Let me look.\n\n✓ time-now  Asia/Tokyo  120 ms\n\nIt is noon.\n");
}

#[test]
fn colour_marks_the_state_and_dims_the_details() {
    let raw = tool_turn(COLORED).raw();
    assert!(
        raw.contains("\u{1b}[32m✓\u{1b}[0m time-now  \u{1b}[2mAsia/Tokyo\u{1b}[0m  \u{1b}[2m120 ms\u{1b}[0m"),
        "{raw:?}"
    );
    let mut shown = RenderTest::new(COLORED);
    shown.chunk(json!({ "type": "reasoning-start", "id": "r" }));
    shown.chunk(json!({ "type": "reasoning-delta", "id": "r", "delta": "Hm. " }));
    shown.note(TextStyle::Red, "✗ it failed");
    assert_eq!(shown.raw(), "\u{1b}[2mHm.\u{1b}[0m\n\n\u{1b}[31m✗ it failed\u{1b}[0m\n");
}

#[test]
fn reasoning_goes_to_standard_error_in_a_pipe() {
    let mut shown = RenderTest::new(PIPE);
    shown
        .chunk(json!({ "type": "reasoning-start", "id": "r" }))
        .chunk(json!({ "type": "reasoning-delta", "id": "r", "delta": "Let me think" }))
        .chunks(&text("s", &["Done"]));
    assert_eq!(shown.streams(), ("Done\n".to_owned(), "Let me think\n".to_owned()));
}

#[test]
fn parallel_calls_each_get_their_lines() {
    let mut shown = RenderTest::new(TERMINAL);
    shown.chunk(call("a", "first", json!({ "n": 1 }))).chunk(call(
        "b",
        "second",
        json!({ "x": "y", "z": true }),
    ));
    shown.later(1500).chunk(
        json!({ "type": "tool-output-error", "toolCallId": "a", "errorText": "no\nsuch\u{1b}[2J file" }),
    );
    shown.later(60_500).chunk(output("b", json!(null)));
    assert_eq!(
        shown.screen(),
        "● first  1\n● second  x: y, z: true\n✗ first  no such[2J file\n✓ second  1 min 2 s\n"
    );
}

#[test]
fn an_approval_erases_the_line_of_its_call_and_time_counts_from_the_answer() {
    let ask = json!({ "type": "tool-approval-request", "approvalId": "apr_1", "toolCallId": "c" });
    let mut shown = RenderTest::new(TERMINAL);
    shown.chunk(call("c", "test-approval", json!({ "note": "send" }))).chunk(ask.clone()).chunk(ask);
    shown
        .later(90_000)
        .chunk(json!({ "type": "tool-approval-response", "approvalId": "apr_1", "approved": true }));
    shown.later(7).chunk(output("c", json!({ "ok": true })));
    assert_eq!(shown.screen(), "✓ test-approval  send  7 ms\n");

    let mut shown = RenderTest::new(PIPE);
    shown.chunk(call("c", "test-approval", json!({})));
    shown.chunk(json!({ "type": "tool-approval-request", "approvalId": "apr_1", "toolCallId": "c" }));
    shown.chunk(json!({ "type": "tool-approval-response", "approvalId": "apr_1", "approved": false, "reason": "not now" }));
    shown.chunk(json!({ "type": "tool-output-denied", "toolCallId": "c" }));
    let info = "● test-approval\n? test-approval  needs approval\n⊘ test-approval  denied: not now\n";
    assert_eq!(shown.streams(), (String::new(), info.to_owned()));
}

#[test]
fn a_plan_is_a_checklist_shown_again_when_it_changes() {
    let mut shown = RenderTest::new(TERMINAL);
    let (first, second) = (plan("in_progress", "pending"), plan("completed", "in_progress"));
    shown.chunks(&[first.clone(), first, second]);
    assert_eq!(
        shown.screen(),
        "Plan  Two steps.\n  ▸ Book the hall\n  ○ Invite everybody\n\
         Plan  Two steps.\n  ✓ Book the hall\n  ▸ Invite everybody\n"
    );
}

#[test]
fn progress_rewrites_one_line_and_never_exceeds_the_window() {
    let mut shown = RenderTest::new(TERMINAL);
    shown.chunk(call("c", "delegate", json!({ "task": "研究".repeat(60) })));
    for count in [1, 30, 90] {
        let message = json!({ "id": "n", "role": "assistant", "parts": [
            { "type": "text", "text": "先看一下资料。".repeat(count) }, { "type": "step-start" },
        ] });
        shown.chunk(progress("c", message));
    }
    shown.later(2340).chunk(output("c", json!("done")));
    let raw = shown.raw();
    assert_eq!(raw.matches('\n').count(), 1, "{raw}");
    for line in raw.trim_end().split("\r\u{1b}[K") {
        assert!(width(line) < 80, "{line}");
    }
    assert!(raw.trim_end().ends_with("…  2.3 s"), "{raw}");
    let (_, info) = {
        let mut shown = RenderTest::new(PIPE);
        shown.chunks(&[
            call("c", "count", json!({})),
            progress("c", json!(1)),
            progress("c", json!(2)),
            output("c", json!(3)),
        ]);
        shown.streams()
    };
    assert_eq!(info, "● count\n✓ count  <1 ms\n", "no flood of progress in a pipe");
}

#[test]
fn long_text_wraps_at_80_columns_on_a_terminal_only() {
    let long = "中文和 English 混排的一句话，".repeat(20);
    let mut shown = RenderTest::new(TERMINAL);
    shown.chunks(&text("s", &[&long]));
    let screen = shown.screen();
    assert!(screen.lines().count() > 5);
    for line in screen.lines() {
        assert!(width(line) <= 80, "{line}");
    }
    let mut shown = RenderTest::new(PIPE);
    shown.chunks(&text("s", &[&long]));
    assert_eq!(shown.streams().0, format!("{long}\n"));
}

#[test]
fn a_replay_prints_only_what_was_missed() {
    for settings in [PIPE, TERMINAL] {
        let mut chunks = text("s0", &["One ", "moment."]);
        chunks.push(call("c", "update-plan", json!({ "mode": "full" })));
        chunks.extend([plan("in_progress", "pending"), plan("completed", "in_progress")]);
        chunks.push(progress("c", json!("half")));
        chunks.push(output("c", json!({ "ok": true })));
        chunks.extend(text("s1", &["All ", "is ", "done."]));
        let mut whole = RenderTest::new(settings);
        let expected = whole.chunks(&chunks).screen();
        for cut in 0..=chunks.len() {
            let mut shown = RenderTest::new(settings);
            shown.chunks(&chunks[..cut]);
            shown.fold = MessageFold::new(MessageId::new("m"));
            shown.chunks(&chunks);
            assert_eq!(shown.screen(), expected, "cut at {cut}");
        }
    }
}

#[test]
fn control_characters_of_an_answer_do_not_reach_a_terminal() {
    let mut shown = RenderTest::new(TERMINAL);
    shown.chunks(&text("s", &["a\u{1b}]0;title\u{7}b\r\n", "c"]));
    assert_eq!(shown.screen(), "a]0;titleb\nc\n");
}

#[test]
fn a_plan_is_printed_above_the_line_of_the_call_that_wrote_it() {
    let mut shown = RenderTest::new(TERMINAL);
    shown.chunk(call("c", "update-plan", json!({ "actionName": "Write", "mode": "full" })));
    shown.chunk(plan("pending", "pending")).later(3).chunk(output("c", json!({ "ok": true })));
    assert_eq!(
        shown.screen(),
        "Plan  Two steps.\n  ○ Book the hall\n  ○ Invite everybody\n✓ update-plan  full  3 ms\n"
    );
}
