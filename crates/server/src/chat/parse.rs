//! Parses the body of `POST /api/chat`. The client's history is not trusted: only the new user message, answers to
//! approvals, outputs of front-end tools and the position in the chat are read. Earlier messages stay unparsed unless the
//! session is unknown; then the engine imports them.

use std::{borrow::Cow, collections::HashMap};

use bytes::Bytes;
use engine::{ApprovalPayload, ClientOutput, Decision, ReturnedAnswer, SendKind, SendRequest, Submit};
use protocol::{
    ApprovalId, ErrorCode, GrantScope, MessageId, Part, Role, RunOptions, SubAgentStream, ToolCallId,
    UiMessage, WhenBusy, WorkspaceId, planted::Unread, wire::rest::always,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{bad_id, session_id};
use crate::{body, error::ApiError};

/// Bytes of text and data in one new message.
const MAX_TEXT_BYTES: usize = 1 << 20;
const MAX_PARTS: usize = 1000;
const MAX_METADATA_BYTES: usize = 64 << 10;
const MAX_REASON_BYTES: usize = 4 << 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChatBody<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    trigger: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message_id: Option<Cow<'a, str>>,
    project_id: Option<String>,
    client_id: Option<String>,
    tab_id: Option<String>,
    page_id: Option<String>,
    mode: Option<String>,
    timezone: Option<String>,
    chat_model_id: Option<String>,
    chat_model_source: Option<String>,
    agent_id: Option<String>,
    parent_message_id: Option<String>,
    sub_agent_stream: Option<SubAgentStream>,
    when_busy: Option<WhenBusy>,
    /// What a person gave with their answers, by tool call.
    tool_approval_payloads: Option<HashMap<String, Payload>>,
}

/// An entry of `toolApprovalPayloads`.
#[derive(Clone, Deserialize)]
struct Payload {
    /// Answers a call whose part still waits.
    approved: Option<bool>,
    reason: Option<String>,
    #[serde(default, deserialize_with = "always")]
    always: Option<GrantScope>,
    input: Option<Value>,
    /// What a person filled in, for a call that asks for input.
    answers: Option<Value>,
    /// Declines to fill it in.
    #[serde(default)]
    cancelled: bool,
}

impl Payload {
    /// The answer to a request for input.
    fn filled_in(&self) -> Option<Value> {
        match &self.answers {
            Some(answers) => Some(json!({ "answers": answers })),
            None => self.cancelled.then(|| json!({ "cancelled": true, "reason": self.reason })),
        }
    }
}

/// Id and role of a message, without its content.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    role: Role,
}

pub(super) fn request(bytes: &Bytes, workspace: WorkspaceId) -> Result<SendRequest, ApiError> {
    let chat: ChatBody<'_> = body::parse(bytes)?;
    let id = chat
        .id
        .as_deref()
        .ok_or_else(|| ApiError::invalid("The field id is missing: send the id of the chat."))?;
    let session = session_id(id)?;
    let message_id = chat.message_id.as_deref().map(message_id).transpose()?;
    let mut messages = chat.messages.unwrap_or_default();
    messages.extend(chat.message);
    let last = *messages.last().ok_or_else(|| {
        ApiError::new(
            ErrorCode::EmptyMessage,
            "The field messages is missing or empty: send at least one message.",
        )
    })?;
    let head = head(last)?;
    let regenerate = chat.trigger.as_deref().is_some_and(|trigger| trigger.starts_with("regenerate"));
    let kind = if regenerate {
        let last = if head.role == Role::User { Some(submit(bytes, &messages, None)?) } else { None };
        SendKind::Regenerate { at: message_id, last }
    } else if let Some(answered) = answered_message(&messages, &head, message_id.as_ref())? {
        continuation(answered, &chat.tool_approval_payloads.unwrap_or_default())?
    } else {
        SendKind::Submit(submit(bytes, &messages, message_id)?)
    };
    let parent_message_id = chat.parent_message_id.as_deref().map(self::message_id).transpose()?;
    let options = RunOptions {
        project_id: short("projectId", chat.project_id)?,
        client_id: short("clientId", chat.client_id)?,
        tab_id: short("tabId", chat.tab_id)?,
        page_id: short("pageId", chat.page_id)?,
        mode: short("mode", chat.mode)?,
        timezone: short("timezone", chat.timezone)?,
        chat_model_id: short("chatModelId", chat.chat_model_id)?,
        chat_model_source: short("chatModelSource", chat.chat_model_source)?,
        agent_id: short("agentId", chat.agent_id)?,
        parent_message_id,
        sub_agent_stream: chat.sub_agent_stream,
        when_busy: chat.when_busy,
        ..RunOptions::default()
    };
    Ok(SendRequest { workspace, session, kind, options })
}

