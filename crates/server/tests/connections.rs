//! Requests on one connection: streams and other answers in turn, with and without a Content-Length.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use testkit::{Connection, Gate, Scripted, TestApp, says, waits};

const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
const LAST: &str = "data: [DONE]\n\n\r\n0\r\n\r\n";

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).start().await
}

/// A request for an answer in a chat of its own.
fn question(chat: &str, version: &str, more: &str) -> String {
    let body = format!(
        r#"{{"id":"{chat}","messages":[{{"id":"m1","role":"user","parts":[{{"type":"text","text":"Hello."}}]}}]}}"#
    );
    format!(
        "POST /api/chat HTTP/{version}\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Splits what came into answers: status line and body, chunks put together.
fn answers(text: &str) -> Vec<(String, String)> {
    let mut rest = text;
    let mut out = Vec::new();
    while !rest.is_empty() {
        let (head, mut behind) = rest.split_once("\r\n\r\n").expect("a whole head");
        let field = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let mut body = String::new();
        if field("transfer-encoding") == Some("chunked") {
            loop {
                let (size, chunk) = behind.split_once("\r\n").expect("a size");
                let size = usize::from_str_radix(size, 16).expect("a size in hex");
                body.push_str(&chunk[..size]);
                behind = chunk[size..].strip_prefix("\r\n").expect("the end of a chunk");
                if size == 0 {
                    break;
                }
            }
        } else {
            let none = head.contains(" 204 ").then_some("0");
            let size = field("content-length").or(none).expect("a length").parse().unwrap();
            body.push_str(&behind[..size]);
            behind = &behind[size..];
        }
        out.push((head.lines().next().unwrap_or_default().to_owned(), body));
        rest = behind;
    }
    out
}

fn assert_is_a_whole_answer((status, body): &(String, String)) {
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(body.contains(r#""delta":"Fine.""#) && body.ends_with("data: [DONE]\n\n"), "{body}");
}

async fn count(connection: &mut Connection, text: &str, times: usize) {
    while connection.text().matches(text).count() < times {
        assert!(connection.read_some().await, "closed early:\n{}", connection.text());
    }
}

#[tokio::test]
async fn streams_and_other_answers_take_turns_on_one_connection() {
    let app = app().await;
    let server = app.over_http().await;
    let mut connection = server.raw(&question("a", "1.1", "")).await;
    connection.read_until(LAST).await;
    connection.write(HEALTH).await;
    count(&mut connection, "HTTP/1.1 200 OK", 2).await;
    connection.write(&question("b", "1.1", "")).await;
    count(&mut connection, LAST, 2).await;
    connection.write("GET /api/chat/a/stream HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    connection.read_until(" 204 ").await;
    connection.write("GET /api/chat/a/messages HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    connection.read_until("content-type: application/json").await;
    connection
        .write("GET /api/chat/none/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await;
    let answers = answers(&connection.read_all().await);
    assert_is_a_whole_answer(&answers[0]);
    assert_eq!(answers[1].0, "HTTP/1.1 200 OK");
    assert_is_a_whole_answer(&answers[2]);
    assert_eq!(answers[3].0, "HTTP/1.1 204 No Content");
    assert!(answers[4].1.contains("Fine."), "{answers:?}");
    assert_eq!(answers[5].0, "HTTP/1.1 404 Not Found");
    assert_eq!(answers.len(), 6);
}

#[tokio::test]
async fn a_request_in_pieces_is_whole_behind_one_that_was_refused() {
    let app = app().await;
    let server = app.over_http().await;
    let refused = "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n{";
    let mut connection = server.raw(refused).await;
    connection.read_until("invalid_json").await;
    let asked = question("a", "1.1", "expect: 100-continue\r\nconnection: close\r\n");
    let (head, body) = asked.split_at(asked.find("{\"id\"").unwrap());
    connection.write(head).await;
    // It is being waited for.
    connection.read_until("HTTP/1.1 100 Continue").await;
    let (one, other) = body.split_at(body.len() / 2);
    connection.write(one).await;
    tokio::task::yield_now().await;
    connection.write(other).await;
    let text = connection.read_all().await;
    let (_, answer) = text.split_once("100 Continue\r\n\r\n").unwrap();
    assert_is_a_whole_answer(&answers(answer)[0]);
}

#[tokio::test]
async fn requests_that_are_sent_ahead_are_answered_in_order() {
    let app = app().await;
    let server = app.over_http().await;
    let last = question("c", "1.1", "connection: Close\r\n");
    let all = [&question("a", "1.1", ""), HEALTH, &question("b", "1.1", ""), HEALTH, &last].concat();
    let answers = answers(&server.raw(&all).await.read_all().await);
    assert_eq!(answers.len(), 5);
    for place in [0, 2, 4] {
        assert_is_a_whole_answer(&answers[place]);
    }
    for place in [1, 3] {
        assert!(!answers[place].1.contains("data:"), "{answers:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_taken_yet_leaves_before_the_stream_behind_it() {
    let app = app().await;
    let page = app.get("/").await.body;
    let mut largest = (String::new(), String::new());
    for path in page.split('"').filter(|word| word.starts_with("/assets/")) {
        let content = app.get(path).await.body;
        if content.len() > largest.1.len() {
            largest = (path.to_owned(), content);
        }
    }
    let (path, content) = largest;
    assert!(content.len() > 100_000, "too small to fill the buffers between the two: {}", content.len());
    let server = app.over_http().await;
    // Nobody reads the body of the first request: only what waits to be written holds the next one back.
    let first = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\nbody");
    let connection = server.slowly(&(first + &question("a", "1.1", "connection: close\r\n"))).await;
    while app.model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    let answers = answers(&connection.read_all().await);
    assert!(answers[0].1 == content, "a part of the first answer is missing");
    assert_is_a_whole_answer(&answers[1]);
}

#[tokio::test]
async fn a_client_of_the_old_protocol_gets_the_stream_without_chunks() {
    let app = app().await;
    let server = app.over_http().await;
    let text = server.raw(&question("a", "1.0", "")).await.read_all().await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(!head.to_lowercase().contains("chunked"), "{head}");
    assert!(body.starts_with(": concertino\n\n") && body.ends_with("data: [DONE]\n\n"), "{body}");
}

#[tokio::test]
async fn only_the_head_of_an_answer_is_sent_where_nothing_more_was_asked_for() {
    let app = app().await;
    let server = app.over_http().await;
    let head = "HEAD /api/chat/none/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let text = server.raw(head).await.read_all().await;
    assert!(text.starts_with("HTTP/1.1 4") && text.ends_with("\r\n\r\n"), "{text}");
}

#[tokio::test]
async fn a_client_that_has_said_everything_still_hears_the_answer() {
    let gate = Gate::new();
    let app = TestApp::builder().replies([waits(&gate).then(says("Fine."))]).start().await;
    let server = app.over_http().await;
    let mut connection = server.raw(&question("a", "1.1", "")).await;
    connection.close_write().await;
    connection.read_until("\"type\":\"start\"").await;
    gate.open();
    assert_is_a_whole_answer(&answers(&connection.read_all().await)[0]);
}

#[tokio::test]
async fn a_stream_that_is_open_at_the_end_of_the_server_is_finished_and_nothing_follows_it() {
    let gate = Gate::new();
    let app = TestApp::builder().replies([waits(&gate).then(says("Fine."))]).start().await;
    let mut server = app.over_http().await;
    let mut connection = server.raw(&question("a", "1.1", "")).await;
    let idle = server.raw("").await;
    connection.read_until("\"type\":\"start\"").await;
    server.end();
    assert_eq!(idle.read_all().await, "", "a connection without a request is closed");
    gate.open();
    let text = connection.read_all().await;
    assert_is_a_whole_answer(&answers(&text)[0]);
    server.ended().await;
}
