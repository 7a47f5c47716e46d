//! The fields of a `GenerateContentResponse` that we read, as types that borrow from the event's bytes. Unknown fields
//! are ignored.

use std::collections::VecDeque;

use protocol::{FinishReason, Source, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    model::ModelEvent,
    remote::lenient::{Arguments, FirstElement, Text},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer<'a> {
    #[serde(borrow, default)]
    pub candidates: FirstElement<Candidate<'a>>,
    #[serde(borrow, default)]
    pub prompt_feedback: Option<Feedback<'a>>,
    #[serde(default)]
    pub usage_metadata: Option<WireUsage>,
    #[serde(default)]
    pub error: Option<Box<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate<'a> {
    #[serde(borrow, default)]
    pub content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: Text<'a>,
    #[serde(default)]
    pub grounding_metadata: Option<Box<Value>>,
}

#[derive(Deserialize)]
pub struct Content<'a> {
    #[serde(borrow, default)]
    pub parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part<'a> {
    #[serde(borrow, default)]
    pub text: Text<'a>,
    #[serde(default)]
    pub thought: Option<bool>,
    #[serde(borrow, default)]
    pub thought_signature: Text<'a>,
    #[serde(borrow, default)]
    pub function_call: Option<Box<Call<'a>>>,
}

#[derive(Deserialize)]
pub struct Call<'a> {
    #[serde(borrow, default)]
    pub id: Text<'a>,
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub args: Arguments<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feedback<'a> {
    #[serde(borrow, default)]
    pub block_reason: Text<'a>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WireUsage {
    #[serde(default)]
    prompt_token_count: Option<u64>,
    #[serde(default)]
    tool_use_prompt_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: Option<u64>,
    #[serde(default)]
    thoughts_token_count: Option<u64>,
    #[serde(default)]
    cached_content_token_count: Option<u64>,
    #[serde(default)]
    total_token_count: Option<u64>,
}

impl From<WireUsage> for Usage {
    /// Adds the reasoning tokens to the output; the API counts them separately.
    fn from(usage: WireUsage) -> Self {
        let count = |count: Option<u64>| count.unwrap_or(0);
        let input_tokens =
            count(usage.prompt_token_count).saturating_add(count(usage.tool_use_prompt_token_count));
        let reasoning_tokens = count(usage.thoughts_token_count);
        let output_tokens = count(usage.candidates_token_count).saturating_add(reasoning_tokens);
        Self {
            input_tokens,
            output_tokens,
            total_tokens: usage
                .total_token_count
                .unwrap_or_else(|| input_tokens.saturating_add(output_tokens)),
            cached_input_tokens: count(usage.cached_content_token_count),
            cache_write_tokens: 0,
            reasoning_tokens,
        }
    }
}

pub fn finish_reason(name: &str) -> FinishReason {
    match name {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => FinishReason::Error,
        _ => FinishReason::Other,
    }
}

/// Adds the sources of a grounded answer: web pages, and documents of the provider's stores.
pub fn sources(grounding: &Value, events: &mut VecDeque<ModelEvent>) {
    let chunks = grounding.get("groundingChunks").and_then(Value::as_array);
    for chunk in chunks.into_iter().flatten() {
        let Some(found) = chunk.get("web").or_else(|| chunk.get("retrievedContext")) else { continue };
        let text = |name: &str| found.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let title = text("title").map(str::to_owned);
        let source = match (text("uri"), title) {
            (Some(url), title) if url.starts_with("http") => Source::Url { url: url.to_owned(), title },
            (_, Some(title)) => {
                Source::Document { media_type: "text/plain".to_owned(), title, filename: None }
            }
            (_, None) => continue,
        };
        events.push_back(ModelEvent::Source(source));
    }
}
