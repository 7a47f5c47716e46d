//! The examples of section 3 of the requirement.

use serde_json::{Value, json};
use testkit::{Gate, calls, says, waits};

use crate::{ALL, asks, ids, scripted, tools_of};

#[tokio::test]
async fn seed_3_1_a_connection_is_told_all_agents_and_the_default_one() {
    let app = scripted([]).await;
    let client = app.caller.events().await;
    assert_eq!(client.kinds(), ["connected", "agent_list"]);
    let list = client.agent_list();
    assert_eq!(ids(&list["agents"]), ALL);
    assert_eq!(list["currentAgentId"], "general");
    let names: Vec<&Value> = list["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, ["General", "Requirement Analyzer", "Debugger", "Code Reviewer", "Operator"]);
    assert_eq!(
        list["agents"][3],
        json!({ "id": "code_reviewer", "name": "Code Reviewer", "description": "代码审查专家" })
    );
    for agent in list["agents"].as_array().unwrap() {
        let fields: Vec<&String> = agent.as_object().unwrap().keys().collect();
        assert_eq!(fields.len(), 3, "id, name and description only: {agent}");
        assert!(agent["description"].is_string());
    }
}

#[tokio::test]
async fn seed_3_2_a_switch_is_told_and_changes_prompt_and_tools() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    assert_eq!(client.ask("hello").await, "one");
    let reply = client.switch("code_reviewer").await;
    assert_eq!(
        reply,
        json!({ "success": true, "sessionId": session, "previousAgentId": "general",
            "currentAgentId": "code_reviewer", "agentName": "Code Reviewer" })
    );
    let switched = client.until_kind("agent_switched").await;
    assert_eq!(
        *switched.data(),
        json!({ "previousAgentId": "general", "currentAgentId": "code_reviewer", "agentName": "Code Reviewer" })
    );
    assert_eq!(switched.session(), Some(session.as_str()));
    assert_eq!(client.ask("again").await, "two");
    let complete = client.seen.last().unwrap();
    assert_eq!(complete.text("agentId"), "code_reviewer");
    let requests = app.model.requests();
    assert!(!requests[0].system.contains("ROLE-REVIEWER") && tools_of(&requests[0]).len() > 3);
    assert!(requests[1].system.contains("ROLE-REVIEWER: you review {{ code }}."), "{}", requests[1].system);
    assert!(!requests[1].system.contains(&requests[0].system[..80]), "the old role is gone");
    assert_eq!(tools_of(&requests[1]), ["read-file"]);
    assert_eq!(requests[1].messages.len(), 3, "the history is kept");
}

