//! What a model reads of a branch: a fold over its messages, one after the other. Pure.
//!
//! A compaction in a message replaces what the model read before it; the messages stay as they are. The fold goes on
//! from any point, so a conversation that was kept and a conversation that is made anew are the same. Every call has its results right
//! behind it: places where the model may begin to read are only between steps and before the person's messages.

use std::sync::Arc;

use models::{AssistantContent, ModelMessage, UserContent};
use protocol::{MessageId, Part, PlantedMessage, PlantedPart, ProviderMetadata, Role, TurnFacts, UiMessage};
use serde_json::Value;

use super::{
    command,
    compaction::{self, Compaction, is_summary},
    history, transcript,
};

/// The kept part that holds the plan the person sees.
const PLAN: &str = "plan";

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    messages: Vec<Arc<ModelMessage>>,
    marks: Vec<Mark>,
    bytes: usize,
    measured: Option<Measured>,
    plan: Option<Arc<Value>>,
}

/// A place where the model may begin to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) message: MessageId,
    pub(crate) step: u32,
    /// The first model message behind it.
    pub(crate) at: usize,
    /// Before a message of the person, or the task of a sub-agent.
    pub(crate) is_user: bool,
}

/// What a model is sent of a conversation.
pub(crate) struct Sent {
    pub(crate) messages: Vec<Arc<ModelMessage>>,
    /// About how much that is, and how much of it belongs to the turn.
    pub(crate) bytes: usize,
    pub(crate) of_turn: usize,
}

/// What a provider counted for the first `up_to` messages and everything before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) tokens: u64,
    pub(crate) up_to: usize,
}

impl Conversation {
    /// The task of a sub-agent whose message is `message`.
    pub(crate) fn of_task(message: &MessageId, task: ModelMessage) -> Self {
        let mut conversation = Self::default();
        conversation.mark(message, 0, true);
        conversation.put(task);
        conversation
    }

