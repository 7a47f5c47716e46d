//! Requests for input that are answered twice, after a restart, or never.

use serde_json::json;
use testkit::{
    TestApp,
    engine::EngineError,
    protocol::{
        AnswerValue, AnsweredBy, ApprovalId, ApprovalMode, CallPattern, Rule, RuleEffect, RuleId,
        SessionEvent, ToolState, UserAnswer, WorkspaceId,
    },
    says,
};

use crate::{colour, output, parked, path, pending, told};

#[tokio::test]
async fn the_first_answer_counts_and_the_same_again_is_accepted() {
    let app = TestApp::scripted([colour("c"), says("Blue.")]).await;
    let mut turn = parked(&app, "paint").await;
    let body = turn.answers_body().to_string();
    let path = path(&app).await;
    let blue = json!({ "selected": "blue" });
    assert_eq!(app.caller.post_json(&path, &blue).await.status, 200);
    app.main.settled().await;
    assert_eq!(app.caller.post_json(&path, &blue).await.status, 200);
    for other in [json!({ "selected": "red" }), json!({ "cancelled": true })] {
        assert_eq!(app.caller.post_json(&path, &other).await.status, 409, "{other}");
    }
    // A tab that still shows the question sends its own answer.
    let filled = |answer: &str| {
        let open = r#""state":"input-available""#;
        assert!(body.contains(open));
        let done = format!(r#""state":"output-available","output":{answer}"#);
        serde_json::from_str(&body.replace(open, &done)).unwrap()
    };
    let other = app.main.post(&filled(r#""red""#)).await;
    assert_eq!(other.status, 409, "{other:?}");
    for same in [r#""blue""#, r#"{"answer":"blue"}"#] {
        let response = app.main.open(&filled(same)).await;
        assert_eq!(response.status(), 200, "{same}");
        turn.follow(response);
        assert!(turn.text().await.ends_with("Blue."));
    }
    assert_eq!(app.model.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_after_a_restart_continues_the_run() {
    let app = TestApp::scripted([colour("c")]).await;
    parked(&app, "paint").await;
    let app = app.restart([says("Red.")]).await;
    assert_eq!(pending(&app).await["question"]["form"]["short"], true);
    let path = path(&app).await;
    let wrong = app.caller.post_json(&path, &json!({ "selected": "green" })).await;
    assert_eq!(wrong.status, 400, "own words are no option");
    assert_eq!(app.caller.post_json(&path, &json!({ "customInput": "green" })).await.status, 200);
    app.main.settled().await;
    assert_eq!(told(&app), [json!({ "answer": "green", "customInput": "green" })]);
    let message = app.main.history().await.pop().unwrap();
    assert!(message.text().ends_with("Red."));
    assert_eq!(output(&message, "c"), json!({ "answer": "green", "customInput": "green" }));
}

#[tokio::test]
async fn a_stop_withdraws_the_question_and_so_does_a_new_message() {
    for stop in [true, false] {
        let app = TestApp::scripted([colour("c"), says("Next.")]).await;
        parked(&app, "paint").await;
        let path = path(&app).await;
        if stop {
            app.main.stop().await;
        } else {
            app.send("never mind").await.end().await;
        }
        app.main.settled().await;
        let asked = app.get(&path).await.json();
        assert_eq!(asked["approval"]["status"], "withdrawn");
        assert_eq!(asked["approval"]["answeredBy"], if stop { "server" } else { "chat" });
        assert_eq!(app.caller.post_json(&path, &json!({ "selected": "red" })).await.status, 409);
        assert_eq!(app.get("/api/approvals").await.json()["approvals"], json!([]));
        let history = app.main.history().await;
        let part = history[1].tool_parts().next().unwrap();
        assert!(matches!(part.state, ToolState::OutputError { .. }), "{part:?}");
    }
}

#[tokio::test]
async fn a_stopped_run_with_an_answered_question_can_go_on() {
    let gate = testkit::Gate::new();
    let app = TestApp::scripted([colour("c"), testkit::waits(&gate), says("Again.")]).await;
    let mut turn = parked(&app, "paint").await;
    let answer = json!({ "selected": "blue" });
    assert_eq!(app.caller.post_json(&path(&app).await, &answer).await.status, 200);
    gate.reached().await;
    app.main.stop().await;
    app.main.settled().await;
    app.main.reload().await;
    let shown = app.main.history().await.pop().unwrap();
    let body = app.main.body(json!({ "trigger": "submit-message", "messageId": shown.id }), json!({}));
    let response = app.main.open(&body).await;
    assert_eq!(response.status(), 200);
    turn.follow(response);
    assert!(turn.text().await.ends_with("Again."));
}

#[tokio::test]
async fn it_asks_in_every_mode_and_no_rule_can_answer_but_one_can_refuse() {
    let rule = |effect| Rule {
        id: RuleId::new("r"),
        effect,
        calls: CallPattern::tool("request-user-input"),
        note: None,
    };
    for (mode, effect) in [
        (ApprovalMode::Yolo, None),
        (ApprovalMode::Ask, None),
        (ApprovalMode::AutoReadOnly, Some(RuleEffect::Allow)),
        (ApprovalMode::Yolo, Some(RuleEffect::Refuse)),
    ] {
        let app = TestApp::builder()
            .replies([colour("c"), says("ok")])
            .engine(|settings| {
                settings.approvals.mode = mode;
                settings.approvals.rules = effect.map(rule).into_iter().collect();
            })
            .start()
            .await;
        parked(&app, "go").await;
        if effect == Some(RuleEffect::Refuse) {
            let [result] = told(&app).try_into().unwrap();
            assert!(result.as_str().unwrap().starts_with("access_denied"), "{result}");
        } else {
            assert!(pending(&app).await["question"].get("always").is_none());
        }
    }
}

#[tokio::test]
async fn the_engine_answers_for_other_surfaces_and_the_log_says_who_did() {
    let app = TestApp::scripted([colour("c"), says("Blue.")]).await;
    parked(&app, "paint").await;
    let id = ApprovalId::new(pending(&app).await["approval"]["id"].as_str().unwrap());
    let workspace = WorkspaceId::new("default");
    let answer = |value| UserAnswer::selected(value);
    let several = answer(AnswerValue::Many(vec!["blue".to_owned()]));
    let refused = app.engine.answer_question(&workspace, &id, several, AnsweredBy::Events).await;
    assert!(matches!(refused, Err(EngineError::InvalidAnswer(_))), "{refused:?}");
    let blue = answer(AnswerValue::One("blue".to_owned()));
    app.engine.answer_question(&workspace, &id, blue, AnsweredBy::Events).await.unwrap();
    app.main.settled().await;
    let answered = app.log("chat").await.into_iter().find_map(|entry| match entry.event {
        SessionEvent::ApprovalAnswered { by, answers, .. } => Some((by, answers.unwrap().answers)),
        _ => None,
    });
    let (by, answers) = answered.unwrap();
    assert_eq!(by, Some(AnsweredBy::Events));
    assert_eq!(answers["answer"], AnswerValue::One("blue".to_owned()));
}
