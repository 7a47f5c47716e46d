//! Runs over `POST /message`: accepted once, one at a time, aborted with every effect in order, told to the end.

use serde_json::json;
use testkit::{
    Gate, TestApp, calls, fails,
    models::ModelError,
    reasons, says, says_in_pieces,
    test_tools::{ToolGate, endless},
    waits,
};

use crate::{asks, scripted, started};

#[tokio::test]
async fn a_run_is_told_from_its_message_to_its_one_complete() {
    let app = scripted([
        reasons("Let me see.").then(says("Hello ")).then(calls("c", "conf_echo", json!({ "text": "x" }))),
        says("there."),
    ])
    .await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    let sent = json!({ "type": "chat", "content": "hi", "requestId": "r1" });
    let reply = client.message(sent).await;
    client.until_kind("complete").await;
    assert_eq!(reply["sessionId"], json!(session));
    let told: Vec<_> = client.seen[2..].iter().filter(|event| !event.is_growing()).collect();
    let kinds: Vec<_> = told.iter().map(|event| (event.kind(), event.text("role"))).collect();
    let wanted = [
        ("message", "system"),
        ("message", "user"),
        ("thinking", ""),
        ("message", "assistant"),
        ("tool_call", ""),
        ("usage", ""),
        ("tool_result", ""),
        ("message", "assistant"),
        ("usage", ""),
        ("complete", ""),
    ];
    assert_eq!(kinds, wanted);
    assert!(
        told.iter().all(|event| event.run() == reply["runId"].as_str() && event.session() == Some(&session))
    );
    assert_eq!(told[1].data()["origin"], "events");
    assert_eq!((told[0].request_id(), told[1].request_id()), ("r1", "r1"));
    assert_eq!((told[3].text("content"), told[7].text("content")), ("Hello ", "there."));
    assert_eq!((&told[3].data()["segment"], &told[7].data()["segment"]), (&json!(0), &json!(1)));
    assert_eq!(told[4].data()["function"]["name"], "conf_echo");
    assert_eq!(told[6].text("status"), "success");
    assert_eq!((told[9].text("status"), &told[9].data()["cancelled"]), ("finished", &json!(false)));
    assert_eq!(client.rest().await, [], "nothing follows the complete");
}

#[tokio::test]
async fn a_busy_session_takes_no_second_message_and_no_rollback() {
    let gate = Gate::new();
    let app = scripted([waits(&gate).then(says("late"))]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.chat("go").await;
    gate.reached().await;
    for body in [
        json!({ "type": "chat", "content": "more" }),
        json!({ "type": "rollback", "rollback": { "messageIndex": 0, "rollbackFiles": false } }),
    ] {
        let refused = client.send(body).await;
        assert_eq!(
            (refused.status, &refused.json()["errorCode"]),
            (409, &json!("session_busy")),
            "{refused:?}"
        );
    }
    gate.open();
    client.until_kind("complete").await;
    assert_eq!(client.of_kind("complete").len(), 1);
    assert_eq!(app.model.requests().len(), 1);
}

#[tokio::test]
async fn a_repeated_request_starts_no_second_run() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    let body = json!({ "type": "chat", "content": "hi", "requestId": "same" });
    let first = client.message(body.clone()).await;
    client.until_kind("complete").await;
    assert_eq!(client.message(body).await, first);
    assert_eq!(client.rest().await, []);
    assert_eq!(app.model.requests().len(), 1);
    client.ask("hi").await;
    assert_eq!(app.model.requests().len(), 2, "the same words are another message");
}

