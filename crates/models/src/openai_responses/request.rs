//! Writes a [`ModelRequest`] as the body of a Responses call.
//!
//! The input is a flat list of items. Reasoning is sent back only if it is encrypted: otherwise the provider would look
//! for it in its store, which we never use.

use std::borrow::Cow;

use protocol::{ProviderMetadata, ToolSpec};
use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use super::{ENCRYPTED, ITEM_ID, PROVIDER};
use crate::{
    attached::{is_image, is_pdf, named_only},
    model::{AnswerSchema, AssistantContent, ModelMessage, ModelRequest, UserContent},
    remote::{request_writer::RequestWriter, settings::PromptCache, tool_cache::ToolFormat},
};

pub fn body(writer: &RequestWriter, request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let with_key = matches!(writer.prompt_cache, PromptCache::Usual | PromptCache::Key);
    let tools = writer.tool_cache.text(&request.tools, ToolFormat::OpenAiResponses, |specs| {
        specs.iter().map(tool).collect::<Vec<_>>()
    })?;
    serde_json::to_vec(&Body {
        model: &writer.model,
        instructions: &request.system,
        input: request.messages.iter().flat_map(|message| items(message)).collect(),
        tools: tools.as_deref(),
        max_output_tokens: writer.max_output_tokens,
        text: request.answer.as_deref().map(|answer| TextConfig { format: format(answer) }),
        prompt_cache_key: request.cache_key.as_deref().filter(|_| with_key),
        include: if reasons(writer) { &["reasoning.encrypted_content"] } else { &[] },
        store: false,
        stream: true,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'a [&'static str],
    store: bool,
    stream: bool,
}

#[derive(Serialize)]
struct TextConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { name: &'a str, schema: &'a Value, strict: bool },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: Role,
        content: Vec<Content<'a>>,
    },
    Reasoning {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        summary: Vec<Content<'a>>,
        encrypted_content: &'a str,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        #[serde(serialize_with = "as_json_text")]
        arguments: &'a Value,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    InputText {
        text: Cow<'a, str>,
    },
    OutputText {
        text: &'a str,
    },
    SummaryText {
        text: &'a str,
    },
    InputImage {
        image_url: &'a str,
        detail: &'static str,
    },
    InputFile {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<&'a str>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        parameters: &'a Value,
        /// Always `false`: our schemas have optional fields, which strict mode forbids.
        strict: bool,
    },
}

fn items(message: &ModelMessage) -> Vec<Item<'_>> {
    match message {
        ModelMessage::User { content } => {
            vec![Item::Message { role: Role::User, content: content.iter().map(user_part).collect() }]
        }
        ModelMessage::Assistant { content } => content.iter().filter_map(assistant_part).collect(),
        ModelMessage::Tool { call, text, tool: _, is_error: _ } => {
            vec![Item::FunctionCallOutput { call_id: call.as_str(), output: text }]
        }
    }
}

fn user_part(content: &UserContent) -> Content<'_> {
    let (media_type, url, filename) = match content {
        UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => {
            return Content::InputText { text: text.into() };
        }
        UserContent::File { media_type, url, filename } => (media_type, url, filename.as_deref()),
    };
    if is_image(media_type) {
        Content::InputImage { image_url: url, detail: "auto" }
    } else if is_pdf(media_type) && url.starts_with("data:") {
        let filename = Some(filename.unwrap_or("document.pdf"));
        Content::InputFile { filename, file_data: Some(url), file_url: None }
    } else if is_pdf(media_type) {
        Content::InputFile { filename: None, file_data: None, file_url: Some(url) }
    } else {
        Content::InputText { text: named_only(media_type, url, filename) }
    }
}

fn assistant_part(content: &AssistantContent) -> Option<Item<'_>> {
    match content {
        AssistantContent::Text(text) if text.is_empty() => None,
        AssistantContent::Text(text) => {
            Some(Item::Message { role: Role::Assistant, content: vec![Content::OutputText { text }] })
        }
        AssistantContent::Reasoning { text, provider } => encrypted_reasoning(text, provider.as_ref()?),
        AssistantContent::ToolCall { call, provider: _ } => {
            Some(Item::FunctionCall { call_id: call.id.as_str(), name: &call.name, arguments: &call.input })
        }
    }
}

fn encrypted_reasoning<'a>(text: &'a str, provider: &'a ProviderMetadata) -> Option<Item<'a>> {
    let encrypted_content = provider.text(PROVIDER, ENCRYPTED)?;
    let summary = if text.is_empty() { Vec::new() } else { vec![Content::SummaryText { text }] };
    Some(Item::Reasoning { id: provider.text(PROVIDER, ITEM_ID), summary, encrypted_content })
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let ToolSpec { name, description, input_schema } = spec;
    Tool::Function { name, description, parameters: input_schema, strict: false }
}

fn format(answer: &AnswerSchema) -> Format<'_> {
    Format::JsonSchema { name: &answer.name, schema: &answer.schema, strict: true }
}

/// Whether the model reasons, by its settings or its name. Other models refuse a request for encrypted reasoning.
fn reasons(writer: &RequestWriter) -> bool {
    let model = writer.model.rsplit('/').next().unwrap_or(&writer.model);
    let version = model.strip_prefix("gpt-").and_then(|rest| rest.chars().next()?.to_digit(10));
    let is_o = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    writer.has_extra("reasoning") || is_o || version.is_some_and(|version| version >= 5)
}

/// Writes the arguments as JSON in a JSON string; missing arguments become an empty object.
fn as_json_text<S: Serializer>(input: &&Value, serializer: S) -> Result<S::Ok, S::Error> {
    match input {
        Value::Null => serializer.serialize_str("{}"),
        input => serializer.collect_str(input),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
