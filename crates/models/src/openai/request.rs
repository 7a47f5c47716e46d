//! Ours → theirs: a [`ModelRequest`] as the body of a chat-completions call.
//!
//! The structs borrow from the request and are written once. Reasoning of earlier answers is not sent back: most
//! servers refuse it. An assistant message with nothing left in it is dropped, since servers refuse that too.

use std::borrow::Cow;

use protocol::ToolSpec;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::model::{AssistantContent, ModelMessage, ModelRequest, UserContent};

/// The body of the call.
pub fn body(model: &str, request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let system = (!request.system.is_empty()).then_some(Message::System { content: &request.system });
    serde_json::to_vec(&Body {
        model,
        messages: system
            .into_iter()
            .chain(request.messages.iter().filter_map(|sent| message(sent)))
            .collect(),
        tools: request.tools.iter().map(tool).collect(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// Written as `null` when there is none: some servers insist on the field.
        content: Option<Cow<'a, str>>,
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
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
    File { file: File<'a> },
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

fn message(message: &ModelMessage) -> Option<Message<'_>> {
    match message {
        ModelMessage::User { content } => Some(Message::User { content: user_content(content) }),
        ModelMessage::Assistant { content } => assistant(content),
        ModelMessage::Tool { call, text, tool: _, is_error: _ } => {
            Some(Message::Tool { tool_call_id: call.as_str(), content: text })
        }
    }
}

/// A plain string where there is only text: not every server understands parts.
fn user_content(content: &[UserContent]) -> Content<'_> {
    let only_text = content.iter().map(|part| match part {
        UserContent::Text(text) | UserContent::Facts(text) => Some(text.as_str()),
        UserContent::File { .. } => None,
    });
    match only_text.collect::<Option<Vec<_>>>() {
        Some(texts) => Content::Text(joined(&texts, "\n").unwrap_or_default()),
        None => Content::Parts(content.iter().map(user_part).collect()),
    }
}

fn user_part(content: &UserContent) -> Part<'_> {
    match content {
        UserContent::Text(text) | UserContent::Facts(text) => Part::Text { text: text.into() },
        UserContent::File { media_type, url, filename: _ } if media_type.starts_with("image/") => {
            Part::ImageUrl { image_url: ImageUrl { url } }
        }
        UserContent::File { media_type, url, filename }
            if media_type == "application/pdf" && url.starts_with("data:") =>
        {
            let filename = filename.as_deref().unwrap_or("document.pdf");
            Part::File { file: File { filename, file_data: url } }
        }
        UserContent::File { media_type, url, filename } => {
            let name = filename.as_deref().unwrap_or("without a name");
            let place = if url.starts_with("data:") { "" } else { url };
            let gap = if place.is_empty() { "" } else { " at " };
            let text = format!(
                "[attached file {name} ({media_type}){gap}{place}: its content cannot be shown here]"
            );
            Part::Text { text: text.into() }
        }
    }
}

fn assistant(content: &[AssistantContent]) -> Option<Message<'_>> {
    let mut texts = Vec::new();
    let mut tool_calls = Vec::new();
    for part in content {
        match part {
            AssistantContent::Text(text) if text.is_empty() => {}
            AssistantContent::Text(text) => texts.push(text.as_str()),
            AssistantContent::Reasoning(_) => {}
            AssistantContent::ToolCall(call) => tool_calls.push(Call {
                id: call.id.as_str(),
                kind: Kind::Function,
                function: Function { name: &call.name, arguments: &call.input },
            }),
        }
    }
    let content = joined(&texts, "");
    (content.is_some() || !tool_calls.is_empty()).then_some(Message::Assistant { content, tool_calls })
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

/// JSON inside a JSON string. Servers parse it as an object, so a call without input has an empty one.
fn as_json_text<S: Serializer>(input: &&Value, serializer: S) -> Result<S::Ok, S::Error> {
    match input {
        Value::Null => serializer.serialize_str("{}"),
        input => serializer.collect_str(input),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
