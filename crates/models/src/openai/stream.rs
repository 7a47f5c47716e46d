//! Reads the events of a chat-completions answer as [`ModelEvent`]s. Pure, no I/O.
//!
//! Text, reasoning and calls are passed on as they arrive. Usage and finish reason are passed on once, by
//! [`Reader::end`]: some servers repeat a growing usage in every chunk, and usage follows the finish reason.

use std::{borrow::Cow, collections::VecDeque};

use protocol::{FinishReason, Usage};

use super::{
    calls::CallAssembler,
    reasoning_details::ReasoningDetails,
    wire::{self, Answer, Delta},
};
use crate::{
    event_template::EventTemplate,
    http::server_error,
    model::{ModelError, ModelEvent},
    remote::answer::{AnswerReader, Progress},
};

#[derive(Debug, Default)]
pub struct Reader {
    calls: CallAssembler,
    reasoning_details: ReasoningDetails,
    refused: bool,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// Removed from messages of the server that repeat it.
    key: Option<String>,
    /// The template of the last event that contained only text.
    template: Option<EventTemplate>,
}

impl Reader {
    pub fn new(key: Option<String>) -> Self {
        Self { key, ..Self::default() }
    }
}

impl AnswerReader for Reader {
    fn event(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<Progress, ModelError> {
        protocol::crash_point!("reader", String::from_utf8_lossy(data));
        if let Some(text) = self.template.as_ref().and_then(|template| template.text(data)) {
            if !text.is_empty() {
                events.extend(self.reasoning_details.finish().map(ModelEvent::ReasoningEnded));
                events.push_back(ModelEvent::Text(text.to_owned()));
            }
            return Ok(Progress::More);
        }
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            return Ok(Progress::Done);
        }
        if !data.is_empty() {
            self.answer(data, events)?;
        }
        Ok(Progress::More)
    }

    fn whole(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if self.answer(data, events)? {
            return Ok(());
        }
        Err(ModelError::Garbage("JSON without an answer in it; check the base URL".to_owned()))
    }

    fn end(&mut self, progress: Progress, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let finish = match (self.finish, progress) {
            (Some(finish), _) => finish,
            (None, Progress::Done) => FinishReason::Stop,
            (None, Progress::More) => return Err(ModelError::Cut),
        };
        if !self.calls.all_are_named() {
            return Err(ModelError::Garbage("a tool call without the name of the tool".to_owned()));
        }
        // Some servers end an answer with tool calls with `stop`; all servers end a refusal with it.
        let finish = match finish {
            FinishReason::Stop if !self.calls.is_empty() => FinishReason::ToolCalls,
            FinishReason::Stop if self.refused => FinishReason::ContentFilter,
            finish => finish,
        };
        events.extend(self.reasoning_details.finish().map(ModelEvent::ReasoningEnded));
        events.extend(self.usage.take().filter(|usage| !usage.is_empty()).map(ModelEvent::Usage));
        events.push_back(ModelEvent::Finished(finish));
        Ok(())
    }
}

impl Reader {
    /// Returns whether the answer contained a choice.
    fn answer(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        let answer: Answer<'_> = serde_json::from_slice(data)
            .map_err(|_| ModelError::Garbage("text that is not the JSON of an answer".to_owned()))?;
        if let Some(error) = answer.error {
            return Err(server_error::in_stream(&error, self.key.as_deref()));
        }
        if answer.object.0 == "error" {
            let error = serde_json::from_slice(data).unwrap_or_default();
            return Err(server_error::in_stream(&error, self.key.as_deref()));
        }
        let mut only_text = answer.usage.is_none() && answer.x_groq.is_none() && answer.citations.is_none();
        if let Some(usage) = answer.usage {
            self.usage = Some(usage.as_ref().into());
        }
        if let Some(extension) = answer.x_groq {
            if let Some(error) = extension.error {
                return Err(server_error::in_stream(&error, self.key.as_deref()));
            }
            if let Some(usage) = &extension.usage {
                self.usage = Some(usage.into());
                only_text = false;
            }
        }
        if let Some(citations) = answer.citations {
            wire::pages(&citations, events);
        }
        let Some(choice) = answer.choices.0 else { return Ok(false) };
        if !choice.finish_reason.0.is_empty() {
            self.finish = Some(wire::finish_reason(&choice.finish_reason.0));
            only_text = false;
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            if only_text {
                self.template = delta.only_text().and_then(|text| EventTemplate::of(data, text));
            }
            self.delta(*delta, events)?;
        }
        Ok(true)
    }

    fn delta(&mut self, delta: Delta<'_>, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        // Some servers send the same reasoning under two names.
        let thoughts = [delta.reasoning_content.0, delta.reasoning.0, delta.content.thinking];
        if let Some(thought) = thoughts.into_iter().find(|thought| !thought.is_empty()) {
            push(thought, ModelEvent::Reasoning, events);
        }
        if let Some(details) = delta.reasoning_details {
            // The next text ends this reasoning; an event that fits the template would not do that.
            self.template = None;
            self.reasoning_details.take(*details);
        }
        let pieces = delta.tool_calls.unwrap_or_default();
        if !(delta.content.text.is_empty() && delta.refusal.0.is_empty() && pieces.is_empty()) {
            events.extend(self.reasoning_details.finish().map(ModelEvent::ReasoningEnded));
        }
        push(delta.content.text, ModelEvent::Text, events);
        self.refused |= !delta.refusal.0.is_empty();
        push(delta.refusal.0, ModelEvent::Text, events);
        if let Some(annotations) = delta.annotations {
            wire::annotations(&annotations, events);
        }
        if !pieces.is_empty() {
            self.calls.take(pieces, events)?;
        }
        Ok(())
    }
}

fn push(text: Cow<'_, str>, event: fn(String) -> ModelEvent, events: &mut VecDeque<ModelEvent>) {
    if !text.is_empty() {
        events.push_back(event(text.into_owned()));
    }
}
