//! Clients that are slow, too many, too large or gone: each is bounded, and others are served meanwhile.

use std::{future::Future, time::Duration};

use serde_json::json;
use testkit::{Builder, Connection, Gate, LoopbackServer, Reply, Scripted, TestApp, says, waits};

#[path = "limits/gone.rs"]
mod gone;
#[path = "limits/mix.rs"]
mod mix;

/// How long anything may take that the server bounds to much less.
const PATIENCE: Duration = Duration::from_secs(30);
const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";

fn app() -> Builder {
    TestApp::builder().script(Scripted::choosing(|_| says("Fine.")))
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// What is in use: connections, and bytes of bodies.
async fn used(app: &TestApp) -> (u64, u64) {
    let limits = app.get("/api/diagnostics").await.json()["limits"].clone();
    let used = |what: &str| limits[what]["used"].as_u64().unwrap();
    (used("connections"), used("bodyBytes"))
}

async fn until_used(app: &TestApp, wanted: impl Fn((u64, u64)) -> bool) {
    in_time(async {
        while !wanted(used(app).await) {
            tokio::time::sleep(milliseconds(2)).await;
        }
    })
    .await;
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it takes too long")
}

fn question(chat: &str) -> String {
    json!({ "id": chat, "messages": [testkit::user("m1", "Hello.")] }).to_string()
}

/// The head of a request for an answer, with so much of a body announced.
fn head(length: usize) -> String {
    format!(
        "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

async fn assert_serves(server: &LoopbackServer, chat: &str) {
    let answer = in_time(server.request("POST", "/api/chat", &question(chat)).await.read_all()).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("Fine."), "{answer}");
}

/// Sends one byte every few milliseconds until the server has answered and closed; returns the answer.
async fn trickle(mut connection: Connection) -> String {
    in_time(async {
        let mut tick = tokio::time::interval(milliseconds(10));
        loop {
            tokio::select! {
                more = connection.read_some() => if !more { return connection.text() },
                _ = tick.tick() => {}
            }
            if connection.text().is_empty() && !connection.try_write("x").await {
                return connection.text();
            }
        }
    })
    .await
}

#[tokio::test]
async fn connections_beyond_the_limit_are_told_so_and_health_is_answered_all_the_same() {
    let app = app().server(|settings| settings.limits.connections = 3).start().await;
    let server = app.over_http().await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(server.raw("").await);
    }
    until_used(&app, |used| used.0 == 3).await;
    let request = "GET /api/sessions HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let refused = in_time(server.raw(request).await.read_all()).await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    for line in [
        "x-error-code: server_busy",
        "retry-after: 2",
        "content-type: application/problem+json",
        "connection: close",
    ] {
        assert!(refused.contains(line), "{line} is missing:\n{refused}");
    }
    let refused = in_time(server.request("POST", "/api/chat", &question("a")).await.read_all()).await;
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("text/plain"), "{refused}");
    let health = in_time(server.raw(HEALTH).await.read_all()).await;
    assert!(health.starts_with("HTTP/1.1 200 "), "{health}");
    held.pop();
    until_used(&app, |used| used.0 == 2).await;
    assert_serves(&server, "a").await;
}

