//! Browser sign-ins and tokens: what a cookie gives access to, and how it is revoked.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use testkit::{
    Caller, Connection, Gate, HttpResponse, LoopbackServer, Scripted, TestApp,
    protocol::{Clock, ErrorCode},
    says,
    store::{SignIns, Tokens},
    waits,
};

const DAY: i64 = 24 * 60 * 60 * 1000;
/// Far more than the second within which a stream must end.
const SOON: Duration = Duration::from_secs(20);

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("Fine."))).with_auth().start().await
}

/// Opens the sign-in link of a token as a browser does.
async fn link(app: &TestApp, token: &str, headers: &[(&str, &str)]) -> HttpResponse {
    app.stranger().request("GET", &format!("/?token={token}"), headers, "").await
}

fn cookies(answer: &HttpResponse) -> Vec<String> {
    answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}

/// `name=value` of the sign-in that an answer sets.
fn pair(answer: &HttpResponse) -> String {
    let set = cookies(answer).into_iter().find(|cookie| !cookie.contains("Max-Age=0")).unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// A browser that opened the link of this token: its cookie.
async fn browser(app: &TestApp, token: &str) -> String {
    pair(&link(app, token, &[("user-agent", "A browser")]).await)
}

async fn get(app: &TestApp, path: &str, cookie: &str) -> HttpResponse {
    app.stranger().request("GET", path, &[("cookie", cookie)], "").await
}

async fn delete(app: &TestApp, path: &str, cookie: &str) -> HttpResponse {
    app.stranger().request("DELETE", path, &[("cookie", cookie)], "").await
}

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn the_cookie_is_a_sign_in_and_not_the_token() {
    let app = app().await;
    let token = app.caller.token().unwrap();
    let answer = link(&app, token, &[("host", "localhost:4860")]).await;
    let set = cookies(&answer).join("\n");
    assert!(!set.contains(token), "the cookie holds the token: {set}");
    let cookie = pair(&answer);
    let (name, value) = cookie.split_once('=').unwrap();
    assert!(name.contains("4860"), "cookies ignore ports, so the name has it: {name}");
    let bearer = format!("Bearer {value}");
    let answer = app.stranger().request("GET", "/api/sessions", &[("authorization", &bearer)], "").await;
    answer.assert_problem(ErrorCode::Unauthorized);
    let elsewhere = [("host", "localhost:4861"), ("cookie", cookie.as_str())];
    let answer = app.stranger().request("GET", "/api/sessions", &elsewhere, "").await;
    answer.assert_problem(ErrorCode::Unauthorized);
}

#[tokio::test]
async fn the_cookie_goes_over_tls_only_where_the_browser_came_by_tls() {
    let app = app().await;
    let token = app.caller.token().unwrap();
    for (headers, secure) in [
        (vec![], false),
        (vec![("x-forwarded-proto", "http")], false),
        (vec![("x-forwarded-proto", "https")], true),
        (vec![("x-forwarded-proto", "HTTPS, http")], true),
    ] {
        let answer = link(&app, token, &headers).await;
        let set = cookies(&answer).join("\n");
        assert_eq!(set.contains("; Secure"), secure, "{headers:?}: {set}");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    }
}

/// The attributes of a cookie, in any order.
fn attributes(cookie: &str) -> Vec<&str> {
    let mut attributes: Vec<&str> = cookie.split("; ").skip(1).collect();
    attributes.sort_unstable();
    attributes
}

#[tokio::test]
async fn the_cookie_lasts_as_long_as_a_browser_keeps_one_and_the_former_one_is_cleared() {
    let app = app().await;
    let token = app.caller.token().unwrap();
    let headers = [("host", "localhost:4860"), ("cookie", "a=b;concertino_token=old; c=\"d\"")];
    let set = cookies(&link(&app, token, &headers).await);
    let (sign_in, former) = (&set[0], &set[1]);
    assert!(sign_in.starts_with("concertino_4860="), "{sign_in}");
    assert_eq!(attributes(sign_in), ["HttpOnly", "Max-Age=34560000", "Path=/", "SameSite=Strict"]);
    assert!(former.starts_with("concertino_token=;"), "{former}");
    assert_eq!(attributes(former), ["HttpOnly", "Max-Age=0", "Path=/", "SameSite=Strict"]);
    assert_eq!(set.len(), 2);
}

#[tokio::test]
async fn the_sign_in_is_found_among_any_other_cookies() {
    let app = app().await;
    let cookie = browser(&app, app.caller.token().unwrap()).await;
    for other in ["{}", "a=b; {}", "{}; a=b", "a=b;{};c=d", "a; {} ;=x", "a=\"b; {}; c=\"", "%=%%; {}"] {
        let all = other.replace("{}", &cookie);
        assert_eq!(get(&app, "/api/sessions", &all).await.status, 200, "{all}");
    }
    for wrong in [format!("x{cookie}"), format!("{cookie}x"), cookie.replace('=', "=="), "=".to_owned()] {
        assert_eq!(get(&app, "/api/sessions", &wrong).await.status, 401, "{wrong}");
    }
}

#[tokio::test]
async fn a_page_of_another_port_or_site_cannot_use_the_sign_in() {
    let app = app().await;
    let cookie = browser(&app, app.caller.token().unwrap()).await;
    for (site, allowed) in
        [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)]
    {
        let headers = [("cookie", cookie.as_str()), ("sec-fetch-site", site)];
        let answer = app.stranger().request("GET", "/api/sessions", &headers, "").await;
        if allowed {
            assert_eq!(answer.status, 200, "{site}");
        } else {
            answer.assert_problem(ErrorCode::ForbiddenOrigin);
        }
        // A token is something a page has to know: it is not sent along by the browser.
        let headers = [("sec-fetch-site", site)];
        let answer = app.caller.request("GET", "/api/sessions", &headers, "").await;
        assert_eq!(answer.status, 200, "{site}");
    }
}

