//! `request-user-input`: an agent asks a person to fill in a form, and what they answer is the result of the call.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{
    Reply, TestApp, Turn, calls,
    models::{
        ModelMessage,
        demo::{Demo, Pace},
    },
    protocol::{ToolState, UiMessage},
    says,
};

mod user_input {
    pub mod ends;
    pub mod secrets;
}

const TOOL: &str = "request-user-input";

fn asks(call: &str, input: Value) -> Reply {
    calls(call, TOOL, input)
}

/// One question in the short form.
fn colour(call: &str) -> Reply {
    asks(call, json!({ "question": "Which colour?", "options": ["red", "blue"] }))
}

fn form(call: &str) -> Reply {
    asks(
        call,
        json!({ "title": "Where to deploy", "mode": "form", "questions": [
            { "key": "host", "label": "Host", "type": "text", "pattern": "[a-z.]+", "patternMessage": "Small letters only." },
            { "key": "region", "label": "Region", "type": "select", "options": ["eu", "us"] },
            { "key": "note", "label": "Note", "type": "textarea", "required": false, "maxLength": 5 },
        ]}),
    )
}

/// The results the model was sent in its newest request.
fn told(app: &TestApp) -> Vec<Value> {
    let request = app.model.requests().pop().unwrap();
    let results = request.messages.iter().filter_map(|message| match &**message {
        ModelMessage::Tool { text, .. } => Some(serde_json::from_str(text).unwrap_or(json!(text))),
        _ => None,
    });
    results.collect()
}

fn output(message: &UiMessage, call: &str) -> Value {
    let part = message.tool_parts().find(|part| part.call.as_str() == call).unwrap();
    match &part.state {
        ToolState::OutputAvailable { output, .. } => output.clone(),
        state => panic!("{state:?}"),
    }
}

/// The only pending question, as `GET /api/approvals` lists it.
async fn pending(app: &TestApp) -> Value {
    let list = app.get("/api/approvals").await.json();
    let approvals = list["approvals"].as_array().unwrap();
    assert_eq!(approvals.len(), 1, "{list}");
    approvals[0].clone()
}

async fn path(app: &TestApp) -> String {
    format!("/api/approvals/{}", pending(app).await["approval"]["id"].as_str().unwrap())
}

async fn parked(app: &TestApp, text: &str) -> Turn {
    let mut turn = app.send(text).await;
    turn.end().await;
    turn
}

