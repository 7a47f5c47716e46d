//! A request to a model begins with the bytes of the request before: within a run, from turn to turn, after a restart.
//! Seen where a provider sees it: in the bodies that arrive at a model server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "stable_prefix/provider_cache.rs"]
mod provider_cache;

use provider_cache::{Share, share};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use testkit::{
    TestApp,
    models::{ModelSettings, RemoteModel, WireFormat},
    upstream::{Act, Script, Upstream},
};

const STEPS: usize = 30;

/// What of a body a provider caches.
#[derive(Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
    #[serde(borrow)]
    tools: &'a RawValue,
}

fn sent(body: &str) -> Sent<'_> {
    serde_json::from_str(body).unwrap()
}

fn model(upstream: &Upstream) -> RemoteModel {
    let settings = ModelSettings::new("openai/scripted", upstream.base_url(), "scripted");
    RemoteModel::new(WireFormat::OpenAi, settings).unwrap()
}

/// This many steps with a tool, each with about as much text as a page of a file, then an answer.
fn script(name: &str, steps: usize) -> String {
    let call = |step: usize| {
        let text = format!("{name} {step} {}", "some words of a file that is read ".repeat(20));
        vec![Act::Call { tool: "echo".to_owned(), input: json!({ "text": text }) }]
    };
    let mut acts: Vec<_> = (0..steps).map(call).collect();
    acts.push(vec![Act::Text { text: format!("That was {name}.") }]);
    let mut script = Script::new(acts);
    script.piece = 4_096;
    script.text()
}

#[track_caller]
fn assert_each_goes_on_from_the_one_before(bodies: &[String]) {
    for (number, two) in bodies.windows(2).enumerate() {
        let (before, after) = (sent(&two[0]), sent(&two[1]));
        assert_eq!(before.tools.get(), after.tools.get(), "the tools of request {}", number + 2);
        let begun = before.messages.get().strip_suffix(']').unwrap();
        let rest = after.messages.get().strip_prefix(begun);
        let rest = rest
            .unwrap_or_else(|| panic!("request {} does not begin with request {}", number + 2, number + 1));
        assert!(rest.starts_with(','), "request {} adds nothing", number + 2);
    }
}

#[tokio::test]
async fn each_request_goes_on_from_the_one_before_over_steps_turns_and_restarts() {
    let upstream = Upstream::recording().await;
    let app = TestApp::builder().model(model(&upstream)).start().await;
    let at = |zone: &str, page: &str, tab: &str| json!({ "timezone": zone, "pageId": page, "tabId": tab, "projectId": "p" });
    let mut turn = app.main.send_with(&script("one", STEPS), at("Europe/Berlin", "start", "1")).await;
    assert_eq!(turn.text().await, "That was one.");
    assert_eq!(upstream.calls(), STEPS + 1);

    // Another day, another place, another page: all of it is told behind what was told before.
    app.clock.advance(26 * 3_600_000);
    let mut turn = app.main.send_with(&script("two", 2), at("Asia/Tokyo", "chart <b>", "2")).await;
    assert_eq!(turn.text().await, "That was two.");

    let app = app.restart_with_model(model(&upstream)).await;
    let body = json!({ "id": "chat", "messages": [testkit::user("u3", &script("three", 1))] });
    let answer = app.main.post(&body).await;
    assert!(answer.body.contains("That was three."), "{answer:?}");

    let bodies = upstream.bodies();
    assert_eq!(bodies.len(), STEPS + 1 + 3 + 2);
    assert_each_goes_on_from_the_one_before(&bodies);

    let all: Value = serde_json::from_str(bodies.last().unwrap()).unwrap();
    let system = all["messages"][0]["content"].as_str().unwrap();
    for told in ["general assistant", "# This session", "- Project: p", "Europe/Berlin"] {
        assert!(system.contains(told), "{told}: {system}");
    }
    assert!(!system.contains("2026-01"), "no date: {system}");
    let users: Vec<&str> = all["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert!(users[0].starts_with("<turn>\nDate: 2026-01-05, Monday\nTime zone: Europe/Berlin\nProject: p\nPage: start\nTab: 1\n</turn>\nscript"), "{}", users[0]);
    assert!(users[1].starts_with("<turn>\nDate: 2026-01-06, Tuesday\nTime zone: Asia/Tokyo\nProject: p\nPage: chart  b \nTab: 2\n</turn>\n"), "{}", users[1]);
    assert!(users[2].starts_with("<turn>\nDate: 2026-01-06, Tuesday\n</turn>\n"), "{}", users[2]);
}

#[tokio::test]
async fn what_the_model_is_told_about_the_moment_is_not_part_of_the_persons_words() {
    let upstream = Upstream::recording().await;
    let app = TestApp::builder().model(model(&upstream)).start().await;
    app.main.send_with(&script("one", 0), json!({ "timezone": "Asia/Tokyo" })).await.end().await;
    app.main.assert_history_is_what_the_tab_shows().await;
    assert!(!app.get("/api/chat/chat/messages").await.body.contains("<turn>"));
    let title = app.main.info().await["title"].as_str().unwrap().to_owned();
    assert!(title.starts_with("script: "), "{title}");
    // Sent again it is the same message, on whatever day.
    app.clock.advance(26 * 3_600_000);
    let again = json!({ "id": "chat", "messages": [app.main.messages()[0]] });
    assert_eq!(app.main.post(&again).await.status, 200);
    assert_eq!(upstream.calls(), 1, "it was replayed");
}

#[tokio::test]
async fn the_cached_share_of_a_long_run_with_and_without_the_stable_prefix() {
    let upstream = Upstream::recording().await;
    let app = TestApp::builder().model(model(&upstream)).start().await;
    assert_eq!(app.send(&script("one", STEPS)).await.text().await, "That was one.");
    let bodies = upstream.bodies();
    let prompt = |body: &String| format!("{}{}", sent(body).tools.get(), sent(body).messages.get());
    let stable: Vec<String> = bodies.iter().map(prompt).collect();
    // The same run as it would be with the time of the call in the system prompt.
    let unstable: Vec<String> = bodies
        .iter()
        .enumerate()
        .map(|(second, body)| {
            let mut body: Value = serde_json::from_str(body).unwrap();
            let system = body["messages"][0]["content"].as_str().unwrap();
            let now = format!("Now: 2026-01-05T10:{:02}:{:02}Z\n{system}", second / 60, second % 60);
            body["messages"][0]["content"] = json!(now);
            prompt(&body.to_string())
        })
        .collect();
    let (with, without): (Share, Share) = (share(&stable), share(&unstable));
    println!("{} calls; with the stable prefix: {with}; without: {without}", bodies.len());
    assert!(with.percent() > 85.0, "{with}");
    assert!(without.percent() < 40.0, "{without}");
}