#[tokio::test]
async fn answers_of_the_api_are_neither_stored_nor_sniffed() {
    let app = app().await;
    let caller = &app.caller;
    let answers = [
        caller.get("/api/sessions").await,
        caller.get("/api/about").await,
        caller.get("/api/nothing").await,
        caller.get("/api").await,
        caller.get("/api/sessions?limit=1&limit=2").await,
        caller.get("/api/chat/none/messages").await,
        caller.delete("/api/about").await,
        caller.post_raw("{", &[("content-type", "application/json")]).await,
        app.stranger().get("/api/sessions").await,
        caller.request("GET", "/api/about", &[("host", "evil.example")], "").await,
    ];
    for answer in answers {
        let kept = (answer.header("cache-control"), answer.header("x-content-type-options"));
        assert_eq!(kept, ("no-store", "nosniff"), "{answer:?}");
    }
    let body = json!({ "id": "c", "messages": [testkit::user("u", "x")] });
    let stream = caller.post_json("/api/chat", &body).await;
    let kept = (stream.header("cache-control"), stream.header("x-content-type-options"));
    assert_eq!(kept, ("no-cache", "nosniff"), "a stream keeps its own rule");
}

#[tokio::test]
async fn pages_of_listed_origins_may_replace_and_read_where_the_next_page_is() {
    let origin = "https://app.example";
    let app = TestApp::builder()
        .server(|settings| settings.origins = vec![origin.to_owned()])
        .with_auth()
        .start()
        .await;
    let asked = [("origin", origin), ("access-control-request-method", "PUT")];
    let preflight = app.stranger().request("OPTIONS", "/api/agents/a", &asked, "").await;
    assert!(preflight.header("access-control-allow-methods").contains("PUT"), "{preflight:?}");
    let exposed = preflight.header("access-control-expose-headers").to_lowercase();
    assert!(exposed.contains("link") && exposed.contains("x-error-code"), "{exposed}");
}

// --- revoking

/// A stream that stays open because its model never answers, read with these credentials.
struct Open {
    listening: LoopbackServer,
    connection: Connection,
}

