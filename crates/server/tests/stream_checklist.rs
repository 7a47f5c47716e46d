//! The acceptance checklist of the stream, items 121–147 and 150: one test for each, named after its item.
//!
//! What holds for every stream (123, 124, 127, 128, 129, 134) is checked by `testkit` in every test that reads one;
//! the tests here drive it on purpose and show that the checks would find a breach.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "stream_checklist/calls.rs"]
mod calls;
#[path = "stream_checklist/ends.rs"]
mod ends;
#[path = "stream_checklist/frames.rs"]
mod frames;
#[path = "stream_checklist/readers.rs"]
mod readers;
#[path = "stream_checklist/segments.rs"]
mod segments;
#[path = "stream_checklist/sequences.rs"]
mod sequences;

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    Chat, Gate, Reply, Scripted, TestApp, Turn, call_in_pieces, calls, calls_many, fails,
    grammar::Grammar,
    lines::{line, lines, merged},
    models::{
        Model, ModelError, ModelEvent, ModelRequest, ModelSettings, ModelStream, RemoteModel, WireFormat,
    },
    protocol::{Chunk, ErrorCode, FinishReason, Part, TextState, ToolState, UiMessage, Usage},
    raw_call, reasons, says, says_in_pieces,
    server::ServerSettings,
    sse::{SseEvent, SseEvents},
    strict,
    tools::{TestTool, ToolGate, endless},
    waits,
};

fn echo(call: &str, text: &str) -> Reply {
    calls(call, "conf_echo", json!({ "text": text }))
}

fn text(text: &str) -> Part {
    Part::Text { text: text.to_owned(), state: Some(TextState::Done) }
}

/// A model of the test's own: these events for each call.
struct Says(Vec<ModelEvent>);

impl Model for Says {
    fn name(&self) -> &str {
        "test/says"
    }

    fn stream(&self, _: ModelRequest) -> ModelStream {
        let events: Vec<_> = self.0.iter().cloned().map(Ok).collect();
        Box::pin(testkit::stream_of(events))
    }
}

/// What each part of a message is, in order.
fn shape(message: &UiMessage) -> Vec<String> {
    let name = |part: &Part| match part {
        Part::Text { text, .. } => format!("text {text}"),
        Part::Reasoning { text, .. } => format!("reasoning {text}"),
        Part::Tool(tool) => format!("tool {}", tool.call),
        Part::StepStart => "step".to_owned(),
        other => format!("{other:?}"),
    };
    message.parts.iter().map(name).filter(|name| name != "step").collect()
}

/// The same user message again: the stored answer, read from the log.
async fn replay(chat: &Chat) -> Turn {
    let tab = chat.caller.chat(&chat.id);
    let mut turn = tab.send(&chat.messages()[0].text()).await;
    turn.end().await;
    turn
}

struct Transcript {
    _app: TestApp,
    chat: Chat,
    chunks: Vec<Chunk<'static>>,
    responses: Vec<Vec<Chunk<'static>>>,
    message: UiMessage,
}

/// The runs that the checklist names, as recorded transcripts.
async fn transcripts() -> Vec<(&'static str, Transcript)> {
    let two = [("a", "conf_echo", json!({ "text": "1" })), ("b", "conf_echo", json!({ "text": "2" }))];
    let asks = calls("c", "conf_approve", json!({ "text": "x" }));
    let scripts = vec![
        ("text only", vec![says_in_pieces(&["Hel", "lo."])]),
        ("text tool text", vec![says("Look: ").then(echo("c", "x")), says("Done.")]),
        ("reasoning text", vec![reasons("Hm.").then(says("Yes."))]),
        ("parallel tools", vec![calls_many(two), says("Done.")]),
        ("tool error", vec![calls("c", "conf_fail", json!({ "text": "x" })), says("Sorry.")]),
        ("error first", vec![fails(ModelError::Unreachable)]),
        ("error mid text", vec![says("Half").then(fails(ModelError::Cut))]),
        ("empty run", vec![Reply::default()]),
        ("refused arguments", vec![raw_call("c", "conf_echo", "{\"text\":1}"), says("Sorry.")]),
        ("approved", vec![says("May I? ").then(asks.clone()), says("Thanks.")]),
        ("denied", vec![asks, says("All right.")]),
    ];
    let mut all = Vec::new();
    for (name, replies) in scripts {
        all.push((name, record(name, replies).await));
    }
    all
}

async fn record(name: &str, replies: Vec<Reply>) -> Transcript {
    let app = TestApp::scripted(replies).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let mut responses = vec![turn.chunks.clone()];
    if name == "approved" || name == "denied" {
        let approval = turn.approvals().await.remove(0);
        turn.respond(&approval, name == "approved", Some("because")).await;
        turn.end().await;
        responses.push(turn.chunks[responses[0].len()..].to_vec());
    }
    let (chat, message) = (app.main.clone(), turn.shown());
    Transcript { chat, chunks: turn.chunks, responses, message, _app: app }
}
