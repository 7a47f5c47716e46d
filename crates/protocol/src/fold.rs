//! Chunks → message: the client's reducer, written again in Rust and tested against the real one.
//!
//! What the client would refuse is refused here with the same strictness: a delta for a part that is not open,
//! an output for an unknown call. Unlike the client, a streaming tool input is kept as raw text and read only
//! when it is needed, so that folding a long input stays linear.

use serde_json::Value;

use crate::{
    event::{LogEntry, SessionEvent},
    id::{ApprovalId, MessageId, ToolCallId},
    json,
    message::{Approval, Part, Role, TextState, ToolPart, ToolState, UiMessage},
    project::chat::chunk_of,
    provider::ProviderMetadata,
    wire::chat::{Chunk, DataChunk, Facts},
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
    open_text: Vec<OpenPart>,
    open_reasoning: Vec<OpenPart>,
}

impl MessageFold {
    pub fn new(id: MessageId) -> Self {
        Self::continuing(UiMessage { id, role: Role::Assistant, metadata: None, parts: Vec::new() })
    }

    /// Continues a message that was folded before and has no open part.
    pub fn continuing(message: UiMessage) -> Self {
        Self { message, open_text: Vec::new(), open_reasoning: Vec::new() }
    }

    /// Folds the events of one message, in log order; events of other messages are ignored.
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

    /// Replaces the output of a call that has one.
    pub fn replace_output(&mut self, call: &ToolCallId, new: Value) {
        if let Some(ToolPart { state: ToolState::OutputAvailable { output, .. }, .. }) =
            self.tool(call.as_str())
        {
            *output = new;
        }
    }

    /// Folds one chunk. Named steps below, one for each family of chunks.
    pub fn apply(&mut self, chunk: &Chunk<'_>) -> Result<(), FoldError> {
        crate::crash_point!("fold", if let Chunk::TextDelta { delta, .. } = chunk { delta } else { "" });
        match chunk {
            Chunk::Start { message_id, message_metadata } => {
                self.message.id = MessageId::new(&**message_id);
                self.merge_facts(message_metadata.as_ref());
            }
            Chunk::MessageMetadata { message_metadata } => self.merge_facts(Some(message_metadata)),
            Chunk::Finish { message_metadata, .. } => self.merge_facts(message_metadata.as_ref()),
            Chunk::FinishStep | Chunk::Abort | Chunk::Error { .. } => {}
            Chunk::StartStep => self.message.parts.push(Part::StepStart),
            Chunk::TextStart { id } => self.start_text(id),
            Chunk::TextDelta { id, delta } => push(self.open_text_part(id, "text-delta")?.text, delta),
            Chunk::TextEnd { id } => self.end_text(id)?,
            Chunk::ReasoningStart { id } => self.start_reasoning(id),
            Chunk::ReasoningDelta { id, delta } => {
                push(self.open_reasoning_part(id, "reasoning-delta")?.text, delta);
            }
            Chunk::ReasoningEnd { id, provider_metadata } => {
                self.end_reasoning(id, provider_metadata.as_deref())?;
            }
            Chunk::ToolInputStart { tool_call_id, tool_name } => {
                let state = ToolState::InputStreaming { raw: String::new() };
                self.put_in_step(tool_call_id, tool_name, state, None);
            }
            Chunk::ToolInputDelta { tool_call_id, input_text_delta } => {
                self.extend_input(tool_call_id, input_text_delta)?;
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input, provider_metadata } => {
                let state = ToolState::InputAvailable { input: Value::clone(input) };
                self.put_in_step(tool_call_id, tool_name, state, provider_metadata.as_deref());
            }
            Chunk::ToolInputError { tool_call_id, tool_name, input, error_text } => {
                let (input, error_text) = (Some(Value::clone(input)), error_text.to_string());
                let state = ToolState::OutputError { input, error_text, approval: None };
                self.put_in_step(tool_call_id, tool_name, state, None);
            }
            Chunk::ToolApprovalRequest { approval_id, tool_call_id } => {
                self.ask(approval_id, tool_call_id)?;
            }
            Chunk::ToolApprovalResponse { approval_id, approved, reason } => {
                self.answer(approval_id, *approved, reason.as_deref())?;
            }
            Chunk::ToolOutputAvailable { tool_call_id, output, preliminary } => {
                self.put_output(tool_call_id, output, *preliminary)?;
            }
            Chunk::ToolOutputError { tool_call_id, error_text } => {
                self.fail_call(tool_call_id, error_text)?;
            }
            Chunk::ToolOutputDenied { tool_call_id } => self.deny_call(tool_call_id)?,
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
            Chunk::Data(chunk) => self.put_data(chunk),
        }
        Ok(())
    }

    fn start_text(&mut self, id: &str) {
        self.open_text.push(OpenPart { id: id.to_owned(), place: self.message.parts.len() });
        self.message.parts.push(Part::Text { text: String::new(), state: Some(TextState::Streaming) });
    }

    fn end_text(&mut self, id: &str) -> Result<(), FoldError> {
        *self.open_text_part(id, "text-end")?.state = Some(TextState::Done);
        self.open_text.retain(|open| open.id != id);
        Ok(())
    }

    fn start_reasoning(&mut self, id: &str) {
        self.open_reasoning.push(OpenPart { id: id.to_owned(), place: self.message.parts.len() });
        self.message.parts.push(Part::Reasoning {
            id: Some(id.to_owned()),
            text: String::new(),
            state: Some(TextState::Streaming),
            provider: None,
        });
    }

    fn end_reasoning(&mut self, id: &str, provider: Option<&ProviderMetadata>) -> Result<(), FoldError> {
        let part = self.open_reasoning_part(id, "reasoning-end")?;
        *part.state = Some(TextState::Done);
        keep(part.provider, provider);
        self.open_reasoning.retain(|open| open.id != id);
        Ok(())
    }