impl Open {
    async fn new(app: &TestApp, gate: &Gate, credentials: &str) -> Self {
        let listening = app.over_http().await;
        let body = json!({ "id": "c", "messages": [testkit::user("u", "x")] }).to_string();
        let head = format!(
            "POST /api/chat HTTP/1.1\r\nhost: localhost\r\n{credentials}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let mut connection = listening.raw(&format!("{head}{body}")).await;
        connection.read_until(": concertino").await;
        gate.reached().await;
        Self { listening, connection }
    }

    /// What came until the server closed the connection.
    async fn ended(self) -> String {
        let text = tokio::time::timeout(SOON, self.connection.read_all()).await;
        drop(self.listening);
        text.expect("the stream goes on although it was revoked")
    }
}

async fn held(gate: &Gate) -> TestApp {
    let gate = gate.clone();
    let script = Scripted::choosing(move |_| waits(&gate).then(says("Secret.")));
    TestApp::builder().script(script).with_auth().start().await
}

#[tokio::test]
async fn a_removed_token_ends_its_streams_and_its_sign_ins() {
    let gate = Gate::new();
    let app = held(&gate).await;
    let caller = app.caller_of("other").await;
    let token = caller.token().unwrap();
    let cookie = browser(&app, token).await;
    assert_eq!(get(&app, "/api/sessions", &cookie).await.status, 200);
    let open = Open::new(&app, &gate, &format!("authorization: Bearer {token}")).await;
    // As another process does: this server is not told.
    let removed =
        app.store.tokens().await.unwrap().into_iter().find(|token| token.workspace.as_str() == "other");
    assert!(app.store.revoke_token(removed.unwrap().id, app.clock.now()).await.unwrap());
    caller.get("/api/sessions").await.assert_problem(ErrorCode::Unauthorized);
    get(&app, "/api/sessions", &cookie).await.assert_problem(ErrorCode::Unauthorized);
    let text = open.ended().await;
    assert!(text.contains("\"type\":\"error\"") && text.contains("sign in again"), "{text}");
    assert!(!text.contains("Secret."), "{text}");
}

#[tokio::test]
async fn a_revoked_sign_in_ends_its_streams_and_the_token_goes_on() {
    let gate = Gate::new();
    let app = held(&gate).await;
    let cookie = browser(&app, app.caller.token().unwrap()).await;
    let open = Open::new(&app, &gate, &format!("cookie: {cookie}")).await;
    let list = app.get("/api/sign-ins").await.json();
    let id = ids(&list["signIns"])[0];
    assert_eq!(app.caller.delete(&format!("/api/sign-ins/{id}")).await.status, 204);
    assert!(open.ended().await.contains("sign in again"));
    get(&app, "/api/sessions", &cookie).await.assert_problem(ErrorCode::Unauthorized);
    assert_eq!(get(&app, "/", &cookie).await.status, 401, "the page says how to sign in");
    assert_eq!(app.get("/api/sessions").await.status, 200);
}

#[tokio::test]
async fn only_the_streams_of_the_revoked_token_end() {
    let gate = Gate::new();
    let app = held(&gate).await;
    let (one, two) = (app.caller_of("one").await, app.caller_of("two").await);
    let other = format!("authorization: Bearer {}", one.token().unwrap());
    let _other = Open::new(&app, &gate, &other).await;
    let open = Open::new(&app, &gate, &format!("authorization: Bearer {}", two.token().unwrap())).await;
    let tokens = app.store.tokens().await.unwrap();
    let id = tokens.iter().find(|token| token.workspace.as_str() == "two").unwrap().id;
    app.store.revoke_token(id, app.clock.now()).await.unwrap();
    assert!(open.ended().await.contains("sign in again"));
    assert_eq!(one.get("/health").await.json()["connections"], 1, "the other stream goes on");
}

#[tokio::test]
async fn a_stream_that_opens_just_after_its_token_was_revoked_ends_too() {
    let gate = Gate::new();
    let app = held(&gate).await;
    let (late, other) = (app.caller_of("late").await, app.caller_of("other").await);
    let digest: [u8; 32] = Sha256::digest(late.token().unwrap()).into();
    let caller = app.engine.principal(&digest).await.unwrap().unwrap();
    let open = Open::new(&app, &gate, &format!("authorization: Bearer {}", other.token().unwrap())).await;
    // After its token was found valid, it is revoked, and the revocation has ended every stream that was open.
    for workspace in ["late", "other"] {
        let tokens = app.store.tokens().await.unwrap();
        let id = tokens.iter().find(|token| token.workspace.as_str() == workspace).unwrap().id;
        assert!(app.store.revoke_token(id, app.clock.now()).await.unwrap());
    }
    open.ended().await;
    let mut stream = app.engine.open_stream(&caller);
    tokio::time::timeout(SOON, stream.revoked()).await.expect("the stream goes on although it was revoked");
}

#[tokio::test]
async fn signing_out_ends_this_sign_in_and_takes_the_cookie_back() {
    let app = app().await;
    let token = app.caller.token().unwrap();
    let (here, there) = (browser(&app, token).await, browser(&app, token).await);
    assert_ne!(here, there);
    let list = get(&app, "/api/sign-ins", &here).await.json();
    let current: Vec<&Value> =
        list["signIns"].as_array().unwrap().iter().map(|row| &row["current"]).collect();
    assert_eq!(current.iter().filter(|current| current.as_bool() == Some(true)).count(), 1, "{list}");
    let out = delete(&app, "/api/sign-ins/current", &here).await;
    assert_eq!(out.status, 204);
    assert!(cookies(&out)[0].contains("Max-Age=0"), "{out:?}");
    get(&app, "/api/sessions", &here).await.assert_problem(ErrorCode::Unauthorized);
    assert_eq!(get(&app, "/api/sessions", &there).await.status, 200);
    app.caller.delete("/api/sign-ins/current").await.assert_problem(ErrorCode::NotFound);
}

#[tokio::test]
async fn a_link_opened_again_in_a_signed_in_browser_makes_no_second_sign_in() {
    let app = app().await;
    let token = app.caller.token().unwrap();
    let cookie = browser(&app, token).await;
    let again = link(&app, token, &[("cookie", &cookie)]).await;
    assert_eq!((again.status, cookies(&again)), (303, Vec::new()));
    let other = app.caller_of("other").await;
    let changed = link(&app, other.token().unwrap(), &[("cookie", &cookie)]).await;
    assert_ne!(pair(&changed), cookie, "another token is another sign-in");
    assert_eq!(ids(&app.get("/api/sign-ins").await.json()["signIns"]).len(), 1);
}

#[tokio::test]
async fn a_sign_in_ends_ninety_days_after_its_last_use() {
    let app = app().await;
    let cookie = browser(&app, app.caller.token().unwrap()).await;
    for _ in 0..3 {
        app.clock.advance(60 * DAY);
        assert_eq!(get(&app, "/api/sessions", &cookie).await.status, 200);
        used(&app).await;
    }
    app.clock.advance(91 * DAY);
    get(&app, "/api/sessions", &cookie).await.assert_problem(ErrorCode::Unauthorized);
    assert_eq!(ids(&app.get("/api/sign-ins").await.json()["signIns"]), Vec::<i64>::new());
}

/// Waits until the use is noted, which the request did not wait for.
async fn used(app: &TestApp) {
    let now = app.clock.now();
    while app.store.sign_ins(now).await.unwrap()[0].last_used_at != now {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_script_that_opens_the_link_for_ever_fills_nothing() {
    let app = app().await;
    let token = app.caller.token().unwrap();
    let long = "x".repeat(5_000);
    let mut last = String::new();
    for _ in 0..120 {
        last = pair(&link(&app, token, &[("user-agent", &long)]).await);
        app.clock.advance(1);
    }
    let sign_ins = app.store.sign_ins(app.clock.now()).await.unwrap();
    assert_eq!(sign_ins.len(), 100);
    assert!(sign_ins.iter().all(|sign_in| sign_in.user_agent.len() <= 200));
    assert_eq!(get(&app, "/api/sessions", &last).await.status, 200, "the newest stay");
}

// --- who may revoke what

async fn revoke(caller: &Caller, what: &str, id: i64) -> u16 {
    caller.delete(&format!("/api/{what}/{id}")).await.status
}

#[tokio::test]
async fn a_token_reaches_its_own_sign_ins_and_the_owner_all_of_the_workspace() {
    let app = app().await;
    let guest = app.caller_of("default").await;
    let stranger = app.caller_of("other").await;
    for caller in [&app.caller, &guest, &stranger] {
        browser(&app, caller.token().unwrap()).await;
    }
    let sign_ins = app.store.sign_ins(app.clock.now()).await.unwrap();
    let tokens = app.store.tokens().await.unwrap();
    let token = |owner: bool, workspace: &str| {
        let found =
            tokens.iter().find(|token| token.is_owner == owner && token.workspace.as_str() == workspace);
        found.unwrap().id
    };
    let of = |token: i64| sign_ins.iter().find(|sign_in| sign_in.token == token).unwrap().id;
    let owners = of(token(true, "default"));
    let guests = of(token(false, "default"));
    let strangers = of(token(false, "other"));
    let mut seen = ids(&app.get("/api/sign-ins").await.json()["signIns"]);
    seen.sort_unstable();
    let mut both = vec![owners, guests];
    both.sort_unstable();
    assert_eq!(seen, both);
    assert_eq!(ids(&guest.get("/api/sign-ins").await.json()["signIns"]), [guests]);
    assert_eq!(ids(&stranger.get("/api/sign-ins").await.json()["signIns"]), [strangers]);
    assert_eq!(app.get("/api/tokens").await.json()["tokens"].as_array().unwrap().len(), 2);
    assert_eq!(guest.get("/api/tokens").await.json()["tokens"].as_array().unwrap().len(), 1);
    for (caller, id) in [(&guest, owners), (&guest, strangers), (&stranger, guests), (&app.caller, strangers)]
    {
        assert_eq!(revoke(caller, "sign-ins", id).await, 404);
    }
    assert_eq!(revoke(&guest, "tokens", token(false, "other")).await, 404);
    assert_eq!(revoke(&app.caller, "sign-ins", guests).await, 204);
    assert_eq!(revoke(&app.caller, "tokens", token(false, "default")).await, 204);
    guest.get("/api/sessions").await.assert_problem(ErrorCode::Unauthorized);
    assert_eq!(revoke(&stranger, "tokens", token(false, "other")).await, 204, "one's own may be given up");
    stranger.get("/api/sessions").await.assert_problem(ErrorCode::Unauthorized);
    for wrong in ["/api/sign-ins/x", "/api/tokens/x", "/api/tokens/99", "/api/sign-ins/-1"] {
        app.caller.delete(wrong).await.assert_problem(ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn the_owners_token_is_rotated_and_not_removed() {
    let app = app().await;
    let list = app.get("/api/tokens").await.json();
    assert_eq!((&list["tokens"][0]["owner"], &list["tokens"][0]["current"]), (&json!(true), &json!(true)));
    let id = ids(&list["tokens"])[0];
    let refused = app.caller.delete(&format!("/api/tokens/{id}")).await;
    refused.assert_problem(ErrorCode::OwnerToken);
    assert!(refused.body.contains("concertino token rotate"), "{refused:?}");
    assert_eq!(app.get("/api/sessions").await.status, 200);
}

// --- links from elsewhere

#[tokio::test]
async fn a_link_on_another_site_leads_into_the_page_by_a_second_step() {
    let app = app().await;
    let cookie = browser(&app, app.caller.token().unwrap()).await;
    // The browser sends no strict cookie on the way from another site.
    let first = app.stranger().request("GET", "/c/x", &[("sec-fetch-site", "cross-site")], "").await;
    assert_eq!((first.status, first.header("cache-control")), (200, "no-store"));
    assert!(first.body.contains("http-equiv=\"refresh\"") && !first.body.contains("<script"), "{first:?}");
    let second = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
    let page = app.stranger().request("GET", "/c/x", &second, "").await;
    assert_eq!((page.status, page.body.contains("/assets/")), (200, true));
    let stranger = app.stranger().request("GET", "/c/x", &[("sec-fetch-site", "same-origin")], "").await;
    assert_eq!(stranger.status, 401, "no second second step");
}

#[tokio::test]
async fn the_cookie_that_was_the_token_is_worth_nothing_and_is_taken_back() {
    let app = app().await;
    let old = format!("concertino_token={}", app.caller.token().unwrap());
    get(&app, "/api/sessions", &old).await.assert_problem(ErrorCode::Unauthorized);
    let page = get(&app, "/", &old).await;
    assert_eq!(page.status, 401);
    assert!(cookies(&page)[0].starts_with("concertino_token=;"), "{page:?}");
}
