//! The fields of a chat-completions answer that we read, as types that borrow from the event's bytes.
//!
//! One type serves both forms: a chunk of a stream has a `delta`, a whole completion a `message`. Fields are read
//! leniently, because servers differ: a text that is missing, `null` or of another type is empty, unknown fields are
//! skipped. Only the first choice is read; we never request more. Large or rare fields are boxed, because moving these
//! structs costs more than an allocation.

use std::collections::VecDeque;

use protocol::{FinishReason, Source, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    model::ModelEvent,
    remote::lenient::{Arguments, Content, FirstElement, Text},
};

#[derive(Deserialize)]
pub struct Answer<'a> {
    #[serde(borrow, default)]
    pub choices: FirstElement<Choice<'a>>,
    #[serde(default)]
    pub usage: Option<Box<WireUsage>>,
    #[serde(default)]
    pub error: Option<Box<Value>>,
    /// `error` if the fields of an error are at the top level.
    #[serde(borrow, default)]
    pub object: Text<'a>,
    /// The web pages that the answer cites (Perplexity and others).
    #[serde(default)]
    pub citations: Option<Box<Value>>,
    /// Where Groq sends usage and failures.
    #[serde(default)]
    pub x_groq: Option<Box<GroqExtension>>,
}

#[derive(Deserialize)]
pub struct GroqExtension {
    #[serde(default)]
    pub usage: Option<WireUsage>,
    #[serde(default)]
    pub error: Option<Value>,
}

#[derive(Deserialize)]
pub struct Choice<'a> {
    #[serde(borrow, default)]
    pub delta: Option<Box<Delta<'a>>>,
    #[serde(borrow, default)]
    pub message: Option<Box<Delta<'a>>>,
    #[serde(borrow, default)]
    pub finish_reason: Text<'a>,
}

#[derive(Deserialize)]
pub struct Delta<'a> {
    #[serde(borrow, default)]
    pub content: Content<'a>,
    #[serde(borrow, default)]
    pub reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    pub reasoning: Text<'a>,
    #[serde(borrow, default)]
    pub refusal: Text<'a>,
    #[serde(default)]
    pub reasoning_details: Option<Box<Value>>,
    #[serde(default)]
    pub annotations: Option<Box<Value>>,
    #[serde(borrow, default)]
    pub tool_calls: Option<Vec<CallDelta<'a>>>,
}

impl Delta<'_> {
    /// The text, if the delta contains nothing else.
    pub fn only_text(&self) -> Option<&str> {
        let others = [&self.reasoning_content, &self.reasoning, &self.refusal];
        let nothing_else = self.tool_calls.is_none()
            && self.reasoning_details.is_none()
            && self.annotations.is_none()
            && self.content.thinking.is_empty()
            && others.iter().all(|text| text.0.is_empty());
        nothing_else.then_some(&*self.content.text)
    }
}

#[derive(Deserialize)]
pub struct CallDelta<'a> {
    #[serde(default)]
    pub index: Option<u32>,
    #[serde(borrow, default)]
    pub id: Text<'a>,
    #[serde(borrow, default)]
    pub function: Option<Function<'a>>,
    /// Metadata that Google's compatible endpoint requires with the call in later requests.
    #[serde(default)]
    pub extra_content: Option<Box<Value>>,
}

#[derive(Deserialize, Default)]
pub struct Function<'a> {
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub arguments: Arguments<'a>,
}

#[derive(Deserialize)]
pub struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
    /// The cached tokens at DeepSeek.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
    /// The cached tokens at Moonshot.
    #[serde(default)]
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl From<&WireUsage> for Usage {
    fn from(usage: &WireUsage) -> Self {
        let input_tokens = usage.prompt_tokens.unwrap_or(0);
        let output_tokens = usage.completion_tokens.unwrap_or(0);
        Self {
            input_tokens,
            output_tokens,
            total_tokens: usage.total_tokens.unwrap_or_else(|| input_tokens.saturating_add(output_tokens)),
            cached_input_tokens: usage
                .prompt_tokens_details
                .as_ref()
                .and_then(|details| details.cached_tokens)
                .or(usage.prompt_cache_hit_tokens)
                .or(usage.cached_tokens)
                .unwrap_or(0),
            cache_write_tokens: 0,
            reasoning_tokens: usage
                .completion_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens)
                .unwrap_or(0),
        }
    }
}

pub fn finish_reason(name: &str) -> FinishReason {
    match name {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "error" => FinishReason::Error,
        _ => FinishReason::Other,
    }
}

/// Adds the cited web pages: a list of URLs, or of objects with a URL.
pub fn pages(citations: &Value, events: &mut VecDeque<ModelEvent>) {
    for page in citations.as_array().into_iter().flatten() {
        let url = page.as_str().or_else(|| page.get("url")?.as_str());
        source(url, page.get("title").and_then(Value::as_str), events);
    }
}

/// Adds the `url_citation`s among the annotations of a message.
pub fn annotations(annotations: &Value, events: &mut VecDeque<ModelEvent>) {
    for annotation in annotations.as_array().into_iter().flatten() {
        let citation = annotation.get("url_citation").unwrap_or(annotation);
        let text = |name: &str| citation.get(name).and_then(Value::as_str);
        source(text("url"), text("title"), events);
    }
}

fn source(url: Option<&str>, title: Option<&str>, events: &mut VecDeque<ModelEvent>) {
    if let Some(url) = url.filter(|url| url.starts_with("http")) {
        let title = title.filter(|title| !title.is_empty()).map(str::to_owned);
        events.push_back(ModelEvent::Source(Source::Url { url: url.to_owned(), title }));
    }
}
