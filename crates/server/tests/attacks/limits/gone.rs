//! A client that closes its connection while its request is pending; ADR 22.

use super::*;

fn retry(when_busy: &str) -> String {
    let first = testkit::user("u1", "first");
    let retry =
        json!({ "id": "chat", "messages": [first], "trigger": "regenerate-message", "whenBusy": when_busy });
    retry.to_string()
}

/// A chat with one answer, and a second one that is paused at the gate.
async fn busy(gate: &Gate, then: impl IntoIterator<Item = Reply>) -> (TestApp, testkit::Turn) {
    let replies = [says("One."), says("Two").then(waits(gate)).then(says("."))];
    let app = TestApp::scripted(replies.into_iter().chain(then)).await;
    assert_eq!(app.send("first").await.text().await, "One.");
    let mut turn = app.send("second").await;
    turn.until_text("Two").await;
    (app, turn)
}

async fn ids(app: &TestApp) -> Vec<String> {
    app.main.history().await.iter().map(|message| message.id.to_string()).collect()
}

#[tokio::test]
async fn a_retry_whose_client_has_gone_does_not_run_later() {
    let gate = Gate::new();
    let (app, mut turn) = busy(&gate, [says("Three.")]).await;
    let server = app.over_http().await;
    let connection = server.request("POST", "/api/chat", &retry("queue")).await;
    until_used(&app, |used| used.0 == 1).await;
    drop(connection);
    // The end of the connection means that the request was read, waited and was given up.
    until_used(&app, |used| used.0 == 0).await;
    gate.open();
    assert_eq!(turn.text().await, "Two.");
    assert_eq!(app.send("third").await.text().await, "Three.");
    assert_eq!(ids(&app).await, ["u1", "msg_1", "u2", "msg_2", "u3", "msg_3"]);
}

#[tokio::test]
async fn retries_of_clients_that_have_gone_leave_their_places_to_others() {
    let gate = Gate::new();
    let (app, mut turn) = busy(&gate, [says("Three.")]).await;
    let server = app.over_http().await;
    let mut gone = Vec::new();
    for _ in 0..16 {
        gone.push(server.request("POST", "/api/chat", &retry("queue")).await);
    }
    until_used(&app, |used| used.0 == 16).await;
    drop(gone);
    until_used(&app, |used| used.0 == 0).await;
    let mut waiting = server.request("POST", "/api/chat", &retry("queue")).await;
    until_used(&app, |used| used.0 == 1).await;
    gate.open();
    assert_eq!(turn.text().await, "Two.");
    in_time(waiting.read_until("[DONE]")).await;
    assert!(waiting.text().contains("Three."), "{}", waiting.text());
    assert_eq!(app.model.requests().len(), 3);
}

#[tokio::test]
async fn a_waiting_client_that_only_has_nothing_more_to_send_is_answered() {
    let gate = Gate::new();
    let (app, mut turn) = busy(&gate, [says("Three.")]).await;
    let server = app.over_http().await;
    let mut waiting = server.request("POST", "/api/chat", &retry("queue")).await;
    waiting.close_write().await;
    // It is asked whether it is still there.
    in_time(waiting.read_until("HTTP/1.1 100 Continue\r\n\r\n")).await;
    assert_eq!(used(&app).await.0, 1);
    gate.open();
    assert_eq!(turn.text().await, "Two.");
    let answer = in_time(waiting.read_all()).await;
    assert!(answer.contains("HTTP/1.1 200 OK") && answer.contains("Three."), "{answer}");
}

#[tokio::test]
async fn requests_sent_ahead_of_a_waiting_one_are_answered_after_it() {
    let gate = Gate::new();
    let (app, mut turn) = busy(&gate, [says("Three.")]).await;
    let server = app.over_http().await;
    let body = retry("queue");
    let mut waiting = server.raw(&format!("{}{body}", head(body.len()))).await;
    until_used(&app, |used| used.0 == 1).await;
    for _ in 0..3 {
        waiting.write(HEALTH).await;
        tokio::task::yield_now().await;
    }
    gate.open();
    assert_eq!(turn.text().await, "Two.");
    while waiting.text().matches("\"status\":\"ok\"").count() < 3 {
        assert!(in_time(waiting.read_some()).await, "{}", waiting.text());
    }
    let text = waiting.text();
    assert!(text.find("Three.").unwrap() < text.find("\"status\":\"ok\"").unwrap(), "{text}");
}

/// It stopped the run for its sake, so it has been submitted.
#[tokio::test]
async fn a_new_message_that_interrupts_is_answered_although_its_client_has_gone() {
    let gate = Gate::new();
    let (app, mut turn) = busy(&gate, [says("Three.")]).await;
    let server = app.over_http().await;
    let message = testkit::user("u9", "third");
    let body = json!({ "id": "chat", "messages": [message], "whenBusy": "interrupt" }).to_string();
    drop(server.request("POST", "/api/chat", &body).await);
    turn.end().await;
    in_time(async {
        while app.model.requests().len() < 3 || app.main.resume().await.is_some() {
            tokio::time::sleep(milliseconds(2)).await;
        }
    })
    .await;
    assert_eq!(ids(&app).await, ["u1", "msg_1", "u2", "msg_2", "u9", "msg_3"]);
}
