//! The fields of a Responses answer that we read, as types that borrow from the event's bytes. One flat struct serves
//! every event; its `type` decides which fields are used. Unknown events and fields are ignored.

use protocol::{Source, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::remote::lenient::{Arguments, Text};

#[derive(Deserialize)]
pub struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Text<'a>,
    #[serde(default)]
    pub output_index: Option<u32>,
    #[serde(default)]
    pub summary_index: Option<u32>,
    #[serde(borrow, default)]
    pub delta: Text<'a>,
    #[serde(borrow, default)]
    pub item: Option<Box<Item<'a>>>,
    #[serde(default)]
    pub annotation: Option<Box<Value>>,
    #[serde(borrow, default)]
    pub response: Option<Box<Response<'a>>>,
    /// Of an `error` event whose fields are not at the top level.
    #[serde(default)]
    pub error: Option<Box<Value>>,
}

#[derive(Deserialize)]
pub struct Response<'a> {
    #[serde(borrow, default)]
    pub object: Text<'a>,
    #[serde(borrow, default)]
    pub status: Text<'a>,
    #[serde(borrow, default)]
    pub output: Option<Vec<Item<'a>>>,
    #[serde(default)]
    pub usage: Option<WireUsage>,
    #[serde(default)]
    pub error: Option<Box<Value>>,
    #[serde(borrow, default)]
    pub incomplete_details: Option<Incomplete<'a>>,
}

#[derive(Deserialize)]
pub struct Incomplete<'a> {
    #[serde(borrow, default)]
    pub reason: Text<'a>,
}

#[derive(Deserialize)]
pub struct Item<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub id: Text<'a>,
    #[serde(borrow, default)]
    pub call_id: Text<'a>,
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub arguments: Arguments<'a>,
    #[serde(borrow, default)]
    pub content: Option<Vec<Part<'a>>>,
    #[serde(borrow, default)]
    pub summary: Option<Vec<Part<'a>>>,
    #[serde(borrow, default)]
    pub encrypted_content: Text<'a>,
}

#[derive(Deserialize)]
pub struct Part<'a> {
    #[serde(borrow, default)]
    pub text: Text<'a>,
    #[serde(borrow, default)]
    pub refusal: Text<'a>,
    #[serde(default)]
    pub annotations: Option<Vec<Value>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    input_tokens_details: Option<Details>,
    #[serde(default)]
    output_tokens_details: Option<Details>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(usage: WireUsage) -> Self {
        let input_tokens = usage.input_tokens.unwrap_or(0);
        let output_tokens = usage.output_tokens.unwrap_or(0);
        Self {
            input_tokens,
            output_tokens,
            total_tokens: usage.total_tokens.unwrap_or_else(|| input_tokens.saturating_add(output_tokens)),
            cached_input_tokens: usage.input_tokens_details.and_then(|it| it.cached_tokens).unwrap_or(0),
            cache_write_tokens: 0,
            reasoning_tokens: usage.output_tokens_details.and_then(|it| it.reasoning_tokens).unwrap_or(0),
        }
    }
}

/// The source of an annotation: a web page, or a file that the provider searched.
pub fn cited(annotation: &Value) -> Option<Source> {
    let text = |name: &str| {
        let text = annotation.get(name).and_then(Value::as_str)?;
        (!text.is_empty()).then(|| text.to_owned())
    };
    match annotation.get("type").and_then(Value::as_str)? {
        "url_citation" => Some(Source::Url { url: text("url")?, title: text("title") }),
        "file_citation" | "container_file_citation" => {
            let filename = text("filename")?;
            let media_type = "text/plain".to_owned();
            Some(Source::Document { media_type, title: filename.clone(), filename: Some(filename) })
        }
        _ => None,
    }
}
