//! Reads the events of a Messages answer as [`ModelEvent`]s. Pure, no I/O.
//!
//! An answer is a list of blocks; each is started, extended and stopped under its index. A whole message is read in the
//! same way, with blocks that are complete when they start. [`AnswerReader::end`] adds usage and finish reason.

use std::{borrow::Cow, collections::VecDeque};

use protocol::{FinishReason, ProviderMetadata};
use serde_json::Value;

use super::{
    PROVIDER, REDACTED, SIGNATURE,
    wire::{self, Block, Delta, Event, Message, WireUsage},
};
use crate::{
    http::server_error,
    model::{ModelError, ModelEvent},
    remote::{
        answer::{AnswerReader, Progress},
        bounds::{MAX_ATTACHED_BYTES, MAX_CALLS},
    },
};

/// The most blocks that are open at the same time; the API uses one.
const MAX_OPEN: usize = MAX_CALLS;

#[derive(Debug, Default)]
pub struct Reader {
    open: Vec<OpenBlock>,
    calls: u32,
    usage: WireUsage,
    finish: Option<FinishReason>,
    /// Removed from messages of the server that repeat it.
    key: Option<String>,
}

#[derive(Debug)]
struct OpenBlock {
    index: u32,
    state: BlockState,
}

#[derive(Debug)]
enum BlockState {
    Text,
    Thinking {
        signature: String,
    },
    /// `input` is the input that the block started with; it is used if no delta follows.
    Call {
        call: u32,
        input: String,
    },
    /// A block that is ignored.
    Other,
}

impl Reader {
    pub fn new(key: Option<String>) -> Self {
        Self { key, ..Self::default() }
    }
}

