//! Writes a [`ModelRequest`] as the body of a chat-completions call.
//!
//! The structs borrow from the request. Reasoning of earlier answers is sent only if the settings say so, because most
//! servers refuse it. An assistant message without content is left out for the same reason.

use std::{borrow::Cow, sync::Arc};

use protocol::ToolSpec;
use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use super::{
    calls::{EXTRA_FIELD, EXTRA_PROVIDER},
    reasoning_details,
};
use crate::{
    attached::{is_image, is_pdf, named_only},
    model::{AnswerSchema, AssistantContent, ModelMessage, ModelRequest, UserContent},
    remote::{
        json_string,
        prepared::SerializedPrefix,
        request_writer::RequestWriter,
        settings::{PromptCache, ReasoningReplay},
        tool_cache::ToolFormat,
    },
};

/// The body of the call.
pub fn body(writer: &RequestWriter, request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let marks = writer.prompt_cache == PromptCache::Marks;
    let replay = writer.reasoning_replay;
    let prefix = if marks { SerializedPrefix::default() } else { writer.prepared.take(&request.messages) };
    let rest = &request.messages[prefix.count..];
    let tools = writer
        .tool_cache
        .text(&request.tools, ToolFormat::OpenAi, |specs| specs.iter().map(tool).collect::<Vec<_>>())?;
    let tools = tools.as_deref().map_or_else(Default::default, RawValue::get);
    let room =
        prefix.text.len() + request.system.len() + rest.len() * MESSAGE_SIZE + tools.len() + BODY_OVERHEAD;
    let mut out = Vec::with_capacity(room);
    out.extend_from_slice(br#"{"model":"#);
    serde_json::to_writer(&mut out, &writer.model)?;
    out.extend_from_slice(br#","messages":["#);
    if !request.system.is_empty() {
        serde_json::to_writer(&mut out, &Message::System { content: system(&request.system, marks) })?;
        out.push(b',');
    }
    if !prefix.text.is_empty() {
        out.extend_from_slice(&prefix.text);
        out.push(b',');
    }
    if marks {
        let mut messages: Vec<_> = rest.iter().filter_map(|sent| message(sent, replay)).collect();
        mark_last(&mut messages);
        for message in &messages {
            serde_json::to_writer(&mut out, message)?;
            out.push(b',');
        }
    } else {
        for sent in rest {
            if write_message(&mut out, sent, replay)? {
                out.push(b',');
            }
        }
    }
    if out.ends_with(b",") {
        out.pop();
    }
    out.extend_from_slice(b"],");
    if !tools.is_empty() {
        out.extend_from_slice(br#""tools":"#);
        out.extend_from_slice(tools.as_bytes());
        out.push(b',');
    }
    let cache_key = request.cache_key.as_deref().filter(|_| writer.prompt_cache == PromptCache::Key);
    let settings = serde_json::to_vec(&Settings {
        max_tokens: writer.max_output_tokens,
        response_format: request.answer.as_deref().map(response_format),
        prompt_cache_key: cache_key,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
    })?;
    out.extend_from_slice(settings.strip_prefix(b"{").unwrap_or(&settings));
    Ok(out)
}

/// Bytes reserved for everything but the history, the system prompt and the tools.
const BODY_OVERHEAD: usize = 1 << 10;
/// Bytes reserved for one message of a history.
const MESSAGE_SIZE: usize = 256;

/// Serialises the messages that a body starts with, separated by commas.
pub fn prefix(messages: &[Arc<ModelMessage>], replay: ReasoningReplay) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::with_capacity(messages.len() * MESSAGE_SIZE);
    for message in messages {
        if write_message(&mut out, message, replay)? {
            out.push(b',');
        }
    }
    out.pop();
    Ok(out)
}

/// Writes a message; returns `false` if nothing of it is sent. Plain text, which is most of a long chat, is written
/// without serde.
fn write_message(
    out: &mut Vec<u8>,
    sent: &ModelMessage,
    replay: ReasoningReplay,
) -> Result<bool, serde_json::Error> {
    let (head, text) = match sent {
        ModelMessage::User { content } => match content.as_slice() {
            [UserContent::Text(text)] => (r#"{"role":"user","content":"#, Some(text)),
            _ => ("", None),
        },
        ModelMessage::Assistant { content } => match content.as_slice() {
            [AssistantContent::Text(text)] if !text.is_empty() => {
                (r#"{"role":"assistant","content":"#, Some(text))
            }
            _ => ("", None),
        },
        ModelMessage::Tool { .. } => ("", None),
    };
    if let Some(text) = text {
        out.extend_from_slice(head.as_bytes());
        json_string::write(out, text);
        out.push(b'}');
        return Ok(true);
    }
    match message(sent, replay) {
        Some(message) => serde_json::to_writer(out, &message).map(|()| true),
        None => Ok(false),
    }
}

/// The fields after the messages and the tools.
#[derive(Serialize)]
struct Settings<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: Content<'a>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// Written as `null` when there is none: some servers require the field.
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasoning_details: Vec<&'a Value>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
    },
    File {
        file: File<'a>,
    },
}

/// Marks the end of the part that the provider should cache.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: &'a str,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: Kind,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Function,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(serialize_with = "as_json_text")]
    arguments: &'a Value,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: Kind,
    function: ToolFunction<'a>,
}

#[derive(Serialize)]
struct ToolFunction<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Value,
}

