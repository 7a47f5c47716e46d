//! Calls over a real socket: the request, the retries, the name of each failure, and that the key
//! is never shown.

use std::time::Duration;

use futures::FutureExt;
use protocol::FinishReason;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
};

use super::*;
use crate::model::{ModelEvent, ModelMessage, TimeLimit, UserContent};

const KEY: &str = "sk-very-secret-key-0123456789";
const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// What the server does with one connection, after it has read a request.
#[derive(Clone)]
enum ServerAction {
    /// Writes these bytes.
    Write(String),
    /// Waits until the other side closes the connection.
    Hold,
    /// Reads another request.
    ReadAgain,
}

/// A server on loopback that performs one list of actions for each connection.
struct ScriptedServer {
    base_url: String,
    requests: mpsc::UnboundedReceiver<String>,
    /// One message for each connection that the client closed while the server held it.
    closed: mpsc::UnboundedReceiver<()>,
    _tasks: JoinSet<()>,
}

impl ScriptedServer {
    async fn new(connections: Vec<Vec<ServerAction>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (request_sender, requests) = mpsc::unbounded_channel();
        let (closed_sender, closed) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            for actions in connections {
                let (stream, _) = listener.accept().await.unwrap();
                perform(stream, actions, &request_sender, &closed_sender).await;
            }
        });
        Self { base_url, requests, closed, _tasks: tasks }
    }

    fn model(&self, limits: Limits) -> RemoteModel {
        RemoteModel::new(WireFormat::OpenAi, settings(&self.base_url, limits)).unwrap()
    }

    fn request_count(&mut self) -> usize {
        let mut count = 0;
        while self.requests.try_recv().is_ok() {
            count += 1;
        }
        count
    }
}

async fn perform(
    mut stream: TcpStream,
    actions: Vec<ServerAction>,
    requests: &mpsc::UnboundedSender<String>,
    closed: &mpsc::UnboundedSender<()>,
) {
    let Some(request) = read_request(&mut stream).await else { return };
    requests.send(request).unwrap();
    for act in actions {
        match act {
            ServerAction::Write(text) => {
                // A client that has seen enough may hang up first.
                if stream.write_all(text.as_bytes()).await.is_err() {
                    return;
                }
            }
            ServerAction::Hold => {
                let mut rest = [0; 64];
                while stream.read(&mut rest).await.is_ok_and(|length| length > 0) {}
                closed.send(()).unwrap();
            }
            ServerAction::ReadAgain => {
                let Some(request) = read_request(&mut stream).await else { return };
                requests.send(request).unwrap();
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text.into_owned());
            }
        }
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&buffer[..length]);
    }
}

fn settings(base_url: &str, limits: Limits) -> ModelSettings {
    ModelSettings {
        api_key: Some(KEY.to_owned()),
        limits,
        ..ModelSettings::new("test/some-model", base_url, "some-model")
    }
}

/// Time enough for everything, and hardly any wait between attempts.
fn patient() -> Limits {
    let long = Duration::from_secs(30);
    Limits {
        connect: long,
        first_byte: long,
        idle: long,
        attempts: 3,
        backoff_base: Duration::from_millis(1),
    }
}

fn ask() -> ModelRequest {
    let content = vec![UserContent::Text("hello".to_owned())];
    let messages = vec![ModelMessage::User { content }.into()];
    ModelRequest { system: "Be brief.".into(), messages, ..ModelRequest::default() }
}

async fn answer(model: &RemoteModel) -> Vec<Result<ModelEvent, ModelError>> {
    model.stream(ask()).collect().await
}

fn text(text: &str) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Text(text.to_owned()))
}

fn finished() -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Finished(FinishReason::Stop))
}

