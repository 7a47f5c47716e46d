//! `/api/rules`: rules are listed strongest first, added with all their problems named, and revoked.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{
    Gate, HttpResponse, Scripted, TestApp,
    faults::{Effect, Faults, Method, When},
    protocol::{ApprovalMode, CallPattern, ErrorCode, Rule, RuleEffect, RuleId},
    says, waits,
};

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).start().await
}

/// Layer, effect and path of the rules that a person or an operator wrote.
async fn written(app: &TestApp, query: &str) -> Vec<(String, String, String)> {
    let list = app.get(&format!("/api/rules{query}")).await.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rules = list["rules"].as_array().unwrap();
    rules
        .iter()
        .filter(|rule| rule["layer"] != "built-in")
        .map(|rule| (text(&rule["layer"]), text(&rule["effect"]), text(&rule["path"])))
        .collect()
}

fn row(layer: &str, effect: &str, path: &str) -> (String, String, String) {
    (layer.to_owned(), effect.to_owned(), path.to_owned())
}

fn problems(answer: &HttpResponse) -> Vec<(String, String)> {
    answer.assert_problem(ErrorCode::InvalidRule);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let json = answer.json();
    let problems = json["problems"].as_array().unwrap();
    for problem in problems {
        assert!(!text(&problem["message"]).is_empty() && !text(&problem["fix"]).is_empty(), "{problem}");
    }
    problems.iter().map(|problem| (text(&problem["path"]), text(&problem["code"]))).collect()
}

#[tokio::test]
async fn a_rule_of_the_workspace_is_added_listed_and_revoked() {
    let app = app().await;
    let list = app.get("/api/rules").await.json();
    assert_eq!(list["mode"], "auto-read-only");
    let rules = list["rules"].as_array().unwrap();
    assert!(rules.len() >= 8, "{list}");
    assert!(rules.iter().all(|rule| rule["layer"] == "built-in" && rule["revocable"] == false), "{list}");

    let rule = json!({
        "effect": "refuse", "tools": ["write-file", "edit-*"], "path": "vendor/**", "note": "generated",
    });
    let added = app.caller.post_json("/api/rules", &rule).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let added = added.json();
    let id = added["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("rul_"), "{id}");
    assert!(added["createdAt"].is_i64(), "{added}");
    for (field, expected) in [
        ("effect", json!("refuse")),
        ("tools", json!(["write-file", "edit-*"])),
        ("path", json!("vendor/**")),
        ("note", json!("generated")),
        ("layer", json!("workspace")),
        ("revocable", json!(true)),
    ] {
        assert_eq!(added[field], expected, "{field}");
    }
    let again = app.caller.post_json("/api/rules", &rule).await;
    assert_eq!((again.status, again.json()), (200, added.clone()), "the same rule exists once");
    assert_eq!(app.get("/api/rules").await.json()["rules"][0], added, "stronger rules come first");

    let app = app.restart([]).await;
    assert_eq!(app.get("/api/rules").await.json()["rules"][0], added);
    let path = format!("/api/rules/{id}");
    assert_eq!(app.caller.delete(&path).await.status, 204);
    app.caller.delete(&path).await.assert_problem(ErrorCode::RuleNotFound);
    assert_eq!(written(&app, "").await, []);
}

#[tokio::test]
async fn every_field_that_is_wrong_is_named() {
    let app = app().await;
    for (rule, expected) in [
        (json!({}), vec![("effect", "invalid")]),
        (json!({ "effect": "allow" }), vec![("tools", "missing")]),
        (json!({ "effect": "allow", "tools": [] }), vec![("tools", "missing")]),
        (
            json!({ "effect": "maybe", "pth": "src/**" }),
            vec![("pth", "unknown_field"), ("effect", "invalid")],
        ),
        (json!({ "effect": "allow", "tool": "x", "tools": ["x"] }), vec![("tool", "unknown_field")]),
        (
            json!({ "effect": "allow", "tools": [1], "path": 2 }),
            vec![("path", "invalid"), ("tools", "invalid")],
        ),
        (json!({ "effect": "allow", "path": "../x" }), vec![("path", "outside")]),
        (json!({ "effect": "allow", "path": "/etc/**" }), vec![("path", "outside")]),
        (json!({ "effect": "allow", "path": "a[" }), vec![("path", "invalid_pattern")]),
        (json!({ "effect": "allow", "path": "x".repeat(1025) }), vec![("path", "too_long")]),
        (json!({ "effect": "allow", "path": "" }), vec![("path", "empty")]),
        (json!({ "effect": "allow", "path": "a", "command": "ls" }), vec![("command", "covers_nothing")]),
        (
            json!({ "effect": "ask", "tools": ["a b"], "note": "n".repeat(501) }),
            vec![("tools", "invalid_name"), ("note", "too_long")],
        ),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|(path, code)| (path.to_owned(), code.to_owned())).collect();
        assert_eq!(problems(&app.caller.post_json("/api/rules", &rule).await), expected, "{rule}");
    }
    let large = json!({ "effect": "allow", "path": "x".repeat(40_000) });
    app.caller.post_json("/api/rules", &large).await.assert_problem(ErrorCode::BodyTooLarge);
    app.caller.post_json("/api/rules", &json!([1])).await.assert_problem(ErrorCode::InvalidMessage);
    assert_eq!(written(&app, "").await, []);
}

