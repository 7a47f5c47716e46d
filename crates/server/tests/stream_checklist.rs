//! The acceptance checklist of the stream, items 121–147 and 150: one test for each, named after its item.
//!
//! What holds for every stream (123, 124, 127, 128, 129, 134) is checked by `testkit` in every test that reads one;
//! the tests here drive it on purpose and show that the checks would find a breach.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    Chat, Gate, Reply, Scripted, TestApp, Turn, call_in_pieces, calls, calls_many, fails,
    frames::{Frame, Frames},
    grammar::Grammar,
    lines::{line, lines, merged},
    models::{Limits, Model, ModelError, ModelEvent, ModelRequest, ModelStream, OpenAi, OpenAiSettings},
    protocol::{Chunk, ErrorCode, FinishReason, Part, TextState, ToolState, UiMessage, Usage},
    raw_call, reasons, says, says_in_pieces,
    server::ServerSettings,
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

#[tokio::test]
async fn item_121_the_response_has_the_headers_of_an_event_stream() {
    let app = TestApp::scripted([says("Hi.")]).await;
    let turn = app.send("hello").await;
    let header = |name: &str| turn.headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(turn.status, 200);
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache");
    assert_eq!(header("x-accel-buffering"), "no");
    assert_eq!(header("x-vercel-ai-ui-message-stream"), "v1");
}

#[tokio::test]
async fn item_122_frames_are_one_json_object_each_done_is_last_and_silence_is_filled_with_comments() {
    assert!(ServerSettings::default().heartbeat <= Duration::from_secs(30));
    let gate = Gate::new();
    let app = TestApp::builder()
        .replies([waits(&gate).then(says("Line one.\nLine two."))])
        .server(|settings| settings.heartbeat = Duration::from_millis(5))
        .start()
        .await;
    app.main.add_user("hello");
    let body = app.main.body(json!({}), json!({}));
    let mut frames = Frames::of(app.main.open(&body).await);
    let first = frames.next().await.unwrap();
    assert!(matches!(first, Frame::Comment(_)), "a comment opens the stream at once: {first:?}");
    while frames.next().await.unwrap() != Frame::Comment("keep-alive".to_owned()) {}
    gate.open();
    let mut last = None;
    while let Some(frame) = frames.next().await {
        last = Some(frame);
    }
    assert_eq!(last, Some(Frame::Done));
}

#[tokio::test]
async fn item_123_every_chunk_is_valid_for_the_strictest_client() {
    for (name, transcript) in transcripts().await {
        for chunk in &transcript.chunks {
            let json = serde_json::to_value(chunk).unwrap();
            assert_eq!(strict::problem(&json), None, "{name}: {json}");
        }
    }
    for refused in [
        json!({ "type": "text-delta", "id": "s0", "delta": "x", "extra": 1 }),
        json!({ "type": "finish", "finishReason": "unknown" }),
        json!({ "type": "finish", "finishReason": "stop", "messageMetadata": null }),
        json!({ "type": "tool-output-available", "toolCallId": "c" }),
        json!({ "type": "text-start", "id": 1 }),
        json!({ "type": "dance" }),
    ] {
        assert!(strict::problem(&refused).is_some(), "{refused}");
    }
}

#[tokio::test]
async fn item_124_the_first_chunk_is_start_with_the_message_id_and_there_is_one() {
    for (name, transcript) in transcripts().await {
        for response in &transcript.responses {
            let starts = response.iter().filter(|chunk| matches!(chunk, Chunk::Start { .. })).count();
            assert_eq!(starts, 1, "{name}");
            let Chunk::Start { message_id, .. } = &response[0] else { panic!("{name}: {:?}", response[0]) };
            assert_eq!(**message_id, *transcript.message.id.as_str(), "{name}");
        }
    }
}