#[tokio::test]
async fn seed_3_3_an_agent_that_does_not_exist_is_an_error_with_the_list() {
    let app = scripted([says("one")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.switch("debugger").await;
    let reply = client.switch("hacker").await;
    assert_eq!((&reply["success"], &reply["errorCode"]), (&json!(false), &json!("agent_not_found")));
    assert_eq!(reply["message"], "Invalid agent ID: hacker");
    assert_eq!(ids(&reply["availableAgents"]), ALL);
    let error = client.until_kind("error").await;
    assert_eq!(error.text("errorCode"), "agent_not_found");
    assert_eq!(error.text("message"), "Invalid agent ID: hacker");
    assert_eq!(error.data()["availableAgents"], client.agent_list()["agents"]);
    assert_eq!(client.load(&session).await["currentAgentId"], "debugger", "unchanged");
    let long = client.switch(&"a".repeat(1000)).await;
    assert_eq!(long["message"], format!("Invalid agent ID: {}", "a".repeat(128)), "cut");
}

#[tokio::test]
async fn seed_3_4_two_clients_switch_independently() {
    let app = scripted([says("a"), says("b")]).await;
    let mut a = app.caller.events().await;
    let mut b = app.caller.events().await;
    let (session_a, session_b) = (a.create().await, b.create().await);
    a.switch("code_reviewer").await;
    a.ask("hello").await;
    b.ask("hello").await;
    let requests = app.model.requests();
    assert!(requests[0].system.contains("ROLE-REVIEWER"));
    assert!(!requests[1].system.contains("ROLE-REVIEWER"));
    assert!(tools_of(&requests[1]).len() > tools_of(&requests[0]).len());
    a.rest().await;
    b.rest().await;
    for (client, own) in [(&a, &session_a), (&b, &session_b)] {
        let all_own = client.seen.iter().filter_map(|event| event.session()).all(|session| session == own);
        assert!(all_own, "only events of its own session: {:?}", client.seen);
    }
    assert!(b.of_kind("agent_switched").is_empty());
    assert_eq!(b.load(&session_b).await["currentAgentId"], "general");
    assert_eq!(a.load(&session_a).await["currentAgentId"], "code_reviewer");
}

#[tokio::test]
async fn seed_3_5_a_switch_during_a_run_is_refused_and_the_run_goes_on_unchanged() {
    let gate = Gate::new();
    let slow = says("slowly ").then(waits(&gate)).then(calls("c", "conf_echo", json!({ "text": "x" })));
    let app = scripted([slow, says("done"), says("new")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.switch("operator").await;
    client.chat("go").await;
    gate.reached().await;
    let refused = client.switch("code_reviewer").await;
    assert_eq!((&refused["success"], &refused["errorCode"]), (&json!(false), &json!("agent_busy")));
    assert!(refused["message"].as_str().unwrap().to_lowercase().contains("abort"), "{refused}");
    assert_eq!(client.until_kind("error").await.text("errorCode"), "agent_busy");
    gate.open();
    let complete = client.until_kind("complete").await;
    assert_eq!((complete.text("status"), complete.text("agentId")), ("finished", "operator"));
    let requests = app.model.requests();
    assert!(requests.iter().all(|request| request.system.contains("ROLE-OPERATOR")));
    assert_eq!(client.switch("code_reviewer").await["success"], true, "right after the end");
    client.ask("and now").await;
    assert_eq!(tools_of(app.model.requests().last().unwrap()), ["read-file"]);
    assert_eq!(client.load(&session).await["currentAgentId"], "code_reviewer");
}

#[tokio::test]
async fn seed_3_5_a_switch_while_a_confirmation_waits_is_refused_and_allowed_after_the_abort() {
    let app = scripted([asks("c"), says("new")]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.chat("go").await;
    let asked = client.until_kind("tool_confirmation_request").await;
    assert_eq!(client.switch("debugger").await["errorCode"], "agent_busy");
    let aborted = client.abort().await;
    assert_eq!(aborted["aborted"], true);
    assert_eq!(client.switch("debugger").await["success"], true, "right after the reply to the abort");
    client.until_kind("agent_switched").await;
    let kinds = client.kinds();
    let place = |kind: &str| kinds.iter().position(|seen| *seen == kind).unwrap();
    assert!(place("interaction_resolved") < place("tool_result"), "{kinds:?}");
    assert!(place("tool_result") < place("complete") && place("complete") < place("agent_switched"));
    let resolved = client.of_kind("interaction_resolved")[0];
    assert_eq!((resolved.text("requestId"), resolved.text("outcome")), (asked.request_id(), "aborted"));
    let complete = client.of_kind("complete")[0];
    assert_eq!((complete.text("status"), &complete.data()["cancelled"]), ("cancelled", &json!(true)));
    client.ask("now").await;
    assert_eq!(client.seen.last().unwrap().text("agentId"), "debugger", "the new run has the new agent");
}

#[tokio::test]
async fn seed_3_6_an_empty_or_malformed_id_has_its_own_code_and_text() {
    const EMPTY: (&str, &str) = ("invalid_agent_id", "agentId cannot be empty");
    const FORMAT: (&str, &str) =
        ("invalid_agent_id_format", "agentId contains invalid characters. Allowed: [a-z0-9_-]");
    let app = scripted([]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    let cases = [
        (json!({ "agentId": "" }), EMPTY),
        (json!({ "agentId": null }), EMPTY),
        (json!({}), EMPTY),
        (json!({ "agentId": "Agent@123" }), FORMAT),
        (json!({ "agentId": "General" }), FORMAT),
        (json!({ "agentId": " general" }), FORMAT),
        (json!({ "agentId": "general\n" }), FORMAT),
        (json!({ "agentId": "   " }), FORMAT),
        (json!({ "agentId": "агент" }), FORMAT),
    ];
    for (mut body, (code, text)) in cases {
        body["type"] = json!("switch_agent");
        body["requestId"] = json!("mine");
        let reply = client.message(body.clone()).await;
        assert_eq!((&reply["errorCode"], &reply["message"]), (&json!(code), &json!(text)), "{body}");
        assert_eq!(ids(&reply["availableAgents"]), ALL);
        let error = client.until_kind("error").await;
        assert_eq!((error.text("errorCode"), error.text("message")), (code, text), "{body}");
        assert_eq!(error.request_id(), "mine");
        assert_eq!(ids(&error.data()["availableAgents"]), ALL);
    }
    let number = client.send(json!({ "type": "switch_agent", "agentId": 7 })).await;
    assert_eq!((number.status, &number.json()["errorCode"]), (400, &json!("invalid_message")));
    assert_eq!(client.rest().await, [], "a body error is no event");
    assert_eq!(client.load(&session).await["currentAgentId"], "general");
}
