//! A compaction that is stopped, or whose server crashes in the middle of it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use testkit::{
    Gate, Scripted, TestApp,
    models::{ModelMessage, ModelRequest, Purpose, UserContent},
    protocol::{Chunk, Usage},
    says, waits,
};

use super::compactions;

const WINDOW: u64 = 50_000;

/// Counts what it reads at ten tokens a letter of the person's, so that a few messages fill the window.
fn usage(request: &ModelRequest) -> Usage {
    let letters: usize = request
        .messages
        .iter()
        .map(|message| match &**message {
            ModelMessage::User { content } => content
                .iter()
                .map(|content| match content {
                    UserContent::Text(text) => text.len(),
                    _ => 0,
                })
                .sum(),
            _ => 0,
        })
        .sum();
    Usage { input_tokens: letters as u64 * 10, output_tokens: 5, ..Usage::default() }
}

/// Answers at once; summaries are paused at the gate.
fn script(gate: &Gate, summaries: &Arc<AtomicUsize>) -> Scripted {
    let (gate, summaries) = (gate.clone(), Arc::clone(summaries));
    Scripted::choosing(move |request| match request.purpose {
        Purpose::Summary => {
            summaries.fetch_add(1, Ordering::Relaxed);
            waits(&gate)
                .then(says("The person writes a lot."))
                .uses(Usage { input_tokens: 7, ..Usage::default() })
        }
        _ => says("Yes.").uses(usage(request)),
    })
    .with_window(WINDOW)
}

fn long() -> String {
    // Bytes, so that it is worth looking at; the server counts ten tokens for each.
    "x".repeat(2_000)
}

/// Until the next message must be compacted first.
async fn fill(app: &TestApp) {
    for _ in 0..2 {
        app.send(&long()).await.end().await;
    }
}

#[tokio::test]
async fn a_stop_ends_the_compaction_and_the_next_message_begins_it_anew() {
    let (gate, summaries) = (Gate::new(), Arc::default());
    let app = TestApp::builder().script(script(&gate, &summaries)).start().await;
    fill(&app).await;
    let mut turn = app.send(&long()).await;
    gate.reached().await;
    app.main.stop().await;
    assert_eq!(turn.end().await, Chunk::Abort);
    let stopped = compactions(&app.main.history().await.pop().unwrap());
    assert_eq!(stopped[0]["status"], "stopped", "{stopped:?}");
    app.model.idle().await;

    gate.open();
    let mut turn = app.send("short").await;
    assert_eq!(turn.text().await, "Yes.");
    assert_eq!(compactions(&turn.message().await)[0]["status"], "done");
    assert_eq!(summaries.load(Ordering::Relaxed), 2);
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn a_server_that_goes_down_in_the_middle_of_a_compaction_takes_it_up_again() {
    let (gate, summaries) = (Gate::new(), Arc::default());
    let app = TestApp::builder().script(script(&gate, &summaries)).start().await;
    fill(&app).await;
    let mut turn = app.send(&long()).await;
    let announced =
        turn.until(|chunk| matches!(chunk, Chunk::Data(data) if data.kind.0 == "compaction")).await;
    let Chunk::Data(announced) = announced else { unreachable!() };
    assert_eq!(announced.data["status"], "running");
    gate.reached().await;
    // What was sent is on disk before the model is asked.
    let told =
        app.log("chat").await.iter().any(|entry| json!(entry.event).to_string().contains("\"running\""));
    assert!(told, "the compaction was announced before it was stored");
    drop(turn);

    let open = Gate::new();
    open.open();
    let app = app.restart_with_model(script(&open, &summaries)).await;
    if let Some(mut resumed) = app.main.resume().await {
        resumed.end().await;
    }
    let history = app.chat("chat").history().await;
    let answer = history.last().unwrap();
    assert_eq!(answer.text(), "Yes.");
    let done = compactions(answer);
    assert_eq!(done.len(), 1, "taken up under its id: {done:?}");
    assert_eq!(
        (&done[0]["status"], &done[0]["summary"]),
        (&json!("done"), &json!("The person writes a lot."))
    );
    assert_eq!(summaries.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn what_a_summary_costs_is_in_the_ledger_and_in_the_message() {
    let (gate, summaries) = (Gate::new(), Arc::default());
    gate.open();
    let app = TestApp::builder().script(script(&gate, &summaries)).start().await;
    fill(&app).await;
    let answer = app.send(&long()).await.message().await;
    assert_eq!(summaries.load(Ordering::Relaxed), 1);
    let usage = &answer.metadata.as_ref().unwrap()["usage"];
    assert_eq!(usage["inputTokens"].as_u64().unwrap() % 10, 7, "the summary's seven are in it: {usage}");
    let called =
        app.log("chat").await.iter().filter(|entry| json!(entry.event)["type"] == "model_called").count();
    assert_eq!(called, 4);
    let context = answer.metadata.unwrap()["contextTokens"].as_u64().unwrap();
    assert!(context < 60_000, "what the answer took, not what there was before: {context}");
}
