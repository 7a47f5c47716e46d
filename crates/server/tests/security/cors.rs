//! CORS: which pages of other origins may call, and what the answers tell their browser.

use testkit::{HttpResponse, Scripted, TestApp, protocol::ErrorCode, says, user};

const ORIGIN: &str = "https://app.example";

async fn app() -> TestApp {
    TestApp::builder()
        .script(Scripted::choosing(|_| says("Fine.")))
        .server(|settings| settings.origins = vec![ORIGIN.to_owned()])
        .with_auth()
        .start()
        .await
}

/// The values of a header that lists names, in lower case and sorted.
fn names(answer: &HttpResponse, header: &str) -> Vec<String> {
    let values = answer.headers.get_all(header).iter().map(|value| value.to_str().unwrap());
    let mut names: Vec<String> =
        values.flat_map(|value| value.split(',')).map(|name| name.trim().to_lowercase()).collect();
    names.sort();
    names
}

fn has_cors_headers(answer: &HttpResponse) -> bool {
    answer.headers.keys().any(|name| name.as_str().starts_with("access-control-"))
}

#[tokio::test]
async fn a_preflight_of_a_listed_origin_is_204_and_names_methods_and_headers() {
    let app = app().await;
    for (path, method) in
        [("/api/chat", "POST"), ("/api/agents/a", "PUT"), ("/api/sessions/s", "PATCH"), ("/", "DELETE")]
    {
        let asked = [
            ("origin", ORIGIN),
            ("access-control-request-method", method),
            ("access-control-request-headers", "authorization, content-type"),
        ];
        let preflight = app.stranger().request("OPTIONS", path, &asked, "").await;
        assert_eq!((preflight.status, preflight.body.as_str()), (204, ""), "{path}");
        assert_eq!(preflight.header("access-control-allow-origin"), ORIGIN);
        assert_eq!(
            names(&preflight, "access-control-allow-methods"),
            ["delete", "get", "options", "patch", "post", "put"]
        );
        assert_eq!(
            names(&preflight, "access-control-allow-headers"),
            ["authorization", "content-type", "last-event-id"]
        );
        assert_eq!(preflight.header("access-control-max-age"), "600");
        assert_eq!(names(&preflight, "vary"), ["origin"]);
        assert_eq!(
            preflight.header("access-control-allow-credentials"),
            "",
            "a page sends a token, no cookie"
        );
    }
}

#[tokio::test]
async fn every_answer_to_a_listed_origin_can_be_read_by_the_page_errors_and_streams_included() {
    let app = app().await;
    let origin = [("origin", ORIGIN)];
    let body = serde_json::json!({ "id": "c", "messages": [user("u", "x")] }).to_string();
    let json = [("origin", ORIGIN), ("content-type", "application/json")];
    let answers = [
        app.caller.request("GET", "/api/sessions", &origin, "").await,
        app.caller.request("POST", "/api/chat", &json, body.clone()).await,
        app.caller.request("POST", "/api/chat", &json, "{").await,
        app.caller.request("GET", "/api/chat/none/messages", &origin, "").await,
        app.caller.request("GET", "/nothing.txt", &origin, "").await,
        app.stranger().request("GET", "/api/sessions", &origin, "").await,
        app.stranger().request("GET", "/health", &origin, "").await,
    ];
    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 200, 400, 404, 404, 401, 200]);
    assert!(answers[1].body.ends_with("data: [DONE]\n\n"), "{:?}", answers[1]);
    for answer in answers {
        assert_eq!(answer.header("access-control-allow-origin"), ORIGIN, "{answer:?}");
        assert_eq!(names(&answer, "access-control-expose-headers"), ["link", "x-error-code"]);
        assert!(names(&answer, "vary").contains(&"origin".to_owned()), "{answer:?}");
        assert_eq!(answer.header("access-control-allow-credentials"), "");
    }
}

#[tokio::test]
async fn an_origin_is_compared_without_case_and_returned_as_it_was_sent() {
    let app = app().await;
    let origin = [("origin", "HTTPS://App.Example")];
    let answer = app.caller.request("GET", "/api/sessions", &origin, "").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, "HTTPS://App.Example"));
}

#[tokio::test]
async fn a_page_of_this_server_and_a_program_get_no_cors_headers() {
    let app = app().await;
    let own = vec![("host", "localhost:4860"), ("origin", "http://localhost:4860")];
    for headers in [own, Vec::new()] {
        let answer = app.caller.request("GET", "/api/sessions", &headers, "").await;
        assert_eq!(answer.status, 200);
        assert!(!has_cors_headers(&answer) && answer.header("vary").is_empty(), "{answer:?}");
        let options = app.stranger().request("OPTIONS", "/api/sessions", &headers, "").await;
        assert_eq!((options.status, options.body.as_str()), (204, ""));
        assert!(!has_cors_headers(&options), "{options:?}");
    }
}

#[tokio::test]
async fn a_page_of_any_other_origin_is_refused_and_told_nothing() {
    let app = app().await;
    for origin in ["https://evil.example", "https://app.example:8443", "http://app.example", "null", ""] {
        for method in ["GET", "OPTIONS", "DELETE"] {
            let answer = app.caller.request(method, "/api/sessions", &[("origin", origin)], "").await;
            answer.assert_problem(ErrorCode::ForbiddenOrigin);
            assert!(!has_cors_headers(&answer), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_file_of_the_page_still_varies_by_encoding() {
    let app = app().await;
    let answer = app.stranger().request("GET", "/icon.svg", &[("origin", ORIGIN)], "").await;
    assert_eq!(
        (answer.status, names(&answer, "vary")),
        (200, vec!["accept-encoding".to_owned(), "origin".to_owned()])
    );
}

/// Answers of chat routes are written to the socket without hyper.
#[tokio::test]
async fn answers_on_the_bare_socket_have_the_same_headers() {
    let app = TestApp::builder()
        .script(Scripted::choosing(|_| says("Fine.")))
        .server(|settings| settings.origins = vec![ORIGIN.to_owned()])
        .start()
        .await;
    let server = app.over_http().await;
    let preflight = format!(
        "OPTIONS /api/chat HTTP/1.1\r\nhost: localhost\r\norigin: {ORIGIN}\r\naccess-control-request-method: POST\r\n\r\n"
    );
    let mut connection = server.raw(&preflight).await;
    connection.read_until("\r\n\r\n").await;
    let head = connection.text().to_lowercase();
    assert!(head.starts_with("http/1.1 204 no content\r\n"), "{head}");
    for line in ["access-control-allow-origin: https://app.example\r\n", "access-control-max-age: 600\r\n"] {
        assert!(head.contains(line), "{line:?} is missing in {head}");
    }
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");

    let body = serde_json::json!({ "id": "c", "messages": [user("u", "x")] }).to_string();
    let stream = format!(
        "POST /api/chat HTTP/1.1\r\nhost: localhost\r\norigin: {ORIGIN}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    connection.write(&stream).await;
    let text = connection.read_all().await;
    let (_, answer) = text.split_once("\r\n\r\n").unwrap();
    let (head, events) = answer.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    assert!(head.starts_with("http/1.1 200 ok\r\n") && events.contains("data: [DONE]"), "{answer}");
    for line in [
        "access-control-allow-origin: https://app.example",
        "access-control-expose-headers: link",
        "vary: origin",
    ] {
        assert!(head.contains(line), "{line:?} is missing in {head}");
    }
}
