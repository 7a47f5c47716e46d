//! Item 146: exact sequences with injected ids.

use super::*;

async fn transcript(name: &str) -> String {
    let all = transcripts().await;
    let (_, transcript) = all.iter().find(|(known, _)| *known == name).unwrap();
    chunk_lines(&transcript.chunks)
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
    message-metadata {"errorCode":"model_unavailable","status":"failed","error":"The model's server could not be reached; is it running?"}
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
    message-metadata {"errorCode":"model_unavailable","status":"failed","error":"The model's server broke off in the middle of its answer."}
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