#[tokio::test]
async fn a_rule_of_a_chat_belongs_to_the_chat() {
    let app = app().await;
    let of_chat = json!({ "effect": "allow", "tools": ["edit-file"], "path": "src/**", "chatId": "chat" });
    app.caller.post_json("/api/rules", &of_chat).await.assert_problem(ErrorCode::SessionNotFound);
    app.send("hello").await.end().await;
    let added = app.caller.post_json("/api/rules", &of_chat).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let added = added.json();
    assert_eq!((&added["layer"], &added["chatId"]), (&json!("session"), &json!("chat")));
    assert_eq!(app.caller.post_json("/api/rules", &of_chat).await.status, 200);
    app.caller.post_json("/api/rules", &json!({ "effect": "ask", "path": "src/**" })).await;
    let expected = [row("session", "allow", "src/**"), row("workspace", "ask", "src/**")];
    assert_eq!(written(&app, "?chatId=chat").await, expected);
    assert_eq!(written(&app, "").await, expected[1..]);
    app.get("/api/rules?chatId=none").await.assert_problem(ErrorCode::SessionNotFound);

    let app = app.restart([]).await;
    assert_eq!(written(&app, "?chatId=chat").await, expected);
    let path = format!("/api/rules/{}", added["id"].as_str().unwrap());
    app.caller.delete(&path).await.assert_problem(ErrorCode::RuleNotFound);
    assert_eq!(app.caller.delete(&format!("{path}?chatId=chat")).await.status, 204);
    assert_eq!(written(&app, "?chatId=chat").await, expected[1..]);
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status, 204);
    assert_eq!(written(&app, "").await, expected[1..], "rules of the workspace outlive a chat");
}

#[tokio::test]
async fn rules_of_a_chat_are_changed_while_it_answers() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate).then(says("Fine."))]).await;
    let mut turn = app.send("hello").await;
    gate.reached().await;
    let rule = json!({ "effect": "refuse", "path": "a/**", "chatId": "chat" });
    let added = app.caller.post_json("/api/rules", &rule).await;
    assert_eq!(added.status, 201, "{}", added.body);
    assert_eq!(written(&app, "?chatId=chat").await, [row("session", "refuse", "a/**")]);
    let path = format!("/api/rules/{}?chatId=chat", added.json()["id"].as_str().unwrap());
    assert_eq!(app.caller.delete(&path).await.status, 204);
    assert_eq!(written(&app, "?chatId=chat").await, []);
    gate.open();
    turn.end().await;
    assert_eq!(app.main.info().await["lastRun"], "finished");
}

#[tokio::test]
async fn rules_of_the_server_are_listed_and_cannot_be_revoked() {
    let app = TestApp::builder()
        .engine(|settings| {
            settings.approvals.mode = ApprovalMode::Ask;
            settings.approvals.rules = vec![Rule {
                id: RuleId::new("rul_server-1"),
                effect: RuleEffect::Refuse,
                calls: CallPattern { path: Some("secret/**".to_owned()), ..CallPattern::default() },
                note: None,
            }];
        })
        .start()
        .await;
    let list = app.get("/api/rules").await.json();
    assert_eq!(list["mode"], "ask");
    assert_eq!(written(&app, "").await, [row("server", "refuse", "secret/**")]);
    for id in ["rul_server-1", "rul_built-in-repository"] {
        app.caller.delete(&format!("/api/rules/{id}")).await.assert_problem(ErrorCode::RuleReadOnly);
    }
}

#[tokio::test]
async fn another_workspace_has_its_own_rules() {
    let app = TestApp::builder().with_auth().start().await;
    let other = app.caller_of("other").await;
    let added = app.caller.post_json("/api/rules", &json!({ "effect": "allow", "path": "a" })).await.json();
    let theirs = other.get("/api/rules").await.json();
    assert!(theirs["rules"].as_array().unwrap().iter().all(|rule| rule["layer"] == "built-in"), "{theirs}");
    let path = format!("/api/rules/{}", added["id"].as_str().unwrap());
    other.delete(&path).await.assert_problem(ErrorCode::RuleNotFound);
    assert_eq!(app.get("/api/rules").await.json()["rules"][0], added);
    app.stranger().get("/api/rules").await.assert_problem(ErrorCode::Unauthorized);
}

#[tokio::test]
async fn a_rule_that_was_stored_although_the_store_failed_is_in_force() {
    let faults = Faults::default();
    let app = TestApp::builder().faults(&faults).start().await;
    assert_eq!(written(&app, "").await, []);
    faults.on(Method::AddRule, When::call(0), Effect::FailLate);
    let rule = json!({ "effect": "refuse", "path": "a/**" });
    app.caller.post_json("/api/rules", &rule).await.assert_problem(ErrorCode::StoreUnavailable);
    assert_eq!(written(&app, "").await, [row("workspace", "refuse", "a/**")]);
    assert_eq!(app.caller.post_json("/api/rules", &rule).await.status, 200);
}

#[tokio::test]
async fn a_workspace_and_a_chat_have_a_bounded_number_of_rules() {
    let app = app().await;
    app.send("hello").await.end().await;
    for (most, chat) in [(500, Value::Null), (100, json!("chat"))] {
        let rule = |number: usize| json!({ "effect": "ask", "path": format!("f{number}"), "chatId": chat });
        for number in 0..most {
            assert_eq!(app.caller.post_json("/api/rules", &rule(number)).await.status, 201);
        }
        let answer = app.caller.post_json("/api/rules", &rule(most)).await;
        assert_eq!(problems(&answer), [(String::new(), "too_many_rules".to_owned())]);
    }
}
