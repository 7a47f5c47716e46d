//! Which model answers, what happens when it fails, and what the person is told. Over real HTTP.

#[path = "models/choice.rs"]
mod choice;
#[path = "models/errors.rs"]
mod errors;
#[path = "models/fallback.rs"]
mod fallback;
#[path = "models/hang_up.rs"]
mod hang_up;

use serde_json::json;
use testkit::{
    ModelServer, TestApp, Turn,
    protocol::{Chunk, ErrorCode},
};

async fn app(server: &ModelServer, chosen: &str, fallback: &[&str]) -> TestApp {
    TestApp::builder().catalog(server.catalog(chosen, fallback)).start().await
}

/// The error at the end of a turn.
async fn error(turn: &mut Turn) -> String {
    match turn.end().await {
        Chunk::Error { error_text } => error_text.into_owned(),
        other => panic!("{other:?}"),
    }
}
