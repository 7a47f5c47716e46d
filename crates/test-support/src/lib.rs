//! For tests only: what tests of every crate need. It depends on no crate of the workspace, so that crates below the
//! server can use it without compiling the server; `testkit` re-exports it.

#![allow(clippy::expect_used, reason = "what breaks here must fail the test that uses it")]

mod cpu_time;
pub mod node;
pub mod rng;

pub use cpu_time::cpu_time;
pub use rng::Rng;
