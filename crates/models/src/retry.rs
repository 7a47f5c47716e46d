//! Decides whether a failed call is retried, and after which wait. Pure: the caller sleeps.
//!
//! A call is retried only before its first event, only after temporary failures, and a bounded number of times. The
//! server's `Retry-After` takes precedence over our own back-off, up to [`LONGEST_WAIT`]. Rate limits concern all calls
//! of a provider: see `provider_limiter.rs`.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use crate::model::{ModelError, TimeLimit};

/// The longest wait between two attempts, whatever the server asks for.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Time limits and the number of attempts of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To accept a connection, TLS included.
    pub connect: Duration,
    /// From sending the request to the first byte of the answer's body.
    pub first_byte: Duration,
    /// Between two chunks of the answer.
    pub idle: Duration,
    /// The number of attempts; 1 means no retry.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles with each further one.
    pub backoff_base: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(120),
            attempts: 3,
            backoff_base: Duration::from_millis(500),
        }
    }
}

/// A failure with the server's `Retry-After`.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub error: ModelError,
    pub retry_after: Option<Duration>,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, retry_after: None }
    }
}

/// The wait before the next attempt after attempt number `attempt` (from 1) failed before its first event, or `None` if
/// the failure is final.
pub fn wait_before_next(failure: &Failure, attempt: u32, limits: &Limits) -> Option<Duration> {
    if attempt >= limits.attempts || !may_heal(&failure.error) {
        return None;
    }
    let wait = failure.retry_after.unwrap_or_else(|| jittered(limits.backoff_base, attempt));
    Some(wait.min(LONGEST_WAIT))
}

/// A random wait between half and all of `base` doubled per attempt, never more than [`LONGEST_WAIT`].
pub fn jittered(base: Duration, attempt: u32) -> Duration {
    // The standard library seeds every hasher differently, which is random enough to spread retries.
    backoff(base, attempt, RandomState::new().hash_one(attempt))
}

fn may_heal(error: &ModelError) -> bool {
    match error {
        // A rate limit concerns every call with the same key, so `provider_limiter.rs` waits.
        ModelError::RateLimited { .. } => false,
        ModelError::Unreachable | ModelError::Cut => true,
        ModelError::Failed { status, .. } => matches!(status, 500 | 502 | 503 | 504 | 529),
        ModelError::Refused { status, .. } => *status == 408,
        ModelError::TimedOut(limit) => match limit {
            TimeLimit::Connect => true,
            // These limits are long: a retry would make a person wait even longer.
            TimeLimit::FirstByte | TimeLimit::Idle => false,
        },
        ModelError::Unauthorized | ModelError::Garbage(_) | ModelError::QueueFull => false,
        ModelError::Explained { error, .. } => may_heal(error),
    }
}

/// Between half and all of `base` doubled per attempt.
fn backoff(base: Duration, attempt: u32, random: u64) -> Duration {
    let doubled = base.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1))).min(LONGEST_WAIT);
    let part = 1024 + u32::try_from(random % 1025).unwrap_or(0);
    doubled * part / 2048
}

/// Parses `Retry-After`: seconds, or a date. A date is compared with the `Date` of the same answer, so that clock
/// differences do not matter; without `Date` it is ignored.
pub fn retry_after(header: &str, date: Option<&str>) -> Option<Duration> {
    let header = header.trim();
    let wait = match header.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => {
            let until = httpdate::parse_http_date(header).ok()?;
            let now: SystemTime = httpdate::parse_http_date(date?.trim()).ok()?;
            until.duration_since(now).unwrap_or(Duration::ZERO)
        }
    };
    Some(wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(status: u16) -> Failure {
        ModelError::Failed { status, message: String::new() }.into()
    }

    #[test]
    fn only_failures_that_time_may_heal_are_asked_again() {
        let limits = Limits::default();
        let again = |failure: Failure| wait_before_next(&failure, 1, &limits).is_some();
        for status in [500, 502, 503, 504, 529] {
            assert!(again(failed(status)), "{status}");
        }
        assert!(again(ModelError::Unreachable.into()));
        assert!(again(ModelError::TimedOut(TimeLimit::Connect).into()));
        assert!(again(ModelError::Refused { status: 408, message: String::new() }.into()));
        assert!(!again(ModelError::RateLimited { retry_after: None }.into()), "the limiter waits for that");
        assert!(!again(failed(501)));
        assert!(!again(ModelError::Refused { status: 400, message: String::new() }.into()));
        assert!(!again(ModelError::Unauthorized.into()));
        assert!(!again(ModelError::TimedOut(TimeLimit::FirstByte).into()));
        assert!(!again(ModelError::Garbage(String::new()).into()));
    }

    #[test]
    fn the_attempts_are_bounded() {
        let limits = Limits { attempts: 3, ..Limits::default() };
        assert!(wait_before_next(&failed(500), 2, &limits).is_some());
        assert_eq!(wait_before_next(&failed(500), 3, &limits), None);
        assert_eq!(wait_before_next(&failed(500), 1, &Limits { attempts: 0, ..limits }), None);
    }

    #[test]
    fn the_wait_doubles_varies_and_never_passes_a_minute() {
        let base = Duration::from_millis(500);
        assert_eq!(backoff(base, 1, 0), Duration::from_millis(250));
        assert_eq!(backoff(base, 1, 1024), Duration::from_millis(500));
        assert_eq!(backoff(base, 3, 1024), Duration::from_secs(2));
        assert_eq!(backoff(base, 40, 1024), LONGEST_WAIT);
        assert_eq!(backoff(Duration::MAX, 2, 1024), LONGEST_WAIT);
    }

    #[test]
    fn the_servers_own_wait_wins_up_to_a_minute() {
        let limits = Limits::default();
        let asks = |wait| Failure { retry_after: Some(wait), ..failed(503) };
        assert_eq!(wait_before_next(&asks(Duration::ZERO), 1, &limits), Some(Duration::ZERO));
        assert_eq!(wait_before_next(&asks(Duration::from_secs(3600)), 1, &limits), Some(LONGEST_WAIT));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(retry_after(" 7 ", None), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("0.5", None), Some(Duration::from_millis(500)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:47 GMT", date), Some(Duration::from_secs(10)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:07 GMT", date), Some(Duration::ZERO));
        assert_eq!(retry_after("86400", None), Some(LONGEST_WAIT));
        for nonsense in ["-1", "soon", "", "NaN", "1e999"] {
            assert_eq!(retry_after(nonsense, date), None, "{nonsense}");
        }
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:47 GMT", None), None);
    }
}
