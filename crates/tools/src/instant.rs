//! Conversion of timestamps for tools.

use protocol::Timestamp;

use crate::ToolError;

pub(crate) fn instant(now: Timestamp) -> Result<jiff::Timestamp, ToolError> {
    jiff::Timestamp::from_millisecond(now.0).map_err(|error| ToolError::Fatal(Box::new(error)))
}

/// UTC with milliseconds, as JavaScript writes it: `2026-03-01T12:15:00.123Z`.
pub(crate) fn iso_utc(now: Timestamp) -> Result<String, ToolError> {
    Ok(format!("{:.3}", instant(now)?))
}