    pub(crate) fn messages(&self) -> &[Arc<ModelMessage>] {
        &self.messages
    }

    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// About what it costs in memory; at least as many bytes as a model reads.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn measured(&self) -> Option<Measured> {
        self.measured
    }

    pub(crate) fn plan(&self) -> Option<&Value> {
        self.plan.as_deref()
    }

    /// Goes on with the next message of the branch, which may have been asked at a moment of which something is known.
    pub(crate) fn push(&mut self, message: &UiMessage, facts: Option<&TurnFacts>) {
        match message.role {
            Role::System => {}
            Role::User if command::of(message).is_some() => {}
            Role::User => {
                if let Some(asked) = history::user(message, facts) {
                    self.mark(&message.id, 0, true);
                    self.put(asked);
                }
            }
            Role::Assistant => self.push_answer(message),
        }
    }

    /// The same for a message that a client brought along: text and files, nothing else.
    pub(crate) fn push_planted(&mut self, message: &PlantedMessage<'_>) {
        let is_user = message.role == Role::User;
        let first = message.parts().find_map(|part| match part {
            PlantedPart::Text(text) if !text.trim().is_empty() => Some(text),
            _ => None,
        });
        if is_user && first.is_some_and(|text| command::first_word(text).is_some()) {
            return;
        }
        if let Some(said) = history::planted(message) {
            if is_user {
                self.mark(&MessageId::new(&*message.id), 0, true);
            }
            self.put(said);
        }
    }

    /// What was read of a planted history, part by part.
    pub(crate) fn of_planted(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or_default();
        for part in parts {
            let before = whole.messages.len();
            whole.marks.extend(part.marks.into_iter().map(|mark| Mark { at: mark.at + before, ..mark }));
            whole.messages.extend(part.messages);
            whole.bytes += part.bytes;
        }
        whole
    }

    fn push_answer(&mut self, message: &UiMessage) {
        let facts = message.facts();
        let is_for_model = facts.command.is_none();
        for (step, parts) in (0_u32..).zip(message.parts.split(|part| matches!(part, Part::StepStart))) {
            if is_for_model {
                let mut said = Vec::new();
                history::add_step(&mut said, parts, &facts);
                if matches!(said.first(), Some(ModelMessage::Assistant { .. })) {
                    self.mark(&message.id, step, false);
                }
                said.into_iter().for_each(|message| self.put(message));
            }
            for part in parts {
                match part {
                    Part::Data { name, data, .. } if name == PLAN => self.plan = Some(Arc::new(data.clone())),
                    part => {
                        if let Some(compaction) = Compaction::in_force(part) {
                            self.compact(&compaction);
                        }
                    }
                }
            }
        }
        if is_for_model {
            self.measure(facts.context_tokens);
        }
    }

    /// A provider counted this up to the newest thing a model said.
    fn measure(&mut self, tokens: Option<u64>) {
        let Some(tokens) = tokens else { return };
        let is_said = |message: &Arc<ModelMessage>| matches!(**message, ModelMessage::Assistant { .. });
        let last = self.messages.iter().rposition(is_said);
        let up_to = last.map_or(self.messages.len(), |last| last + 1);
        self.measured = Some(Measured { tokens, up_to });
    }

    /// The conversation of a run at work: its message so far, and what the newest call was counted.
    pub(crate) fn with_turn(&self, message: &UiMessage, tokens: Option<u64>) -> Self {
        let mut conversation = self.clone();
        conversation.push(message, None);
        conversation.measure(tokens);
        conversation
    }

    /// What the model is sent in a turn.
    pub(crate) fn sent(&self, turn: &UiMessage) -> Sent {
        if turn.parts.iter().any(|part| Compaction::in_force(part).is_some()) {
            let conversation = self.with_turn(turn, None);
            let bytes = conversation.bytes;
            return Sent { messages: conversation.messages, bytes, of_turn: bytes };
        }
        let mut said = Vec::new();
        history::add(&mut said, turn);
        let of_turn = said.iter().map(size).sum::<usize>();
        let mut messages = Vec::with_capacity(self.messages.len() + said.len() + 2);
        messages.extend_from_slice(&self.messages);
        messages.extend(said.into_iter().map(Arc::new));
        Sent { messages, bytes: self.bytes + of_turn, of_turn }
    }

    /// The most that these bytes and what nobody has counted yet can come to, in tokens, where a provider has counted
    /// the rest.
    pub(crate) fn at_most_with(&self, bytes: usize) -> Option<u64> {
        let measured = self.measured?;
        let since = self.messages[measured.up_to..].iter().map(|message| size(message)).sum::<usize>();
        Some(measured.tokens + (since + bytes) as u64)
    }

    fn mark(&mut self, message: &MessageId, step: u32, is_user: bool) {
        self.marks.push(Mark { message: message.clone(), step, at: self.messages.len(), is_user });
    }

    fn put(&mut self, message: ModelMessage) {
        self.bytes += size(&message);
        self.messages.push(Arc::new(message));
    }

    /// Replaces what stands before the cut. A cut that is not on this branch changes nothing.
    fn compact(&mut self, compaction: &Compaction) {
        if let Some(limit) = compaction.clip {
            self.messages.iter_mut().for_each(|message| clip(message, limit));
        }
        let found = compaction.keep.as_ref().and_then(|cut| {
            self.marks.iter().rposition(|mark| mark.message == cut.message_id && mark.step == cut.step)
        });
        if let Some(place) = found.filter(|place| self.marks[*place].at > 0) {
            self.begin_at(place, compaction::text(compaction));
        }
        if let Some(plan) = &compaction.plan {
            self.plan = Some(Arc::new(plan.clone()));
        }
        self.measured = None;
        self.bytes = self.messages.iter().map(|message| size(message)).sum();
    }

    /// The summary stands before the person's words: those right behind the cut, or those that the work behind the cut
    /// is the answer to.
    fn begin_at(&mut self, place: usize, summary: String) {
        let mut rest = self.marks.split_off(place);
        let Some(first) = rest.first().cloned() else { return };
        let asked = if first.is_user {
            Some(first.clone())
        } else {
            self.marks.iter().rfind(|mark| mark.is_user).cloned()
        };
        let mut content = vec![UserContent::Facts(summary)];
        if let Some(ModelMessage::User { content: words }) =
            asked.as_ref().and_then(|asked| self.messages.get(asked.at)).map(|message| &**message)
        {
            let own =
                |content: &&UserContent| !matches!(content, UserContent::Facts(text) if is_summary(text));
            content.extend(words.iter().filter(own).cloned());
        }
        let kept = if first.is_user { first.at + 1 } else { first.at };
        let mut messages = Vec::with_capacity(self.messages.len() - kept + 1);
        messages.push(Arc::new(ModelMessage::User { content }));
        messages.extend(self.messages.drain(kept..));
        self.messages = messages;
        if first.is_user {
            rest.remove(0);
        }
        let asked = asked.map(|asked| Mark { at: 0, ..asked });
        self.marks = asked.into_iter().collect();
        self.marks.extend(rest.into_iter().map(|mark| Mark { at: mark.at - kept + 1, ..mark }));
    }
}

/// A long result of a tool is cut; everything else stays.
fn clip(message: &mut Arc<ModelMessage>, limit: usize) {
    if let ModelMessage::Tool { call, tool, text, is_error } = &**message
        && text.len() > limit
        && let Some(text) = transcript::clip(text, limit)
    {
        let (call, tool, is_error) = (call.clone(), tool.clone(), *is_error);
        *message = Arc::new(ModelMessage::Tool { call, tool, text, is_error });
    }
}

fn kept(provider: &Option<ProviderMetadata>) -> usize {
    provider.as_ref().map_or(0, ProviderMetadata::size)
}

/// About what a message costs in memory.
fn size(message: &ModelMessage) -> usize {
    const ITSELF: usize = 128;
    let content = match message {
        ModelMessage::User { content } => content
            .iter()
            .map(|content| match content {
                UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => {
                    text.len() + ITSELF
                }
                UserContent::File { url, .. } => url.len() + ITSELF,
            })
            .sum(),
        ModelMessage::Assistant { content } => content
            .iter()
            .map(|content| match content {
                AssistantContent::Text(text) => text.len() + ITSELF,
                AssistantContent::Reasoning { text, provider } => text.len() + kept(provider) + ITSELF,
                AssistantContent::ToolCall { call, provider } => {
                    call.input.to_string().len() + kept(provider) + 2 * ITSELF
                }
            })
            .sum(),
        ModelMessage::Tool { text, .. } => text.len() + ITSELF,
    };
    content + ITSELF
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
