//! Reads the chunks of a response. Comments are skipped; a long silence counts as a lost connection.

use std::time::Duration;

use models::sse_decode::SseDecoder;
use protocol::Chunk;
use serde_json::Value;

/// The server sends a comment every few seconds; after this long without one the connection is dead.
const MAX_SILENCE: Duration = Duration::from_secs(90);

pub(crate) struct ChunkStream {
    response: reqwest::Response,
    decoder: SseDecoder,
    ended: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) enum StreamEvent {
    Chunk {
        chunk: Box<Chunk<'static>>,
        /// The chunk as it was received.
        json: String,
    },
    /// JSON of a chunk whose type this client does not know.
    Unknown(String),
    /// The body ended or the connection was lost. Unless the message ended before, chunks are missing.
    Ended,
    /// Not a chunk.
    Invalid,
}

impl ChunkStream {
    pub(crate) fn new(response: reqwest::Response) -> Self {
        Self { response, decoder: SseDecoder::default(), ended: false }
    }

    /// Returns the next event. Cancel-safe: dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> StreamEvent {
        loop {
            match self.decoder.next_event() {
                Ok(Some(data)) => match parse(data) {
                    Some(event) => return event,
                    None => continue,
                },
                Ok(None) => {}
                Err(_) => return StreamEvent::Invalid,
            }
            if self.ended {
                return StreamEvent::Ended;
            }
            match tokio::time::timeout(MAX_SILENCE, self.response.chunk()).await {
                Ok(Ok(Some(bytes))) => self.decoder.push(bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => self.ended = true,
            }
        }
    }
}

/// Parses the data of one event; returns `None` for `[DONE]`.
fn parse(data: &[u8]) -> Option<StreamEvent> {
    if data == b"[DONE]" {
        return None;
    }
    let Ok(text) = std::str::from_utf8(data) else { return Some(StreamEvent::Invalid) };
    // Serde would accept an array as the fields of a chunk.
    if !text.starts_with('{') {
        return Some(StreamEvent::Invalid);
    }
    if let Ok(chunk) = serde_json::from_str::<Chunk<'static>>(text) {
        return Some(StreamEvent::Chunk { chunk: Box::new(chunk), json: text.to_owned() });
    }
    let has_type = serde_json::from_str::<Value>(text)
        .is_ok_and(|value| value.get("type").is_some_and(Value::is_string));
    Some(if has_type { StreamEvent::Unknown(text.to_owned()) } else { StreamEvent::Invalid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_chunk_or_unknown_or_invalid() {
        let text = r#"{"type":"text-delta","id":"s0","delta":"嗨"}"#;
        let chunk = Chunk::TextDelta { id: "s0".into(), delta: "嗨".into() };
        assert_eq!(
            parse(text.as_bytes()),
            Some(StreamEvent::Chunk { chunk: Box::new(chunk), json: text.to_owned() })
        );
        assert_eq!(parse(b"[DONE]"), None);
        assert!(matches!(parse(br#"{"type":"dance"}"#), Some(StreamEvent::Unknown(_))));
        for invalid in [&b"<html>"[..], b"{}", b"[1]", b"\xff"] {
            assert_eq!(parse(invalid), Some(StreamEvent::Invalid));
        }
    }
}
