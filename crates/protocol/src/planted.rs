//! Planted messages: the history that a client sends with the first request of a session that is unknown here.
//!
//! They are stored as the client wrote them, so that a long history needs neither a parse nor a copy of its own. Readers
//! get text and files only: tool calls and results of a client are not trusted. `read.rs` reads them.

mod plain;
mod read;

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    id::MessageId,
    message::{Part, Role, UiMessage},
};
pub use read::Unread;

/// The most messages that a client may plant.
pub const MAX_PLANTED: usize = 50_000;

/// Planted messages that were read and checked.
#[derive(Clone, PartialEq)]
pub struct Planted {
    text: Bytes,
    len: usize,
    last: Option<MessageId>,
}

/// A planted message, borrowed from the client's text.
#[derive(Debug, Deserialize)]
pub struct PlantedMessage<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    pub role: Role,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Vec<FlatPart<'a>>,
}

/// The fields of text and file parts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FlatPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    media_type: Option<Text<'a>>,
    #[serde(borrow)]
    url: Option<Text<'a>>,
    #[serde(borrow)]
    filename: Option<Text<'a>>,
}

/// A `Cow` borrows only as a field of its own, not inside an `Option`.
#[derive(Debug, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A part that is kept.
pub enum PlantedPart<'a> {
    Text(&'a str),
    File { media_type: &'a str, url: &'a str, filename: Option<&'a str> },
}

impl PlantedMessage<'_> {
    /// The parts that are kept. [`Unread::read`] has checked that each has its content.
    pub fn parts(&self) -> impl Iterator<Item = PlantedPart<'_>> {
        self.parts.iter().filter_map(|part| part.believed().ok().flatten())
    }

    /// The message as it is stored, with its origin marked as the client.
    pub fn message(&self) -> UiMessage {
        let mut metadata = match self.metadata.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        metadata.insert("origin".to_owned(), Value::from("client"));
        let parts = self.parts().map(|part| match part {
            PlantedPart::Text(text) => Part::Text { text: text.to_owned(), state: None },
            PlantedPart::File { media_type, url, filename } => Part::File {
                media_type: media_type.to_owned(),
                url: url.to_owned(),
                filename: filename.map(str::to_owned),
            },
        });
        UiMessage {
            id: MessageId::new(&*self.id),
            role: self.role,
            metadata: Some(metadata.into()),
            parts: parts.collect(),
        }
    }
}

impl FlatPart<'_> {
    fn believed(&self) -> Result<Option<PlantedPart<'_>>, String> {
        let (text, media_type, url) = (text(&self.text), text(&self.media_type), text(&self.url));
        match (&*self.kind, text, media_type, url) {
            ("text", Some(text), ..) => Ok(Some(PlantedPart::Text(text))),
            ("file", _, Some(media_type), Some(url)) => {
                Ok(Some(PlantedPart::File { media_type, url, filename: self::text(&self.filename) }))
            }
            ("text" | "file", ..) => Err(format!("a `{}` part lacks its content", self.kind)),
            _ => Ok(None),
        }
    }
}

fn text<'a>(text: &'a Option<Text<'_>>) -> Option<&'a str> {
    text.as_ref().map(|text| &*text.0)
}

impl Planted {
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a UiMessage>) -> Result<Self, String> {
        let mut text = Vec::new();
        for message in messages {
            if !text.is_empty() {
                text.push(b',');
            }
            serde_json::to_writer(&mut text, message).map_err(|error| invalid(&error))?;
        }
        Self::read(text.into())
    }

    /// JSON messages with commas between them.
    pub fn read(text: Bytes) -> Result<Self, String> {
        read::piece(text, &mut |_| {})
    }

    /// The length of the text that the client wrote.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The id of the last of them.
    pub fn last(&self) -> Option<&MessageId> {
        self.last.as_ref()
    }

    /// The messages as the client wrote them, with commas between them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The messages as they are stored.
    pub fn messages(&self) -> Result<Vec<UiMessage>, String> {
        let mut messages = Vec::with_capacity(self.len);
        read::piece(self.text.clone(), &mut |message| messages.push(message.message()))?;
        Ok(messages)
    }
}

/// The error for a history that contains an id twice.
pub const TWICE: &str = "Two messages have the same id.";

fn invalid(error: &dyn fmt::Display) -> String {
    format!("An earlier message is not valid: {error}.")
}

impl fmt::Debug for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Planted({} bytes)", self.text.len())
    }
}

/// For callers that write a whole event; the store copies [`Planted::as_bytes`] instead.
impl Serialize for Planted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.messages().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Planted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let messages = Vec::<UiMessage>::deserialize(deserializer)?;
        Self::of(&messages).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(text: &str) -> Result<Planted, String> {
        Planted::read(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn messages(text: &str) -> Result<Vec<UiMessage>, String> {
        planted(text)?.messages()
    }

    const TEXT: &str = r#"{"id":"a","role":"user","parts":[{"type":"text","text":"x\n\"y\""}]}"#;

    #[test]
    fn text_and_files_are_believed_and_nothing_else() {
        let told = messages(
            r#" {"id":"a","role":"assistant","metadata":{"k":1},"parts":[{"type":"step-start"},
                {"type":"tool-x","toolCallId":"1","state":"output-available","input":{},"output":1},
                {"type":"text","text":"said"},{"type":"file","mediaType":"image/png","url":"data:,"}]}
              , {"id":"s","role":"system","parts":[]}"#,
        )
        .unwrap();
        assert_eq!(told.len(), 1, "what a client says as the system is not taken over");
        assert_eq!(
            serde_json::to_value(&told[0]).unwrap(),
            serde_json::json!({"id": "a", "role": "assistant", "metadata": {"k": 1, "origin": "client"}, "parts": [
                {"type": "text", "text": "said"}, {"type": "file", "mediaType": "image/png", "url": "data:,"}
            ]})
        );
    }

    #[test]
    fn what_cannot_be_taken_over_is_said() {
        let refused = |text: &str| messages(text).unwrap_err();
        assert_eq!(refused(&format!("{TEXT},{TEXT}")), TWICE);
        assert!(
            refused(r#"{"id":"a","role":"user","parts":[{"type":"text"}]}"#).contains("lacks its content")
        );
        assert!(refused(r#"{"id":"","role":"user","parts":[]}"#).starts_with("The message id"));
        assert!(refused(r#"{"id":"a","role":"user"}"#).contains("missing field `parts`"));
        assert!(refused("{").starts_with("An earlier message is not valid"));
    }

    #[test]
    fn an_event_reads_back_what_was_written() {
        let written = serde_json::to_string(&planted(TEXT).unwrap()).unwrap();
        let read: Planted = serde_json::from_str(&written).unwrap();
        assert_eq!(read.messages().unwrap(), messages(TEXT).unwrap());
    }
}
