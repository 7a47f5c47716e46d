//! The real clock and the real ids. Tests pass fixed ones instead.

use protocol::{Clock, IdSource, Timestamp};

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

pub struct RandomIds;

impl IdSource for RandomIds {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes ids")]
    fn time_ordered(&self) -> String {
        uuid::Uuid::now_v7().simple().to_string()
    }

    fn unguessable(&self) -> String {
        let mut bytes = [0_u8; 16];
        if getrandom::fill(&mut bytes).is_err() {
            // Without the kernel's generator nothing on this machine is safe; uuid would fail the same way.
            tracing::error!("the system's random generator does not answer");
            return self.time_ordered();
        }
        uuid::Uuid::from_bytes(bytes).simple().to_string()
    }

    fn secret(&self) -> Option<String> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
