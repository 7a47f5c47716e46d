//! What an answer depends on: the newest user message, the tools, and the calls since. All of it comes from the
//! request; the demo model keeps no state between calls.

use std::sync::Arc;

use protocol::{ToolCall, ToolSpec};

use super::{
    outcome::Outcome,
    utterance::{Language, Utterance},
};
use crate::model::{AssistantContent, ModelMessage, ModelRequest, UserContent};

pub(super) struct DemoContext {
    pub(super) utterance: Utterance,
    /// The language to answer in.
    pub(super) language: Language,
    pub(super) tools: Arc<[ToolSpec]>,
    /// The messages before the newest user message.
    pub(super) earlier: Vec<Arc<ModelMessage>>,
    /// The calls since the newest user message, in order.
    pub(super) calls: Vec<MadeCall>,
    pub(super) has_files: bool,
    /// A call id that is not used in the conversation.
    pub(super) next_call: String,
}

/// A call that was made, and how it ended.
pub(super) struct MadeCall {
    pub(super) tool: String,
    pub(super) outcome: Outcome,
    /// The result as the tool wrote it; `None` for an error.
    pub(super) text: Option<String>,
}

impl DemoContext {
    pub(super) fn of(request: &ModelRequest) -> Self {
        let messages = &request.messages;
        let newest = messages.iter().rposition(|message| matches!(**message, ModelMessage::User { .. }));
        let (utterance, has_files) =
            newest.map_or((Utterance::new(""), false), |place| spoken(&messages[place]));
        let since = newest.map_or(&messages[..], |place| &messages[place + 1..]);
        Self {
            language: if utterance.is_empty() { earlier_language(messages) } else { utterance.language() },
            utterance,
            tools: Arc::clone(&request.tools),
            earlier: newest.map_or_else(Vec::new, |place| messages[..place].to_vec()),
            calls: calls_of(since).map(|call| made(since, call)).collect(),
            has_files,
            next_call: unused_id(messages),
        }
    }

    /// The outcome of the newest call, if there was one.
    pub(super) fn newest_outcome(&self) -> Option<&Outcome> {
        self.calls.last().map(|call| &call.outcome)
    }
}

fn spoken(message: &ModelMessage) -> (Utterance, bool) {
    let ModelMessage::User { content } = message else { return (Utterance::new(""), false) };
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|part| match part {
            UserContent::Text(text) => Some(text.as_str()),
            UserContent::Facts(_) | UserContent::Attached(_) | UserContent::File { .. } => None,
        })
        .collect();
    let is_file = |part: &UserContent| matches!(part, UserContent::File { .. } | UserContent::Attached(_));
    (Utterance::new(&texts.join("\n")), content.iter().any(is_file))
}

fn earlier_language(messages: &[Arc<ModelMessage>]) -> Language {
    let spoken =
        messages.iter().rev().map(|message| spoken(message).0).find(|utterance| !utterance.is_empty());
    spoken.map_or(Language::English, |utterance| utterance.language())
}

fn calls_of(messages: &[Arc<ModelMessage>]) -> impl Iterator<Item = &ToolCall> {
    let contents = messages.iter().filter_map(|message| match &**message {
        ModelMessage::Assistant { content } => Some(content),
        ModelMessage::User { .. } | ModelMessage::Tool { .. } => None,
    });
    contents.flatten().filter_map(|part| match part {
        AssistantContent::ToolCall { call, .. } => Some(call),
        AssistantContent::Text(_) | AssistantContent::Reasoning { .. } => None,
    })
}

fn made(messages: &[Arc<ModelMessage>], asked: &ToolCall) -> MadeCall {
    let answer = messages.iter().find_map(|message| match &**message {
        ModelMessage::Tool { call, text, is_error, .. } if *call == asked.id => Some((text, *is_error)),
        _ => None,
    });
    MadeCall {
        tool: asked.name.clone(),
        outcome: answer.map_or(Outcome::Missing, |(text, is_error)| Outcome::read(text, is_error)),
        text: answer.filter(|(_, is_error)| !is_error).map(|(text, _)| text.clone()),
    }
}

fn unused_id(messages: &[Arc<ModelMessage>]) -> String {
    let used: Vec<&str> = calls_of(messages).map(|call| call.id.as_str()).collect();
    let mut number = used.len() + 1;
    while used.contains(&format!("demo_{number}").as_str()) {
        number += 1;
    }
    format!("demo_{number}")
}
