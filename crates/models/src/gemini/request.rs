//! Writes a [`ModelRequest`] as the body of a `streamGenerateContent` call.
//!
//! Adjacent messages of one role are merged, so the results of a step are one message. Reasoning is sent back only if it
//! is signed.

use std::borrow::Cow;

use protocol::{ProviderMetadata, ToolCall, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::{CALL_ID, OF_TEXT, PROVIDER, SIGNATURE};
use crate::{
    attached::{self, FileLocation, is_image, is_pdf, named_only},
    model::{AssistantContent, ModelMessage, ModelRequest, UserContent},
    remote::{request_writer::RequestWriter, tool_cache::ToolFormat},
};

/// Replaces a missing signature: the call was made by another model, or refused before it was stored. Since version 3
/// the first call of a step must be signed.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub fn body(writer: &RequestWriter, request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let mut contents = contents(request);
    if needs_signatures(&writer.model) {
        contents.iter_mut().for_each(sign_first_call);
    }
    let tools = writer.tool_cache.text(&request.tools, ToolFormat::Gemini, |specs| {
        [Tools { function_declarations: specs.iter().map(declaration).collect() }]
    })?;
    let schema = request.answer.as_deref().map(|answer| &answer.schema);
    serde_json::to_vec(&Body {
        system_instruction: (!request.system.is_empty())
            .then(|| Instruction { parts: [Part::text(&*request.system)] }),
        contents,
        tools: tools.as_deref(),
        generation_config: GenerationConfig {
            max_output_tokens: writer.max_output_tokens,
            response_mime_type: schema.map(|_| "application/json"),
            response_json_schema: schema,
        },
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
}

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none() && self.response_json_schema.is_none()
    }
}

#[derive(Serialize)]
struct Content<'a> {
    role: Role,
    parts: Vec<Part<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Model,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<FileData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

impl<'a> Part<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileData<'a> {
    mime_type: &'a str,
    file_uri: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Cow<'a, Value>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters_json_schema: &'a Value,
}

fn declaration(spec: &ToolSpec) -> Declaration<'_> {
    let ToolSpec { name, description, input_schema } = spec;
    Declaration { name, description, parameters_json_schema: input_schema }
}

fn contents(request: &ModelRequest) -> Vec<Content<'_>> {
    let mut contents: Vec<Content<'_>> = Vec::new();
    for (place, message) in request.messages.iter().enumerate() {
        let (role, parts) = match &**message {
            ModelMessage::User { content } => (Role::User, content.iter().map(user_part).collect()),
            ModelMessage::Assistant { content } => (Role::Model, assistant_parts(content)),
            ModelMessage::Tool { call, tool, text, is_error } => {
                let before = &request.messages[..place];
                let id = before.iter().rev().find_map(|message| id_given_to(message, call.as_str()));
                let response = if *is_error { Outcome::Error(text) } else { Outcome::Output(text) };
                let answer = FunctionResponse { id, name: tool, response };
                (Role::User, vec![Part { function_response: Some(answer), ..Part::default() }])
            }
        };
        match contents.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => contents.push(Content { role, parts }),
        }
    }
    contents.retain(|content| !content.parts.is_empty());
    contents
}

fn user_part(content: &UserContent) -> Part<'_> {
    let (media_type, url, filename) = match content {
        UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => {
            return Part::text(text.as_str());
        }
        UserContent::File { media_type, url, filename } => (media_type.as_str(), url, filename.as_deref()),
    };
    let can_be_seen = is_image(media_type) || is_pdf(media_type);
    match attached::location(url) {
        FileLocation::Inline { base64 } if can_be_seen => {
            Part { inline_data: Some(InlineData { mime_type: media_type, data: base64 }), ..Part::default() }
        }
        FileLocation::Web { url } if can_be_seen => {
            Part { file_data: Some(FileData { mime_type: media_type, file_uri: url }), ..Part::default() }
        }
        FileLocation::Inline { .. } | FileLocation::InlineText { .. } | FileLocation::Web { .. } => {
            Part::text(named_only(media_type, url, filename))
        }
    }
}

fn assistant_parts(content: &[AssistantContent]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for content in content {
        match content {
            AssistantContent::Text(text) if text.is_empty() => {}
            AssistantContent::Text(text) => parts.push(Part::text(text.as_str())),
            AssistantContent::Reasoning { text, provider } => {
                let Some(provider) = provider else { continue };
                let Some(signature) = provider.text(PROVIDER, SIGNATURE) else { continue };
                let of_text = provider.field(PROVIDER, OF_TEXT).is_some();
                match parts.last_mut() {
                    Some(last) if of_text && can_be_signed(last) => last.thought_signature = Some(signature),
                    _ => parts.push(Part {
                        thought: !of_text,
                        thought_signature: Some(signature),
                        ..Part::text(text.as_str())
                    }),
                }
            }
            AssistantContent::ToolCall { call, provider } => parts.push(call_part(call, provider.as_ref())),
        }
    }
    parts
}

fn can_be_signed(part: &Part<'_>) -> bool {
    part.text.is_some() && !part.thought && part.thought_signature.is_none()
}

fn call_part<'a>(call: &'a ToolCall, provider: Option<&'a ProviderMetadata>) -> Part<'a> {
    let kept = |field| provider.and_then(|provider| provider.text(PROVIDER, field));
    let args = if call.input.is_object() { Cow::Borrowed(&call.input) } else { Cow::Owned(json!({})) };
    Part {
        function_call: Some(FunctionCall { id: kept(CALL_ID), name: &call.name, args }),
        thought_signature: kept(SIGNATURE),
        ..Part::default()
    }
}

/// The provider's own id of a call, which may differ from ours.
fn id_given_to<'a>(message: &'a ModelMessage, wanted: &str) -> Option<&'a str> {
    let ModelMessage::Assistant { content } = message else { return None };
    content.iter().find_map(|content| match content {
        AssistantContent::ToolCall { call, provider } if call.id.as_str() == wanted => {
            provider.as_ref()?.text(PROVIDER, CALL_ID)
        }
        _ => None,
    })
}

/// Whether the model requires signed calls: Gemini 3 and later.
fn needs_signatures(model: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    let version = model.strip_prefix("gemini-").unwrap_or_default();
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    major.parse::<u32>().is_ok_and(|major| major >= 3)
}

fn sign_first_call(content: &mut Content<'_>) {
    if let Some(call) = content.parts.iter_mut().find(|part| part.function_call.is_some()) {
        call.thought_signature.get_or_insert(UNSIGNED);
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
