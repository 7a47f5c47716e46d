//! The fold against random logs: our own properties at every cut point, and the real client's reducer.
//!
//! `log` writes what an engine would write, from a seed; everything else only reads such logs. A failure names the
//! seed, and the same seed gives the same log for ever.

#![expect(clippy::expect_used, reason = "helpers of tests fail like tests")]

mod content;
mod differential;
mod events;
mod interrupt;
mod lint;
mod log;
mod mix;
mod properties;
mod reader;
mod refused;

/// How many logs a test looks at: `cargo xtask soak fold` asks for more than the everyday run.
fn cases(variable: &str, everyday: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")),
        Err(_) => everyday,
    }
}
