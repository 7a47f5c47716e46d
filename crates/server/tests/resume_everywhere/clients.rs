//! Passes recorded streams to the published clients in `tests/client`. Skipped without Node.

use std::path::Path;

use serde_json::Value;
use testkit::node;

/// Whether every pair of a number and a point is tried, and not only the first point after each number.
pub fn everything() -> bool {
    std::env::var_os("RESUME_ALL").is_some()
}

pub fn compare(script: &str, cases: &[Value]) {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("resume-differential.txt");
    node::compare(script, "resuming with the published clients", &report, cases.iter().map(Value::to_string));
}
