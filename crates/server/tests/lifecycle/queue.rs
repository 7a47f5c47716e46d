//! Queued messages: stored before the client gets 200, started in order, withdrawn on request.

use super::*;

fn queued(id: &str, text: &str) -> Value {
    json!({ "id": "chat", "messages": [testkit::user(id, text)], "whenBusy": "queue" })
}

/// A chat with a run that is paused at the gate.
async fn busy(
    replies: impl IntoIterator<Item = testkit::models::scripted::Reply>,
) -> (TestApp, testkit::Turn) {
    let app = TestApp::scripted(replies).await;
    let mut turn = app.send("first").await;
    turn.until_text("One").await;
    (app, turn)
}

fn ids(messages: &[UiMessage]) -> Vec<String> {
    messages.iter().map(|message| message.id.to_string()).collect()
}

async fn waiting(app: &TestApp) -> Vec<String> {
    let answer = app.get("/api/chat/chat/queue").await;
    ids(&serde_json::from_str::<Vec<UiMessage>>(&answer.body).unwrap())
}

#[tokio::test]
async fn a_waiting_message_has_its_answer_at_once_and_its_stream_when_its_turn_comes() {
    let gate = Gate::new();
    let (app, mut turn) =
        busy([says("One").then(waits(&gate)).then(says(".")), says("Two."), says("Three.")]).await;
    let mut second = app.chat("chat").open_turn(&queued("a", "second")).await;
    let mut third = app.chat("chat").open_turn(&queued("b", "third")).await;
    assert_eq!(waiting(&app).await, ["a", "b"]);
    assert_eq!(app.main.info().await["queued"], 2);
    assert_eq!(ids(&app.main.history().await), ["u1"], "what waits is no part of the history");
    gate.open();
    assert_eq!((turn.text().await, second.text().await), ("One.".to_owned(), "Two.".to_owned()));
    assert_eq!(third.text().await, "Three.");
    assert_eq!(ids(&app.main.history().await), ["u1", "msg_1", "a", "msg_2", "b", "msg_3"]);
    assert_eq!(app.main.info().await["queued"], Value::Null);
}

#[tokio::test]
async fn messages_that_wait_begin_after_a_restart_in_their_order() {
    let shut = Gate::new();
    let (app, _turn) = busy([says("One").then(waits(&shut))]).await;
    for id in ["a", "b"] {
        // The client is gone before its turn comes.
        drop(app.chat("chat").open_turn(&queued(id, "more")).await);
    }
    let gate = Gate::new();
    let app = app.restart([says("."), says("Two.").then(waits(&gate)), says("Three.")]).await;
    gate.reached().await;
    let mut resumed = app.main.resume().await.unwrap();
    // The other sends the same again, as clients do that lost their connection.
    let mut third = app.chat("chat").open_turn(&queued("b", "more")).await;
    gate.open();
    assert_eq!((resumed.text().await, third.text().await), ("Two.".to_owned(), "Three.".to_owned()));
    assert_eq!(
        shown(&app.main.history().await),
        ["u1 first", "msg_1 One.", "a more", "msg_2 Two.", "b more", "msg_3 Three."]
    );
    assert_eq!(app.model.requests().len(), 3);
}

#[tokio::test]
async fn the_same_waiting_message_again_joins_it_and_another_content_is_refused() {
    let gate = Gate::new();
    let (app, mut turn) = busy([says("One").then(waits(&gate)).then(says(".")), says("Two.")]).await;
    let mut one = app.chat("chat").open_turn(&queued("a", "second")).await;
    let mut two = app.chat("chat").open_turn(&queued("a", "second")).await;
    app.main.post(&queued("a", "other")).await.assert_sentence(ErrorCode::IdConflict);
    assert_eq!(waiting(&app).await, ["a"]);
    gate.open();
    turn.end().await;
    assert_eq!(one.message().await, two.message().await);
    assert_eq!(app.model.requests().len(), 2);
    let mut replayed = app.chat("chat").open_turn(&queued("a", "second")).await;
    assert_eq!(replayed.text().await, "Two.");
}

#[tokio::test]
async fn one_waiting_message_is_taken_back_and_the_rest_goes_on() {
    let gate = Gate::new();
    let (app, mut turn) = busy([says("One").then(waits(&gate)).then(says(".")), says("Three.")]).await;
    let second = app.main.open(&queued("a", "second")).await;
    let mut third = app.chat("chat").open_turn(&queued("b", "third")).await;
    let stop = |id: &str| {
        let (caller, body) = (app.caller.clone(), json!({ "messageId": id }));
        async move { caller.post_json("/api/chat/chat/stop", &body).await.json() }
    };
    assert_eq!(stop("a").await, json!({ "stopped": true, "status": "withdrawn" }));
    assert_eq!(stop("a").await, json!({ "stopped": false, "status": "idle" }), "once");
    let second = testkit::HttpResponse::of(second).await;
    assert_eq!(second.status, 200);
    assert!(
        second.body.contains("was taken back") && second.body.ends_with("data: [DONE]\n\n"),
        "{second:?}"
    );
    gate.open();
    assert_eq!((turn.text().await, third.text().await), ("One.".to_owned(), "Three.".to_owned()));
    assert_eq!(ids(&app.main.history().await), ["u1", "msg_1", "b", "msg_2"]);
}

#[tokio::test]
async fn stopping_the_run_by_its_message_lets_the_next_one_begin() {
    let gate = Gate::new();
    let (app, mut turn) = busy([says("One").then(waits(&gate)), says("Two.")]).await;
    let mut second = app.chat("chat").open_turn(&queued("a", "second")).await;
    let stopped = app.caller.post_json("/api/chat/chat/stop", &json!({ "messageId": "u1" })).await;
    assert_eq!(stopped.json(), json!({ "stopped": true, "status": "cancelled" }));
    assert_eq!((turn.end().await, second.text().await), (Chunk::Abort, "Two.".to_owned()));
}

#[tokio::test]
async fn a_stop_takes_back_everything_that_waits_and_a_restart_does_not_bring_it_back() {
    let gate = Gate::new();
    let (app, mut turn) = busy([says("One").then(waits(&gate))]).await;
    let second = app.main.open(&queued("a", "second")).await;
    assert_eq!(waiting(&app).await, ["a"]);
    assert_eq!(app.main.stop().await.json(), json!({ "stopped": true, "status": "cancelled" }));
    assert_eq!(turn.end().await, Chunk::Abort);
    assert!(testkit::HttpResponse::of(second).await.body.contains("was taken back"));
    assert_eq!(waiting(&app).await, Vec::<String>::new());
    let app = app.restart([says("Never.")]).await;
    assert!(app.main.resume().await.is_none());
    assert_eq!(ids(&app.main.history().await), ["u1", "msg_1"]);
    assert_eq!(app.model.requests().len(), 0);
}

#[tokio::test]
async fn a_waiting_edit_takes_the_place_of_its_message() {
    let gate = Gate::new();
    let (app, mut turn) = busy([says("One").then(waits(&gate)).then(says(".")), says("Two.")]).await;
    let mut edit = queued("u1", "edited");
    edit["messageId"] = json!("u1");
    let mut second = app.chat("chat").open_turn(&edit).await;
    gate.open();
    turn.end().await;
    assert_eq!(second.text().await, "Two.");
    assert_eq!(shown(&app.main.history().await), ["u1 edited", "msg_2 Two."]);
}
