//! A response → its chunks. Comments are passed over; a long silence counts as a lost connection.

use std::time::Duration;

use models::sse_decode::SseDecoder;
use protocol::Chunk;
use serde_json::Value;

/// The server sends a comment every few seconds; after this long the connection is dead.
const SILENCE: Duration = Duration::from_secs(90);

pub(crate) struct ChunkStream {
    response: reqwest::Response,
    decoder: SseDecoder,
    ended: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// A chunk and the JSON it came as.
    Chunk(Box<Chunk<'static>>, String),
    /// A chunk of a kind this client does not know.
    Unknown(String),
    /// The body ended, or the connection was cut: without an end of the message before it, something was lost.
    Ended,
    /// Not a chunk at all.
    Garbage,
}

impl ChunkStream {
    pub(crate) fn new(response: reqwest::Response) -> Self {
        Self { response, decoder: SseDecoder::default(), ended: false }
    }

    /// May be dropped while it waits: nothing is lost.
    pub(crate) async fn next(&mut self) -> Event {
        loop {
            match self.decoder.next_event() {
                Ok(Some(data)) => match read(data) {
                    Some(event) => return event,
                    None => continue,
                },
                Ok(None) => {}
                Err(_) => return Event::Garbage,
            }
            if self.ended {
                return Event::Ended;
            }
            match tokio::time::timeout(SILENCE, self.response.chunk()).await {
                Ok(Ok(Some(bytes))) => self.decoder.push(bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => self.ended = true,
            }
        }
    }
}

/// `None` for the closing mark.
fn read(data: &[u8]) -> Option<Event> {
    if data == b"[DONE]" {
        return None;
    }
    let Ok(text) = std::str::from_utf8(data) else { return Some(Event::Garbage) };
    // Serde would also read a list as the fields of a chunk.
    if !text.starts_with('{') {
        return Some(Event::Garbage);
    }
    if let Ok(chunk) = serde_json::from_str::<Chunk<'static>>(text) {
        return Some(Event::Chunk(Box::new(chunk), text.to_owned()));
    }
    let has_type = serde_json::from_str::<Value>(text)
        .is_ok_and(|value| value.get("type").is_some_and(Value::is_string));
    Some(if has_type { Event::Unknown(text.to_owned()) } else { Event::Garbage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_chunk_or_unknown_or_garbage() {
        let text = r#"{"type":"text-delta","id":"s0","delta":"嗨"}"#;
        let chunk = Chunk::TextDelta { id: "s0".into(), delta: "嗨".into() };
        assert_eq!(read(text.as_bytes()), Some(Event::Chunk(Box::new(chunk), text.to_owned())));
        assert_eq!(read(b"[DONE]"), None);
        assert!(matches!(read(br#"{"type":"dance"}"#), Some(Event::Unknown(_))));
        for garbage in [&b"<html>"[..], b"{}", b"[1]", b"\xff"] {
            assert_eq!(read(garbage), Some(Event::Garbage));
        }
    }
}
