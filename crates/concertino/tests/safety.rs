//! The real binary under crashes, signals, changed tokens and a damaged data folder. One module per subject.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

#[path = "safety/backup.rs"]
mod backup;
#[path = "safety/recovery.rs"]
mod recovery;
#[path = "safety/signals.rs"]
mod signals;
#[path = "safety/templates.rs"]
mod templates;
#[path = "safety/tokens.rs"]
mod tokens;