#[tokio::test]
async fn item_125_text_tool_text_folds_to_three_parts_in_order() {
    let app = TestApp::scripted([says("Let me look. ").then(echo("c", "x")), says("Found it.")]).await;
    let mut turn = app.send("look").await;
    let message = turn.message().await;
    assert_eq!(shape(&message), ["text Let me look. ", "tool c", "text Found it."]);
    assert_eq!(app.main.messages().len(), 2, "one assistant message");
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn item_126_reasoning_text_tool_reasoning_text_keeps_its_order() {
    let first = reasons("Hm. ").then(says("Let me look.")).then(echo("c", "x"));
    let app = TestApp::scripted([first, reasons("Aha.").then(says("Found it."))]).await;
    let message = app.send("look").await.message().await;
    assert_eq!(
        shape(&message),
        ["reasoning Hm. ", "text Let me look.", "tool c", "reasoning Aha.", "text Found it."]
    );
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn item_127_every_segment_has_one_end_before_the_next_start() {
    let mixed = reasons("a").then(says("b")).then(reasons("c")).then(says("d")).then(echo("c1", "x"));
    let app = TestApp::scripted([mixed, says("e")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let mut open = None;
    for chunk in &turn.chunks {
        match chunk {
            Chunk::TextStart { id } | Chunk::ReasoningStart { id } => {
                assert_eq!(open.replace(id.clone()), None, "the one before has ended");
            }
            Chunk::TextDelta { id, .. } | Chunk::ReasoningDelta { id, .. } => {
                assert_eq!(open.as_ref(), Some(id))
            }
            Chunk::TextEnd { id } | Chunk::ReasoningEnd { id } => assert_eq!(open.take().as_ref(), Some(id)),
            _ => {}
        }
    }
    assert_eq!(open, None);
}

#[test]
fn item_127_a_breach_of_the_grammar_is_found() {
    let chunk = |json: Value| serde_json::from_value::<Chunk<'static>>(json).unwrap();
    let start = || chunk(json!({ "type": "start", "messageId": "m" }));
    let begun = |id: &str| chunk(json!({ "type": "text-start", "id": id }));
    let step = || chunk(json!({ "type": "start-step" }));
    for breach in [
        vec![begun("s0")],
        vec![start(), start()],
        vec![start(), begun("s0")],
        vec![start(), step(), begun("s0"), begun("s1")],
        vec![start(), step(), begun("s0"), chunk(json!({ "type": "finish-step" }))],
        vec![start(), step(), chunk(json!({ "type": "text-delta", "id": "s0", "delta": "x" }))],
        vec![
            start(),
            step(),
            chunk(json!({ "type": "tool-output-available", "toolCallId": "c", "output": 1 })),
        ],
        vec![start(), step(), chunk(json!({ "type": "finish", "finishReason": "stop" }))],
        vec![start(), chunk(json!({ "type": "abort" })), step()],
    ] {
        let mut grammar = Grammar::default();
        let last = breach.iter().map(|chunk| grammar.take(chunk)).last().unwrap();
        assert!(last.is_err(), "{breach:?}");
    }
}

#[tokio::test]
async fn item_128_segment_ids_never_repeat_in_a_message() {
    let ask = reasons("a").then(says("b")).then(calls("c1", "conf_approve", json!({ "text": "x" })));
    let app = TestApp::scripted([ask, says("c").then(echo("c2", "y")), reasons("d").then(says("e"))]).await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    turn.end().await;
    let ids: Vec<_> = turn
        .chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::TextStart { id } | Chunk::ReasoningStart { id } => Some(id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["s0", "s1", "s2", "s3", "s4"], "also across the pause");
}

#[tokio::test]
async fn item_129_a_tool_call_closes_the_open_segment_before_its_input() {
    for said in [says("Look: "), reasons("Look: ")] {
        let app = TestApp::scripted([said.then(echo("c", "x")), says("Done.")]).await;
        let mut turn = app.send("go").await;
        turn.end().await;
        let position = |wanted: &str| {
            turn.chunks.iter().position(|chunk| line(chunk).starts_with(wanted)).unwrap_or(usize::MAX)
        };
        let end = position("text-end s0").min(position("reasoning-end s0"));
        assert!(end < position("tool-input-start c"));
        assert!(end < position("tool-input-available c"));
        assert!(position("tool-output-available c") < position("text-start s1"));
    }
}

#[tokio::test]
async fn item_130_the_end_of_a_model_turn_closes_the_segment_and_the_next_text_is_a_new_one() {
    // The call is refused, so the model speaks again although no tool has run.
    let app = TestApp::scripted([says("One.").then(raw_call("c", "no-such-tool", "{}")), says("Two.")]).await;
    let message = app.send("go").await.message().await;
    assert_eq!(shape(&message), ["text One.", "tool c", "text Two."]);
    let app = TestApp::scripted([says("One."), says("Two.")]).await;
    app.send("go").await.end().await;
    let again = app.send("go on").await.message().await;
    assert_eq!(shape(&again), ["text Two."]);
}

#[tokio::test]
async fn item_131_empty_deltas_produce_no_chunk_and_open_nothing() {
    let app =
        TestApp::scripted([says_in_pieces(&["", "Hi", "", "."]).then(reasons("")).then(says(""))]).await;
    insta::assert_snapshot!(app.send("hello").await.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Hi"
    text-delta s0 "."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    let app = TestApp::scripted([says("").then(reasons(""))]).await;
    assert_eq!(app.send("hello").await.message().await.parts, [], "an empty run has an empty message");
}

#[tokio::test]
async fn item_132_call_ids_pair_input_and_output_are_stable_on_replay_and_unique_per_call() {
    let both = [
        ("same", "conf_echo", json!({ "text": "first" })),
        ("same", "conf_echo", json!({ "text": "second" })),
    ];
    let app = TestApp::scripted([calls_many(both), echo("same", "third"), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let pairs = |chunks: &[Chunk<'static>]| {
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        for chunk in chunks {
            match chunk {
                Chunk::ToolInputAvailable { tool_call_id, input, .. } => {
                    inputs.push((tool_call_id.to_string(), input["text"].clone()));
                }
                Chunk::ToolOutputAvailable { tool_call_id, output, .. } => {
                    outputs.push((tool_call_id.to_string(), output["echoed"].clone()));
                }
                _ => {}
            }
        }
        (inputs, outputs)
    };
    let (inputs, outputs) = pairs(&turn.chunks);
    assert_eq!(inputs, outputs, "each output belongs to its input");
    let ids: std::collections::HashSet<_> = inputs.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(
        (ids.len(), inputs[0].0.as_str()),
        (3, "same"),
        "the provider's id is kept where it is unique"
    );
    let again = replay(&app.main).await;
    assert_eq!(pairs(&again.chunks), (inputs, outputs));
}

#[tokio::test]
async fn item_133_a_failure_a_denial_and_a_result_without_output_have_their_own_chunks() {
    let nothing = TestTool::new("nothing", |_, _| async { Ok(Value::Null) });
    let all = calls_many([
        ("f", "conf_fail", json!({ "text": "x" })),
        ("n", "nothing", json!({})),
        ("d", "conf_approve", json!({ "text": "x" })),
    ]);
    let app = TestApp::builder().replies([all, says("Done.")]).tool(nothing.any()).start().await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.deny("no").await;
    turn.end().await;
    let results: Vec<_> = turn
        .chunks
        .iter()
        .filter(|chunk| line(chunk).starts_with("tool-output"))
        .map(|chunk| serde_json::to_value(chunk).unwrap())
        .collect();
    assert_eq!(
        results,
        [
            json!({ "type": "tool-output-error", "toolCallId": "f", "errorText": "conf_fail refuses: x" }),
            json!({ "type": "tool-output-available", "toolCallId": "n", "output": null }),
            json!({ "type": "tool-output-denied", "toolCallId": "d" }),
        ]
    );
}

#[tokio::test]
async fn item_134_a_result_nobody_waits_for_is_dropped_and_a_second_one_too() {
    let app = TestApp::scripted([calls("c", "conf_client", json!({ "question": "?" })), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let mut forged = turn.answers_body();
    let part = json!({ "type": "tool-conf_echo", "toolCallId": "never", "state": "output-available",
        "input": {}, "output": "forged" });
    forged["messages"][1]["parts"].as_array_mut().unwrap().push(part);
    app.main.post(&forged).await.assert_sentence(ErrorCode::NothingToContinue);
    turn.add_output("c", json!("yes")).await;
    let body = turn.answers_body();
    assert_eq!(turn.text().await, "Done.");
    let rows = app.rows().await;
    app.main.post(&body).await.assert_sentence(ErrorCode::NothingToContinue);
    assert_eq!(app.rows().await, rows, "the second result changes nothing");
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn item_135_live_output_is_preliminary_between_input_and_result_and_bounded() {
    let gate = ToolGate::new();
    let held = gate.clone();
    let busy = TestTool::new("busy", move |ctx, _| {
        let gate = held.clone();
        async move {
            ctx.emit.progress(json!("begun")).await;
            ctx.emit.progress(json!("overtaken")).await;
            ctx.emit.progress(json!(format!("{}end", "x".repeat(100_000)))).await;
            gate.pass().await;
            Ok(json!("done"))
        }
    });
    let app = TestApp::builder()
        .replies([calls("c", "busy", json!({})), says("Done.")])
        .tool(busy.any())
        .start()
        .await;
    let mut turn = app.send("go").await;
    let snapshot = |chunk: &Chunk<'static>| match chunk {
        Chunk::ToolOutputAvailable { output, preliminary: true, .. } => output.as_str().map(str::to_owned),
        _ => None,
    };
    let first = turn.until(|chunk| snapshot(chunk).is_some()).await;
    assert_eq!(snapshot(&first).unwrap(), "begun");
    let second = snapshot(&turn.until(|chunk| snapshot(chunk).is_some()).await).unwrap();
    assert!(
        second.len() <= 64 * 1024 && second.ends_with("xend"),
        "the newest end is kept: {}",
        second.len()
    );
    gate.open();
    turn.end().await;
    let kinds: Vec<_> = turn
        .chunks
        .iter()
        .map(line)
        .filter(|line| line.contains(" c"))
        .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
        .filter(|kind| kind != "tool-input-delta" && kind != "start")
        .collect();
    assert_eq!(
        kinds,
        [
            "tool-input-start",
            "tool-input-available",
            "tool-output-preliminary",
            "tool-output-preliminary",
            "tool-output-available"
        ]
    );
    let stored = app.main.history().await.pop().unwrap();
    let state = &stored.tool_parts().next().unwrap().state;
    assert!(
        matches!(state, ToolState::OutputAvailable { output, preliminary: false, .. } if output == "done")
    );
}

#[tokio::test]
async fn item_136_the_end_has_the_models_own_reason_and_the_usage() {
    let usage = Usage { input_tokens: 7, output_tokens: 3, total_tokens: 10, ..Usage::default() };
    let cut = echo("c", "x").uses(usage);
    let app = TestApp::scripted([cut, says("And so").uses(usage).finishes(FinishReason::Length)]).await;
    let mut turn = app.send("go").await;
    let Chunk::Finish { finish_reason, message_metadata } = turn.end().await else { panic!("no finish") };
    assert_eq!(finish_reason, FinishReason::Length);
    let metadata = message_metadata.unwrap();
    assert_eq!(metadata["usage"]["inputTokens"], 14, "of both model calls");
    assert_eq!(metadata["finishReason"], "length");
    assert_eq!(turn.chunks.iter().filter(|chunk| matches!(chunk, Chunk::Finish { .. })).count(), 1);
    assert_eq!(app.main.history().await[1].metadata.as_ref().unwrap()["usage"]["totalTokens"], 20);
}

#[tokio::test]
async fn item_137_a_failure_before_the_first_token_is_start_error_done() {
    let app = TestApp::scripted([fails(ModelError::Unreachable)]).await;
    let mut turn = app.send("hello").await;
    assert_eq!(turn.status, 200);
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    message-metadata {"status":"failed","error":"The model's server could not be reached; is it running?"}
    error "The model's server could not be reached; is it running?"
    "#);
}

#[tokio::test]
async fn item_138_a_failure_in_the_middle_keeps_the_text_closes_the_tools_and_has_no_finish() {
    let half = says("Let me").then(call_in_pieces("c", "conf_echo", &["{\"te"])).then(fails(ModelError::Cut));
    let app = TestApp::scripted([half]).await;
    insta::assert_snapshot!(app.send("go").await.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Let me"
    text-end s0
    tool-input-start c conf_echo
    tool-input-delta c {"te
    tool-input-error c conf_echo "{\"te" "the run failed before this call had a result"
    finish-step
    message-metadata {"status":"failed","error":"The model's server broke off in the middle of its answer."}
    error "The model's server broke off in the middle of its answer."
    "#);
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn item_139_an_impossible_order_of_events_is_an_error_and_ends_the_stream() {
    let delta = ModelEvent::ToolDelta { index: 7, delta: "{}".to_owned() };
    let model = Says(vec![ModelEvent::Text("Hm.".to_owned()), delta, ModelEvent::Text("more".to_owned())]);
    let app = TestApp::builder().model(model).start().await;
    let mut turn = app.send("go").await;
    let end = turn.end().await;
    assert!(
        matches!(&end, Chunk::Error { error_text } if error_text.contains("not a valid answer")),
        "{end:?}"
    );
    assert_eq!(shape(&turn.shown()), ["text Hm."]);
    assert_eq!(app.main.info().await["lastRun"], "failed");
}

#[tokio::test]
async fn item_140_a_client_that_hangs_up_does_not_stop_the_run() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("One. ").then(waits(&gate)).then(says("Two.")), says("Next.")]).await;
    let listening = app.over_http().await;
    app.main.add_user("hello");
    let body = app.main.body(json!({}), json!({}));
    let mut connection = listening.request("POST", "/api/chat", &body.to_string()).await;
    connection.read_until("One. ").await;
    drop(connection);
    while app.get("/health").await.json()["connections"] != 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.main.info().await["status"], "running", "the run goes on without a reader");
    let mut resumed = app.main.resume().await.unwrap();
    gate.open();
    assert_eq!(resumed.text().await, "One. Two.");
    app.main.assert_history_is_what_the_tab_shows().await;
    assert_eq!(app.send("on").await.text().await, "Next.");
}

#[tokio::test]
async fn item_141_a_stop_closes_everything_and_ends_with_abort() {
    let gate = Gate::new();
    let tool_gate = ToolGate::new();
    let slow = endless("slow", &tool_gate);
    let app = TestApp::builder()
        .replies([
            says("Let me").then(waits(&gate)),
            says("Now: ").then(calls("c", "slow", json!({}))),
            says("Fine."),
        ])
        .tool(slow.any())
        .with_auth()
        .start()
        .await;

    let mut in_text = app.send("go").await;
    gate.reached().await;
    let stopped = app.main.stop().await;
    assert_eq!((stopped.status, stopped.json()), (200, json!({ "stopped": true, "status": "cancelled" })));
    assert_eq!(in_text.end().await, Chunk::Abort);
    assert_eq!(shape(&in_text.shown()), ["text Let me"]);
    app.model.idle().await;

    let mut in_tool = app.send("again").await;
    tool_gate.reached().await;
    assert_eq!(app.main.stop().await.status, 200);
    assert_eq!(in_tool.end().await, Chunk::Abort);
    let state = in_tool.shown().tool_parts().next().unwrap().state.clone();
    assert!(
        matches!(&state, ToolState::OutputError { error_text, .. } if error_text.contains("stopped")),
        "{state:?}"
    );

    let info = app.main.info().await;
    assert_eq!((&info["status"], &info["lastRun"]), (&json!("idle"), &json!("cancelled")));
    let second = app.main.stop().await;
    assert_eq!((second.status, second.json()), (200, json!({ "stopped": false, "status": "idle" })));
    app.chat("unknown").stop().await.assert_sentence(ErrorCode::SessionNotFound);
    let other = app.caller_of("other").await;
    other.chat("chat").stop().await.assert_sentence(ErrorCode::SessionNotFound);
    app.main.assert_history_is_what_the_tab_shows().await;
    assert_eq!(app.send("once more").await.text().await, "Fine.");
}

#[tokio::test]
async fn item_142_a_reader_that_comes_back_at_any_point_has_the_same_parts() {
    let gates: Vec<Gate> = (0..6).map(|_| Gate::new()).collect();
    let first = waits(&gates[0])
        .then(reasons("Hm"))
        .then(waits(&gates[1]))
        .then(says("Let me "))
        .then(waits(&gates[2]))
        .then(says("look."))
        .then(call_in_pieces("c", "conf_echo", &["{\"text\":"]))
        .then(waits(&gates[3]));
    let app = TestApp::builder()
        .script(Scripted::new([
            first.then(echo("d", "y")),
            waits(&gates[4]).then(says("Found")).then(waits(&gates[5])).then(says(" it.")),
        ]))
        .start()
        .await;
    let mut whole = app.send("go").await;
    let mut readers: Vec<(Chat, Turn)> = Vec::new();
    for gate in &gates {
        gate.reached().await;
        let tab = app.chat("chat");
        let mut turn = tab.resume().await.unwrap();
        turn.until(|chunk| matches!(chunk, Chunk::Start { .. })).await;
        readers.push((tab, turn));
        gate.open();
    }
    let message = whole.message().await;
    let order = ["reasoning Hm", "text Let me look.", "tool c", "tool d", "text Found it."];
    assert_eq!(shape(&message), order);
    for (_, turn) in &mut readers {
        assert_eq!(turn.message().await, message);
        assert_eq!(lines(&merged(&turn.chunks)), lines(&merged(&whole.chunks)));
    }
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn item_143_an_answer_that_was_not_streamed_appears_as_one_text_part() {
    let whole = json!({ "choices": [{ "message": { "role": "assistant", "content": "All at once." },
        "finish_reason": "stop" }], "usage": { "prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5 } });
    let server = testkit::Played::once("application/json", &whole.to_string()).await;
    let model = OpenAi::new(OpenAiSettings {
        name: "test/whole".to_owned(),
        base_url: server.base_url.clone(),
        api_key: None,
        model: "whole".to_owned(),
        limits: Limits::default(),
    });
    let app = TestApp::builder().model(model.unwrap()).start().await;
    let message = app.send("hello").await.message().await;
    assert_eq!(message.parts, [Part::StepStart, text("All at once.")]);
    assert_eq!(message.metadata.unwrap()["usage"]["totalTokens"], 5);
}

#[tokio::test]
async fn item_144_progress_is_only_in_data_parts() {
    let plan = json!({ "plan": [{ "step": "sharpen the pencil", "status": "in_progress" }] });
    let noisy = TestTool::new("noisy", |ctx, _| async move {
        ctx.emit.transient("progress", json!({ "percent": 40 })).await;
        ctx.emit.data("report", Some("r"), json!({ "percent": 90 })).await;
        Ok(json!("done"))
    });
    let both = calls_many([("p", "update-plan", plan), ("n", "noisy", json!({}))]);
    let app = TestApp::builder().replies([both, says("Done.")]).tool(noisy.any()).start().await;
    let mut turn = app.send("plan it").await;
    let message = turn.message().await;
    assert_eq!(message.text(), "Done.");
    let data: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Data { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(data.len(), 2, "the plan and the report, not the transient progress: {data:?}");
    assert!(data.contains(&"plan") && data.contains(&"report"));
    assert!(turn.chunks.iter().any(|chunk| line(chunk).starts_with("data-progress transient")));
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn item_145_the_same_log_gives_the_same_chunks_on_every_route() {
    for (name, transcript) in transcripts().await {
        let again = replay(&transcript.chat).await;
        let posted = without_pauses(&transcript.responses);
        assert_eq!(lines(&merged(&again.chunks)), lines(&merged(&posted)), "{name}");
    }
}

/// Several responses of one message as one: the pauses between them are not told again.
fn without_pauses(responses: &[Vec<Chunk<'static>>]) -> Vec<Chunk<'static>> {
    let mut all = Vec::new();
    for (number, response) in responses.iter().enumerate() {
        let is_last = number + 1 == responses.len();
        let skip = usize::from(number > 0);
        let keep = response.len() - usize::from(!is_last);
        all.extend_from_slice(&response[skip..keep]);
    }
    all.retain(|chunk| !chunk.is_transient());
    all
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

async fn transcript(name: &str) -> String {
    let all = transcripts().await;
    let (_, transcript) = all.iter().find(|(known, _)| *known == name).unwrap();
    lines(&transcript.chunks)
}

#[tokio::test]
async fn item_146_text_only_has_this_exact_sequence() {
    insta::assert_snapshot!(transcript("text only").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Hel"
    text-delta s0 "lo."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
}

#[tokio::test]
async fn item_146_text_tool_text_has_this_exact_sequence() {
    insta::assert_snapshot!(transcript("text tool text").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Look: "
    text-end s0
    tool-input-start c conf_echo
    tool-input-delta c {"text":"x"}
    tool-input-available c conf_echo {"text":"x"}
    tool-output-available c {"echoed":"x"}
    finish-step
    start-step
    text-start s1
    text-delta s1 "Done."
    text-end s1
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
}

#[tokio::test]
async fn item_146_reasoning_text_has_this_exact_sequence() {
    insta::assert_snapshot!(transcript("reasoning text").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    reasoning-start s0
    reasoning-delta s0 "Hm."
    reasoning-end s0
    text-start s1
    text-delta s1 "Yes."
    text-end s1
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
}

#[tokio::test]
async fn item_146_parallel_tools_have_this_exact_sequence() {
    insta::assert_snapshot!(transcript("parallel tools").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    tool-input-start a conf_echo
    tool-input-delta a {"text":"1"}
    tool-input-start b conf_echo
    tool-input-delta b {"text":"2"}
    tool-input-available a conf_echo {"text":"1"}
    tool-input-available b conf_echo {"text":"2"}
    tool-output-available a {"echoed":"1"}
    tool-output-available b {"echoed":"2"}
    finish-step
    start-step
    text-start s0
    text-delta s0 "Done."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
}

#[tokio::test]
async fn item_146_a_tool_error_has_this_exact_sequence() {
    insta::assert_snapshot!(transcript("tool error").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    tool-input-start c conf_fail
    tool-input-delta c {"text":"x"}
    tool-input-available c conf_fail {"text":"x"}
    tool-output-error c "conf_fail refuses: x"
    finish-step
    start-step
    text-start s0
    text-delta s0 "Sorry."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
}

#[tokio::test]
async fn item_146_an_error_first_has_this_exact_sequence() {
    insta::assert_snapshot!(transcript("error first").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    message-metadata {"status":"failed","error":"The model's server could not be reached; is it running?"}
    error "The model's server could not be reached; is it running?"
    "#);
}

#[tokio::test]
async fn item_146_an_error_mid_text_has_this_exact_sequence() {
    insta::assert_snapshot!(transcript("error mid text").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Half"
    text-end s0
    finish-step
    message-metadata {"status":"failed","error":"The model's server broke off in the middle of its answer."}
    error "The model's server broke off in the middle of its answer."
    "#);
}

#[tokio::test]
async fn item_146_an_empty_run_has_this_exact_sequence() {
    insta::assert_snapshot!(transcript("empty run").await, @r#"
    start msg_1 agent,agentName,model,createdAt
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
}

#[tokio::test]
async fn item_146_a_cancel_mid_tool_has_this_exact_sequence() {
    let gate = ToolGate::new();
    let slow = endless("slow", &gate);
    let replies = [says("Now: ").then(calls("c", "slow", json!({})))];
    let app = TestApp::builder().replies(replies).tool(slow.any()).start().await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    assert_eq!(app.main.stop().await.status, 200);
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Now: "
    text-end s0
    tool-input-start c slow
    tool-input-delta c {}
    tool-input-available c slow {}
    tool-output-error c "stopped before this call had a result"
    finish-step
    message-metadata {"status":"cancelled"}
    abort
    "#);
}

#[tokio::test]
async fn item_146_a_model_that_is_done_twice_is_done_the_first_time() {
    let model = Says(vec![
        ModelEvent::Text("Hi.".to_owned()),
        ModelEvent::Finished(FinishReason::Stop),
        ModelEvent::Text("Late.".to_owned()),
        ModelEvent::Finished(FinishReason::Length),
    ]);
    let app = TestApp::builder().model(model).start().await;
    insta::assert_snapshot!(app.send("go").await.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    text-start s0
    text-delta s0 "Hi."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
}

#[tokio::test]
async fn item_147_the_clients_fold_takes_every_transcript_and_agrees_with_the_history() {
    for (name, transcript) in transcripts().await {
        let kept = transcript.chat.history().await.pop().unwrap();
        assert_eq!(transcript.message, kept, "{name}");
        transcript.chat.assert_history_is_what_the_tab_shows().await;
    }
}

#[tokio::test]
async fn item_150_a_thousand_deltas_reach_a_slow_reader_in_order_and_do_not_hold_the_run() {
    const SIZE: usize = 4000;
    let piece = |number: usize| format!("<{number:04}>{}", "x".repeat(SIZE));
    let pieces = |from: usize, to: usize| {
        (from..to).fold(Reply::default(), |reply, number| reply.then(says(&piece(number))))
    };
    let app = TestApp::scripted([pieces(0, 500).then(echo("c", "x")), pieces(500, 1000)]).await;
    let listening = app.over_http().await;
    app.main.add_user("talk");
    let body = app.main.body(json!({}), json!({}));
    let mut connection = listening.request("POST", "/api/chat", &body.to_string()).await;
    connection.read_until("\"start\"").await;
    // Nobody reads, and the run ends all the same.
    app.model.idle().await;
    while app.main.info().await["status"] != "idle" {
        tokio::task::yield_now().await;
    }
    let received = connection.read_all().await;
    let numbers: Vec<usize> =
        received.split('<').skip(1).filter_map(|rest| rest.get(..4)?.parse().ok()).collect();
    assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
    let message = app.main.history().await.pop().unwrap();
    let texts: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    let expected = |from, to| (from..to).map(piece).collect::<String>();
    assert!(texts == [expected(0, 500), expected(500, 1000)], "two segments, each with its own deltas");
    let last_of_first = received.find("<0499>").unwrap();
    let first_of_second = received.find("<0500>").unwrap();
    assert!(received[last_of_first..first_of_second].contains("tool-output-available"));
}
