//! Approvals under pressure: many answers at once, rules and inputs that change between question and answer, and answers
//! from every surface.

use serde_json::{Value, json};
use testkit::{
    TestApp, Turn, calls, calls_many, join_all,
    policy::Need,
    protocol::{ErrorCode, ToolState},
    says,
    test_tools::{TestTool, ToolGate, gated},
};
use tokio::task::JoinSet;

use crate::{approval_path, asks, told};

fn writes() -> TestTool {
    TestTool::new("write-file", |_, input| async move { Ok(input) }).that_needs(|input| Need::Write {
        paths: vec![input["path"].as_str().unwrap_or_default().to_owned()],
        why: "It changes a file.".to_owned(),
    })
}

async fn rule(app: &TestApp, rule: Value) -> String {
    let added = app.caller.post_json("/api/rules", &rule).await;
    assert_eq!(added.status, 201, "{added:?}");
    added.json()["id"].as_str().unwrap().to_owned()
}

/// The body that the stock client posts when every question of the message is approved.
fn all_approved(turn: &Turn) -> Value {
    let mut body = turn.answers_body();
    for message in body["messages"].as_array_mut().unwrap() {
        for part in message["parts"].as_array_mut().unwrap() {
            if part["state"] == "approval-requested" {
                part["state"] = json!("approval-responded");
                part["approval"]["approved"] = json!(true);
            }
        }
    }
    body
}

#[tokio::test]
async fn of_a_hundred_answers_in_the_same_instant_one_wins() {
    let tool = TestTool::new("danger", |_, _| async { Ok(json!("boom")) }).that_asks();
    let replies = [calls("c", "danger", json!({})), says("Done.")];
    let app = TestApp::builder().replies(replies).tool(tool.any()).start().await;
    app.send("go").await.end().await;
    let path = approval_path("apr_1");
    let bodies: Vec<Value> =
        (0..100).map(|n| json!({ "approved": n % 2 == 0, "reason": format!("answer {n}") })).collect();
    let answers = join_all(bodies.iter().map(|body| app.caller.post_json(&path, body))).await;
    let stored = app.get(&path).await.json()["approval"].clone();
    let approved = stored["status"] == "approved";
    for (body, answer) in bodies.iter().zip(&answers) {
        let same = body["approved"] == json!(approved);
        assert_eq!(answer.status, if same { 200 } else { 409 }, "{body} {answer:?} {stored}");
    }
    app.main.settled().await;
    assert_eq!(tool.runs(), usize::from(approved), "it ran once, or not at all");
    let log = format!("{:?}", app.log("chat").await);
    assert_eq!(log.matches("ApprovalAnswered").count(), 1);
}

#[tokio::test]
async fn a_rule_that_refuses_the_call_by_now_wins_over_the_answer() {
    let tool = writes();
    let replies = [calls("c", "write-file", json!({ "path": "src/a.rs" })), says("Then not.")];
    let app = TestApp::builder().replies(replies).tool(tool.any()).start().await;
    app.send("go").await.end().await;
    rule(&app, json!({ "effect": "refuse", "path": "src/**", "note": "frozen" })).await;
    let answer = app.caller.post_json(&approval_path("apr_1"), &json!({ "approved": true })).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    app.main.settled().await;
    assert_eq!(tool.runs(), 0);
    let told = told(&app).join(" ");
    assert!(told.contains("access_denied"), "{told}");
    assert!(app.main.history().await.pop().unwrap().text().ends_with("Then not."));
}

#[tokio::test]
async fn a_rule_that_allows_the_call_by_now_does_not_answer_the_question() {
    let tool = writes();
    let replies = [calls("c", "write-file", json!({ "path": "src/a.rs" })), says("Done.")];
    let app = TestApp::builder().replies(replies).tool(tool.any()).start().await;
    app.send("go").await.end().await;
    rule(&app, json!({ "effect": "allow", "tools": ["write-file"], "path": "src/**" })).await;
    assert_eq!(app.main.info().await["status"], "waiting", "what was asked is answered by a person");
    let answer = app.caller.post_json(&approval_path("apr_1"), &json!({ "approved": false })).await;
    assert_eq!(answer.status, 200);
    app.main.settled().await;
    assert_eq!(tool.runs(), 0, "the answer counts");
}

#[tokio::test]
async fn a_refused_call_never_asks_and_a_revoked_rule_lets_it_ask_again() {
    let tool = writes();
    let write = |call: &str| calls(call, "write-file", json!({ "path": "src/a.rs" }));
    let replies = [write("c1"), says("No."), write("c2"), says("Yes.")];
    let app = TestApp::builder().replies(replies).tool(tool.any()).start().await;
    let id = rule(&app, json!({ "effect": "refuse", "tools": ["write-file"] })).await;
    let mut turn = app.send("go").await;
    let message = turn.message().await;
    let state = message.tool_parts().next().unwrap().state.clone();
    assert!(
        matches!(&state, ToolState::OutputError { error_text, .. } if error_text.contains("access_denied")),
        "{state:?}"
    );
    assert_eq!(app.caller.delete(&format!("/api/rules/{id}")).await.status, 204);
    app.send("again").await.end().await;
    assert_eq!(app.main.info().await["status"], "waiting");
}

