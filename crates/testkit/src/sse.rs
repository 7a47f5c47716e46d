//! A response body, read event by event.

use std::pin::Pin;

use axum::{body::Body, response::Response};
use futures::{Stream, StreamExt};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum SseEvent {
    Comment(String),
    Chunk { seq: Option<u64>, json: Value },
    Done,
}

pub struct SseEvents {
    bytes: Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>,
    waiting: String,
}

impl SseEvents {
    pub fn of(response: Response) -> Self {
        Self::of_body(response.into_body())
    }

    fn of_body(body: Body) -> Self {
        let bytes = body.into_data_stream().map(|bytes| bytes.unwrap().to_vec());
        Self { bytes: Box::pin(bytes), waiting: String::new() }
    }

    /// `None` at the end of the body, which must not cut an event in two.
    pub async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(end) = self.waiting.find("\n\n") {
                let event: String = self.waiting.drain(..end + 2).collect();
                return Some(parse(event.trim_end_matches('\n')));
            }
            match self.bytes.next().await {
                Some(bytes) => self.waiting.push_str(&String::from_utf8(bytes).unwrap()),
                None => {
                    assert_eq!(self.waiting, "", "the body ends inside an event");
                    return None;
                }
            }
        }
    }
}

fn parse(event: &str) -> SseEvent {
    if let Some(comment) = event.strip_prefix(':') {
        assert!(!comment.contains('\n'), "a comment of its own: {event:?}");
        return SseEvent::Comment(comment.trim().to_owned());
    }
    let (seq, data) = match event.strip_prefix("id: ") {
        Some(rest) => {
            let (seq, data) = rest.split_once('\n').unwrap_or_else(|| panic!("no data in {event:?}"));
            (Some(seq.parse().unwrap()), data)
        }
        None => (None, event),
    };
    let data = data.strip_prefix("data: ").unwrap_or_else(|| panic!("no data in {event:?}"));
    assert!(!data.contains('\n'), "one line of JSON: {event:?}");
    match data {
        "[DONE]" => SseEvent::Done,
        data => {
            let json: Value = serde_json::from_str(data).unwrap();
            assert!(json.is_object(), "one object: {event:?}");
            SseEvent::Chunk { seq, json }
        }
    }
}
