//! Reads the events of a Responses answer as [`ModelEvent`]s. Pure, no I/O.
//!
//! An answer is a list of items: reasoning, messages, calls. Each is added, extended and done under its index. The
//! content of an item without deltas is read when the item is done, so a whole answer is read in the same way.

use std::{borrow::Cow, collections::VecDeque};

use protocol::{FinishReason, ProviderMetadata};
use serde_json::{Map, Value};

use super::{
    ENCRYPTED, ITEM_ID, PROVIDER,
    wire::{self, Event, Item, Part, Response, WireUsage},
};
use crate::{
    http::server_error,
    model::{ModelError, ModelEvent},
    remote::{
        answer::{AnswerReader, Progress},
        bounds::MAX_CALLS,
    },
};

/// The most items that are open at the same time; the API uses one or two.
const MAX_OPEN: usize = MAX_CALLS;

#[derive(Debug, Default)]
pub struct Reader {
    open: Vec<OpenItem>,
    calls: u32,
    refused: bool,
    usage: Option<WireUsage>,
    finish: Option<FinishReason>,
    /// Removed from messages of the server that repeat it.
    key: Option<String>,
}

#[derive(Debug)]
struct OpenItem {
    place: u32,
    /// Our index of the call, if it is one.
    call: Option<u32>,
    /// A delta was passed on.
    was_streamed: bool,
}

impl Reader {
    pub fn new(key: Option<String>) -> Self {
        Self { key, ..Self::default() }
    }
}

impl AnswerReader for Reader {
    fn event(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<Progress, ModelError> {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            return Ok(Progress::Done);
        }
        if data.is_empty() {
            return Ok(Progress::More);
        }
        let event: Event<'_> = serde_json::from_slice(data).map_err(|_| not_an_answer())?;
        let place = event.output_index.unwrap_or(0);
        match &*event.kind.0 {
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    self.added(place, &item, events)?;
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.done(place, *item, events)?;
                }
            }
            "response.output_text.delta" => self.say(place, event.delta.0, ModelEvent::Text, events),
            "response.refusal.delta" => {
                self.refused = true;
                self.say(place, event.delta.0, ModelEvent::Text, events);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.say(place, event.delta.0, ModelEvent::Reasoning, events);
            }
            "response.reasoning_summary_part.added" if event.summary_index.is_some_and(|index| index > 0) => {
                self.say(place, "\n\n".into(), ModelEvent::Reasoning, events);
            }
            "response.function_call_arguments.delta" => self.arguments(place, event.delta.0, events)?,
            "response.output_text.annotation.added" => {
                events.extend(event.annotation.and_then(|it| wire::cited(&it)).map(ModelEvent::Source));
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                if let Some(response) = event.response {
                    self.settle(&response)?;
                }
                return Ok(Progress::Done);
            }
            "error" => {
                let error = match event.error {
                    Some(error) => *error,
                    None => serde_json::from_slice(data).unwrap_or_default(),
                };
                return Err(server_error::in_stream(&error, self.key.as_deref()));
            }
            _ if event.error.is_some() => {
                let error = event.error.unwrap_or_default();
                return Err(server_error::in_stream(&error, self.key.as_deref()));
            }
            _ => {}
        }
        Ok(Progress::More)
    }

    fn whole(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let mut response: Response<'_> = serde_json::from_slice(data).map_err(|_| not_an_answer())?;
        self.settle(&response)?;
        if response.object.0 != "response" {
            return Err(ModelError::Garbage("JSON without an answer in it; check the base URL".to_owned()));
        }
        for item in response.output.take().into_iter().flatten() {
            self.added(0, &item, events)?;
            self.done(0, item, events)?;
        }
        Ok(())
    }

    fn end(&mut self, progress: Progress, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let finish = match (self.finish, progress) {
            (None, Progress::More) => return Err(ModelError::Cut),
            (None | Some(FinishReason::Stop), _) if self.calls > 0 => FinishReason::ToolCalls,
            (None | Some(FinishReason::Stop), _) if self.refused => FinishReason::ContentFilter,
            (finish, _) => finish.unwrap_or(FinishReason::Stop),
        };
        let usage = self.usage.take().map(protocol::Usage::from).filter(|usage| !usage.is_empty());
        events.extend(usage.map(ModelEvent::Usage));
        events.push_back(ModelEvent::Finished(finish));
        Ok(())
    }
}