/// Reads the last message as a new message of the user.
fn submit(bytes: &Bytes, messages: &[&RawValue], edits: Option<MessageId>) -> Result<Submit, ApiError> {
    let Some((last, before)) = messages.split_last() else {
        return Err(ApiError::new(
            ErrorCode::EmptyMessage,
            "The field messages is empty: send at least one message.",
        ));
    };
    let after = match before.last() {
        Some(message) => Some(message_id(&head(message)?.id)?),
        None => None,
    };
    Ok(Submit { message: user_message(last)?, edits, after, earlier: earlier(bytes, before) })
}

fn short(name: &str, value: Option<String>) -> Result<Option<String>, ApiError> {
    match value {
        Some(value) if value.len() > protocol::id::MAX_ID_BYTES => Err(ApiError::invalid(format!(
            "The field {name} is longer than {} bytes.",
            protocol::id::MAX_ID_BYTES
        ))),
        value => Ok(value.filter(|value| !value.is_empty())),
    }
}

fn message_id(id: &str) -> Result<MessageId, ApiError> {
    MessageId::from_outside(id).map_err(|error| bad_id("The message id", error))
}

fn head(message: &RawValue) -> Result<MessageHead<'_>, ApiError> {
    body::parse(message.get().as_bytes())
}

/// Returns the assistant message that the client sends back to continue it: the last message, or the one that
/// `messageId` names. Returns `None` when this is a new message.
fn answered_message<'a>(
    messages: &[&'a RawValue],
    last: &MessageHead<'_>,
    named: Option<&MessageId>,
) -> Result<Option<&'a RawValue>, ApiError> {
    if last.role == Role::Assistant {
        return Ok(messages.last().copied());
    }
    if let Some(named) = named {
        for message in messages.iter().rev() {
            let head = head(message)?;
            if head.id == named.as_str() {
                return Ok((head.role == Role::Assistant).then_some(*message));
            }
        }
    }
    Ok(None)
}

fn user_message(raw: &RawValue) -> Result<UiMessage, ApiError> {
    let message: UiMessage = body::parse(raw.get().as_bytes())?;
    message_id(message.id.as_str())?;
    if message.role != Role::User {
        return Err(ApiError::invalid("The last message must be the user's or the assistant's."));
    }
    if message.parts.len() > MAX_PARTS {
        return Err(ApiError::new(
            ErrorCode::MessageTooLarge,
            format!("The message has {} parts; at most {MAX_PARTS} are allowed.", message.parts.len()),
        ));
    }
    let mut text_bytes = 0;
    let mut content = false;
    for (number, part) in message.parts.iter().enumerate() {
        match part {
            Part::Text { text, .. } => {
                text_bytes += text.len();
                content |= !text.trim().is_empty();
            }
            Part::File { .. } => content = true,
            Part::Data { data, .. } => text_bytes += data.to_string().len(),
            _ => {
                return Err(ApiError::invalid(format!(
                    "Part {} is not allowed in a message of the user: only text, file and data parts are.",
                    number + 1
                )));
            }
        }
    }
    if text_bytes > MAX_TEXT_BYTES {
        return Err(ApiError::new(
            ErrorCode::MessageTooLarge,
            format!(
                "The message has {text_bytes} bytes of text and data; at most {MAX_TEXT_BYTES} are allowed."
            ),
        ));
    }
    if !content {
        return Err(ApiError::new(
            ErrorCode::EmptyMessage,
            "The message is empty: write a text or add a file.",
        ));
    }
    let metadata = message.metadata.as_ref().map_or(0, |metadata| metadata.to_string().len());
    if metadata > MAX_METADATA_BYTES {
        return Err(ApiError::new(
            ErrorCode::MessageTooLarge,
            format!(
                "The message has {metadata} bytes of metadata; at most {MAX_METADATA_BYTES} are allowed."
            ),
        ));
    }
    Ok(message)
}

