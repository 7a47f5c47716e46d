//! The title of a chat: from its first words, from its model, from a person, in that order and never back.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{
    Builder, Gate, Scripted, TestApp, calls, fails,
    models::{ModelError, ModelRequest, Purpose, demo},
    protocol::{Chunk, Usage},
    says, waits,
};

/// Answers everything with yes; titles as given.
fn script(title: &'static str) -> Scripted {
    Scripted::choosing(move |request| match request.purpose {
        Purpose::Title => says(title).uses(Usage { input_tokens: 30, output_tokens: 4, ..Usage::default() }),
        _ => says("Yes."),
    })
}

fn naming(script: Scripted) -> Builder {
    TestApp::builder().script(script).engine(|settings| settings.auto_title = true)
}

/// Waits until the chat is called like this.
async fn becomes(app: &TestApp, title: &str) -> Value {
    for _ in 0..20_000 {
        let info = app.main.info().await;
        if info["title"] == title {
            return info;
        }
        tokio::task::yield_now().await;
    }
    panic!("it is called {}", app.main.info().await["title"]);
}

fn titles(app: &TestApp) -> Vec<ModelRequest> {
    app.model.requests().into_iter().filter(|request| request.purpose == Purpose::Title).collect()
}

#[tokio::test]
async fn after_the_first_answer_the_model_names_the_chat_once() {
    let app = naming(script("\"Paint for the harbour gate.\"")).start().await;
    app.send("please tell me what paint the harbour gate needs").await.end().await;
    becomes(&app, "Paint for the harbour gate").await;
    let asked = format!("{:?}", titles(&app)[0].messages);
    assert!(asked.contains("Person: please tell me") && asked.contains("Agent: Yes."), "{asked}");
    app.send("and how much of it").await.end().await;
    app.send("thanks").await.end().await;
    app.model.idle().await;
    assert_eq!(titles(&app).len(), 1);
    assert_eq!(app.main.history().await.len(), 6, "it leaves no message");
    let usage: Value = app.get("/api/usage?by=agent").await.json();
    assert!(usage.to_string().contains("\"title\""), "what it cost is written down: {usage}");
}

#[tokio::test]
async fn a_title_never_keeps_an_answer_waiting() {
    let gate = Gate::new();
    let held = gate.clone();
    let script = Scripted::choosing(move |request| match request.purpose {
        Purpose::Title => waits(&held).then(says("Late")),
        _ => says("Yes."),
    });
    let app = naming(script).start().await;
    assert_eq!(app.send("one").await.text().await, "Yes.");
    gate.reached().await;
    assert_eq!(app.send("two").await.text().await, "Yes.", "the chat goes on meanwhile");
    assert_eq!(app.main.info().await["title"], "one");
    gate.open();
    becomes(&app, "Late").await;
}

#[tokio::test]
async fn what_a_person_called_it_stays() {
    let gate = Gate::new();
    let held = gate.clone();
    let script = Scripted::choosing(move |request| match request.purpose {
        Purpose::Title => waits(&held).then(says("From the model")),
        _ => says("Yes."),
    });
    let app = naming(script).start().await;
    app.send("one").await.end().await;
    gate.reached().await;
    // While the model is still thinking about it.
    app.caller.patch_json("/api/sessions/chat", &json!({ "title": "Mine" })).await;
    gate.open();
    app.model.idle().await;
    app.send("two").await.end().await;
    app.model.idle().await;
    assert_eq!(app.main.info().await["title"], "Mine");
    assert_eq!(titles(&app).len(), 1, "nobody asks again");
}

#[tokio::test]
async fn without_the_setting_or_when_the_model_cannot_the_first_words_stay() {
    let app = TestApp::builder().script(script("Never")).start().await;
    app.send("first words").await.end().await;
    app.model.idle().await;
    assert_eq!((app.main.info().await["title"].as_str(), titles(&app).len()), (Some("first words"), 0));

    let broken = Scripted::choosing(|request| match request.purpose {
        Purpose::Title => fails(ModelError::Unreachable),
        _ => says("Yes."),
    });
    let app = naming(broken).start().await;
    for text in ["first words", "two", "three", "four", "five"] {
        assert_eq!(app.send(text).await.text().await, "Yes.");
    }
    app.model.idle().await;
    assert_eq!(app.main.info().await["title"], "first words");
    assert!(titles(&app).len() <= 3, "it is given up: {}", titles(&app).len());
}

