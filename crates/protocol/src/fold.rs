//! Chunks → message: the client's reducer, written again in Rust and tested against the real one.
//!
//! What the client would refuse is refused here with the same strictness: a delta for a part that is not open,
//! an output for an unknown call. Unlike the client, a streaming tool input is kept as raw text and read only
//! when somebody looks, so that folding a long input stays linear.

use serde_json::Value;

use crate::{
    event::{LogEntry, SessionEvent},
    id::{ApprovalId, MessageId, ToolCallId},
    json,
    message::{Approval, Part, Role, TextState, ToolPart, ToolState, UiMessage},
    project::chat::chunk_of,
    provider::ProviderMetadata,
    wire::chat::{Chunk, Facts},
};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    #[error("`{0}` for a part that is not open: {1}")]
    NotOpen(&'static str, String),
    #[error("`{0}` for an unknown tool call: {1}")]
    UnknownCall(&'static str, String),
    #[error("an answer to an unknown approval: {0}")]
    UnknownApproval(String),
}

/// A message while its chunks arrive.
#[derive(Clone, Debug)]
pub struct MessageFold {
    message: UiMessage,
    /// Open text and reasoning parts: wire id and place among the parts.
    open_text: Vec<(String, usize)>,
    open_reasoning: Vec<(String, usize)>,
}

impl MessageFold {
    pub fn new(id: MessageId) -> Self {
        Self::continuing(UiMessage { id, role: Role::Assistant, metadata: None, parts: Vec::new() })
    }

    /// Goes on with a message that was folded before, and has nothing open.
    pub fn continuing(message: UiMessage) -> Self {
        Self { message, open_text: Vec::new(), open_reasoning: Vec::new() }
    }

    /// Folds the events of one message, in log order; events of others are passed over.
    pub fn of<'a>(
        id: &MessageId,
        entries: impl IntoIterator<Item = &'a LogEntry>,
    ) -> Result<Self, FoldError> {
        let mut fold = Self::new(id.clone());
        for entry in entries {
            fold.event(&entry.event)?;
        }
        Ok(fold)
    }

    pub fn event(&mut self, event: &SessionEvent) -> Result<(), FoldError> {
        if event.message() == Some(&self.message.id)
            && let Some(chunk) = chunk_of(event)
        {
            self.apply(&chunk)?;
        }
        Ok(())
    }

    pub fn message(&self) -> &UiMessage {
        &self.message
    }

    pub fn into_message(self) -> UiMessage {
        self.message
    }

    /// Puts another output into a call that has one.
    pub fn replace_output(&mut self, call: &ToolCallId, new: Value) {
        if let Some(ToolPart { state: ToolState::OutputAvailable { output, .. }, .. }) =
            self.tool(call.as_str())
        {
            *output = new;
        }
    }

    pub fn apply(&mut self, chunk: &Chunk<'_>) -> Result<(), FoldError> {
        crate::crash_point!("fold", if let Chunk::TextDelta { delta, .. } = chunk { delta } else { "" });
        match chunk {
            Chunk::Start { message_id, message_metadata } => {
                self.message.id = MessageId::new(&**message_id);
                self.merge_facts(message_metadata.as_ref());
            }
            Chunk::StartStep => self.message.parts.push(Part::StepStart),
            Chunk::FinishStep | Chunk::Abort | Chunk::Error { .. } => {}
            Chunk::TextStart { id } => {
                self.open_text.push((id.to_string(), self.message.parts.len()));
                self.message
                    .parts
                    .push(Part::Text { text: String::new(), state: Some(TextState::Streaming) });
            }
            Chunk::TextDelta { id, delta } => push(self.open_text_part(id, "text-delta")?.0, delta),
            Chunk::TextEnd { id } => {
                *self.open_text_part(id, "text-end")?.1 = Some(TextState::Done);
                self.open_text.retain(|(open, _)| open != id);
            }
            Chunk::ReasoningStart { id } => {
                self.open_reasoning.push((id.to_string(), self.message.parts.len()));
                self.message.parts.push(Part::Reasoning {
                    id: Some(id.to_string()),
                    text: String::new(),
                    state: Some(TextState::Streaming),
                    provider: None,
                });
            }
            Chunk::ReasoningDelta { id, delta } => {
                push(self.open_reasoning_part(id, "reasoning-delta")?.text, delta);
            }
            Chunk::ReasoningEnd { id, provider_metadata } => {
                let part = self.open_reasoning_part(id, "reasoning-end")?;
                *part.state = Some(TextState::Done);
                keep(part.provider, provider_metadata.as_deref());
                self.open_reasoning.retain(|(open, _)| open != id);
            }
            Chunk::ToolInputStart { tool_call_id, tool_name } => {
                let state = ToolState::InputStreaming { raw: String::new() };
                self.put_in_step(tool_call_id, tool_name, state, None);
            }
            Chunk::ToolInputDelta { tool_call_id, input_text_delta } => {
                match self.tool(tool_call_id).map(|tool| &mut tool.state) {
                    Some(ToolState::InputStreaming { raw }) => push(raw, input_text_delta),
                    _ => return Err(FoldError::NotOpen("tool-input-delta", tool_call_id.to_string())),
                }
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input, provider_metadata } => {
                let state = ToolState::InputAvailable { input: owned(input) };
                self.put_in_step(tool_call_id, tool_name, state, provider_metadata.as_deref());
            }
            Chunk::ToolInputError { tool_call_id, tool_name, input, error_text } => {
                let state = ToolState::OutputError {
                    input: Some(owned(input)),
                    error_text: error_text.to_string(),
                    approval: None,
                };
                self.put_in_step(tool_call_id, tool_name, state, None);
            }
            Chunk::ToolApprovalRequest { approval_id, tool_call_id } => {
                let tool = self.known_tool(tool_call_id, "tool-approval-request")?;
                tool.state = ToolState::ApprovalRequested {
                    input: take_input(&mut tool.state),
                    approval: ApprovalId::new(&**approval_id),
                };
            }
            Chunk::ToolApprovalResponse { approval_id, approved, reason } => {
                let tool = self
                    .tools_mut()
                    .find(|tool| tool.state.approval().is_some_and(|a| a.id.as_str() == approval_id))
                    .ok_or_else(|| FoldError::UnknownApproval(approval_id.to_string()))?;
                let before = tool.state.approval();
                tool.state = ToolState::ApprovalResponded {
                    input: take_input(&mut tool.state),
                    approval: Approval {
                        id: ApprovalId::new(&**approval_id),
                        approved: Some(*approved),
                        reason: reason.as_deref().map(str::to_owned).or(before.and_then(|a| a.reason)),
                    },
                };
            }
            Chunk::ToolOutputAvailable { tool_call_id, output, preliminary } => {
                let tool = self.known_tool(tool_call_id, "tool-output-available")?;
                tool.state = ToolState::OutputAvailable {
                    approval: tool.state.approval(),
                    input: take_input(&mut tool.state),
                    output: owned(output),
                    preliminary: *preliminary,
                };
            }
            Chunk::ToolOutputError { tool_call_id, error_text } => {
                let tool = self.known_tool(tool_call_id, "tool-output-error")?;
                tool.state = ToolState::OutputError {
                    approval: tool.state.approval(),
                    input: take_known_input(&mut tool.state),
                    error_text: error_text.to_string(),
                };
            }
            Chunk::ToolOutputDenied { tool_call_id } => {
                let tool = self.known_tool(tool_call_id, "tool-output-denied")?;
                tool.state = ToolState::OutputDenied {
                    approval: tool.state.approval(),
                    input: take_input(&mut tool.state),
                };
            }
            Chunk::SourceUrl { source_id, url, title } => self.message.parts.push(Part::SourceUrl {
                source_id: source_id.to_string(),
                url: url.to_string(),
                title: title.as_deref().map(str::to_owned),
            }),
            Chunk::SourceDocument { source_id, media_type, title, filename } => {
                self.message.parts.push(Part::SourceDocument {
                    source_id: source_id.to_string(),
                    media_type: media_type.to_string(),
                    title: title.to_string(),
                    filename: filename.as_deref().map(str::to_owned),
                });
            }
            Chunk::File { url, media_type } => self.message.parts.push(Part::File {
                media_type: media_type.to_string(),
                url: url.to_string(),
                filename: None,
            }),
            Chunk::MessageMetadata { message_metadata } => self.merge_facts(Some(message_metadata)),
            Chunk::Finish { message_metadata, .. } => self.merge_facts(message_metadata.as_ref()),
            Chunk::Data(chunk) if chunk.transient => {}
            Chunk::Data(chunk) => {
                let same = self.message.parts.iter_mut().find_map(|part| match part {
                    Part::Data { name, id: Some(id), data }
                        if *name == chunk.kind.0 && Some(id.as_str()) == chunk.id.as_deref() =>
                    {
                        Some(data)
                    }
                    _ => None,
                });
                match same {
                    Some(data) => *data = owned(&chunk.data),
                    None => self.message.parts.push(Part::Data {
                        name: chunk.kind.0.to_string(),
                        id: chunk.id.as_deref().map(str::to_owned),
                        data: owned(&chunk.data),
                    }),
                }
            }
        }
        Ok(())
    }

    fn open_text_part(
        &mut self,
        id: &str,
        chunk: &'static str,
    ) -> Result<(&mut String, &mut Option<TextState>), FoldError> {
        let place = self.open_text.iter().rev().find(|(open, _)| open == id).map(|(_, place)| *place);
        match place.and_then(|place| self.message.parts.get_mut(place)) {
            Some(Part::Text { text, state }) => Ok((text, state)),
            _ => Err(FoldError::NotOpen(chunk, id.to_owned())),
        }
    }

    fn open_reasoning_part(&mut self, id: &str, chunk: &'static str) -> Result<OpenReasoning<'_>, FoldError> {
        let place = self.open_reasoning.iter().rev().find(|(open, _)| open == id).map(|(_, place)| *place);
        match place.and_then(|place| self.message.parts.get_mut(place)) {
            Some(Part::Reasoning { text, state, provider, .. }) => {
                Ok(OpenReasoning { text, state, provider })
            }
            _ => Err(FoldError::NotOpen(chunk, id.to_owned())),
        }
    }

    /// Sets the state of a call of the current step, or adds the part.
    fn put_in_step(&mut self, call: &str, tool: &str, state: ToolState, provider: Option<&ProviderMetadata>) {
        let step = self.message.parts.iter().rposition(|part| matches!(part, Part::StepStart)).unwrap_or(0);
        let known = self.message.parts[step..].iter_mut().find_map(|part| match part {
            Part::Tool(tool) if tool.call.as_str() == call => Some(tool),
            _ => None,
        });
        match known {
            Some(part) => {
                tool.clone_into(&mut part.tool);
                part.state = state;
                keep(&mut part.provider, provider);
            }
            None => self.message.parts.push(Part::Tool(ToolPart {
                tool: tool.to_owned(),
                call: ToolCallId::new(call),
                state,
                provider: provider.cloned(),
            })),
        }
    }

    fn tools_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut ToolPart> {
        self.message.parts.iter_mut().filter_map(|part| match part {
            Part::Tool(tool) => Some(tool),
            _ => None,
        })
    }

    fn tool(&mut self, call: &str) -> Option<&mut ToolPart> {
        self.tools_mut().rfind(|tool| tool.call.as_str() == call)
    }

    fn known_tool(&mut self, call: &str, chunk: &'static str) -> Result<&mut ToolPart, FoldError> {
        self.tool(call).ok_or_else(|| FoldError::UnknownCall(chunk, call.to_owned()))
    }

    fn merge_facts(&mut self, facts: Option<&Facts<'_>>) {
        if let Some(facts) = facts {
            facts.merge_into(&mut self.message.metadata);
        }
    }
}

struct OpenReasoning<'a> {
    text: &'a mut String,
    state: &'a mut Option<TextState>,
    provider: &'a mut Option<ProviderMetadata>,
}