fn system(text: &str, marks: bool) -> Content<'_> {
    match marks {
        false => Content::Text(text.into()),
        true => Content::Parts(vec![Part::Text {
            text: text.into(),
            cache_control: Some(CacheControl::Ephemeral),
        }]),
    }
}

/// Marks the end of the last user message, because the next call repeats everything up to it.
fn mark_last(messages: &mut [Message<'_>]) {
    let last = messages.iter_mut().rev().find_map(|message| match message {
        Message::User { content } => Some(content),
        _ => None,
    });
    let Some(content) = last else { return };
    if let Content::Text(text) = content {
        *content = Content::Parts(vec![Part::Text { text: std::mem::take(text), cache_control: None }]);
    }
    if let Content::Parts(parts) = content
        && let Some(Part::Text { cache_control, .. }) =
            parts.iter_mut().rev().find(|part| matches!(part, Part::Text { .. }))
    {
        *cache_control = Some(CacheControl::Ephemeral);
    }
}

fn response_format(answer: &AnswerSchema) -> ResponseFormat<'_> {
    let AnswerSchema { name, schema } = answer;
    ResponseFormat::JsonSchema { json_schema: JsonSchema { name, schema, strict: true } }
}

fn message(message: &ModelMessage, replay: ReasoningReplay) -> Option<Message<'_>> {
    match message {
        ModelMessage::User { content } => Some(Message::User { content: user_content(content) }),
        ModelMessage::Assistant { content } => assistant(content, replay),
        ModelMessage::Tool { call, text, tool: _, is_error: _ } => {
            Some(Message::Tool { tool_call_id: call.as_str(), content: text })
        }
    }
}

/// A plain string if there is only text, because not every server accepts parts.
fn user_content(content: &[UserContent]) -> Content<'_> {
    let only_text = content.iter().map(|part| match part {
        UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => {
            Some(text.as_str())
        }
        UserContent::File { .. } => None,
    });
    match only_text.collect::<Option<Vec<_>>>() {
        Some(texts) => Content::Text(joined(&texts, "\n").unwrap_or_default()),
        None => Content::Parts(content.iter().map(user_part).collect()),
    }
}

fn user_part(content: &UserContent) -> Part<'_> {
    match content {
        UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => {
            Part::Text { text: text.into(), cache_control: None }
        }
        UserContent::File { media_type, url, filename: _ } if is_image(media_type) => {
            Part::ImageUrl { image_url: ImageUrl { url } }
        }
        UserContent::File { media_type, url, filename } if is_pdf(media_type) && url.starts_with("data:") => {
            let filename = filename.as_deref().unwrap_or("document.pdf");
            Part::File { file: File { filename, file_data: url } }
        }
        UserContent::File { media_type, url, filename } => {
            Part::Text { text: named_only(media_type, url, filename.as_deref()), cache_control: None }
        }
    }
}

fn assistant(content: &[AssistantContent], replay: ReasoningReplay) -> Option<Message<'_>> {
    let mut texts = Vec::new();
    let mut reasoning = Vec::new();
    let mut reasoning_details = Vec::new();
    let mut tool_calls = Vec::new();
    for part in content {
        match part {
            AssistantContent::Text(text) if text.is_empty() => {}
            AssistantContent::Text(text) => texts.push(text.as_str()),
            AssistantContent::Reasoning { text, provider } => match replay {
                ReasoningReplay::Never => {}
                ReasoningReplay::Content => reasoning.push(text.as_str()),
                ReasoningReplay::Details => {
                    let details = provider.as_ref().and_then(|kept| {
                        kept.field(reasoning_details::PROVIDER, reasoning_details::FIELD)?.as_array()
                    });
                    reasoning_details.extend(details.into_iter().flatten());
                }
            },
            AssistantContent::ToolCall { call, provider } => tool_calls.push(Call {
                id: call.id.as_str(),
                kind: Kind::Function,
                function: Function { name: &call.name, arguments: &call.input },
                extra_content: provider.as_ref().and_then(|kept| kept.field(EXTRA_PROVIDER, EXTRA_FIELD)),
            }),
        }
    }
    let content = joined(&texts, "");
    let reasoning_content = joined(&reasoning, "").filter(|text| !text.is_empty());
    (content.is_some() || !tool_calls.is_empty()).then_some(Message::Assistant {
        content,
        reasoning_content,
        reasoning_details,
        tool_calls,
    })
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let function =
        ToolFunction { name: &spec.name, description: &spec.description, parameters: &spec.input_schema };
    Tool { kind: Kind::Function, function }
}

fn joined<'a>(texts: &[&'a str], gap: &str) -> Option<Cow<'a, str>> {
    match texts {
        [] => None,
        [text] => Some(Cow::Borrowed(text)),
        _ => Some(Cow::Owned(texts.join(gap))),
    }
}

/// Writes the arguments as JSON in a JSON string. Servers expect an object, so missing arguments become an empty one.
fn as_json_text<S: Serializer>(input: &&Value, serializer: S) -> Result<S::Ok, S::Error> {
    match input {
        Value::Null => serializer.serialize_str("{}"),
        input => serializer.collect_str(input),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
