//! The rules of section 4 of the requirement.

use serde_json::json;
use testkit::{Gate, calls, says, waits};

use crate::{ALL, asks, define, ids, scripted, tools_of};

#[tokio::test]
async fn seed_4_1_a_switch_names_its_session_or_means_the_connections_own() {
    let app = scripted([]).await;
    let mut client = app.caller.events().await;
    let (first, second) = (client.create().await, client.create().await);
    let named = json!({ "type": "switch_agent", "agentId": "debugger", "sessionId": first });
    assert_eq!(client.message(named).await["sessionId"], json!(first));
    assert_eq!(client.until_kind("agent_switched").await.session(), Some(first.as_str()));
    assert_eq!(client.switch("operator").await["sessionId"], json!(second), "the one bound last");
    assert_eq!(client.load(&first).await["currentAgentId"], "debugger");
    assert_eq!(client.load(&second).await["currentAgentId"], "operator");
}

#[tokio::test]
async fn seed_4_1_without_a_session_the_switch_is_refused() {
    let app = scripted([]).await;
    let mut client = app.caller.events().await;
    for body in [
        json!({ "type": "switch_agent", "agentId": "debugger" }),
        json!({ "type": "switch_agent", "agentId": "debugger", "sessionId": "ses_nobody" }),
        json!({ "type": "switch_agent", "agentId": "debugger", "sessionId": "../../etc/passwd" }),
    ] {
        assert_eq!(client.message(body).await["errorCode"], "session_not_found");
        let error = client.until_kind("error").await;
        assert_eq!(error.text("errorCode"), "session_not_found");
        assert_eq!(ids(&error.data()["availableAgents"]), ALL);
        assert_eq!((error.session(), error.seq()), (None, None));
    }
}

