//! A message that arrives while a run is active: refused, queued, or run in its place.

use super::*;

#[tokio::test]
async fn a_busy_chat_refuses_by_default_and_nothing_is_stored() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate).then(says("One.")), says("Two.")]).await;
    let mut turn = app.send("first").await;
    gate.reached().await;
    let before = app.rows().await;
    for body in [
        json!({ "id": "chat", "messages": [testkit::user("x", "second")] }),
        json!({ "id": "chat", "messages": [testkit::user("x", "second")], "whenBusy": "reject" }),
        json!({ "id": "chat", "messages": [testkit::user("u1", "first")], "trigger": "regenerate-message" }),
        json!({ "id": "chat", "messages": [testkit::user("u1", "edited")], "messageId": "u1" }),
    ] {
        app.main.post(&body).await.assert_sentence(ErrorCode::SessionBusy);
    }
    app.main.branch("u1").await.assert_sentence(ErrorCode::SessionBusy);
    assert_eq!(app.rows().await, before);
    gate.open();
    assert_eq!(turn.text().await, "One.");
    assert_eq!(app.send("second").await.text().await, "Two.");
}

#[tokio::test]
async fn a_queued_message_runs_after_the_present_run() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("One").then(waits(&gate)).then(says(".")), says("Two.")]).await;
    let mut turn = app.send("first").await;
    turn.until_text("One").await;
    let queued = async {
        let mut turn = app.main.send_with("second", json!({ "whenBusy": "queue" })).await;
        turn.text().await
    };
    let opening = async {
        tokio::task::yield_now().await;
        gate.open();
        turn.text().await
    };
    let (second, first) = tokio::join!(queued, opening);
    assert_eq!((first.as_str(), second.as_str()), ("One.", "Two."));
    assert_eq!(last_sent(&app), ["user: first", "assistant: One.", "user: second"]);
}

#[tokio::test]
async fn a_message_queued_before_the_answer_showed_still_follows_that_answer() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate).then(says("One.")), says("Two.")]).await;
    let mut turn = app.send("first").await;
    gate.reached().await;
    // This tab has not read anything of the answer yet: its list is [u1, u2].
    let queued = async {
        let mut turn = app.main.send_with("second", json!({ "whenBusy": "queue" })).await;
        turn.end().await
    };
    let opening = async {
        tokio::task::yield_now().await;
        gate.open();
    };
    tokio::join!(queued, opening);
    turn.end().await;
    let ids: Vec<_> = app.main.history().await.iter().map(|message| message.id.to_string()).collect();
    assert_eq!(ids, ["u1", "msg_1", "u2", "msg_2"]);
    assert_eq!(last_sent(&app), ["user: first", "assistant: One.", "user: second"]);
}

#[tokio::test]
async fn an_interrupting_message_stops_the_present_run_first() {
    let gate = Gate::new();
    let app = TestApp::scripted([says("One").then(waits(&gate)), says("Two.")]).await;
    let mut turn = app.send("first").await;
    turn.until_text("One").await;
    let mut second = app.main.send_with("second", json!({ "whenBusy": "interrupt" })).await;
    assert_eq!(second.text().await, "Two.");
    assert_eq!(turn.end().await, Chunk::Abort);
    assert_eq!(last_sent(&app), ["user: first", "assistant: One", "user: second"]);
    let ids: Vec<_> = app.main.history().await.iter().map(|message| message.id.to_string()).collect();
    assert_eq!(ids, ["u1", "msg_1", "u2", "msg_2"]);
}

#[tokio::test]
async fn at_most_sixteen_messages_wait() {
    let gate = Gate::new();
    let app = TestApp::scripted([waits(&gate)]).await;
    let _turn = app.send("first").await;
    gate.reached().await;
    let post = |number: usize| {
        let caller = app.caller.clone();
        async move {
            let message = testkit::user(&format!("w{number}"), "more");
            let body = json!({ "id": "chat", "messages": [message], "whenBusy": "queue" });
            caller.chat("chat").post(&body).await
        }
    };
    let all = testkit::join_all((0..17).map(post));
    let stopping = async {
        while app.main.info().await["queued"] != 16 {
            tokio::task::yield_now().await;
        }
        app.main.stop().await
    };
    let (answers, _) = tokio::join!(all, stopping);
    let full = answers.iter().filter(|answer| answer.header("x-error-code") == "too_many_requests").count();
    let dropped = answers.iter().filter(|answer| answer.body.contains("was taken back")).count();
    assert_eq!((full, dropped), (1, 16));
}

#[tokio::test]
async fn two_tabs_that_send_at_once_make_one_run() {
    let app = TestApp::scripted([says("One."), says("Never.")]).await;
    let same = || async {
        let mut turn = app.chat("chat").send("hello").await;
        turn.message().await
    };
    let (one, two) = tokio::join!(same(), same());
    assert_eq!(one, two);
    assert_eq!(app.model.requests().len(), 1);
}