/// An event stream that ends when the connection does.
fn events(body: &str) -> ServerAction {
    ServerAction::Write(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// An answer of known length.
fn status(line: &str, headers: &str, body: &str) -> ServerAction {
    let length = body.len();
    ServerAction::Write(format!(
        "HTTP/1.1 {line}\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n{body}"
    ))
}

fn ok() -> Vec<ServerAction> {
    vec![events(&format!("{TEXT}{STOP}"))]
}

#[tokio::test]
async fn a_call_sends_the_request_and_streams_the_answer() {
    let mut server = ScriptedServer::new(vec![ok()]).await;
    let model = server.model(patient());
    assert_eq!(answer(&model).await, [text("Hi"), finished()]);
    let request = server.requests.recv().await.unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(!head.contains("accept-encoding"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["model"], json!("some-model"));
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn events_of_one_piece_are_ready_at_once() {
    let server = ScriptedServer::new(vec![vec![events(&format!("{TEXT}{TEXT}")), ServerAction::Hold]]).await;
    let mut stream = server.model(patient()).stream(ask());
    assert_eq!(stream.next().await, Some(text("Hi")));
    assert_eq!(stream.next().now_or_never(), Some(Some(text("Hi"))));
    assert_eq!(stream.next().now_or_never(), None);
}

#[tokio::test]
async fn a_refusal_is_told_at_once_in_the_servers_words() {
    let body = r#"{"error":{"message":"no such\nmodel","code":"model_not_found"}}"#;
    let mut server = ScriptedServer::new(vec![vec![status("404 Not Found", "", body)], ok()]).await;
    let refused = ModelError::Refused { status: 404, message: "no such model".to_owned() };
    assert_eq!(answer(&server.model(patient())).await, [Err(refused)]);
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn a_wrong_key_is_told_as_such() {
    for line in ["401 Unauthorized", "403 Forbidden"] {
        let mut server = ScriptedServer::new(vec![vec![status(line, "", "{}")], ok()]).await;
        assert_eq!(answer(&server.model(patient())).await, [Err(ModelError::Unauthorized)]);
        assert_eq!(server.request_count(), 1);
    }
}

#[tokio::test]
async fn failures_before_the_answer_are_tried_again() {
    let first = vec![status("503 Service Unavailable", "", "busy")];
    let second = vec![status("408 Request Timeout", "", "")];
    let mut server = ScriptedServer::new(vec![first, second, ok()]).await;
    assert_eq!(answer(&server.model(patient())).await, [text("Hi"), finished()]);
    assert_eq!(server.request_count(), 3);
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_given_up() {
    let failing = vec![status("502 Bad Gateway", "", "<html>nginx</html>")];
    let mut server = ScriptedServer::new(vec![failing.clone(), failing.clone(), failing, ok()]).await;
    let failed = ModelError::Failed { status: 502, message: "Bad Gateway".to_owned() };
    assert_eq!(answer(&server.model(patient())).await, [Err(failed)]);
    assert_eq!(server.request_count(), 3);
}

#[tokio::test]
async fn a_rate_limit_is_handed_on_with_the_wait_the_server_asks_for() {
    let limited = vec![status("429 Too Many Requests", "retry-after: 7\r\n", "{}")];
    let mut server = ScriptedServer::new(vec![limited, ok()]).await;
    let error = ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)) };
    assert_eq!(answer(&server.model(patient())).await, [Err(error)]);
    assert_eq!(server.request_count(), 1, "the limiter that all calls of the key share waits");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = RemoteModel::new(WireFormat::OpenAi, settings(&base_url, patient())).unwrap();
    assert_eq!(answer(&model).await, [Err(ModelError::Unreachable)]);
}

#[tokio::test]
async fn each_time_limit_is_told_by_its_name() {
    let short = Duration::from_millis(60);
    let held = async |actions: Vec<ServerAction>, limits: Limits| {
        let server = ScriptedServer::new(vec![actions]).await;
        answer(&server.model(limits)).await
    };
    let first_byte = Limits { first_byte: short, ..patient() };
    for actions in [vec![ServerAction::Hold], vec![events(""), ServerAction::Hold]] {
        assert_eq!(held(actions, first_byte).await, [Err(ModelError::TimedOut(TimeLimit::FirstByte))]);
    }

    let idle = Limits { idle: short, ..patient() };
    let stuck = Err(ModelError::TimedOut(TimeLimit::Idle));
    assert_eq!(held(vec![events(TEXT), ServerAction::Hold], idle).await, [text("Hi"), stuck]);
}

#[tokio::test]
async fn a_server_that_never_finishes_the_handshake_is_a_connect_time_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
    let limits = Limits { connect: Duration::from_millis(60), attempts: 2, ..patient() };
    let model = match RemoteModel::new(WireFormat::OpenAi, settings(&base_url, limits)) {
        Err(SetupError::Client) => return println!("skipped: this machine has no root certificates"),
        model => model.unwrap(),
    };
    assert_eq!(answer(&model).await, [Err(ModelError::TimedOut(TimeLimit::Connect))]);
    drop(listener);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_cut_and_not_asked_again() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let broken = vec![ServerAction::Write(format!("{head}{:x}\r\n{TEXT}\r\n", TEXT.len()))];
    let mut server = ScriptedServer::new(vec![broken, ok()]).await;
    assert_eq!(answer(&server.model(patient())).await, [text("Hi"), Err(ModelError::Cut)]);
    assert_eq!(server.request_count(), 1);

    let mut server = ScriptedServer::new(vec![vec![events(TEXT)], ok()]).await;
    assert_eq!(answer(&server.model(patient())).await, [text("Hi"), Err(ModelError::Cut)]);
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_before_its_first_event_is_asked_again() {
    let mut server = ScriptedServer::new(vec![vec![], vec![events(": hello\n\n")], ok()]).await;
    assert_eq!(answer(&server.model(patient())).await, [text("Hi"), finished()]);
    assert_eq!(server.request_count(), 3);
}

#[tokio::test]
async fn garbage_is_told_without_repeating_it() {
    let garbage = "data: <b>secret</b>\n\n";
    let mut server = ScriptedServer::new(vec![vec![events(&format!("{TEXT}{garbage}"))], ok()]).await;
    let told = ModelError::Garbage("text that is not the JSON of an answer".to_owned());
    assert_eq!(answer(&server.model(patient())).await, [text("Hi"), Err(told)]);
    assert_eq!(server.request_count(), 1);

    let page = status("200 OK", "content-type: text/html; charset=utf-8\r\n", "<html>secret</html>");
    let server = ScriptedServer::new(vec![vec![page]]).await;
    let told = ModelError::Garbage("a web page; check the base URL".to_owned());
    assert_eq!(answer(&server.model(patient())).await, [Err(told)]);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = r#"{"choices":[{"message":{"content":"All at once."},"finish_reason":"stop"}]}"#;
    let whole = status("200 OK", "content-type: application/json\r\n", body);
    let server = ScriptedServer::new(vec![vec![whole]]).await;
    assert_eq!(answer(&server.model(patient())).await, [text("All at once."), finished()]);
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection() {
    let mut server =
        ScriptedServer::new(vec![vec![events(TEXT), ServerAction::Hold], vec![ServerAction::Hold]]).await;
    let model = server.model(patient());
    let mut stream = model.stream(ask());
    assert_eq!(stream.next().await, Some(text("Hi")));
    drop(stream);
    server.closed.recv().await.unwrap();

    // Also while the server has not said anything yet.
    server.request_count();
    let mut stream = model.stream(ask());
    tokio::select! {
        event = stream.next() => panic!("a silent server said {event:?}"),
        request = server.requests.recv() => assert!(request.is_some()),
    }
    drop(stream);
    server.closed.recv().await.unwrap();
}

#[tokio::test]
async fn an_answer_read_to_its_end_leaves_the_connection_for_the_next() {
    let body = format!("{TEXT}{STOP}");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let write = ServerAction::Write(format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
    let mut server = ScriptedServer::new(vec![vec![write.clone(), ServerAction::ReadAgain, write]]).await;
    let model = server.model(patient());
    assert_eq!(answer(&model).await, [text("Hi"), finished()]);
    assert_eq!(answer(&model).await, [text("Hi"), finished()]);
    assert_eq!(server.request_count(), 2);
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_is_no_failure() {
    let body = format!("{TEXT}{STOP}");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let kept = ServerAction::Write(format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
    // Closed at once after the answer; and after the next request has arrived, without a word.
    for closing in [vec![kept.clone()], vec![kept.clone(), ServerAction::ReadAgain]] {
        let server = ScriptedServer::new(vec![closing, ok()]).await;
        let model = server.model(Limits { attempts: 1, ..patient() });
        assert_eq!(answer(&model).await, [text("Hi"), finished()]);
        assert_eq!(answer(&model).await, [text("Hi"), finished()]);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut server = ScriptedServer::new(vec![
        vec![status("307 Temporary Redirect", "location: /elsewhere\r\n", "")],
        ok(),
    ])
    .await;
    let message = "it points to another address; check the base URL".to_owned();
    let refused = ModelError::Refused { status: 307, message };
    assert_eq!(answer(&server.model(patient())).await, [Err(refused)]);
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn neither_key_nor_address_is_ever_shown() {
    let echo = json!({ "error": { "message": format!("bad key {KEY} at http://10.0.0.1/v1") } }).to_string();
    let in_stream = format!("data: {echo}\n\n");
    let refused = vec![status("400 Bad Request", "", &echo)];
    let server = ScriptedServer::new(vec![refused, vec![events(&in_stream)]]).await;
    let model = server.model(Limits { attempts: 1, ..patient() });
    let mut shown = format!("{model:?} {:?}", settings(&server.base_url, patient()));
    for _ in 0..2 {
        let answer = answer(&model).await;
        let error = answer.last().unwrap().as_ref().unwrap_err();
        shown.push_str(&format!(" {error} {error:?}"));
    }
    assert!(shown.contains("bad key [hidden] at [link]"), "{shown}");
    for secret in [KEY, "secret", "10.0.0.1", "127.0.0.1", "/v1"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[tokio::test]
async fn an_endless_explanation_is_not_read_to_its_end() {
    let head = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".to_owned();
    let long = ServerAction::Write(" ".repeat(1024 * 1024));
    let server = ScriptedServer::new(vec![vec![ServerAction::Write(head), long, ServerAction::Hold]]).await;
    let refused = ModelError::Refused { status: 400, message: "Bad Request".to_owned() };
    assert_eq!(answer(&server.model(patient())).await, [Err(refused)]);
}

#[test]
fn settings_that_cannot_work_are_refused_without_showing_them() {
    for base_url in ["", "localhost:8000/v1", "ftp://example.com", "http://", "not a url"] {
        let refused = RemoteModel::new(WireFormat::OpenAi, settings(base_url, patient())).unwrap_err();
        assert_eq!(refused, SetupError::BadUrl("test/some-model".to_owned()), "{base_url}");
    }
    let key = Some("two\nlines".to_owned());
    let refused = RemoteModel::new(
        WireFormat::OpenAi,
        ModelSettings { api_key: key, ..settings("http://localhost", patient()) },
    );
    assert_eq!(refused.unwrap_err(), SetupError::BadKey("test/some-model".to_owned()));
}

#[test]
fn the_path_is_appended_to_any_base_url() {
    for (base_url, url) in [
        ("http://localhost:1", "http://localhost:1/chat/completions"),
        ("http://localhost:1/v1", "http://localhost:1/v1/chat/completions"),
        (" http://localhost:1/v1/ ", "http://localhost:1/v1/chat/completions"),
        ("http://localhost:1/x?api-version=2", "http://localhost:1/x/chat/completions?api-version=2"),
    ] {
        let model = RemoteModel::new(WireFormat::OpenAi, settings(base_url, patient())).unwrap();
        assert_eq!(model.server.url.as_str(), url);
    }
}