#[tokio::test]
async fn a_question_leaves_its_part_open_and_a_stock_client_fills_it_in() {
    let app = TestApp::scripted([colour("c"), says("Blue it is.")]).await;
    let mut turn = app.send("paint it").await;
    turn.add_output("c", json!("blue")).await;
    insta::assert_snapshot!(turn.chunk_lines().await, @r#"
    start msg_1 agent,agentName,model,createdAt
    start-step
    tool-input-start c request-user-input
    tool-input-delta c {"question":"Which colour?","options":["red","blue"]}
    tool-input-available c request-user-input {"question":"Which colour?","options":["red","blue"]}
    finish-step
    finish tool-calls
    ---
    start msg_1
    tool-output-available c {"answer":"blue"}
    start-step
    text-start s0
    text-delta s0 "Blue it is."
    text-end s0
    finish-step
    finish stop {"status":"finished","finishReason":"stop"}
    "#);
    assert_eq!(told(&app), [json!({ "answer": "blue" })]);
    app.main.assert_history_is_what_the_tab_shows().await;
    assert_eq!(app.get("/api/approvals").await.json()["approvals"], json!([]));
}

#[tokio::test]
async fn a_form_is_listed_and_answered_over_rest() {
    let app = TestApp::scripted([form("c"), says("Deployed.")]).await;
    let mut turn = parked(&app, "deploy").await;
    let listed = pending(&app).await;
    assert_eq!(listed["approval"]["kind"], "input");
    assert_eq!(listed["question"]["why"], "The agent asks you for input: Where to deploy");
    let fields = &listed["question"]["form"]["fields"];
    assert_eq!(
        fields[1],
        json!({ "key": "region", "label": "Region", "type": "select", "required": true,
        "options": [{ "label": "eu" }, { "label": "us" }] })
    );
    let path = path(&app).await;
    let answers = json!({ "host": "a.example", "region": "eu", "note": "" });
    let answered = app.caller.post_json(&path, &json!({ "answers": answers })).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    let answered = answered.json();
    assert_eq!(
        (answered["status"].as_str(), answered["answeredBy"].as_str()),
        (Some("approved"), Some("chat"))
    );
    app.main.settled().await;
    let message = app.main.history().await.pop().unwrap();
    let given = json!({ "answers": { "host": "a.example", "region": "eu" } });
    assert_eq!(output(&message, "c"), given);
    assert_eq!(told(&app), [given]);
    assert!(message.text().ends_with("Deployed."));
    turn.end().await;
}

#[tokio::test]
async fn a_wrong_answer_is_refused_with_its_reasons_and_the_question_stays() {
    let app = TestApp::scripted([form("c"), says("Deployed.")]).await;
    parked(&app, "deploy").await;
    let path = path(&app).await;
    let wrong = json!({ "answers": { "host": "UP", "region": "asia", "note": "too long", "other": "x" } });
    let refused = app.caller.post_json(&path, &wrong).await;
    assert_eq!(refused.status, 400);
    let problems: Vec<String> = refused.json()["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| {
            format!("{}: {}", problem["path"].as_str().unwrap(), problem["message"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        problems,
        [
            "answers.other: The form has no such field.",
            "answers.host: The answer does not fit: Small letters only.",
            "answers.region: The answer is none of the options.",
            "answers.note: The answer must have at most 5 characters, it has 8.",
        ]
    );
    for wrong in [
        json!({}),
        json!({ "approved": true }),
        json!({ "answers": { "host": 1 } }),
        json!({ "answers": { "host": "a" } }),
        json!({ "selected": "eu" }),
        json!({ "answers": {}, "cancelled": true }),
    ] {
        assert_eq!(app.caller.post_json(&path, &wrong).await.status, 400, "{wrong}");
    }
    assert_eq!(pending(&app).await["approval"]["status"], "pending");
    assert_eq!(app.model.requests().len(), 1);
    let right = json!({ "answers": { "host": "a", "region": "us" } });
    assert_eq!(app.caller.post_json(&path, &right).await.status, 200);
    app.main.settled().await;
    assert_eq!(told(&app), [right]);
}

#[tokio::test]
async fn a_wrong_output_of_a_stock_client_is_refused_and_the_question_stays() {
    let app = TestApp::scripted([form("c"), says("Deployed.")]).await;
    let mut turn = parked(&app, "deploy").await;
    let body = turn.answers_body().to_string();
    let open = r#""state":"input-available""#;
    let filled = |output: &str| -> Value {
        let done = format!(r#""state":"output-available","output":{output}"#);
        serde_json::from_str(&body.replace(open, &done)).unwrap()
    };
    assert!(body.contains(open));
    for wrong in [r#""eu""#, r#"{"answers":{"host":"a"}}"#, "7", r#"{"hello":1}"#] {
        let refused = app.main.post(&filled(wrong)).await;
        assert_eq!(refused.status, 400, "{wrong}: {refused:?}");
    }
    assert_eq!(pending(&app).await["approval"]["status"], "pending");
    let response = app.main.open(&filled(r#"{"answers":{"host":"a","region":"us"}}"#)).await;
    turn.follow(response);
    assert!(turn.text().await.ends_with("Deployed."));
}

#[tokio::test]
async fn choices_are_answered_with_the_payload_of_older_clients() {
    let choices = json!({ "mode": "choice", "choices": [
        { "key": "db", "question": "Which database?", "options": [{ "label": "sqlite", "description": "a file" }, "postgres"] },
        { "key": "os", "question": "Which systems?", "options": ["linux", "macos"], "multiSelect": true },
    ]});
    let app = TestApp::scripted([asks("c", choices), says("Good.")]).await;
    let mut turn = parked(&app, "set up").await;
    let mut body = turn.answers_body();
    let answers = json!({ "db": "sqlite", "os": ["linux", "macos"] });
    body["toolApprovalPayloads"] = json!({ "c": { "approved": true, "answers": answers } });
    let response = app.main.open(&body).await;
    turn.follow(response);
    assert!(turn.text().await.ends_with("Good."));
    assert_eq!(told(&app), [json!({ "answers": answers })]);
    // A text of one's own is only possible where the question allows it.
    assert_eq!(output(&app.main.history().await.pop().unwrap(), "c"), json!({ "answers": answers }));
}

#[tokio::test]
async fn a_declined_question_tells_the_model_and_the_run_goes_on() {
    let app = TestApp::scripted([colour("c"), says("Then I choose.")]).await;
    parked(&app, "paint it").await;
    let path = path(&app).await;
    let declined = json!({ "cancelled": true, "reason": "no idea" });
    let answered = app.caller.post_json(&path, &declined).await;
    assert_eq!(answered.json()["status"], "denied", "{answered:?}");
    app.main.settled().await;
    let [result] = told(&app).try_into().unwrap();
    assert_eq!(result["cancelled"], true);
    assert!(result["message"].as_str().unwrap().ends_with("no idea"));
    assert!(app.main.history().await.pop().unwrap().text().ends_with("Then I choose."));
}

#[tokio::test]
async fn the_short_form_takes_options_own_words_and_lists() {
    let several = json!({ "question": "Which?", "options": ["a", "b", "c"], "multiSelect": true });
    for (input, answer, expected) in [
        (json!({ "question": "Q", "options": ["a"] }), json!({ "selected": "a" }), json!({ "answer": "a" })),
        (
            json!({ "question": "Q", "options": ["a"] }),
            json!({ "selected": "Other", "customInput": "z" }),
            json!({ "answer": "z", "customInput": "z" }),
        ),
        (several.clone(), json!({ "selected": ["c", "a"] }), json!({ "answer": ["c", "a"] })),
        (
            several,
            json!({ "selected": ["c"], "customInput": "z" }),
            json!({ "answer": ["c", "z"], "customInput": "z" }),
        ),
        (json!({ "question": "Why?" }), json!({ "customInput": "so" }), json!({ "answer": "so" })),
    ] {
        let app = TestApp::scripted([asks("c", input), says("ok")]).await;
        parked(&app, "go").await;
        let path = path(&app).await;
        assert_eq!(app.caller.post_json(&path, &json!({ "selected": ["a", 1] })).await.status, 400);
        let answered = app.caller.post_json(&path, &answer).await;
        assert_eq!(answered.status, 200, "{answer}: {answered:?}");
        app.main.settled().await;
        assert_eq!(told(&app), [expected]);
    }
}

#[tokio::test]
async fn arguments_that_describe_no_form_are_the_models_mistake() {
    let wrong = asks("c", json!({ "questions": [{ "key": "a", "label": "A", "pattern": "(?=x)" }] }));
    let app = TestApp::scripted([wrong, colour("d"), says("ok")]).await;
    parked(&app, "go").await;
    assert_eq!(pending(&app).await["question"]["form"]["fields"][0]["label"], "Which colour?");
    let asked = format!("{:?}", app.model.requests().pop().unwrap().messages);
    assert!(asked.contains("`questions[0]`: `pattern` is no regular expression"), "{asked}");
}

#[tokio::test]
async fn the_demo_model_shows_how_an_agent_asks() {
    let app = TestApp::builder().model(Demo::new(Pace::AT_ONCE)).start().await;
    parked(&app, "ask me a question").await;
    assert_eq!(pending(&app).await["question"]["form"]["fields"][0]["options"][2]["label"], "Blue");
    let answered = app.caller.post_json(&path(&app).await, &json!({ "selected": "Blue" })).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    app.main.settled().await;
    assert!(app.main.history().await.pop().unwrap().text().contains("You answered: \"Blue\""));
}
