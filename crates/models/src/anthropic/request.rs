//! Writes a [`ModelRequest`] as the body of a Messages call.
//!
//! Roles must alternate and the results of a step must be at the start of one user message, so adjacent messages of one
//! role are merged. Reasoning without this provider's signature is left out. Prompt cache marks follow the system text
//! and the last two user messages: the end of this request and of the previous one.

use std::borrow::Cow;

use protocol::{ProviderMetadata, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::{PROVIDER, REDACTED, SIGNATURE};
use crate::{
    attached::{self, FileLocation, is_pdf, named_only},
    model::{AssistantContent, ModelMessage, ModelRequest, UserContent},
    remote::{request_writer::RequestWriter, settings::PromptCache, tool_cache::ToolFormat},
};

/// The API requires a limit; all models accept this one.
const DEFAULT_MAX_TOKENS: u32 = 8192;
/// The image types that the API accepts.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Sent in place of an empty text, which the API refuses.
const NOTHING: &str = "(nothing)";

pub fn body(writer: &RequestWriter, request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let marks = matches!(writer.prompt_cache, PromptCache::Usual | PromptCache::Marks);
    let mut messages = messages(request);
    if marks {
        mark_ends(&mut messages);
    }
    let form =
        if marks && request.system.is_empty() { ToolFormat::AnthropicMarked } else { ToolFormat::Anthropic };
    let tools = writer.tool_cache.text(&request.tools, form, |specs| {
        let mut tools: Vec<_> = specs.iter().map(tool).collect();
        if let Some(tool) = tools.last_mut().filter(|_| form == ToolFormat::AnthropicMarked) {
            tool.cache_control = Some(CacheControl::Ephemeral);
        }
        tools
    })?;
    let system = (!request.system.trim().is_empty()).then(|| {
        let cache_control = marks.then_some(CacheControl::Ephemeral);
        [Block { cache_control, kind: Kind::Text { text: (&*request.system).into() } }]
    });
    serde_json::to_vec(&Body {
        model: &writer.model,
        max_tokens: writer.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        system,
        messages,
        tools: tools.as_deref(),
        output_config: request
            .answer
            .as_deref()
            .map(|answer| OutputConfig { format: OutputFormat::JsonSchema { schema: &answer.schema } }),
        stream: true,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Block<'a>; 1]>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    stream: bool,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: OutputFormat<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutputFormat<'a> {
    JsonSchema { schema: &'a Value },
}

#[derive(Serialize)]
struct Message<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Cow<'a, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

fn messages(request: &ModelRequest) -> Vec<Message<'_>> {
    let mut messages: Vec<Message<'_>> = Vec::new();
    for message in &request.messages {
        let (role, blocks) = match &**message {
            ModelMessage::User { content } => (Role::User, user(content)),
            ModelMessage::Assistant { content } => {
                (Role::Assistant, content.iter().filter_map(assistant_part).collect())
            }
            ModelMessage::Tool { call, text, is_error, tool: _ } => {
                let tool_use_id = id(call.as_str());
                let result = Kind::ToolResult { tool_use_id, content: text, is_error: *is_error };
                (Role::User, vec![result])
            }
        };
        let blocks = blocks.into_iter().map(|kind| Block { kind, cache_control: None });
        match messages.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => messages.push(Message { role, content: blocks.collect() }),
        }
    }
    messages.retain(|message| !message.content.is_empty());
    messages
}

fn user(content: &[UserContent]) -> Vec<Kind<'_>> {
    let mut blocks: Vec<_> = content.iter().filter_map(user_part).collect();
    if blocks.is_empty() {
        blocks.push(Kind::Text { text: NOTHING.into() });
    }
    blocks
}

fn user_part(content: &UserContent) -> Option<Kind<'_>> {
    let (media_type, url, filename) = match content {
        UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => {
            return (!text.trim().is_empty()).then(|| Kind::Text { text: text.into() });
        }
        UserContent::File { media_type, url, filename } => (media_type, url, filename.as_deref()),
    };
    let source = match attached::location(url) {
        FileLocation::Inline { base64 } => Some(Source::Base64 { media_type, data: base64 }),
        FileLocation::Web { url } if url.starts_with("http") => Some(Source::Url { url }),
        FileLocation::Web { .. } | FileLocation::InlineText { .. } => None,
    };
    Some(match source {
        Some(source) if IMAGES.contains(&media_type.as_str()) => Kind::Image { source },
        Some(source) if is_pdf(media_type) => Kind::Document { source, title: filename },
        _ => Kind::Text { text: named_only(media_type, url, filename) },
    })
}

fn assistant_part(content: &AssistantContent) -> Option<Kind<'_>> {
    match content {
        AssistantContent::Text(text) if text.trim().is_empty() => None,
        AssistantContent::Text(text) => Some(Kind::Text { text: text.into() }),
        AssistantContent::Reasoning { text, provider } => reasoning(text, provider.as_ref()?),
        AssistantContent::ToolCall { call, provider: _ } => Some(Kind::ToolUse {
            id: id(call.id.as_str()),
            name: &call.name,
            input: if call.input.is_object() { Cow::Borrowed(&call.input) } else { Cow::Owned(json!({})) },
        }),
    }
}

fn reasoning<'a>(thinking: &'a str, provider: &'a ProviderMetadata) -> Option<Kind<'a>> {
    if let Some(data) = provider.text(PROVIDER, REDACTED) {
        return Some(Kind::RedactedThinking { data });
    }
    let signature = provider.text(PROVIDER, SIGNATURE)?;
    Some(Kind::Thinking { thinking, signature })
}

/// Replaces characters that the API refuses; ids of other providers may contain them.
fn id(id: &str) -> Cow<'_, str> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !id.is_empty() && id.chars().all(is_fine) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(format!("id_{}", id.replace(|c| !is_fine(c), "_")))
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let ToolSpec { name, description, input_schema } = spec;
    Tool { name, description, input_schema, cache_control: None }
}

/// Marks the end of the last two user messages. Reasoning cannot be marked, but user messages contain none.
fn mark_ends(messages: &mut [Message<'_>]) {
    for message in messages.iter_mut().rev().filter(|message| message.role == Role::User).take(2) {
        if let Some(last) = message.content.last_mut() {
            last.cache_control = Some(CacheControl::Ephemeral);
        }
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
