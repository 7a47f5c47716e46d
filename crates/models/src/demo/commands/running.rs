//! Finds the command that runs on: the newest one that was started in the conversation and not reported as ended.

use std::{collections::HashMap, sync::Arc};

use protocol::{CommandReport, ToolCall, ToolCallId, ToolSpec};

use super::{
    super::outcome::split_edit_note,
    tools::{command_field, session_field},
};
use crate::model::{AssistantContent, ModelMessage};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct RunningCommand {
    pub(in super::super) session: String,
    pub(in super::super) line: String,
}

/// Older messages are not read: a command that was started so long ago has ended.
const MOST_MESSAGES: usize = 400;

impl RunningCommand {
    /// The newest command that runs, from the calls of the tool that starts commands and the one that types into them.
    pub(in super::super) fn newest(
        messages: &[Arc<ModelMessage>],
        starter: &ToolSpec,
        typist: &ToolSpec,
    ) -> Option<Self> {
        let recent = messages.get(messages.len().saturating_sub(MOST_MESSAGES)..).unwrap_or_default();
        let mut calls: HashMap<&ToolCallId, &ToolCall> = HashMap::new();
        let mut running: Vec<Self> = Vec::new();
        for message in recent {
            match &**message {
                ModelMessage::Assistant { content } => {
                    calls.extend(content.iter().filter_map(|part| match part {
                        AssistantContent::ToolCall { call, .. } => Some((&call.id, call)),
                        AssistantContent::Text(_) | AssistantContent::Reasoning { .. } => None,
                    }))
                }
                ModelMessage::Tool { call, text, is_error, .. } => {
                    let Some(call) = calls.get(call) else { continue };
                    let (edited, result) = split_edit_note(text);
                    let input = edited.as_ref().unwrap_or(&call.input);
                    let field = |name: Option<&str>| {
                        name.and_then(|name| input[name].as_str()).unwrap_or_default().to_owned()
                    };
                    let session = session_of(result);
                    let ended = session.is_none() && (!is_error || text.starts_with("not_found"));
                    if call.name == starter.name {
                        let line = field(command_field(starter));
                        running.extend(session.map(|session| Self { session, line }));
                    } else if call.name == typist.name && ended {
                        let session = field(session_field(typist));
                        running.retain(|command| command.session != session);
                    }
                }
                ModelMessage::User { .. } => {}
            }
        }
        running.pop()
    }
}

/// The id of a command that still runs, from the result of a tool.
fn session_of(result: &str) -> Option<String> {
    let report: CommandReport = serde_json::from_str(result).ok()?;
    report.session_id.map(|id| id.to_string())
}
