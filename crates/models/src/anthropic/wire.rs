//! The fields of a Messages answer that we read, as types that borrow from the event's bytes. One flat struct serves
//! every event; its `type` decides which fields are used. Unknown events and fields are ignored, as the API demands.

use protocol::{FinishReason, Source, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::remote::lenient::{Arguments, Text};

#[derive(Deserialize)]
pub struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Text<'a>,
    #[serde(default)]
    pub index: Option<u32>,
    #[serde(borrow, default)]
    pub message: Option<Box<Message<'a>>>,
    #[serde(borrow, default)]
    pub content_block: Option<Box<Block<'a>>>,
    #[serde(borrow, default)]
    pub delta: Option<Box<Delta<'a>>>,
    #[serde(default)]
    pub usage: Option<WireUsage>,
    #[serde(default)]
    pub error: Option<Box<Value>>,
}

/// A whole message; empty at the start of a stream.
#[derive(Deserialize)]
pub struct Message<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub content: Option<Vec<Block<'a>>>,
    #[serde(borrow, default)]
    pub stop_reason: Text<'a>,
    #[serde(default)]
    pub usage: Option<WireUsage>,
    #[serde(default)]
    pub error: Option<Box<Value>>,
}

#[derive(Deserialize)]
pub struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub text: Text<'a>,
    #[serde(borrow, default)]
    pub thinking: Text<'a>,
    #[serde(borrow, default)]
    pub signature: Text<'a>,
    #[serde(borrow, default)]
    pub data: Text<'a>,
    #[serde(borrow, default)]
    pub id: Text<'a>,
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub input: Arguments<'a>,
    #[serde(default)]
    pub citations: Option<Box<Value>>,
}

#[derive(Deserialize)]
pub struct Delta<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub text: Text<'a>,
    #[serde(borrow, default)]
    pub partial_json: Text<'a>,
    #[serde(borrow, default)]
    pub thinking: Text<'a>,
    #[serde(borrow, default)]
    pub signature: Text<'a>,
    #[serde(default)]
    pub citation: Option<Box<Value>>,
    /// Of a `message_delta`.
    #[serde(borrow, default)]
    pub stop_reason: Text<'a>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct WireUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    thinking_tokens: Option<u64>,
}

impl WireUsage {
    /// Replaces the fields that `later` has: counts are totals.
    pub fn update(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = later.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.output_tokens_details = later.output_tokens_details.or(self.output_tokens_details);
    }

    /// The usage with cache reads and writes included in the input; the API counts them separately.
    pub fn total(&self) -> Usage {
        let cached_input_tokens = self.cache_read_input_tokens.unwrap_or(0);
        let input_tokens = self
            .input_tokens
            .unwrap_or(0)
            .saturating_add(self.cache_creation_input_tokens.unwrap_or(0))
            .saturating_add(cached_input_tokens);
        let output_tokens = self.output_tokens.unwrap_or(0);
        Usage {
            input_tokens,
            output_tokens,
            total_tokens: input_tokens.saturating_add(output_tokens),
            cached_input_tokens,
            cache_write_tokens: self.cache_creation_input_tokens.unwrap_or(0),
            reasoning_tokens: self
                .output_tokens_details
                .and_then(|details| details.thinking_tokens)
                .unwrap_or(0),
        }
    }
}

pub fn finish_reason(name: &str) -> FinishReason {
    match name {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        // Includes `pause_turn`: the provider interrupted its own tools, which we cannot continue.
        _ => FinishReason::Other,
    }
}

/// The source of a citation: a web page, or a document of the request.
pub fn cited(citation: &Value) -> Option<Source> {
    let text = |name: &str| {
        let text = citation.get(name).and_then(Value::as_str)?;
        (!text.is_empty()).then(|| text.to_owned())
    };
    let media_type = match citation.get("type").and_then(Value::as_str)? {
        "web_search_result_location" => return Some(Source::Url { url: text("url")?, title: text("title") }),
        "search_result_location" => {
            let url = text("source").filter(|url| url.starts_with("http"))?;
            return Some(Source::Url { url, title: text("title") });
        }
        "page_location" => "application/pdf",
        "char_location" | "content_block_location" => "text/plain",
        _ => return None,
    };
    let title = text("document_title").unwrap_or_else(|| "document".to_owned());
    Some(Source::Document { media_type: media_type.to_owned(), title, filename: None })
}
