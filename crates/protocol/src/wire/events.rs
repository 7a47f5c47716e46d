//! The frames of the events surface (`GET /events`): an optional `id:` line, one `data:` line with the envelope.

use serde::Serialize;
use serde_json::Value;

use crate::{
    event::Seq,
    id::{RunId, SessionId},
    source::Timestamp,
};

/// One event as a client receives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerEvent {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub data: Value,
    /// RFC 3339, UTC, with milliseconds.
    #[serde(serialize_with = "rfc_3339")]
    pub timestamp: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
}

impl ServerEvent {
    /// An event that belongs to a connection and not to a session.
    pub fn of_connection(kind: &'static str, data: Value, timestamp: Timestamp) -> Self {
        Self { kind, data, timestamp, request_id: None, session_id: None, run_id: None, seq: None }
    }

    /// Writes the frame.
    pub fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        if let (Some(session), Some(seq)) = (&self.session_id, self.seq) {
            out.extend_from_slice(format!("id: {session}.{seq}\n").as_bytes());
        }
        out.extend_from_slice(b"data: ");
        serde_json::to_writer(&mut *out, self)?;
        out.extend_from_slice(b"\n\n");
        Ok(())
    }
}

fn rfc_3339<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    serializer.collect_str(&at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ"))
}

/// How many events one entry of the log can become, at most. Their numbers are distinct and in order.
const PER_ENTRY: Seq = 64;
/// The place of a text that is still growing, behind everything else that its entry became.
pub const GROWTH: usize = PER_ENTRY as usize - 1;

/// The number (`seq`) of an event on this surface: its entry in the log and its place among the events of that entry.
pub fn event_number(entry: Seq, place: usize) -> Seq {
    entry * PER_ENTRY + (place as Seq).min(PER_ENTRY - 1)
}

/// The entry of the log that an event was made from.
pub fn entry_of(number: Seq) -> Seq {
    number / PER_ENTRY
}

/// Reads `<sessionId>.<seq>`, the id of a frame. Session ids may contain dots.
pub fn parse_event_id(id: &str) -> Option<(&str, Seq)> {
    let (session, seq) = id.rsplit_once('.')?;
    let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
    let seq = if is_number { seq.parse().ok()? } else { return None };
    (!session.is_empty()).then_some((session, seq))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_frame_has_its_id_and_one_line_of_json() {
        let mut event = ServerEvent::of_connection(
            "connected",
            json!({ "connectionId": "c" }),
            Timestamp(1_700_000_000_005),
        );
        let text = |event: &ServerEvent| {
            let mut out = Vec::new();
            event.write(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let plain = r#"data: {"type":"connected","data":{"connectionId":"c"},"timestamp":"2023-11-14T22:13:20.005Z"}"#;
        assert_eq!(text(&event), format!("{plain}\n\n"));
        event.session_id = Some(SessionId::new("s.1"));
        event.seq = Some(7);
        assert!(text(&event).starts_with("id: s.1.7\ndata: {"));
        assert_eq!(parse_event_id("s.1.7"), Some(("s.1", 7)));
    }

    #[test]
    fn an_id_that_is_none_is_not_read() {
        for id in ["", "7", ".7", "s.", "s.-1", "s.+1", "s.7x", "s.99999999999999999999999"] {
            assert_eq!(parse_event_id(id), None, "{id}");
        }
    }
}
