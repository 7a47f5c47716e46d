//! `/api/rules`: lists the rules in force, and adds and revokes those of the workspace and of a chat.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use engine::{AddedRule, EngineError, Principal};
use protocol::{
    CallPattern, ErrorCode, RuleEffect, RuleId, SessionId,
    policy::{NewRule, RuleList},
    wire::agents::FieldProblem,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{body, chat::bad_id, error::ApiError, state::ServerState};

/// A rule is small; a larger body is a mistake.
const MAX_RULE_BYTES: usize = 32 << 10;
const FIELDS: [&str; 6] = ["effect", "tools", "path", "command", "note", "chatId"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatQuery {
    /// Also the rules of this chat.
    chat_id: Option<String>,
}

impl ChatQuery {
    fn chat(&self) -> Result<Option<SessionId>, ApiError> {
        self.chat_id.as_deref().map(chat_id).transpose()
    }
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(query): Query<ChatQuery>,
) -> Result<Json<RuleList>, ApiError> {
    Ok(Json(state.engine.rules(&principal.workspace, query.chat()?.as_ref()).await?))
}

pub(crate) async fn add(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let bytes = body::read(&state, &headers, body).await?;
    if bytes.len() > MAX_RULE_BYTES {
        let text = format!("The rule is larger than {MAX_RULE_BYTES} bytes.");
        return Err(ApiError::new(ErrorCode::BodyTooLarge, text));
    }
    let new = new_rule(&body::parse(&bytes)?)?;
    Ok(match state.engine.add_rule(&principal.workspace, Some(&principal.id), new).await? {
        AddedRule::New(rule) => (StatusCode::CREATED, Json(*rule)).into_response(),
        AddedRule::Known(rule) => (StatusCode::OK, Json(*rule)).into_response(),
    })
}

pub(crate) async fn revoke(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    Query(query): Query<ChatQuery>,
) -> Result<StatusCode, ApiError> {
    let id = RuleId::from_outside(&id).map_err(|error| bad_id("The rule id", error))?;
    state.engine.revoke_rule(&principal.workspace, query.chat()?.as_ref(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn chat_id(text: &str) -> Result<SessionId, ApiError> {
    SessionId::from_outside(text).map_err(|error| bad_id("The chat id", error))
}

/// Reads a rule and reports every field that is wrong. A field that is not known is a mistake: without it the rule would
/// cover more than its author meant.
fn new_rule(object: &Map<String, Value>) -> Result<NewRule, ApiError> {
    let mut problems = Vec::new();
    for name in object.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
        let fix = format!("Remove it. A rule has these fields: {}.", FIELDS.join(", "));
        problems.push(problem(name, "unknown_field", "This field is not known.", fix));
    }
    let effect = match object.get("effect").and_then(Value::as_str) {
        Some("allow") => Some(RuleEffect::Allow),
        Some("ask") => Some(RuleEffect::Ask),
        Some("refuse") => Some(RuleEffect::Refuse),
        _ => {
            let message = "The effect is missing or not known.";
            problems.push(problem("effect", "invalid", message, "Write allow, ask or refuse."));
            None
        }
    };
    let mut text = |name: &str| match object.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => {
            problems.push(problem(
                name,
                "invalid",
                "This field is not a text.",
                "Write a text, or leave it out.",
            ));
            None
        }
    };
    let (path, command, note, chat) = (text("path"), text("command"), text("note"), text("chatId"));
    let tools = tools(object.get("tools"), &mut problems);
    match effect {
        Some(effect) if problems.is_empty() => {
            let chat_id = chat.as_deref().map(chat_id).transpose()?;
            Ok(NewRule { effect, calls: CallPattern { tools, path, command }, note, chat_id })
        }
        _ => Err(EngineError::InvalidRule(problems).into()),
    }
}

fn tools(written: Option<&Value>, problems: &mut Vec<FieldProblem>) -> Vec<String> {
    let names: Option<Vec<String>> = match written {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(name)) => Some(vec![name.clone()]),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    };
    names.unwrap_or_else(|| {
        let message = "The tools are not a list of names.";
        problems.push(problem("tools", "invalid", message, "Write a list, like [\"write-file\"]."));
        Vec::new()
    })
}

fn problem(path: &str, code: &str, message: &str, fix: impl Into<String>) -> FieldProblem {
    FieldProblem {
        path: path.to_owned(),
        code: code.to_owned(),
        line: None,
        message: message.to_owned(),
        fix: fix.into(),
    }
}
