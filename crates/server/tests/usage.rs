//! Usage and cost of model calls: in the message, in the ledger, over the route.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{
    Gate, Scripted, TestApp, calls, fails,
    models::ModelError,
    protocol::{ErrorCode, Price, Usage},
    raw_call, says, waits,
};

const PRICE: Price = Price { input: 2.0, output: 10.0, cached_read: Some(0.5), cached_write: None };

fn used(input_tokens: u64, cached_input_tokens: u64, output_tokens: u64) -> Usage {
    let total_tokens = input_tokens + output_tokens;
    Usage { input_tokens, cached_input_tokens, output_tokens, total_tokens, ..Usage::default() }
}

fn echo(id: &str) -> testkit::Reply {
    calls(id, "conf_echo", json!({ "text": id }))
}

async fn report(app: &TestApp, query: &str) -> Value {
    app.get(&format!("/api/usage{query}")).await.json()
}

#[tokio::test]
async fn the_message_the_run_and_the_session_agree_on_what_was_spent() {
    let script = Scripted::new([
        echo("a").uses(used(1_000, 0, 100)),
        says("Done.").uses(used(1_200, 1_000, 50)),
        says("Again.").uses(used(100, 0, 10)),
    ]);
    let app = TestApp::builder().script(script.priced(PRICE)).start().await;
    let message = app.send("go").await.message().await;
    let metadata = message.metadata.clone().unwrap();
    assert_eq!(metadata["usage"]["inputTokens"], 2_200);
    assert_eq!(metadata["usage"]["cachedInputTokens"], 1_000);
    // 1,000 and 200 at 2, 1,000 at 0.5, 150 at 10, for a million each.
    let cost = 0.0044;
    assert_eq!(metadata["cost"], json!(cost));
    app.clock.advance(1_000);
    app.send("more").await.end().await;

    let of_message = report(&app, &format!("?message={}", message.id)).await;
    assert_eq!((&of_message["total"]["calls"], &of_message["total"]["cost"]), (&json!(2), &json!(cost)));
    assert_eq!(of_message["total"]["usage"], metadata["usage"]);
    let runs = report(&app, "?by=run").await;
    assert_eq!(runs["groups"].as_array().unwrap().len(), 2);
    assert_eq!(runs["groups"][1]["key"], "run_1");
    assert_eq!(runs["groups"][1]["cost"], json!(cost));
    assert_eq!(report(&app, "?run=run_1").await["total"], of_message["total"]);
    let session = report(&app, "?by=session&session=chat").await;
    assert_eq!((&session["groups"][0]["key"], &session["total"]["calls"]), (&json!("chat"), &json!(3)));
    let models = report(&app, "?by=model").await;
    assert_eq!(models["groups"][0]["key"], "scripted/script");
    let agents = report(&app, "?by=agent").await;
    assert_eq!(agents["groups"][0]["key"], "general");
    assert_eq!(agents["total"]["unpricedCalls"], 0);
    assert_eq!(report(&app, "?session=another").await["total"]["calls"], 0);
}

#[tokio::test]
async fn days_are_those_of_the_asked_zone_and_can_be_chosen() {
    let app = TestApp::scripted([says("One.").uses(used(10, 0, 1)), says("Two.").uses(used(20, 0, 2))]).await;
    app.send("a").await.end().await;
    app.clock.advance(8 * 3_600_000);
    app.send("b").await.end().await;
    let utc = report(&app, "").await;
    assert_eq!(
        (&utc["by"], &utc["timezone"], &utc["groups"][0]["key"]),
        (&json!("day"), &json!("UTC"), &json!("2026-01-05"))
    );
    assert_eq!(
        (&utc["total"]["usage"]["inputTokens"], &utc["total"]["unpricedCalls"]),
        (&json!(30), &json!(2))
    );
    let tokyo = report(&app, "?timezone=Asia/Tokyo").await;
    let days: Vec<&Value> = tokyo["groups"].as_array().unwrap().iter().map(|group| &group["key"]).collect();
    assert_eq!(days, ["2026-01-06", "2026-01-05"]);
    let second = report(&app, "?timezone=Asia/Tokyo&from=2026-01-06&to=2026-01-06").await;
    assert_eq!(second["total"]["usage"]["inputTokens"], 20);
    let until = report(&app, "?to=2026-01-05T12:00:00Z").await;
    assert_eq!(until["total"]["usage"]["inputTokens"], 10);
    for wrong in ["?by=colour", "?from=yesterday", "?timezone=Nowhere/Atlantis"] {
        app.get(&format!("/api/usage{wrong}")).await.assert_problem(ErrorCode::InvalidMessage);
    }
}

#[tokio::test]
async fn a_call_that_fails_or_is_stopped_is_paid_for_where_figures_arrived() {
    let gate = Gate::new();
    let counted = || says("Half").uses(used(500, 0, 5));
    let script = Scripted::new([
        counted().then(fails(ModelError::Cut)),
        counted().then(waits(&gate)).then(says("never")),
        fails(ModelError::Cut),
    ]);
    let app = TestApp::builder().script(script.priced(PRICE)).start().await;
    let failed = app.send("one").await.message().await.metadata.unwrap();
    assert_eq!((&failed["status"], &failed["usage"]["inputTokens"]), (&json!("failed"), &json!(500)));
    assert_eq!(failed["cost"], json!(0.00105));
    let mut turn = app.send("two").await;
    gate.reached().await;
    app.main.stop().await;
    turn.end().await;
    app.send("three").await.end().await;
    let all = report(&app, "").await;
    assert_eq!((&all["total"]["calls"], &all["total"]["failedCalls"]), (&json!(2), &json!(2)));
    assert_eq!(all["total"]["cost"], json!(0.0021));
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn asking_for_a_corrected_call_has_a_row_of_its_own() {
    let script = Scripted::new([
        raw_call("c", "conf_echo", "{}").uses(used(10, 0, 1)),
        echo("c").uses(used(12, 10, 1)),
        says("Done.").uses(used(14, 10, 1)),
    ]);
    let app = TestApp::builder().script(script).start().await;
    let message = app.send("go").await.message().await;
    assert_eq!(message.text(), "Done.");
    assert_eq!(message.metadata.unwrap()["usage"]["inputTokens"], 36);
    assert_eq!(report(&app, "").await["total"]["calls"], 3);
}

#[tokio::test]
async fn another_workspace_has_spent_nothing() {
    let app = TestApp::builder().replies([says("One.").uses(used(10, 0, 1))]).with_auth().start().await;
    app.send("a").await.end().await;
    let other = app.caller_of("other").await.get("/api/usage").await.json();
    assert_eq!((&other["total"]["calls"], &other["groups"]), (&json!(0), &json!([])));
    assert_eq!(app.stranger().get("/api/usage").await.status, 401);
}

#[tokio::test]
async fn the_ledger_survives_a_restart_and_goes_with_its_session() {
    let app = TestApp::scripted([says("One.").uses(used(10, 0, 1))]).await;
    app.send("a").await.end().await;
    let app = app.restart([]).await;
    assert_eq!(report(&app, "").await["total"]["usage"]["inputTokens"], 10);
    app.caller.request("DELETE", "/api/sessions/chat", &[], "").await;
    assert_eq!(report(&app, "").await["total"]["calls"], 0);
}
