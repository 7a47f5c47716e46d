//! Sessions as folders: exported, imported elsewhere and exported again, byte for byte the same; refused when somebody
//! tampered with them; mirrored while the server runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

#[path = "agents/cast.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod cast;

mod transcripts {
    pub mod generated;
    pub mod imported;
    pub mod mirrored;
    pub mod refused;
    pub mod world;
}
