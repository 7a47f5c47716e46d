//! Commands of agents through the whole server: the real binary as server and as launcher, a scripted model, real
//! processes. What the sandbox refuses is tested in the crate `process`, what the policy says in `commands`.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;
#[path = "scale/memory.rs"]
mod memory;
#[path = "crash/process.rs"]
#[allow(dead_code, reason = "other tests need the rest of it")]
mod process;
#[path = "commands/server.rs"]
mod server;

#[path = "commands/ends.rs"]
mod ends;
#[path = "commands/flood.rs"]
mod flood;
#[path = "commands/jobs.rs"]
mod jobs;
#[path = "commands/reports.rs"]
mod reports;
