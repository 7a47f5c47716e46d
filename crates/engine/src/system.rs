//! The real clock and the real ids. Tests pass fixed ones instead.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::{Clock, IdSource, Timestamp};
use uuid::{NoContext, Uuid};

/// The last millisecond of the year 9999. Dates before 1970 or after this cannot be written, so no time is.
const LAST: Duration = Duration::from_millis(253_402_300_799_999);

/// How long after 1970 this is, within the dates that can be written.
fn since_1970(now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST)
}

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        Timestamp(i64::try_from(since_1970(SystemTime::now()).as_millis()).unwrap_or(i64::MAX))
    }
}

impl SystemClock {
    /// Whether the clock of this machine shows a time that a server can work with.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub fn is_set() -> bool {
        is_date(SystemTime::now())
    }
}

fn is_date(now: SystemTime) -> bool {
    now.duration_since(UNIX_EPOCH).is_ok_and(|since| since <= LAST)
}

/// An id of this moment. Ids of one process are in order as long as the clock is right.
#[expect(clippy::disallowed_methods, reason = "this is the one place that makes ids")]
fn id_at(now: SystemTime) -> Uuid {
    if is_date(now) {
        return Uuid::now_v7();
    }
    let since = since_1970(now);
    Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, since.as_secs(), since.subsec_nanos()))
}

pub struct RandomIds;

impl IdSource for RandomIds {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes ids")]
    fn time_ordered(&self) -> String {
        id_at(SystemTime::now()).simple().to_string()
    }

    fn unguessable(&self) -> String {
        let mut bytes = [0_u8; 16];
        if getrandom::fill(&mut bytes).is_err() {
            // Without the kernel's generator nothing on this machine is safe; uuid would fail the same way.
            tracing::error!("the system's random generator does not answer");
            return self.time_ordered();
        }
        Uuid::from_bytes(bytes).simple().to_string()
    }

    fn secret(&self) -> Option<String> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_never_set_or_ran_away_ends_nothing() {
        let before = UNIX_EPOCH - Duration::from_secs(1);
        let after = UNIX_EPOCH + LAST + Duration::from_secs(1);
        assert_eq!((since_1970(before), since_1970(after)), (Duration::ZERO, LAST));
        assert!(!is_date(before) && !is_date(after) && is_date(UNIX_EPOCH + LAST));
        assert_ne!(id_at(before), id_at(before));
        assert_ne!(id_at(after), id_at(after));
        let moment = |id: Uuid| id.get_timestamp().map(|time| time.to_unix().0);
        assert_eq!((moment(id_at(before)), moment(id_at(after))), (Some(0), Some(LAST.as_secs())));
    }
}
