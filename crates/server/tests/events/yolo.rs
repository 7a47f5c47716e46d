//! `yoloMode`: this run asks less, and only this run; sensitive calls still ask, and a server may forbid it.

use serde_json::json;
use testkit::{TestApp, calls, policy::Need, says, test_tools::TestTool};

use crate::{asks, scripted, started};

#[tokio::test]
async fn a_run_in_yolo_mode_does_not_ask_and_the_next_one_does() {
    let app = scripted([asks("a"), says("one"), asks("b"), says("two")]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.message(json!({ "type": "chat", "content": "go", "yoloMode": true })).await;
    assert_eq!(client.until_kind("complete").await.text("status"), "finished");
    assert!(client.of_kind("tool_confirmation_request").is_empty());
    assert_eq!(client.of_kind("tool_result")[0].text("status"), "success");
    client.message(json!({ "type": "chat", "content": "again", "yoloMode": false })).await;
    client.until_kind("tool_confirmation_request").await;
}

#[tokio::test]
async fn sensitive_calls_still_ask_and_denied_ones_stay_denied() {
    let sensitive = TestTool::new("wipe", |_, _| async { Ok(json!("gone")) })
        .that_needs(|_| Need::Approval { why: "It deletes everything.".to_owned(), always: false });
    let never = TestTool::new("never", |_, _| async { Ok(json!("done")) })
        .that_needs(|_| Need::Refused { why: "It is not allowed here.".to_owned() });
    let replies = [calls("n", "never", json!({})), calls("w", "wipe", json!({})), says("ok")];
    let app = started(TestApp::builder().replies(replies).tool(sensitive.any()).tool(never.any())).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.message(json!({ "type": "chat", "content": "go", "yoloMode": true })).await;
    let asked = client.until_kind("tool_confirmation_request").await;
    assert_eq!(asked.data()["isSensitive"], true);
    let offered: Vec<&str> = asked.data()["availableOptions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["value"].as_str().unwrap())
        .collect();
    assert_eq!(offered, ["approve", "reject_with_reply", "reject"], "no approve_always");
    assert_eq!(client.of_kind("tool_result")[0].text("toolCallId"), "n");
    assert_eq!(client.of_kind("tool_result")[0].text("status"), "error");
    let refused = client.confirm(asked.request_id(), json!("approve_always")).await;
    assert_eq!((refused.status, &refused.json()["errorCode"]), (400, &json!("invalid_response")));
    assert_eq!((sensitive.runs(), never.runs()), (0, 0));
    client.confirm(asked.request_id(), json!("approve")).await;
    client.until_kind("complete").await;
    assert_eq!((sensitive.runs(), never.runs()), (1, 0));
}

#[tokio::test]
async fn a_server_may_forbid_it() {
    let app =
        started(TestApp::builder().server(|server| server.allow_yolo = false).replies([says("one")])).await;
    let mut client = app.caller.events().await;
    client.create().await;
    let refused = client.send(json!({ "type": "chat", "content": "go", "yoloMode": true })).await;
    assert_eq!((refused.status, &refused.json()["errorCode"]), (403, &json!("yolo_forbidden")));
    assert!(app.model.requests().is_empty());
    client.message(json!({ "type": "chat", "content": "go", "yoloMode": false })).await;
    assert_eq!(client.until_kind("complete").await.text("status"), "finished");
}