#[tokio::test]
async fn a_chat_that_waits_for_an_answer_is_named_after_it() {
    let script = Scripted::choosing(|request| match request.purpose {
        Purpose::Title => says("Gate opened"),
        _ if format!("{:?}", request.messages).contains("Tool {") => says("Open."),
        _ => calls("c", "conf_approve", json!({ "text": "open the gate" })),
    });
    let app = naming(script).start().await;
    let mut turn = app.send("open it").await;
    let asked = turn.approvals().await;
    turn.respond(&asked[0], true, None).await;
    assert_eq!(turn.text().await, "Open.");
    becomes(&app, "Gate opened").await;
    assert_eq!(titles(&app).len(), 1);
}

#[tokio::test]
async fn the_command_names_the_chat_and_leaves_no_trace_in_it() {
    let app = TestApp::builder().script(script("Harbour paint")).start().await;
    app.send("what paint").await.end().await;
    let before = app.main.history().await;
    let mut turn = app.send("/summary-title about the colour").await;
    let told = turn.until(|chunk| matches!(chunk, Chunk::Data(_))).await;
    let Chunk::Data(told) = told else { unreachable!() };
    assert_eq!((&*told.kind.0, told.transient), ("session-title", true));
    assert_eq!(*told.data, json!({ "sessionId": "chat", "title": "Harbour paint" }));
    assert!(matches!(turn.end().await, Chunk::Finish { .. }));
    assert_eq!(app.main.history().await, before);
    assert_eq!(app.main.info().await["title"], "Harbour paint");
    assert!(format!("{:?}", titles(&app)[0].messages).contains("about the colour"));
    // The tab still shows the command; what comes after it continues from what is stored.
    assert_eq!(app.send("next").await.text().await, "Yes.");
    assert_eq!(app.main.history().await.len(), 4);
    let last = app.model.requests().pop().unwrap();
    assert!(!format!("{:?}", last.messages).contains("summary-title"));
}

#[tokio::test]
async fn the_route_answers_with_the_title_and_replaces_even_a_persons_because_a_person_asks() {
    let app = TestApp::builder().script(script("Harbour paint")).start().await;
    assert_eq!(app.caller.post_json("/api/chat/chat/title", &json!({})).await.status, 404);
    app.send("what paint").await.end().await;
    app.caller.patch_json("/api/sessions/chat", &json!({ "title": "Mine" })).await;
    let answer = app.caller.post_json("/api/chat/chat/title", &json!({})).await;
    assert_eq!((answer.status, answer.json()["title"].as_str()), (200, Some("Harbour paint")));
    assert_eq!(app.main.info().await["title"], "Harbour paint");

    let unknown = json!({ "id": "nobody", "messages": [testkit::user("c1", "/summary-title")] });
    assert_eq!(app.chat("nobody").post(&unknown).await.status, 404);
}

#[tokio::test]
async fn the_demo_model_gives_decent_titles_and_summaries() {
    let app = TestApp::builder()
        .model(demo::Demo::new(demo::Pace::AT_ONCE))
        .engine(|settings| settings.auto_title = true)
        .start()
        .await;
    app.send("Can you please plan a trip to Lisbon for me?").await.end().await;
    becomes(&app, "Plan a trip to Lisbon for me").await;
    app.send("What time is it in Tokyo?").await.end().await;
    app.send("hello").await.end().await;
    let done: Value = app.caller.post_json("/api/chat/chat/compact", &json!({})).await.json();
    assert_eq!(done["compacted"], true, "{done}");
    let summary = done["compaction"]["summary"].as_str().unwrap();
    assert!(summary.contains("plan a trip to Lisbon") && summary.contains("Tokyo"), "{summary}");
}

#[tokio::test]
async fn a_title_that_cannot_be_had_is_told_and_the_old_one_stays() {
    let broken = Scripted::choosing(|request| match request.purpose {
        Purpose::Title => fails(ModelError::Unreachable),
        _ => says("Yes."),
    });
    let app = TestApp::builder().script(broken).start().await;
    app.send("first words").await.end().await;
    let mut turn = app.send("/summary-title").await;
    let Chunk::Error { error_text } = turn.end().await else { panic!("an error is told") };
    assert!(error_text.contains("could not be named") && error_text.contains("reached"), "{error_text}");
    assert_eq!(app.caller.post_json("/api/chat/chat/title", &json!({})).await.status, 502);
    assert_eq!(app.main.info().await["title"], "first words");
}
