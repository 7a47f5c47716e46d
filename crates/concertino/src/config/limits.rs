//! Reads the settings of [`server::Limits`]: connections, request sizes and timeouts.

use std::time::Duration;

use anyhow::Result;
use server::{ConnectionLimits, Limits};

use super::{File, number};

/// Shorter timeouts would cut off clients that are only far away.
const MIN_TIMEOUT_MS: u64 = 100;

/// Reads each limit from its variable, else from the file, else takes the default. `ours` returns the value of
/// `CONCERTINO_<NAME>`.
pub(super) fn limits(
    file: &File,
    ours: impl Fn(&str) -> Option<String>,
    max_body_bytes: usize,
) -> Result<Limits> {
    let default = Limits::default();
    let size = |name: &str, in_file: Option<usize>, default: usize| -> Result<usize> {
        Ok(number(name, ours(name))?.or(in_file).unwrap_or(default))
    };
    let time = |name: &str, in_file: Option<u64>, default: Duration| -> Result<Duration> {
        let given = number(name, ours(name))?.or(in_file);
        Ok(given.map_or(default, |given: u64| Duration::from_millis(given.max(MIN_TIMEOUT_MS))))
    };
    Ok(Limits {
        connections: size("MAX_CONNECTIONS", file.max_connections, default.connections)?.max(1),
        head_bytes: size("MAX_HEAD_BYTES", file.max_head_bytes, default.head_bytes)?,
        head_time: time("HEAD_TIMEOUT_MS", file.head_timeout_ms, default.head_time)?,
        idle_time: time("IDLE_TIMEOUT_MS", file.idle_timeout_ms, default.idle_time)?,
        body_time: time("BODY_TIMEOUT_MS", file.body_timeout_ms, default.body_time)?,
        body_rate: number("MIN_BODY_RATE", ours("MIN_BODY_RATE"))?
            .or(file.min_body_rate)
            .unwrap_or(default.body_rate)
            .max(1),
        // One body of the largest allowed size must fit.
        bodies_bytes: size("MAX_BODIES_BYTES", file.max_bodies_bytes, default.bodies_bytes)?
            .max(max_body_bytes),
        write_time: time("WRITE_TIMEOUT_MS", file.write_timeout_ms, default.write_time)?,
        ..default
    })
}

/// Reads how many event connections may be open, in all and with one token.
pub(super) fn event_connections(
    file: &File,
    ours: impl Fn(&str) -> Option<String>,
) -> Result<ConnectionLimits> {
    let default = ConnectionLimits::default();
    let size = |name: &str, in_file: Option<usize>, default: usize| -> Result<usize> {
        Ok(number(name, ours(name))?.or(in_file).unwrap_or(default).max(1))
    };
    Ok(ConnectionLimits {
        all: size("MAX_EVENT_CONNECTIONS", file.max_event_connections, default.all)?,
        per_token: size("MAX_CONNECTIONS_PER_TOKEN", file.max_connections_per_token, default.per_token)?,
    })
}
