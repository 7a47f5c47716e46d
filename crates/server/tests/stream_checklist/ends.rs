//! Items 136–141 and 143: how a stream ends, and what ends a run.

use super::*;

#[tokio::test]
async fn item_136_the_end_has_the_models_own_reason_and_the_usage() {
    let usage = Usage { input_tokens: 7, output_tokens: 3, total_tokens: 10, ..Usage::default() };
    let cut = echo("c", "x").uses(usage);
    let app = TestApp::scripted([cut, says("And so").uses(usage).finishes(FinishReason::Length)]).await;
    let mut turn = app.send("go").await;
    let Chunk::Finish { finish_reason, message_metadata } = turn.end().await else { panic!("no finish") };
    assert_eq!(finish_reason, FinishReason::Length);
    let metadata = message_metadata.unwrap().to_map();
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
    message-metadata {"errorCode":"model_unavailable","status":"failed","error":"The model's server could not be reached; is it running?"}
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
    message-metadata {"errorCode":"model_unavailable","status":"failed","error":"The model's server broke off in the middle of its answer."}
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
async fn item_143_an_answer_that_was_not_streamed_appears_as_one_text_part() {
    let whole = json!({ "choices": [{ "message": { "role": "assistant", "content": "All at once." },
        "finish_reason": "stop" }], "usage": { "prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5 } });
    let server = testkit::FixedModelServer::start("application/json", &whole.to_string()).await;
    let settings = ModelSettings::new("test/whole", &server.base_url, "whole");
    let model = RemoteModel::new(WireFormat::OpenAi, settings);
    let app = TestApp::builder().model(model.unwrap()).start().await;
    let message = app.send("hello").await.message().await;
    assert_eq!(message.parts, [Part::StepStart, text("All at once.")]);
    assert_eq!(message.metadata.unwrap()["usage"]["totalTokens"], 5);
}