impl AnswerReader for Reader {
    fn event(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<Progress, ModelError> {
        let data = data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(Progress::More);
        }
        let event: Event<'_> = serde_json::from_slice(data)
            .map_err(|_| ModelError::Garbage("text that is not the JSON of an answer".to_owned()))?;
        if let Some(error) = event.error {
            return Err(server_error::in_stream(&error, self.key.as_deref()));
        }
        if let Some(usage) = event.usage {
            self.usage.update(usage);
        }
        let index = event.index.unwrap_or(0);
        match &*event.kind.0 {
            "message_start" => {
                if let Some(message) = event.message {
                    self.usage.update(message.usage.unwrap_or_default());
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start(index, *block, events)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(index, *delta, events)?;
                }
            }
            "content_block_stop" => self.stop(index, events),
            "message_delta" => {
                if let Some(delta) = event.delta {
                    self.stopped(&delta.stop_reason.0);
                }
            }
            "message_stop" => return Ok(Progress::Done),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn whole(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let message: Message<'_> = serde_json::from_slice(data)
            .map_err(|_| ModelError::Garbage("text that is not the JSON of an answer".to_owned()))?;
        if let Some(error) = message.error {
            return Err(server_error::in_stream(&error, self.key.as_deref()));
        }
        if message.kind.0 != "message" {
            return Err(ModelError::Garbage("JSON without an answer in it; check the base URL".to_owned()));
        }
        for block in message.content.into_iter().flatten() {
            self.start(0, block, events)?;
            self.stop(0, events);
        }
        self.usage.update(message.usage.unwrap_or_default());
        self.stopped(&message.stop_reason.0);
        Ok(())
    }

    fn end(&mut self, progress: Progress, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let finish = match (self.finish, progress) {
            (Some(finish), _) => finish,
            (None, Progress::Done) if self.calls > 0 => FinishReason::ToolCalls,
            (None, Progress::Done) => FinishReason::Stop,
            (None, Progress::More) => return Err(ModelError::Cut),
        };
        let usage = self.usage.total();
        events.extend((!usage.is_empty()).then_some(ModelEvent::Usage(usage)));
        events.push_back(ModelEvent::Finished(finish));
        Ok(())
    }
}

impl Reader {
    fn start(
        &mut self,
        index: u32,
        block: Block<'_>,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.open.len() >= MAX_OPEN {
            return Err(ModelError::Garbage("an answer with too many open blocks".to_owned()));
        }
        let state = match &*block.kind.0 {
            "text" => {
                push(block.text.0, ModelEvent::Text, events);
                for citation in block.citations.as_deref().and_then(Value::as_array).into_iter().flatten() {
                    events.extend(wire::cited(citation).map(ModelEvent::Source));
                }
                BlockState::Text
            }
            "thinking" => {
                push(block.thinking.0, ModelEvent::Reasoning, events);
                BlockState::Thinking { signature: block.signature.0.into_owned() }
            }
            "redacted_thinking" => {
                let data = block.data.0.into_owned();
                events.push_back(ModelEvent::ReasoningEnded(ProviderMetadata::one(PROVIDER, REDACTED, data)));
                BlockState::Other
            }
            "tool_use" => {
                if block.name.0.is_empty() {
                    let message = "a tool call without the name of the tool".to_owned();
                    return Err(ModelError::Garbage(message));
                }
                let call = self.calls;
                self.calls += 1;
                let id = (!block.id.0.is_empty()).then(|| block.id.0.into_owned());
                events.push_back(ModelEvent::ToolStarted {
                    index: call,
                    id,
                    name: block.name.0.into_owned(),
                });
                BlockState::Call { call, input: block.input.0.into_owned() }
            }
            _ => BlockState::Other,
        };
        self.open.retain(|open| open.index != index);
        self.open.push(OpenBlock { index, state });
        Ok(())
    }

    fn delta(
        &mut self,
        index: u32,
        delta: Delta<'_>,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        // Some compatible servers do not start their blocks.
        let state = self.open.iter_mut().find(|open| open.index == index).map(|open| &mut open.state);
        match &*delta.kind.0 {
            "text_delta" => push(delta.text.0, ModelEvent::Text, events),
            "thinking_delta" => push(delta.thinking.0, ModelEvent::Reasoning, events),
            "citations_delta" => {
                events.extend(
                    delta.citation.and_then(|citation| wire::cited(&citation)).map(ModelEvent::Source),
                );
            }
            "signature_delta" => {
                if let Some(BlockState::Thinking { signature }) = state {
                    signature.push_str(&delta.signature.0);
                    if signature.len() > MAX_ATTACHED_BYTES {
                        return Err(ModelError::Garbage("a signature that is too long".to_owned()));
                    }
                }
            }
            "input_json_delta" => match state {
                Some(BlockState::Call { call, input }) => {
                    let index = *call;
                    if !delta.partial_json.0.is_empty() {
                        input.clear();
                        let delta = delta.partial_json.0.into_owned();
                        events.push_back(ModelEvent::ToolDelta { index, delta });
                    }
                }
                Some(_) => {}
                None => {
                    let message = "arguments for a call that was not begun".to_owned();
                    return Err(ModelError::Garbage(message));
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, index: u32, events: &mut VecDeque<ModelEvent>) {
        let Some(place) = self.open.iter().position(|open| open.index == index) else { return };
        match self.open.swap_remove(place).state {
            BlockState::Thinking { signature } if !signature.is_empty() => {
                let provider = ProviderMetadata::one(PROVIDER, SIGNATURE, signature);
                events.push_back(ModelEvent::ReasoningEnded(provider));
            }
            BlockState::Call { call, input } if !input.is_empty() && input != "{}" => {
                events.push_back(ModelEvent::ToolDelta { index: call, delta: input });
            }
            BlockState::Text | BlockState::Thinking { .. } | BlockState::Call { .. } | BlockState::Other => {}
        }
    }

    fn stopped(&mut self, reason: &str) {
        if !reason.is_empty() {
            self.finish = Some(wire::finish_reason(reason));
        }
    }
}

fn push(text: Cow<'_, str>, event: fn(String) -> ModelEvent, events: &mut VecDeque<ModelEvent>) {
    if !text.is_empty() {
        events.push_back(event(text.into_owned()));
    }
}