impl Reader {
    fn added(
        &mut self,
        place: u32,
        item: &Item<'_>,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.open.len() >= MAX_OPEN {
            return Err(ModelError::Garbage("an answer with too many open items".to_owned()));
        }
        let call = match &*item.kind.0 {
            "function_call" => {
                if item.name.0.is_empty() {
                    let message = "a tool call without the name of the tool".to_owned();
                    return Err(ModelError::Garbage(message));
                }
                let index = self.calls;
                self.calls = self.calls.saturating_add(1);
                let id = if item.call_id.0.is_empty() { &item.id.0 } else { &item.call_id.0 };
                let id = (!id.is_empty()).then(|| id.to_string());
                events.push_back(ModelEvent::ToolStarted { index, id, name: item.name.0.to_string() });
                Some(index)
            }
            _ => None,
        };
        self.open.retain(|open| open.place != place);
        self.open.push(OpenItem { place, call, was_streamed: false });
        Ok(())
    }

    fn done(
        &mut self,
        place: u32,
        item: Item<'_>,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if !self.open.iter().any(|open| open.place == place) {
            self.added(place, &item, events)?;
        }
        let Some(at) = self.open.iter().position(|open| open.place == place) else { return Ok(()) };
        let open = self.open.swap_remove(at);
        match &*item.kind.0 {
            "message" => {
                for part in item.content.into_iter().flatten() {
                    self.message_part(part, open.was_streamed, events);
                }
            }
            "reasoning" => {
                if !open.was_streamed {
                    let parts = item.summary.filter(|parts| !parts.is_empty()).or(item.content);
                    let texts: Vec<_> = parts.into_iter().flatten().map(|part| part.text.0).collect();
                    push(texts.join("\n\n").into(), ModelEvent::Reasoning, events);
                }
                if !item.encrypted_content.0.is_empty() {
                    let mut fields = Map::new();
                    if !item.id.0.is_empty() {
                        fields.insert(ITEM_ID.to_owned(), Value::String(item.id.0.into_owned()));
                    }
                    let sealed = Value::String(item.encrypted_content.0.into_owned());
                    fields.insert(ENCRYPTED.to_owned(), sealed);
                    events.push_back(ModelEvent::ReasoningEnded(ProviderMetadata::new(PROVIDER, fields)));
                }
            }
            "function_call" => {
                if let Some(index) = open.call.filter(|_| !open.was_streamed && !item.arguments.0.is_empty())
                {
                    let delta = item.arguments.0.into_owned();
                    events.push_back(ModelEvent::ToolDelta { index, delta });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn message_part(&mut self, part: Part<'_>, was_streamed: bool, events: &mut VecDeque<ModelEvent>) {
        self.refused |= !part.refusal.0.is_empty();
        if !was_streamed {
            push(part.text.0, ModelEvent::Text, events);
            push(part.refusal.0, ModelEvent::Text, events);
        }
        for annotation in part.annotations.into_iter().flatten() {
            events.extend(wire::cited(&annotation).map(ModelEvent::Source));
        }
    }

    fn say(
        &mut self,
        place: u32,
        delta: Cow<'_, str>,
        event: fn(String) -> ModelEvent,
        events: &mut VecDeque<ModelEvent>,
    ) {
        if let Some(open) = self.open.iter_mut().find(|open| open.place == place) {
            open.was_streamed = true;
        }
        push(delta, event, events);
    }

    fn arguments(
        &mut self,
        place: u32,
        delta: Cow<'_, str>,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let open = self.open.iter_mut().find(|open| open.place == place);
        let Some((open, index)) = open.and_then(|open| open.call.map(|call| (open, call))) else {
            return Err(ModelError::Garbage("arguments for a call that was not begun".to_owned()));
        };
        if !delta.is_empty() {
            open.was_streamed = true;
            events.push_back(ModelEvent::ToolDelta { index, delta: delta.into_owned() });
        }
        Ok(())
    }

    /// Reads how the answer ended and its usage.
    fn settle(&mut self, response: &Response<'_>) -> Result<(), ModelError> {
        if let Some(error) = &response.error {
            return Err(server_error::in_stream(error, self.key.as_deref()));
        }
        self.usage = response.usage.or(self.usage);
        let reason = response.incomplete_details.as_ref().map(|details| &*details.reason.0);
        self.finish = Some(match (&*response.status.0, reason) {
            ("failed", _) => FinishReason::Error,
            ("incomplete", Some("max_output_tokens")) => FinishReason::Length,
            ("incomplete", Some("content_filter")) => FinishReason::ContentFilter,
            ("incomplete" | "cancelled", _) => FinishReason::Other,
            _ => FinishReason::Stop,
        });
        Ok(())
    }
}

fn not_an_answer() -> ModelError {
    ModelError::Garbage("text that is not the JSON of an answer".to_owned())
}

fn push(text: Cow<'_, str>, event: fn(String) -> ModelEvent, events: &mut VecDeque<ModelEvent>) {
    if !text.is_empty() {
        events.push_back(event(text.into_owned()));
    }
}
