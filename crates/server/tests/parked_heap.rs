//! What runs that wait for a person cost in memory, as the allocator counts it: 1,000 of them less than 5 MB together.
//!
//! A binary of its own, because every byte of its process counts.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::{alloc::System, time::Duration};

use cap::Cap;
use futures::{StreamExt, stream};
use testkit::{
    TestApp,
    models::{Model, ModelEvent, ModelRequest, ModelStream},
    protocol::{FinishReason, WorkspaceId},
};

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

const MOST: usize = 5_000_000;

/// How many runs; `cargo xtask soak memory` takes 1,000.
fn runs() -> usize {
    std::env::var("PARKED_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(200)
}

/// A model that asks for an approval and keeps nothing of what it is sent.
struct Asks;

impl Model for Asks {
    fn name(&self) -> &str {
        "test/asks"
    }

    fn stream(&self, _: ModelRequest) -> ModelStream {
        let events = [
            ModelEvent::ToolStarted { index: 0, id: Some("c".to_owned()), name: "conf_approve".to_owned() },
            ModelEvent::ToolDelta { index: 0, delta: "{\"text\":\"may I?\"}".to_owned() },
            ModelEvent::Finished(FinishReason::ToolCalls),
        ];
        stream::iter(events.map(Ok)).boxed()
    }
}

/// Parks this many runs, one after the other, and returns the heap when none is in memory.
async fn park(app: &TestApp, from: usize, to: usize) -> usize {
    for number in from..to {
        app.chat(&format!("chat {number}")).send("go").await.end().await;
    }
    while app.engine.load(&WorkspaceId::default_workspace()).live_sessions > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut least = usize::MAX;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        least = least.min(HEAP.allocated());
    }
    least
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_wait_for_a_person_hold_next_to_no_memory() {
    let app = TestApp::builder().model(Asks).start().await;
    let runs = runs();
    // Caches that every server fills once.
    let before = park(&app, 0, 50).await;
    let after = park(&app, 50, 50 + runs).await;
    let grown = after.saturating_sub(before);
    println!("parked: {runs} runs hold {grown} bytes more");
    assert!(grown <= MOST * runs / 1000, "{runs} parked runs hold {grown} bytes");
    let waiting = app.get("/api/approvals").await.json()["approvals"].as_array().unwrap().len();
    assert!(waiting >= 200, "they wait: {waiting}");
}
