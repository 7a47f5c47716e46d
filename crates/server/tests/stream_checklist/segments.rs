//! Items 125–131: text and reasoning keep their order and are opened and closed once.

use super::*;

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
            Chunk::TextEnd { id } | Chunk::ReasoningEnd { id, .. } => {
                assert_eq!(open.take().as_ref(), Some(id))
            }
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
        let mut order = ChunkOrder::default();
        let last = breach.iter().map(|chunk| order.accept(chunk)).last().unwrap();
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
            turn.chunks.iter().position(|chunk| chunk_line(chunk).starts_with(wanted)).unwrap_or(usize::MAX)
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