/// A text of this many bytes grows by a quarter at a time.
const LONG: usize = 1 << 20;

/// Adds to a text. A vector that grows doubles, and half of it may stay empty: nothing for a short text, as much as the
/// whole answer again for a long one.
fn push(text: &mut String, delta: &str) {
    if text.len() >= LONG && text.capacity() - text.len() < delta.len() {
        text.reserve_exact(delta.len().max(text.len() / 4));
    }
    text.push_str(delta);
}

/// What a later chunk leaves out stays.
fn keep(kept: &mut Option<ProviderMetadata>, new: Option<&ProviderMetadata>) {
    if let Some(new) = new {
        *kept = Some(new.clone());
    }
}

fn owned(value: &Value) -> Value {
    value.clone()
}

/// Moves the input out of a state that is about to be replaced.
fn take_input(state: &mut ToolState) -> Value {
    take_known_input(state).unwrap_or(Value::Null)
}

/// The same, where the next state can say that there was none: a `null` the model sent is an input.
fn take_known_input(state: &mut ToolState) -> Option<Value> {
    match state {
        ToolState::InputStreaming { raw } => json::partial(raw),
        ToolState::OutputError { input, .. } => input.take(),
        ToolState::InputAvailable { input }
        | ToolState::ApprovalRequested { input, .. }
        | ToolState::ApprovalResponded { input, .. }
        | ToolState::OutputAvailable { input, .. }
        | ToolState::OutputDenied { input, .. } => Some(input.take()),
    }
}
