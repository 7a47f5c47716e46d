//! Reads the events of a `streamGenerateContent` answer as [`ModelEvent`]s. Pure, no I/O.
//!
//! Every event is a separate response with the next parts; calls arrive complete. No event marks the end: the answer is
//! complete when the body ends after a finish reason.

use std::collections::VecDeque;

use protocol::{FinishReason, ProviderMetadata};
use serde_json::{Map, Value, value::RawValue};

use super::{
    CALL_ID, OF_TEXT, PROVIDER, SIGNATURE,
    wire::{self, Answer, Call, Part, WireUsage},
};
use crate::{
    http::server_error,
    model::{ModelError, ModelEvent},
    remote::answer::{AnswerReader, Progress},
};

#[derive(Debug, Default)]
pub struct Reader {
    calls: u32,
    usage: Option<WireUsage>,
    finish: Option<FinishReason>,
    /// Removed from messages of the server that repeat it.
    key: Option<String>,
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
        if !data.is_empty() {
            self.answer(data, events)?;
        }
        Ok(Progress::More)
    }

    /// Reads one response, or a list of them, which the route returns without `alt=sse`.
    fn whole(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let garbage = |_| ModelError::Garbage("text that is not the JSON of an answer".to_owned());
        if data.trim_ascii_start().starts_with(b"[") {
            let answers: Vec<&RawValue> = serde_json::from_slice(data).map_err(garbage)?;
            for answer in answers {
                self.answer(answer.get().as_bytes(), events)?;
            }
        } else {
            self.answer(data, events)?;
        }
        if self.finish.is_none() && events.is_empty() {
            return Err(ModelError::Garbage("JSON without an answer in it; check the base URL".to_owned()));
        }
        Ok(())
    }

    fn end(&mut self, progress: Progress, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let finish = match (self.finish, progress) {
            (Some(FinishReason::Stop), _) | (None, Progress::Done) if self.calls > 0 => {
                FinishReason::ToolCalls
            }
            (Some(finish), _) => finish,
            (None, Progress::Done) => FinishReason::Stop,
            (None, Progress::More) => return Err(ModelError::Cut),
        };
        let usage = self.usage.take().map(protocol::Usage::from).filter(|usage| !usage.is_empty());
        events.extend(usage.map(ModelEvent::Usage));
        events.push_back(ModelEvent::Finished(finish));
        Ok(())
    }
}

impl Reader {
    fn answer(&mut self, data: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let answer: Answer<'_> = serde_json::from_slice(data)
            .map_err(|_| ModelError::Garbage("text that is not the JSON of an answer".to_owned()))?;
        if let Some(error) = answer.error {
            return Err(server_error::in_stream(&error, self.key.as_deref()));
        }
        self.usage = answer.usage_metadata.or(self.usage);
        if answer.prompt_feedback.is_some_and(|feedback| !feedback.block_reason.0.is_empty()) {
            self.finish = Some(FinishReason::ContentFilter);
        }
        let Some(candidate) = answer.candidates.0 else { return Ok(()) };
        for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
            self.part(part, events)?;
        }
        if let Some(grounding) = candidate.grounding_metadata {
            wire::sources(&grounding, events);
        }
        if !candidate.finish_reason.0.is_empty() {
            self.finish = Some(wire::finish_reason(&candidate.finish_reason.0));
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, events: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let signature = (!part.thought_signature.0.is_empty()).then(|| part.thought_signature.0.into_owned());
        if let Some(call) = part.function_call {
            return self.call(*call, signature, events);
        }
        let is_thought = part.thought == Some(true);
        if !part.text.0.is_empty() {
            let text = part.text.0.into_owned();
            events.push_back(if is_thought { ModelEvent::Reasoning(text) } else { ModelEvent::Text(text) });
        }
        if let Some(signature) = signature {
            let mut fields = Map::new();
            fields.insert(SIGNATURE.to_owned(), Value::String(signature));
            if !is_thought {
                fields.insert(OF_TEXT.to_owned(), Value::Bool(true));
            }
            events.push_back(ModelEvent::ReasoningEnded(ProviderMetadata::new(PROVIDER, fields)));
        }
        Ok(())
    }

    fn call(
        &mut self,
        call: Call<'_>,
        signature: Option<String>,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if call.name.0.is_empty() {
            return Err(ModelError::Garbage("a tool call without the name of the tool".to_owned()));
        }
        let index = self.calls;
        self.calls = self.calls.saturating_add(1);
        let id = (!call.id.0.is_empty()).then(|| call.id.0.into_owned());
        events.push_back(ModelEvent::ToolStarted { index, id: id.clone(), name: call.name.0.into_owned() });
        if !call.args.0.is_empty() {
            events.push_back(ModelEvent::ToolDelta { index, delta: call.args.0.into_owned() });
        }
        let kept = [(CALL_ID, id), (SIGNATURE, signature)];
        let fields: Map<String, Value> = kept
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?))))
            .collect();
        if !fields.is_empty() {
            let provider = ProviderMetadata::new(PROVIDER, fields);
            events.push_back(ModelEvent::ToolSigned { index, provider });
        }
        Ok(())
    }
}