/// An assistant message that the client sends back. Of its parts, only answered tool calls are read.
#[derive(Deserialize)]
struct AnsweredMessage<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    parts: Vec<Value>,
}

fn continuation(raw: &RawValue, payloads: &HashMap<String, Payload>) -> Result<SendKind, ApiError> {
    let message: AnsweredMessage<'_> = body::parse(raw.get().as_bytes())?;
    let mut answers = Vec::new();
    let mut outputs = Vec::new();
    for part in &message.parts {
        let text = |name: &str| part.get(name).and_then(Value::as_str);
        let Some(call) = text("toolCallId") else { continue };
        let payload = payloads.get(call);
        if let Some(answer) = payload.and_then(Payload::filled_in) {
            outputs.push(ClientOutput { call: ToolCallId::new(call), result: Ok(answer) });
            continue;
        }
        match text("state") {
            Some("approval-responded") => answers.push(approval(part, payload)?),
            Some("approval-requested") if payload.is_some_and(|payload| payload.approved.is_some()) => {
                answers.push(approval(part, payload)?);
            }
            Some("output-available") => {
                let output = part.get("output").cloned().unwrap_or(Value::Null);
                outputs.push(ClientOutput { call: ToolCallId::new(call), result: Ok(output) });
            }
            Some("output-error") => {
                let error = text("errorText").unwrap_or("the front end reported an error").to_owned();
                outputs.push(ClientOutput { call: ToolCallId::new(call), result: Err(error) });
            }
            _ => {}
        }
    }
    Ok(SendKind::Continue { message: message_id(&message.id)?, answers, outputs })
}

fn approval(part: &Value, payload: Option<&Payload>) -> Result<ReturnedAnswer, ApiError> {
    let field = |name: &str| part.get("approval").and_then(|approval| approval.get(name));
    let id = field("id").and_then(Value::as_str);
    let approved =
        field("approved").and_then(Value::as_bool).or(payload.and_then(|payload| payload.approved));
    let (Some(id), Some(approved)) = (id, approved) else {
        return Err(ApiError::invalid(
            "An answered approval needs the fields approval.id and approval.approved.",
        ));
    };
    let reason = field("reason").and_then(Value::as_str).map(str::to_owned);
    let reason = reason.or_else(|| payload.and_then(|payload| payload.reason.clone()));
    let payload = payload
        .map(|Payload { input, always, .. }| ApprovalPayload { input: input.clone(), always: *always });
    Ok(ReturnedAnswer {
        approval: ApprovalId::from_outside(id).map_err(|error| bad_id("The approval id", error))?,
        decision: Decision::new(approved, self::reason(reason)?),
        input: part.get("input").cloned(),
        payload: payload.filter(|payload| *payload != ApprovalPayload::default()),
        shown: false,
    })
}

/// Checks the reason that a person gave with an answer; an empty one counts as none.
pub(crate) fn reason(reason: Option<String>) -> Result<Option<String>, ApiError> {
    if reason.as_ref().is_some_and(|reason| reason.len() > MAX_REASON_BYTES) {
        return Err(ApiError::invalid(format!("The reason is longer than {MAX_REASON_BYTES} bytes.")));
    }
    Ok(reason.filter(|reason| !reason.trim().is_empty()))
}

/// Returns the messages before the new one as unparsed bytes of the body. They are parsed only when the session is
/// unknown.
fn earlier(bytes: &Bytes, messages: &[&RawValue]) -> Unread {
    Unread::of(bytes, messages.iter().map(|message| message.get()))
}
