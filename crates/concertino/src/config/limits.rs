//! Settings that bound connections, requests and slow clients; what they mean: `server::Limits`.

use std::time::Duration;

use anyhow::Result;
use server::Limits;

use super::{File, number};

/// Shorter times would cut clients that are merely far away.
const SHORTEST: u64 = 100;

/// `ours` looks a variable up by the name of its key in capitals.
pub(super) fn limits(
    file: &File,
    ours: impl Fn(&str) -> Option<String>,
    max_body_bytes: usize,
) -> Result<Limits> {
    let usual = Limits::default();
    let size = |name: &str, in_file: Option<usize>, usual: usize| -> Result<usize> {
        Ok(number(name, ours(name))?.or(in_file).unwrap_or(usual))
    };
    let time = |name: &str, in_file: Option<u64>, usual: Duration| -> Result<Duration> {
        let given = number(name, ours(name))?.or(in_file);
        Ok(given.map_or(usual, |given: u64| Duration::from_millis(given.max(SHORTEST))))
    };
    Ok(Limits {
        connections: size("MAX_CONNECTIONS", file.max_connections, usual.connections)?.max(1),
        head_bytes: size("MAX_HEAD_BYTES", file.max_head_bytes, usual.head_bytes)?,
        head_time: time("HEAD_TIMEOUT_MS", file.head_timeout_ms, usual.head_time)?,
        idle_time: time("IDLE_TIMEOUT_MS", file.idle_timeout_ms, usual.idle_time)?,
        body_time: time("BODY_TIMEOUT_MS", file.body_timeout_ms, usual.body_time)?,
        body_rate: number("MIN_BODY_RATE", ours("MIN_BODY_RATE"))?
            .or(file.min_body_rate)
            .unwrap_or(usual.body_rate)
            .max(1),
        // One body of the largest size must fit.
        bodies_bytes: size("MAX_BODIES_BYTES", file.max_bodies_bytes, usual.bodies_bytes)?
            .max(max_body_bytes),
        write_time: time("WRITE_TIMEOUT_MS", file.write_timeout_ms, usual.write_time)?,
        ..usual
    })
}