#[tokio::test]
async fn seed_4_2_the_first_failing_check_decides() {
    let gate = Gate::new();
    let app = scripted([waits(&gate).then(says("late"))]).await;
    let mut client = app.caller.events().await;
    let code = async |agent: &str, session: &str| {
        let body = json!({ "type": "switch_agent", "agentId": agent, "sessionId": session });
        client.message(body).await["errorCode"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(code("", "ses_nobody").await, "invalid_agent_id");
    assert_eq!(code("A@", "ses_nobody").await, "invalid_agent_id_format");
    assert_eq!(code("hacker", "ses_nobody").await, "session_not_found");
    let session = client.create().await;
    client.chat("go").await;
    gate.reached().await;
    assert_eq!(code("", &session).await, "invalid_agent_id");
    assert_eq!(code("A@", &session).await, "invalid_agent_id_format");
    assert_eq!(code("hacker", &session).await, "agent_not_found", "known before the work is aborted");
    assert_eq!(code("debugger", &session).await, "agent_busy");
    assert_eq!(code("general", &session).await, "agent_busy", "also to the same agent");
    gate.open();
    client.until_kind("complete").await;
    let errors = client.of_kind("error").len();
    assert_eq!(errors, 8, "one event for each refusal");
}

#[tokio::test]
async fn seed_4_2_a_switch_to_the_same_agent_succeeds() {
    let app = scripted([]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    let body = json!({ "type": "switch_agent", "agentId": "general", "requestId": "r1" });
    let reply = client.message(body).await;
    assert_eq!((&reply["previousAgentId"], &reply["currentAgentId"]), (&json!("general"), &json!("general")));
    let event = client.until_kind("agent_switched").await;
    assert_eq!((event.text("currentAgentId"), event.request_id()), ("general", "r1"));
}

#[tokio::test]
async fn seed_4_3_create_load_and_chat_bind() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    assert_eq!(client.switch("debugger").await["errorCode"], "session_not_found", "bound to nothing");
    client.until_kind("error").await;
    let reply = client.message(json!({ "type": "chat", "content": "hello" })).await;
    client.until_kind("complete").await;
    assert_eq!(client.switch("debugger").await["sessionId"], reply["sessionId"], "chat made and bound one");
    let session = client.create().await;
    assert_eq!(client.switch("operator").await["sessionId"], json!(session));
    let first = reply["sessionId"].as_str().unwrap();
    client.load(first).await;
    assert_eq!(client.switch("general").await["sessionId"], json!(first));
    let missing = json!({ "type": "chat", "content": "x", "sessionId": "ses_nobody" });
    let refused = client.send(missing).await;
    assert_eq!((refused.status, &refused.json()["errorCode"]), (404, &json!("session_not_found")));
}

#[tokio::test]
async fn seed_4_3_which_connection_a_request_is_from() {
    let app = scripted([]).await;
    let create = |body: serde_json::Value| {
        let caller = app.caller.clone();
        async move {
            let answer = caller.post_json("/session/create", &body).await;
            (answer.status, answer.json()["errorCode"].as_str().unwrap_or_default().to_owned())
        }
    };
    let refused = |status: u16, code: &str| (status, code.to_owned());
    assert_eq!(create(json!({})).await, refused(400, "no_active_connection"));
    assert_eq!(create(json!({ "connectionId": "conn_x" })).await, refused(404, "connection_not_found"));
    assert_eq!(create(json!({ "connectionId": null })).await, refused(200, ""), "a session at no connection");
    let one = app.caller.events().await;
    assert_eq!(create(json!({})).await, refused(200, ""), "the only one");
    let two = app.caller.events().await;
    assert_eq!(create(json!({})).await, refused(400, "connection_required"));
    assert_eq!(create(json!({ "connectionId": one.id })).await, refused(200, ""));
    let session = two.create().await;
    let bare = json!({ "type": "switch_agent", "agentId": "debugger", "sessionId": session });
    let reply = app.caller.post_json("/message", &bare).await.json();
    assert_eq!(reply["success"], true, "the connection that the session is at");
    drop(one);
    assert_eq!(create(json!({})).await, refused(200, ""), "again the only one");
}

#[tokio::test]
async fn seed_4_3_a_connection_cannot_act_on_a_session_of_another() {
    let app = scripted([asks("c")]).await;
    let mut owner = app.caller.events().await;
    let mut other = app.caller.events().await;
    let session = owner.create().await;
    owner.chat("go").await;
    let request = owner.until_kind("tool_confirmation_request").await.request_id().to_owned();
    let switched = json!({ "type": "switch_agent", "agentId": "debugger", "sessionId": session });
    assert_eq!(other.message(switched).await["errorCode"], "session_not_found");
    for body in [
        json!({ "type": "abort", "sessionId": session }),
        json!({ "type": "chat", "content": "x", "sessionId": session }),
        json!({ "type": "rollback", "sessionId": session, "rollback": { "messageIndex": 0, "rollbackFiles": false } }),
    ] {
        let refused = other.send(body.clone()).await;
        assert_eq!(
            (refused.status, &refused.json()["errorCode"]),
            (404, &json!("session_not_found")),
            "{body}"
        );
    }
    let refused = other.confirm(&request, json!("approve")).await;
    assert_eq!((refused.status, &refused.json()["errorCode"]), (404, &json!("interaction_not_found")));
    let told = other.rest().await;
    assert!(told.iter().all(|event| event.kind() == "error" && event.session().is_none()), "{told:?}");
    assert_eq!(owner.rest().await, [], "the owner is not disturbed");
}

#[tokio::test]
async fn seed_4_3_busy_means_an_active_run_or_a_pending_question_of_that_session_only() {
    let question = calls("q", "request-user-input", json!({ "question": "Which?", "options": ["a", "b"] }));
    let app = scripted([question, says("Thank you.")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.chat("go").await;
    let asked = client.until_kind("user_question_request").await;
    assert_eq!(asked.data()["options"], json!(["a", "b"]));
    assert_eq!(asked.data()["toolCall"]["id"], "q", "the id of the real call");
    assert_eq!(client.switch("debugger").await["errorCode"], "agent_busy");
    client.create().await;
    assert_eq!(client.switch("debugger").await["success"], true, "another session is not busy");
    let answer = json!({ "type": "user_question_response", "requestId": asked.request_id(),
        "response": { "selected": "a" } });
    assert_eq!(client.message(answer).await["success"], true);
    client.until_kind("complete").await;
    let again = json!({ "type": "switch_agent", "agentId": "debugger", "sessionId": session });
    assert_eq!(client.message(again).await["success"], true, "not busy when `complete` is seen");
}

#[tokio::test]
async fn seed_4_3_the_choice_is_stored_with_the_session() {
    let app = scripted([]).await;
    let client = app.caller.events().await;
    let session = client.create().await;
    client.switch("code_reviewer").await;
    drop(client);
    let app = app.restart([says("two"), says("three")]).await;
    define(&app, crate::AGENTS);
    let mut client = app.caller.events().await;
    assert_eq!(client.load(&session).await["currentAgentId"], "code_reviewer");
    client.ask("hello").await;
    assert!(app.model.requests()[0].system.contains("ROLE-REVIEWER"));
    assert_eq!(tools_of(&app.model.requests()[0]), ["read-file"]);
    let last = client.seen.last().unwrap().id.clone().unwrap();
    drop(client);
    let resumed = app.caller.events_after(&last, "").await;
    assert_eq!(resumed.agent_list()["currentAgentId"], "code_reviewer", "on a resumed connection");
}

#[tokio::test]
async fn seed_4_4_the_data_has_exactly_the_listed_fields() {
    let app = scripted([]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.switch("debugger").await;
    let switched = client.until_kind("agent_switched").await;
    client.switch("hacker").await;
    let error = client.until_kind("error").await;
    let fields =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let sorted = |mut fields: Vec<String>| {
        fields.sort();
        fields
    };
    assert_eq!(sorted(fields(client.agent_list())), ["agents", "currentAgentId"]);
    assert_eq!(sorted(fields(switched.data())), ["agentName", "currentAgentId", "previousAgentId"]);
    assert_eq!(sorted(fields(error.data())), ["availableAgents", "errorCode", "message"]);
}
