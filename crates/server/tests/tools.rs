//! Tools in a run: order, failures, limits, what they send, and what a session stores of them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{
    Reply, Scripted, TestApp, call_in_pieces, calls, calls_many,
    models::{ModelMessage, ModelRequest, UserContent},
    protocol::{Chunk, FinishReason, ToolState},
    raw_call, says,
    test_tools::{TestTool, ToolGate, gated},
    tools::{Limits, ToolError},
};

/// The tool results in what the model was sent last.
fn results(app: &TestApp) -> Vec<(String, String, bool)> {
    results_in(app.model.requests().last().unwrap())
}

fn results_in(request: &ModelRequest) -> Vec<(String, String, bool)> {
    let results = request.messages.iter().filter_map(|message| match &**message {
        ModelMessage::Tool { call, text, is_error, .. } => Some((call.to_string(), text.clone(), *is_error)),
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn parallel_calls_are_settled_in_call_order_whatever_finishes_first() {
    let (one, two) = (ToolGate::new(), ToolGate::new());
    let both = calls_many([("a", "one", json!({ "n": 1 })), ("b", "two", json!({ "n": 2 }))]);
    let app = TestApp::builder()
        .replies([both, says("Done.")])
        .tool(gated("one", &one).any())
        .tool(gated("two", &two).any())
        .start()
        .await;
    let mut turn = app.send("go").await;
    one.reached().await;
    two.reached().await;
    two.open();
    one.open();
    turn.end().await;
    let order: Vec<_> = turn
        .chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::ToolOutputAvailable { tool_call_id, .. } => Some(tool_call_id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["a", "b"]);
    assert_eq!(
        results(&app),
        [("a".into(), "{\"n\":1}".into(), false), ("b".into(), "{\"n\":2}".into(), false)]
    );
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn a_failing_tool_is_told_to_the_model_and_the_run_goes_on() {
    let app = TestApp::scripted([calls("c", "conf_fail", json!({ "text": "x" })), says("Sorry.")]).await;
    assert_eq!(app.send("go").await.text().await, "Sorry.");
    assert_eq!(results(&app), [("c".into(), "conf_fail refuses: x".into(), true)]);
}

#[tokio::test]
async fn one_failure_does_not_lose_the_others() {
    let panics = TestTool::new("panics", |_, _| async { panic!("in the tool") });
    let defect = TestTool::new("defect", |_, _| async { Err(ToolError::Fatal("secret detail".into())) });
    let all = calls_many([
        ("p", "panics", json!({})),
        ("e", "conf_echo", json!({ "text": "x" })),
        ("d", "defect", json!({})),
        ("f", "conf_fail", json!({ "text": "y" })),
    ]);
    let app =
        TestApp::builder().replies([all, says("Done.")]).tool(panics.any()).tool(defect.any()).start().await;
    let mut turn = app.send("go").await;
    assert_eq!(turn.text().await, "Done.");
    let told = results(&app);
    assert_eq!(told.iter().map(|(_, _, failed)| *failed).collect::<Vec<_>>(), [true, false, true, true]);
    let all = json!(turn.shown()).to_string();
    assert!(!all.contains("secret detail") && !all.contains("in the tool"), "{all}");
}

#[tokio::test]
async fn arguments_the_schema_refuses_go_back_to_the_model_by_field() {
    let app =
        TestApp::scripted([raw_call("c", "conf_echo", "{\"text\":1}"), says("What?"), says("Sorry.")]).await;
    let mut turn = app.send("go").await;
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    tool-input-start c conf_echo
    tool-input-delta c {"text":1}
    tool-input-error c conf_echo {"text":1} "field `text`: expected a string, got integer `1`"
    finish-step
    start-step
    text-start s0
    text-delta s0 "Sorry."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    let (_, text, is_error) = results(&app).remove(0);
    assert!(is_error && text.contains("text"), "{text}");
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn arguments_with_a_plain_intent_are_repaired() {
    for broken in ["{\"text\": \"x\",}", "{text: 'x'}", "```json\n{\"text\":\"x\"}\n```"] {
        let app = TestApp::scripted([raw_call("c", "conf_echo", broken), says("Done.")]).await;
        app.send("go").await.end().await;
        assert_eq!(results(&app), [("c".into(), "{\"echoed\":\"x\"}".into(), false)], "{broken}");
    }
}

#[tokio::test]
async fn arguments_that_broke_off_are_not_guessed() {
    let app =
        TestApp::scripted([raw_call("c", "conf_echo", "{\"text\": \"x"), says("What?"), says("Sorry.")])
            .await;
    assert_eq!(app.send("go").await.text().await, "Sorry.");
    let (_, text, is_error) = results(&app).remove(0);
    assert!(is_error && text.contains("send the whole call again"), "{text}");
}

#[tokio::test]
async fn arguments_that_are_no_json_go_back_to_the_model() {
    let app = TestApp::scripted([raw_call("c", "conf_echo", "%%%"), says("What?"), says("Sorry.")]).await;
    let message = app.send("go").await.message().await;
    let state = &message.tool_parts().next().unwrap().state;
    assert!(
        matches!(state, ToolState::OutputError { input: Some(Value::String(raw)), .. } if raw == "%%%"),
        "{state:?}"
    );
    assert!(results(&app)[0].2);
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_names_there_are() {
    let app = TestApp::scripted([raw_call("c", "made-up", "{}"), says("Sorry.")]).await;
    assert_eq!(app.send("go").await.text().await, "Sorry.");
    assert!(results(&app)[0].1.contains("time-now"), "{:?}", results(&app));
}

#[tokio::test]
async fn a_good_call_beside_a_bad_one_still_runs() {
    let mixed = raw_call("bad", "conf_echo", "{}").then(calls("good", "conf_echo", json!({ "text": "x" })));
    let app = TestApp::scripted([mixed, says("What?"), says("Done.")]).await;
    assert_eq!(app.send("go").await.text().await, "Done.");
    let told = results(&app);
    assert_eq!((told[0].0.as_str(), told[0].2, told[1].0.as_str(), told[1].2), ("bad", true, "good", false));
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn input_is_streamed_as_it_comes() {
    let reply = call_in_pieces("c", "conf_echo", &["{\"te", "xt\":", "\"x\"}"]);
    let app = TestApp::scripted([reply, says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let pieces: Vec<_> = turn
        .chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::ToolInputDelta { input_text_delta, .. } => Some(input_text_delta.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(pieces, ["{\"te", "xt\":", "\"x\"}"]);
}

#[tokio::test]
async fn a_tool_that_takes_too_long_is_stopped_and_told() {
    let never = TestTool::new("never", |ctx, _| async move {
        ctx.cancel.cancelled().await;
        Err(ToolError::Cancelled)
    });
    let limits = Limits { time: Duration::from_millis(20), ..Limits::default() };
    let app = TestApp::builder()
        .replies([calls("c", "never", json!({})), says("Too slow.")])
        .tool(never.any())
        .tool_limits(limits)
        .start()
        .await;
    assert_eq!(app.send("go").await.text().await, "Too slow.");
    assert!(results(&app)[0].1.contains("time limit"), "{:?}", results(&app));
}

#[tokio::test]
async fn long_output_is_cut_to_a_preview() {
    let long = TestTool::new("long", |_, _| async { Ok(json!("x".repeat(200_000))) });
    let app = TestApp::builder()
        .replies([calls("c", "long", json!({})), says("Done.")])
        .tool(long.any())
        .start()
        .await;
    let mut turn = app.send("go").await;
    assert_eq!(turn.text().await, "Done.");
    let told = &results(&app)[0].1;
    assert!(told.chars().count() <= 50_000 && told.contains("truncated"), "{} bytes", told.len());
}

#[tokio::test]
async fn a_plan_survives_across_requests_and_restarts() {
    let full = json!({ "plan": [{ "step": "sow", "status": "in_progress" }, { "step": "reap", "status": "pending" }] });
    let done = |index: u32| json!({ "mode": "patch", "plan": [{ "index": index, "status": "completed" }] });
    let app = TestApp::scripted([
        calls("a", "update-plan", full),
        says("Planned."),
        calls("b", "update-plan", done(1)),
        says("Sown."),
    ])
    .await;
    app.send("plan").await.end().await;
    app.send("next").await.end().await;
    let app = app.restart([calls("c", "update-plan", done(2)), says("Reaped.")]).await;
    app.main.reload().await;
    let body = json!({ "id": "chat", "messages": [testkit::user("last", "next")] });
    assert_eq!(app.main.post(&body).await.status, 200);
    let plan = results(&app).pop().unwrap().1;
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let steps = json!([{ "step": "sow", "status": "completed" }, { "step": "reap", "status": "completed" }]);
    assert_eq!(plan["plan"], steps);
}

#[tokio::test]
async fn two_patches_of_the_plan_in_one_step_are_both_kept() {
    let full =
        json!({ "plan": [{ "step": "a", "status": "pending" }, { "step": "b", "status": "pending" }] });
    let patch = |index: u32| json!({ "mode": "patch", "plan": [{ "index": index, "status": "completed" }] });
    let both = calls_many([("p", "update-plan", patch(1)), ("q", "update-plan", patch(2))]);
    let app = TestApp::scripted([calls("f", "update-plan", full), both, says("Done.")]).await;
    let message = app.send("go").await.message().await;
    let kept = message.parts.iter().rev().find_map(|part| match part {
        testkit::protocol::Part::Data { name, data, .. } if name == "plan" => Some(data.clone()),
        _ => None,
    });
    let steps = kept.unwrap()["steps"].clone();
    assert_eq!(steps[0]["status"], "completed", "neither patch is lost: {steps}");
    assert_eq!(steps[1]["status"], "completed", "neither patch is lost: {steps}");
}

#[tokio::test]
async fn the_persons_time_zone_reaches_the_tool() {
    let app = TestApp::scripted([calls("c", "time-now", json!({})), says("Late.")]).await;
    app.main.send_with("time?", json!({ "timezone": "Asia/Shanghai" })).await.end().await;
    let now: Value = serde_json::from_str(&results(&app)[0].1).unwrap();
    assert_eq!((&now["timeZone"], &now["hour"]), (&json!("Asia/Shanghai"), &json!(18)));
}

fn is_last_step(request: &ModelRequest) -> bool {
    let last = request.messages.last().map(|message| &**message);
    matches!(last, Some(ModelMessage::User { content }) if matches!(&content[..], [UserContent::Facts(text)] if text.contains("limit")))
}

#[tokio::test]
async fn a_model_that_calls_on_at_the_step_limit_is_stopped() {
    let script = Scripted::choosing(|request| {
        let count = results_in(request).len();
        calls(&format!("c{count}"), "conf_echo", json!({ "text": "again" }))
    });
    let app = TestApp::builder().script(script).start().await;
    let message = app.send("loop").await.message().await;
    assert_eq!(app.model.requests().len(), 51);
    assert!(message.text().starts_with("I stopped here: the limit of 50 steps"), "{}", message.text());
    let made =
        message.tool_parts().filter(|part| matches!(part.state, ToolState::OutputAvailable { .. })).count();
    assert_eq!((made, message.tool_parts().count()), (50, 51), "the last call was not made");
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn at_the_step_limit_the_model_speaks_once_more_without_tools() {
    let script = Scripted::choosing(|request| {
        let count = results_in(request).len();
        if is_last_step(request) {
            says("That was enough.")
        } else {
            calls(&format!("c{count}"), "conf_echo", json!({ "text": "again" }))
        }
    });
    let app = TestApp::builder().script(script).start().await;
    let mut turn = app.send("loop").await;
    let end = turn.end().await;
    assert!(matches!(end, Chunk::Finish { finish_reason: FinishReason::Stop, .. }), "{end:?}");
    assert_eq!(turn.shown().text(), "That was enough.");
    assert_eq!(app.model.requests().len(), 51);
}

#[tokio::test]
async fn a_call_without_an_id_gets_one() {
    let reply: Reply = raw_call("", "conf_echo", "{\"text\":\"x\"}");
    let app = TestApp::scripted([reply, says("Done.")]).await;
    let message = app.send("go").await.message().await;
    assert_eq!(message.tool_parts().next().unwrap().call.as_str(), "call_1");
}