    fn extend_input(&mut self, call: &str, delta: &str) -> Result<(), FoldError> {
        match self.tool(call).map(|tool| &mut tool.state) {
            Some(ToolState::InputStreaming { raw }) => {
                push(raw, delta);
                Ok(())
            }
            _ => Err(FoldError::NotOpen("tool-input-delta", call.to_owned())),
        }
    }

    fn ask(&mut self, approval: &str, call: &str) -> Result<(), FoldError> {
        let tool = self.known_tool(call, "tool-approval-request")?;
        let (input, approval) = (take_input(&mut tool.state), ApprovalId::new(approval));
        tool.state = ToolState::ApprovalRequested { input, approval };
        Ok(())
    }

    /// An answer without a reason keeps the reason of the answer before.
    fn answer(&mut self, approval: &str, approved: bool, reason: Option<&str>) -> Result<(), FoldError> {
        let tool = self
            .tools_mut()
            .find(|tool| tool.state.approval().is_some_and(|asked| asked.id.as_str() == approval))
            .ok_or_else(|| FoldError::UnknownApproval(approval.to_owned()))?;
        let before = tool.state.approval().and_then(|approval| approval.reason);
        let approval = Approval {
            id: ApprovalId::new(approval),
            approved: Some(approved),
            reason: reason.map(str::to_owned).or(before),
        };
        tool.state = ToolState::ApprovalResponded { input: take_input(&mut tool.state), approval };
        Ok(())
    }

    fn put_output(&mut self, call: &str, output: &Value, preliminary: bool) -> Result<(), FoldError> {
        let tool = self.known_tool(call, "tool-output-available")?;
        let (approval, input) = (tool.state.approval(), take_input(&mut tool.state));
        tool.state = ToolState::OutputAvailable { input, output: output.clone(), preliminary, approval };
        Ok(())
    }

    fn fail_call(&mut self, call: &str, error: &str) -> Result<(), FoldError> {
        let tool = self.known_tool(call, "tool-output-error")?;
        let (approval, input) = (tool.state.approval(), take_known_input(&mut tool.state));
        tool.state = ToolState::OutputError { input, error_text: error.to_owned(), approval };
        Ok(())
    }

    fn deny_call(&mut self, call: &str) -> Result<(), FoldError> {
        let tool = self.known_tool(call, "tool-output-denied")?;
        let (approval, input) = (tool.state.approval(), take_input(&mut tool.state));
        tool.state = ToolState::OutputDenied { input, approval };
        Ok(())
    }

    /// Replaces the part with the same name and id, or adds one. Transient data leaves nothing behind.
    fn put_data(&mut self, chunk: &DataChunk<'_>) {
        if chunk.transient {
            return;
        }
        let same = self.message.parts.iter_mut().find_map(|part| match part {
            Part::Data { name, id: Some(id), data }
                if *name == chunk.kind.0 && Some(id.as_str()) == chunk.id.as_deref() =>
            {
                Some(data)
            }
            _ => None,
        });
        match same {
            Some(data) => *data = Value::clone(&chunk.data),
            None => self.message.parts.push(Part::Data {
                name: chunk.kind.0.to_string(),
                id: chunk.id.as_deref().map(str::to_owned),
                data: Value::clone(&chunk.data),
            }),
        }
    }

    fn open_text_part(&mut self, id: &str, chunk: &'static str) -> Result<OpenText<'_>, FoldError> {
        match OpenPart::find(&self.open_text, id).and_then(|place| self.message.parts.get_mut(place)) {
            Some(Part::Text { text, state }) => Ok(OpenText { text, state }),
            _ => Err(FoldError::NotOpen(chunk, id.to_owned())),
        }
    }

    fn open_reasoning_part(&mut self, id: &str, chunk: &'static str) -> Result<OpenReasoning<'_>, FoldError> {
        match OpenPart::find(&self.open_reasoning, id).and_then(|place| self.message.parts.get_mut(place)) {
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

/// A text or reasoning part that is still being written.
#[derive(Clone, Debug)]
struct OpenPart {
    /// On the wire.
    id: String,
    /// Among the parts of the message.
    place: usize,
}

impl OpenPart {
    /// The place of the newest open part with this id.
    fn find(open: &[Self], id: &str) -> Option<usize> {
        open.iter().rev().find(|part| part.id == id).map(|part| part.place)
    }
}

struct OpenText<'a> {
    text: &'a mut String,
    state: &'a mut Option<TextState>,
}

struct OpenReasoning<'a> {
    text: &'a mut String,
    state: &'a mut Option<TextState>,
    provider: &'a mut Option<ProviderMetadata>,
}

/// A text of this many bytes grows by a quarter at a time.
const LONG: usize = 1 << 20;

/// Appends to a text. A vector doubles when it grows and half of it may stay empty; a long text must not take twice its
/// size in memory.
fn push(text: &mut String, delta: &str) {
    if text.len() >= LONG && text.capacity() - text.len() < delta.len() {
        text.reserve_exact(delta.len().max(text.len() / 4));
    }
    text.push_str(delta);
}

/// Keeps the data of an earlier chunk when a later one has none.
fn keep(kept: &mut Option<ProviderMetadata>, new: Option<&ProviderMetadata>) {
    if let Some(new) = new {
        *kept = Some(new.clone());
    }
}

/// Moves the input out of a state that is about to be replaced.
fn take_input(state: &mut ToolState) -> Value {
    take_known_input(state).unwrap_or(Value::Null)
}

/// Moves the input out, for a state that may have none. A `null` that the model sent is an input.
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