#[tokio::test]
async fn an_abort_keeps_the_text_settles_the_calls_and_ends_the_run_before_its_reply() {
    let gate = Gate::new();
    let app = scripted([says_in_pieces(&["Half a ", "sentence"]).then(waits(&gate)), says("new")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.chat("go").await;
    gate.reached().await;
    client.until(|event| event.text("content") == "Half a sentence").await;
    assert_eq!(client.abort().await, json!({ "success": true, "aborted": true, "sessionId": session }));
    let accepted = client.send(json!({ "type": "chat", "content": "next" })).await;
    assert_eq!(accepted.status, 200, "not busy after the reply: {accepted:?}");
    let complete = client.until_kind("complete").await;
    assert_eq!((complete.text("status"), &complete.data()["cancelled"]), ("cancelled", &json!(true)));
    client.until_kind("complete").await;
    let items = client.history(&session).await;
    assert_eq!((&items[1]["content"], &items[1]["status"]), (&json!("Half a sentence"), &json!("cancelled")));
    let idle = client.abort().await;
    assert_eq!(idle["aborted"], false);
    assert!(client.rest().await.iter().all(|event| event.kind() == "todos"), "an idle abort is no event");
}

#[tokio::test]
async fn an_abort_settles_a_tool_that_works() {
    let gate = ToolGate::new();
    let builder =
        TestApp::builder().replies([calls("c", "work", json!({}))]).tool(endless("work", &gate).any());
    let app = started(builder).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.chat("go").await;
    gate.reached().await;
    client.abort().await;
    let result = client.until_kind("tool_result").await;
    assert_eq!((result.text("toolCallId"), result.text("status")), ("c", "error"));
    assert_eq!(client.until_kind("complete").await.text("status"), "cancelled");
}

#[tokio::test]
async fn a_failed_run_has_one_error_and_one_complete() {
    let broken = ModelError::Refused { status: 400, message: "no".to_owned() };
    let app = scripted([says("Well, ").then(fails(broken))]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.chat("go").await;
    let complete = client.until_kind("complete").await;
    assert_eq!(complete.text("status"), "failed");
    let errors = client.of_kind("error");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].text("errorCode"), "run_failed");
    assert!(errors[0].run().is_some());
}

#[tokio::test]
async fn the_four_answers_to_a_confirmation() {
    for (response, status, result, goes_on) in [
        (json!("approve"), "finished", "success", true),
        (json!({ "type": "reject_with_reply", "reason": "not now" }), "finished", "error", true),
        (json!("reject"), "rejected", "error", false),
        (json!("approve_always"), "finished", "success", true),
    ] {
        let app = scripted([asks("c"), says("Done.")]).await;
        let mut client = app.caller.events().await;
        client.create().await;
        client.chat("go").await;
        let asked = client.until_kind("tool_confirmation_request").await;
        assert_eq!(asked.data()["isSensitive"], false);
        assert_eq!(client.confirm(asked.request_id(), response.clone()).await.status, 200);
        let resolved = client.until_kind("interaction_resolved").await;
        assert_eq!((resolved.text("outcome"), resolved.text("by")), ("answered", "events"), "{response}");
        assert_eq!(client.until_kind("tool_result").await.text("status"), result, "{response}");
        assert_eq!(client.until_kind("complete").await.text("status"), status, "{response}");
        assert_eq!(app.model.requests().len(), if goes_on { 2 } else { 1 }, "{response}");
        let late = client.confirm(asked.request_id(), json!("approve")).await;
        assert_eq!((late.status, &late.json()["errorCode"]), (409, &json!("interaction_resolved")));
    }
}

#[tokio::test]
async fn any_other_answer_leaves_the_question_waiting() {
    let app = scripted([asks("c"), says("Done.")]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.chat("go").await;
    let asked = client.until_kind("tool_confirmation_request").await;
    for wrong in [
        json!("yes"),
        json!(""),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!({ "type": "approve" }),
        json!({ "type": "reject_with_reply" }),
        json!({ "type": "reject_with_reply", "reason": 7 }),
        json!("Approve"),
    ] {
        let refused = client.confirm(asked.request_id(), wrong.clone()).await;
        assert_eq!(
            (refused.status, &refused.json()["errorCode"]),
            (400, &json!("invalid_response")),
            "{wrong}"
        );
    }
    let body = json!({ "type": "user_question_response", "requestId": asked.request_id(), "response": { "cancelled": true } });
    assert_eq!(client.send(body).await.json()["errorCode"], "interaction_not_found", "of the other kind");
    assert_eq!(client.confirm("apr_nobody", json!("approve")).await.status, 404);
    assert_eq!(client.rest().await, []);
    client.confirm(asked.request_id(), json!("approve")).await;
    assert_eq!(client.until_kind("complete").await.text("status"), "finished");
}

#[tokio::test]
async fn a_deleted_session_is_aborted_first_and_then_leaves() {
    let gate = Gate::new();
    let app = scripted([waits(&gate)]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.chat("go").await;
    gate.reached().await;
    let deleted = app.caller.delete(&format!("/session/{session}")).await.json();
    assert_eq!(deleted, json!({ "success": true, "deleted": true }));
    let left = client.until_kind("session_unbound").await;
    assert_eq!(left.text("reason"), "deleted");
    let kinds = client.kinds();
    assert_eq!(kinds[kinds.len() - 2..], ["complete", "session_unbound"]);
    assert_eq!(client.switch("debugger").await["errorCode"], "session_not_found");
    let again = app.caller.delete(&format!("/session/{session}")).await.json();
    assert_eq!(again["deleted"], false);
}