#[tokio::test]
async fn an_edited_input_is_judged_by_the_rules_again() {
    let tool = writes();
    let replies = [calls("c", "write-file", json!({ "path": "src/a.rs" })), says("Done.")];
    let app = TestApp::builder().replies(replies).tool(tool.any()).start().await;
    app.send("go").await.end().await;
    let edited = json!({ "approved": true, "input": { "path": ".git/hooks/pre-commit" } });
    app.caller.post_json(&approval_path("apr_1"), &edited).await.assert_problem(ErrorCode::InvalidMessage);
    assert_eq!(app.main.info().await["status"], "waiting", "nothing was answered");
    let edited = json!({ "approved": true, "always": true, "input": { "path": "docs/b.md" } });
    assert_eq!(app.caller.post_json(&approval_path("apr_1"), &edited).await.status, 200);
    app.main.settled().await;
    let rules = app.get("/api/rules?chatId=chat").await.json();
    let own: Vec<&Value> =
        rules["rules"].as_array().unwrap().iter().filter(|rule| rule["layer"] == "session").collect();
    assert_eq!(own.len(), 1, "{rules}");
    assert_eq!(own[0]["path"], "docs/**", "always allows what was approved, not what was asked");
}

#[tokio::test]
async fn always_for_the_workspace_answers_other_chats_and_can_be_revoked() {
    let tool = writes();
    let write = |call: &str| calls(call, "write-file", json!({ "path": "src/a.rs" }));
    let replies =
        [write("c1"), write("c2"), says("One."), says("Two."), write("c3"), says("Three."), write("c4")];
    let app = TestApp::builder().replies(replies).tool(tool.any()).start().await;
    app.send("go").await.end().await;
    app.chat("other").send("go").await.end().await;
    let always = json!({ "approved": true, "always": "workspace" });
    assert_eq!(app.caller.post_json(&approval_path("apr_1"), &always).await.status, 200);
    app.main.settled().await;
    app.chat("other").settled().await;
    assert_eq!(app.get("/api/approvals").await.json()["approvals"], json!([]), "both are answered");
    app.chat("third").send("go").await.end().await;
    assert_eq!(app.chat("third").info().await["status"], "idle", "a new chat is not asked");
    let rules = app.get("/api/rules").await.json();
    let own: Vec<&Value> =
        rules["rules"].as_array().unwrap().iter().filter(|rule| rule["layer"] == "workspace").collect();
    let id = own[0]["id"].as_str().unwrap();
    assert_eq!(app.caller.delete(&format!("/api/rules/{id}")).await.status, 204);
    app.chat("fourth").send("go").await.end().await;
    assert_eq!(app.chat("fourth").info().await["status"], "waiting", "revoked");
}

#[tokio::test]
async fn a_chat_message_can_carry_what_a_person_gave_with_the_answer() {
    let app = TestApp::scripted([asks("c", "old"), says("Done.")]).await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let mut body = all_approved(&turn);
    body["toolApprovalPayloads"] = json!({ "c": { "input": { "text": "new" }, "always": true } });
    let answered = app.caller.post_json("/api/chat", &body).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    app.main.settled().await;
    assert!(told(&app).join(" ").contains("new"), "{:?}", told(&app));
    let rules = app.get("/api/rules?chatId=chat").await.json();
    assert!(rules["rules"].as_array().unwrap().iter().any(|rule| rule["layer"] == "session"), "{rules}");
}

#[tokio::test]
async fn a_chat_message_with_a_new_answer_reaches_a_run_that_is_active_again() {
    let gate = ToolGate::new();
    let slow = gated("slow", &gate).that_asks();
    let both = calls_many([("a", "slow", json!({})), ("b", "conf_approve", json!({ "text": "2" }))]);
    let app = TestApp::builder().replies([both, says("Done.")]).tool(slow.any()).start().await;
    let mut turn = app.send("go").await;
    turn.end().await;
    let yes = json!({ "approved": true });
    assert_eq!(app.caller.post_json(&approval_path("apr_1"), &yes).await.status, 200);
    gate.reached().await;
    let body = all_approved(&turn);
    let caller = app.caller.clone();
    let mut follow = JoinSet::new();
    follow.spawn(async move { caller.post_json("/api/chat", &body).await });
    while app.get(&approval_path("apr_2")).await.json()["approval"]["status"] != "approved" {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    gate.open();
    assert_eq!(follow.join_next().await.unwrap().unwrap().status, 200);
    app.main.settled().await;
    assert_eq!(app.main.history().await.pop().unwrap().text(), "Done.");
}
