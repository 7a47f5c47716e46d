//! A recorded stream: its bytes, and its chunks with their numbers and where each ends in the bytes.

use serde_json::Value;
use testkit::protocol::{Chunk, MessageFold, MessageId, UiMessage};

#[derive(Clone, Debug)]
pub struct Recorded {
    pub bytes: String,
    pub chunks: Vec<Chunk<'static>>,
    pub seqs: Vec<u64>,
    /// Where in the bytes each numbered chunk ends.
    ends: Vec<usize>,
    pub is_done: bool,
}

impl Recorded {
    pub fn of(bytes: String) -> Self {
        let mut stream = Self { bytes, chunks: vec![], seqs: vec![], ends: vec![], is_done: false };
        let mut place = 0;
        let bytes = stream.bytes.clone();
        for event in bytes.split_inclusive("\n\n") {
            place += event.len();
            if event.starts_with(':') || !event.ends_with("\n\n") {
                continue;
            }
            let (id, data) = match event.strip_prefix("id: ") {
                Some(rest) => rest.split_once('\n').map(|(id, data)| (id.parse::<u64>().ok(), data)).unwrap(),
                None => (None, event),
            };
            let data = data.strip_prefix("data: ").unwrap().trim_end();
            if data == "[DONE]" {
                stream.is_done = true;
                continue;
            }
            let json: Value = serde_json::from_str(data).unwrap();
            stream.chunks.push(serde_json::from_value(json).unwrap());
            stream.seqs.push(id.expect("every chunk has its number"));
            stream.ends.push(place);
        }
        stream
    }

    /// The bytes up to and including this number.
    pub fn up_to(&self, seq: u64) -> &str {
        let place = self.seqs.iter().position(|other| *other == seq).unwrap();
        &self.bytes[..self.ends[place]]
    }

    pub fn chunks_up_to(&self, seq: u64) -> &[Chunk<'static>] {
        let place = self.seqs.iter().position(|other| *other == seq).unwrap();
        &self.chunks[..=place]
    }
}

/// The client's reducer over these chunks; a resumed replay begins the message anew.
pub fn fold(before: Option<UiMessage>, chunks: &[Chunk<'static>]) -> UiMessage {
    let mut fold = before.map(MessageFold::continuing);
    for chunk in chunks {
        if let (None, Chunk::Start { message_id, .. }) = (&fold, chunk) {
            fold = Some(MessageFold::new(MessageId::new(message_id.as_ref())));
        }
        fold.as_mut().expect("a stream begins with start").apply(chunk).unwrap();
    }
    fold.expect("something was told").into_message()
}
