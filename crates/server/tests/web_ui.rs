//! The embedded web interface: who gets it, with which headers, and what a link into it shows.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use testkit::{Scripted, TestApp, protocol::ErrorCode, says};

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).with_auth().start().await
}

/// The script and style names that the page asks for.
fn assets(page: &str) -> Vec<String> {
    page.split('"').filter(|word| word.starts_with("/assets/")).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_place_inside_the_page_gives_the_page() {
    let app = app().await;
    let start = app.get("/").await;
    assert_eq!((start.status, start.header("content-type")), (200, "text/html; charset=utf-8"));
    for place in
        ["/c/chat-1", "/c/a.b", "/c/a%2Fb?agent=x", "/agents", "/agents/general", "/usage", "/settings"]
    {
        assert_eq!(app.get(place).await.body, start.body, "{place}");
    }
    let astray = app.caller.request("GET", "/nowhere", &[("accept", "text/html,*/*")], "").await;
    assert_eq!(astray.body, start.body);
}

#[tokio::test]
async fn addresses_that_name_a_file_or_a_route_are_not_the_page() {
    let app = app().await;
    for path in [
        "/favicon.ico",
        "/assets/none.js",
        "/index.html",
        "/api/nothing",
        "/api",
        "/wp-login.php",
        "/nowhere",
    ] {
        app.get(path).await.assert_problem(ErrorCode::NotFound);
    }
    let post = app.caller.request("POST", "/", &[], "").await;
    post.assert_problem(ErrorCode::MethodNotAllowed);
}

#[tokio::test]
async fn strangers_see_how_to_sign_in_and_may_load_what_that_page_needs() {
    let app = app().await;
    let page = app.stranger().get("/c/some-chat").await;
    assert_eq!(page.status, 401);
    assert!(page.body.contains("concertino link"), "{}", page.body);
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(app.stranger().get("/sign-in.css").await.status, 200);
}

#[tokio::test]
async fn the_sign_in_link_leads_back_to_the_place_it_names_and_never_elsewhere() {
    let app = app().await;
    let token = app.caller.token().unwrap();
    let link = app.stranger().get(&format!("/c/chat-1?token={token}")).await;
    assert_eq!((link.status, link.header("location")), (303, "/c/chat-1"));
    let trick = app.stranger().get(&format!("//evil.example/x?token={token}")).await;
    assert!(
        trick.header("location").is_empty() || trick.header("location").starts_with("/evil"),
        "{trick:?}"
    );
}

#[tokio::test]
async fn nothing_inline_and_nothing_from_elsewhere_may_run() {
    let app = app().await;
    let page = app.get("/").await;
    let policy = page.header("content-security-policy");
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert!(
        !page.body.contains("<script>") && !page.body.contains("<style") && !page.body.contains(" style=")
    );
    assert!(!page.body.contains("http"), "the page names no other host: {}", page.body);
}

#[tokio::test]
async fn hashed_files_last_and_the_page_is_asked_for_again() {
    let app = app().await;
    let page = app.get("/").await;
    assert_eq!(page.header("cache-control"), "no-cache");
    let again = app.caller.request("GET", "/", &[("if-none-match", page.header("etag"))], "").await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let names = assets(&page.body);
    assert!(
        names.iter().any(|name| name.ends_with(".js")) && names.iter().any(|name| name.ends_with(".css"))
    );
    for name in names {
        let file = app.get(&name).await;
        assert_eq!(
            (file.status, file.header("cache-control")),
            (200, "public, max-age=31536000, immutable"),
            "{name}"
        );
        assert_eq!(file.header("content-encoding"), "");
    }
}

#[tokio::test]
async fn the_frame_for_generated_content_has_no_origin_runs_one_script_and_reaches_nothing() {
    let app = app().await;
    let frame = app.get("/frame").await;
    assert_eq!((frame.status, frame.header("content-type")), (200, "text/html; charset=utf-8"));
    let policy = frame.header("content-security-policy");
    for rule in
        ["sandbox allow-scripts;", "default-src 'none';", "script-src 'sha256-", "frame-ancestors 'self'"]
    {
        assert!(policy.contains(rule), "{rule} is not in {policy}");
    }
    for hole in ["allow-same-origin", "connect-src", "'self';", "http", "script-src 'unsafe"] {
        assert!(!policy.contains(hole), "{hole} is in {policy}");
    }
    assert_eq!(frame.body.matches("<script>").count(), 1);
}
