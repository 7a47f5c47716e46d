//! Reads one answer over any number of broken streams, as a front end does.

use protocol::{Chunk, MessageFold, MessageId, Seq, UiMessage};
use reqwest::Response;
use serde_json::Value;

use crate::world::World;

/// How a client asks for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Sends the same again.
    Post,
    /// The whole message from its beginning.
    Follow,
    /// What comes after the last event it has.
    FollowAfter,
}

pub enum Ended {
    Done(UiMessage),
    Cut,
    Wrong(String),
}

pub struct Following {
    /// The message the client handed back, if it did: an answer to it continues from here.
    base: Option<UiMessage>,
    fold: Option<MessageFold>,
    pub last: Option<Seq>,
}

impl Following {
    pub fn new(base: Option<UiMessage>) -> Self {
        Self { base, fold: None, last: None }
    }

    pub async fn read(
        &mut self,
        response: &mut Response,
        manner: Manner,
        world: &World,
        session: &str,
    ) -> Ended {
        let mut waiting = Vec::new();
        let mut newest = 0;
        let mut end = None;
        loop {
            match response.chunk().await {
                Ok(Some(bytes)) => waiting.extend_from_slice(&bytes),
                Ok(None) => return Ended::Wrong("a body ends without [DONE]".to_owned()),
                Err(_) => return Ended::Cut,
            }
            while let Some(place) = waiting.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = waiting.drain(..place + 2).collect();
                let event = String::from_utf8_lossy(&event).into_owned();
                if event.starts_with(':') {
                    continue;
                }
                if event.trim_end() == "data: [DONE]" {
                    return match (end, &self.fold) {
                        (Some(()), Some(fold)) => Ended::Done(fold.message().clone()),
                        _ => Ended::Wrong("[DONE] without an end".to_owned()),
                    };
                }
                let Some((seq, json)) = numbered(&event) else {
                    return Ended::Wrong(format!("an event without a number: {event}"));
                };
                if seq <= newest {
                    return Ended::Wrong(format!("the number {seq} after {newest}"));
                }
                newest = seq;
                match self.take(seq, json, manner, world, session) {
                    Ok(true) => end = Some(()),
                    Ok(false) => {}
                    Err(wrong) => return Ended::Wrong(format!("{wrong} at {seq}, asked by {manner:?}")),
                }
            }
        }
    }

    /// Whether this was the last chunk of a stream.
    fn take(
        &mut self,
        seq: Seq,
        json: &str,
        manner: Manner,
        world: &World,
        session: &str,
    ) -> Result<bool, String> {
        let value: Value = serde_json::from_str(json).map_err(|error| format!("{error} in {json}"))?;
        let kind = value["type"].as_str().unwrap_or_default();
        let outline = format!("{kind} {} {}", value["id"], value["toolCallId"]);
        world.told(session, seq, kind, outline, json);
        world.count("frames seen", 1);
        let chunk: Chunk<'_> =
            serde_json::from_value(value.clone()).map_err(|error| format!("{error} in {json}"))?;
        if let Chunk::Start { message_id, .. } = &chunk {
            self.fold = Some(match (&self.base, manner) {
                (Some(base), Manner::Post) => MessageFold::continuing(base.clone()),
                _ => MessageFold::new(MessageId::new(&**message_id)),
            });
        }
        let fold = self.fold.as_mut().ok_or_else(|| format!("{kind} before the start"))?;
        fold.apply(&chunk).map_err(|error| error.to_string())?;
        self.last = Some(seq);
        match chunk {
            Chunk::Finish { .. } => Ok(true),
            Chunk::Abort | Chunk::Error { .. } => Err(format!("nobody stopped it, and yet {json}")),
            _ => Ok(false),
        }
    }
}

/// `id: N` and one line of data.
fn numbered(event: &str) -> Option<(Seq, &str)> {
    let (id, data) = event.trim_end().strip_prefix("id: ")?.split_once("\ndata: ")?;
    Some((id.parse().ok()?, data))
}