#[tokio::test]
async fn a_crowd_beyond_the_limit_is_refused_and_forgotten() {
    let app = app().server(|settings| settings.limits.connections = 2).start().await;
    let server = app.over_http().await;
    let held = [server.raw("").await, server.raw("").await];
    until_used(&app, |used| used.0 == 2).await;
    let mut crowd = Vec::new();
    for _ in 0..200 {
        crowd.push(server.raw("").await);
    }
    // Those whose request would be read are cut as well, after a moment; they are few.
    let mut unread = 0;
    for one in crowd {
        let answer = in_time(one.read_all()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 503 "), "{answer}");
        unread += usize::from(answer.is_empty());
    }
    assert!(unread <= 64, "{unread} of 200 connections beyond the limit were kept to be read");
    drop(held);
    until_used(&app, |used| used.0 == 0).await;
    assert_serves(&server, "a").await;
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_given_up() {
    let app = app().server(|settings| settings.limits.head_time = milliseconds(200)).start().await;
    let server = app.over_http().await;
    let answer = trickle(server.raw("GET /health HTTP/1.1\r\nx-slow: ").await).await;
    assert!(
        answer.starts_with("HTTP/1.1 408 ") && answer.contains("x-error-code: request_timeout"),
        "{answer}"
    );
    // A connection that never sends anything is closed without an answer.
    assert_eq!(in_time(server.raw("").await.read_all()).await, "");
    until_used(&app, |used| used.0 == 0).await;
}

#[tokio::test]
async fn a_kept_connection_may_be_silent_for_longer_than_a_head_may_take() {
    let app = app()
        .server(|settings| {
            settings.limits.head_time = milliseconds(150);
            settings.limits.idle_time = milliseconds(1000);
        })
        .start()
        .await;
    let server = app.over_http().await;
    for request in [HEALTH.to_owned(), format!("{}{}", head(question("a").len()), question("a"))] {
        let mut connection = server.raw(HEALTH).await;
        connection.read_until("\"status\":\"ok\"").await;
        tokio::time::sleep(milliseconds(400)).await;
        let (one, other) = request.split_at(9);
        connection.write(one).await;
        tokio::time::sleep(milliseconds(50)).await;
        connection.write(other).await;
        while connection.text().matches("HTTP/1.1 200 OK").count() < 2 {
            assert!(in_time(connection.read_some()).await, "{}", connection.text());
        }
        // But not forever.
        in_time(connection.read_all()).await;
    }
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let app = app().server(|settings| settings.limits.head_bytes = 16 << 10).start().await;
    let server = app.over_http().await;
    let mut connection = server.raw("GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: ").await;
    for _ in 0..40 {
        if !connection.try_write(&"x".repeat(1000)).await {
            break;
        }
    }
    let mut answer = String::new();
    while in_time(connection.try_read()).await {
        answer = connection.text();
    }
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    until_used(&app, |used| used.0 == 0).await;
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_given_up_and_a_steady_one_is_not() {
    let app = app()
        .server(|settings| {
            settings.limits.body_time = milliseconds(300);
            settings.limits.body_rate = 10_000;
        })
        .start()
        .await;
    let server = app.over_http().await;
    let answer = trickle(server.raw(&(head(1_000_000) + "{")).await).await;
    assert!(
        answer.starts_with("HTTP/1.1 408 ") && answer.contains("x-error-code: request_timeout"),
        "{answer}"
    );
    until_used(&app, |used| used == (0, 0)).await;
    let long = json!({ "id": "a", "messages": [testkit::user("m1", &"x".repeat(20_000))] }).to_string();
    let mut connection = server.raw(&head(long.len())).await;
    for piece in long.as_bytes().chunks(1000) {
        connection.write(std::str::from_utf8(piece).unwrap()).await;
        tokio::time::sleep(milliseconds(30)).await;
    }
    in_time(connection.read_until("[DONE]")).await;
}

#[tokio::test]
async fn bodies_beyond_what_all_may_hold_are_refused_and_the_rest_is_served() {
    let app = app()
        .server(|settings| {
            settings.max_body_bytes = 1 << 20;
            settings.limits.bodies_bytes = 1 << 20;
            settings.limits.bodies_wait = milliseconds(50);
        })
        .start()
        .await;
    let server = app.over_http().await;
    let half = "x".repeat(700 << 10);
    let first = server.raw(&(head(900 << 10) + &half)).await;
    until_used(&app, |used| used.1 == 700 << 10).await;
    // Nothing of it is processed while it is not whole, and there is room for small ones.
    assert_serves(&server, "a").await;
    let mut second = server.raw(&head(900 << 10)).await;
    for piece in half.as_bytes().chunks(10_000) {
        if !second.try_write(std::str::from_utf8(piece).unwrap()).await {
            break;
        }
    }
    in_time(second.read_until("\r\n\r\n")).await;
    let answer = second.text();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("x-error-code: server_busy") && answer.contains("retry-after: 2"), "{answer}");
    drop((first, second));
    until_used(&app, |used| used == (0, 0)).await;
    assert_serves(&server, "b").await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_its_stream_is_cut_and_the_run_goes_on() {
    let text = "and so on, ".repeat(1_200_000);
    let gate = Gate::new();
    let app = TestApp::builder()
        .replies([says(&text).then(waits(&gate)).then(says("."))])
        .server(|settings| settings.limits.write_time = milliseconds(300))
        .start()
        .await;
    let server = app.over_http().await;
    let lazy = server.request("POST", "/api/chat", &question("chat")).await;
    gate.reached().await;
    until_used(&app, |used| used.0 == 0).await;
    drop(lazy);
    // The client may come back.
    let mut resumed = app.main.resume().await.unwrap();
    gate.open();
    assert_eq!(resumed.text().await.len(), text.len() + 1);
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_other_answers_is_cut_too() {
    let app = app().server(|settings| settings.limits.write_time = milliseconds(300)).start().await;
    let page = app.get("/").await.body;
    let mut largest = (String::new(), 0);
    for path in page.split('"').filter(|word| word.starts_with("/assets/")) {
        let length = app.get(path).await.body.len();
        if length > largest.1 {
            largest = (path.to_owned(), length);
        }
    }
    let server = app.over_http().await;
    let request = format!("GET {} HTTP/1.1\r\nhost: localhost\r\n\r\n", largest.0);
    let lazy = server.slowly(&request.repeat((16 << 20) / largest.1)).await;
    until_used(&app, |used| used.0 == 1).await;
    until_used(&app, |used| used.0 == 0).await;
    drop(lazy);
    // One that takes a little from time to time is not cut.
    let mut slow = server.slowly(&request).await;
    while in_time(slow.read_some()).await && slow.text().len() < largest.1 {
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    assert!(slow.text().len() >= largest.1);
}

#[tokio::test]
async fn half_sent_requests_are_cut_at_the_end_and_answers_on_their_way_are_not() {
    let gate = Gate::new();
    // No deadline of a client's own ends any of them in time.
    let app = TestApp::builder()
        .replies([waits(&gate).then(says("Fine."))])
        .server(|settings| {
            settings.limits.head_time = PATIENCE * 4;
            settings.limits.idle_time = PATIENCE * 4;
            settings.limits.body_time = PATIENCE * 4;
        })
        .start()
        .await;
    let mut server = app.over_http().await;
    let mut asked = server.raw(&format!("{}{}", head(question("a").len()), question("a"))).await;
    in_time(asked.read_until("\"type\":\"start\"")).await;
    let half_a_head = server.raw("POST /api/chat HTTP/1.1\r\nhost: loc").await;
    let half_a_body = server.raw(&(head(99) + "{")).await;
    let other = "PATCH /api/sessions/x HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    let half_of_another = server.raw(other).await;
    let silent = server.raw("").await;
    let mut kept = server.raw("GET /api/chat/none/messages HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    in_time(kept.read_until("There is no such chat.")).await;
    until_used(&app, |used| used == (6, 2)).await;
    server.end();
    assert_eq!(in_time(silent.read_all()).await, "");
    in_time(kept.read_all()).await;
    assert_eq!(in_time(half_a_head.read_all()).await, "");
    for half in [half_a_body, half_of_another] {
        let answer = in_time(half.read_all()).await;
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("shutting_down"), "{answer}");
    }
    gate.open();
    assert!(in_time(asked.read_all()).await.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"));
    in_time(server.ended()).await;
}
