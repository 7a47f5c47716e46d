//! Finding sessions: search, pins, pending approvals, branches.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{Scripted, TestApp, calls, protocol::ErrorCode, says};

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("The answer holds a Zebra."))).start().await
}

async fn ids(app: &TestApp, path: &str) -> Vec<Value> {
    let list = app.get(path).await.json();
    list["sessions"].as_array().unwrap().iter().map(|session| session["id"].clone()).collect()
}

#[tokio::test]
async fn a_search_finds_titles_and_what_was_said_but_not_the_words_of_the_format() {
    let app = app().await;
    app.chat("a").send("tell me about 50% of horses").await.end().await;
    app.clock.advance(1_000);
    app.chat("b").send("天气怎么样").await.end().await;
    assert_eq!(ids(&app, "/api/sessions?q=zebra").await, [json!("b"), json!("a")]);
    assert_eq!(ids(&app, "/api/sessions?q=HORSES").await, [json!("a")]);
    assert_eq!(ids(&app, "/api/sessions?q=%E5%A4%A9%E6%B0%94").await, [json!("b")]);
    assert_eq!(ids(&app, "/api/sessions?q=50%25").await, [json!("a")]);
    for nothing in ["5%25%25", "h_rses", "step-start", "metadata", "%22"] {
        assert_eq!(ids(&app, &format!("/api/sessions?q={nothing}")).await, Vec::<Value>::new(), "{nothing}");
    }
    app.caller.patch_json("/api/sessions/b", &json!({ "title": "Quagga" })).await;
    assert_eq!(ids(&app, "/api/sessions?q=quagga").await, [json!("b")]);
    app.get(&format!("/api/sessions?q={}", "x".repeat(201))).await.assert_problem(ErrorCode::InvalidMessage);
    assert_eq!(ids(&app, "/api/sessions?q=%20").await.len(), 2);
}

#[tokio::test]
async fn a_pin_stays_until_it_is_taken_away_and_goes_with_its_session() {
    let app = app().await;
    for id in ["a", "b"] {
        app.chat(id).send("hi").await.end().await;
        app.clock.advance(1_000);
    }
    let pinned = app.caller.patch_json("/api/sessions/a", &json!({ "pinned": true })).await;
    assert_eq!((pinned.status, &pinned.json()["pinned"]), (200, &json!(true)));
    assert_eq!(ids(&app, "/api/sessions?pinned=true").await, [json!("a")]);
    assert_eq!(ids(&app, "/api/sessions").await, [json!("b"), json!("a")]);
    let list = app.get("/api/sessions").await.json();
    assert_eq!(list["sessions"][1]["pinned"], true);
    assert_eq!(app.chat("b").info().await["pinned"], false);
    app.caller.patch_json("/api/sessions/a", &json!({ "pinned": false, "title": "Both" })).await;
    assert_eq!(ids(&app, "/api/sessions?pinned=true").await, Vec::<Value>::new());
    assert_eq!(app.chat("a").info().await["title"], "Both");
    app.caller.patch_json("/api/sessions/b", &json!({ "pinned": true })).await;
    app.caller.delete("/api/sessions/b").await;
    assert_eq!(ids(&app, "/api/sessions?pinned=true").await, Vec::<Value>::new());
    app.get("/api/sessions?pinned=1").await.assert_problem(ErrorCode::InvalidMessage);
}

#[tokio::test]
async fn what_waits_is_listed_for_its_workspace_until_it_is_answered() {
    let ask = |call| calls(call, "conf_approve", json!({ "text": "x" }));
    let app = TestApp::builder().replies([ask("c1"), ask("c2"), says("Done.")]).with_auth().start().await;
    assert_eq!(app.get("/api/approvals").await.json(), json!({ "approvals": [] }));
    app.chat("a").send("first").await.end().await;
    app.clock.advance(1_000);
    app.chat("b").send("second").await.end().await;
    let list = app.get("/api/approvals").await.json();
    let chats: Vec<_> = list["approvals"].as_array().unwrap().iter().map(|one| &one["chatId"]).collect();
    assert_eq!(chats, [&json!("a"), &json!("b")]);
    assert_eq!(list["approvals"][0]["title"], "first");
    assert_eq!(list["approvals"][0]["approval"]["status"], "pending");
    let id = list["approvals"][0]["approval"]["id"].as_str().unwrap().to_owned();
    app.caller.post_json(&format!("/api/approvals/{id}"), &json!({ "approved": false })).await;
    let left = app.get("/api/approvals").await.json();
    assert_eq!(left["approvals"].as_array().unwrap().len(), 1);
    assert_eq!(app.caller_of("other").await.get("/api/approvals").await.json(), json!({ "approvals": [] }));
}

#[tokio::test]
async fn retries_and_edits_are_branches_that_can_be_chosen_one_by_one() {
    let mut number = 0;
    let script = Scripted::choosing(move |_| {
        number += 1;
        says(&format!("Answer {number}."))
    });
    let app = TestApp::builder().script(script).start().await;
    let branches = "/api/chat/chat/branches";
    app.send("question").await.end().await;
    assert_eq!(app.get(branches).await.json(), json!({ "branches": [] }));
    app.main.regenerate().await.end().await;
    let first = app.get(branches).await.json()["branches"][0].clone();
    assert_eq!((&first["at"], first["choices"].as_array().unwrap().len()), (&json!(1), 2));
    let user = app.main.messages()[0].id.to_string();
    app.main.edit(&user, "another question").await.end().await;
    let edited = app.get(branches).await.json();
    assert_eq!(edited["branches"].as_array().unwrap().len(), 1);
    assert_eq!(edited["branches"][0]["messageId"], json!(user));
    let choices = edited["branches"][0]["choices"].as_array().unwrap().clone();
    assert_eq!(
        choices.iter().map(|choice| &choice["messageId"]).collect::<Vec<_>>(),
        [&json!(user), &json!(user)]
    );
    let chosen = app.caller.post_json("/api/chat/chat/branch", &choices[0]).await;
    assert_eq!(chosen.status, 200);
    let texts: Vec<_> = app.main.history().await.iter().map(|message| message.id.to_string()).collect();
    assert_eq!(texts[0], user);
    let back = app.get(branches).await.json();
    assert_eq!(back["branches"][0]["at"], 0);
    assert_eq!(back["branches"].as_array().unwrap().len(), 2, "the two answers to the first version: {back}");
    let none = json!({ "messageId": user, "revision": 99 });
    app.caller.post_json("/api/chat/chat/branch", &none).await.assert_sentence(ErrorCode::MessageNotFound);
    app.get("/api/chat/none/branches").await.assert_sentence(ErrorCode::SessionNotFound);
}

#[tokio::test]
async fn the_server_says_what_it_is() {
    let app = app().await;
    let about = app.get("/api/about").await.json();
    assert_eq!(about["model"], "scripted/script");
    assert!(about["version"].as_str().unwrap().starts_with(|first: char| first.is_ascii_digit()));
}
