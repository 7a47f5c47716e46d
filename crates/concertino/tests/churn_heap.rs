//! Chats that are made, used and deleted leave nothing on the heap, kind by kind, as the allocator counts it.
//!
//! Measures live bytes, not resident ones: those also depend on the allocator and on other processes. The server, the
//! model's server and the client share this process, so every byte counts, except those of SQLite, which allocates
//! elsewhere within the bounds of its settings.
//! A binary of its own, because a second test would count too. `CHURN_HEAP` sets the number of chats of each kind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "churn/person.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod person;

use std::{alloc::System, time::Duration};

use cap::Cap;
use person::{Kind, Person};
use testkit::{
    Rng, TestApp,
    models::{Limits, ModelSettings, RemoteModel, WireFormat},
    protocol::WorkspaceId,
    upstream::Upstream,
};

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes that a chat may leave on average: fewer than an entry of any map takes.
const PER_CHAT: f64 = 16.0;
/// Bytes that come and go however many chats there are: buffers of connections, maps that grew once.
const SLACK: f64 = 192.0 * 1024.0;
/// How long the model's server holds on to an answer that nobody reads any more.
const SILENCE: Duration = Duration::from_secs(1);

/// Chats of each kind between two measurements; `cargo xtask soak churn` takes 1,000.
fn chats() -> usize {
    std::env::var("CHURN_HEAP").ok().and_then(|chats| chats.parse().ok()).unwrap_or(30)
}

/// Makes, uses and deletes this many chats of one kind, one after the other; returns the live bytes once every run has
/// ended, as the least of several moments.
async fn churn(app: &TestApp, person: &mut Person, kind: Kind, chats: usize) -> f64 {
    for _ in 0..chats {
        person.chat_of(kind).await;
    }
    if matches!(kind, Kind::Stopped | Kind::Cut) {
        tokio::time::sleep(SILENCE).await;
    }
    let workspace = WorkspaceId::default_workspace();
    while app.engine.load(&workspace).live_sessions > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut least = usize::MAX;
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        least = least.min(HEAP.allocated());
    }
    least as f64
}

/// The bytes that this many chats may leave.
fn allowed(chats: usize) -> f64 {
    SLACK + PER_CHAT * chats as f64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_chats_of_every_kind_leave_nothing_on_the_heap() {
    let upstream = Upstream::forgetful().await;
    let settings = ModelSettings {
        limits: Limits::default(),
        ..ModelSettings::new("churn/model", upstream.base_url(), "model")
    };
    let model = RemoteModel::new(WireFormat::OpenAi, settings).unwrap();
    let app = TestApp::builder().model(model).start().await;
    let server = app.over_http().await;
    let mut person = Person::new(0, &format!("http://{}", server.address), Rng::new(31));
    person.silence = SILENCE;
    let chats = chats();
    let mut grown = Vec::new();
    for kind in Kind::ALL {
        // What is made once for all chats, and caches up to their bounds.
        let before = churn(&app, &mut person, kind, chats.min(200)).await;
        let mut growth = churn(&app, &mut person, kind, chats).await - before;
        let mut made = chats;
        // Buffers of long answers are freed late on a busy machine. What is left for good is left again every time.
        while growth > allowed(made) && made < 4 * chats {
            tokio::time::sleep(SILENCE).await;
            growth = churn(&app, &mut person, kind, chats).await - before;
            made += chats;
        }
        println!("churn: {kind:?}: {before} bytes before, {growth:+} after {made} chats");
        if growth > allowed(made) {
            grown.push((kind, growth));
        }
    }
    assert!(grown.is_empty(), "{chats} deleted chats left bytes on the heap: {grown:?}");
}
