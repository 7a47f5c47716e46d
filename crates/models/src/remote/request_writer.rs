//! Writes the body of a request: the wire format's JSON, merged with the model's own settings.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value, value::RawValue};

use super::{
    prepared::PreparedMessages,
    settings::{ModelSettings, PromptCache, ReasoningReplay, WireFormat},
    tool_cache::ToolCache,
};
use crate::{
    anthropic,
    attached::{FileSupport, readable},
    gemini,
    model::{ModelMessage, ModelRequest},
    openai, openai_responses,
    params::{self, Params},
};

/// A history of this many messages takes milliseconds to serialise.
pub const LONG_HISTORY: usize = 512;

/// Writes the requests of one model.
#[derive(Debug)]
pub struct RequestWriter {
    pub model: String,
    pub max_output_tokens: Option<u32>,
    pub prompt_cache: PromptCache,
    pub reasoning_replay: ReasoningReplay,
    pub tool_cache: ToolCache,
    pub prepared: PreparedMessages,
    pub file_support: FileSupport,
    extra: Map<String, Value>,
    params: Params,
}

impl RequestWriter {
    pub fn new(settings: ModelSettings) -> Self {
        Self {
            model: settings.model,
            max_output_tokens: settings.max_output_tokens,
            prompt_cache: settings.prompt_cache,
            reasoning_replay: settings.reasoning_replay,
            tool_cache: ToolCache::default(),
            prepared: PreparedMessages::default(),
            file_support: settings.file_support,
            extra: settings.body,
            params: settings.params,
        }
    }

    /// Whether the settings add this field to the body.
    pub fn has_extra(&self, field: &str) -> bool {
        self.extra.contains_key(field)
    }

    pub fn body(&self, format: WireFormat, request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
        let readable = readable(&request.messages, self.file_support)
            .map(|messages| ModelRequest { messages, ..request.clone() });
        let request = readable.as_ref().unwrap_or(request);
        let body = match format {
            WireFormat::OpenAi => openai::request::body(self, request),
            WireFormat::OpenAiResponses => openai_responses::request::body(self, request),
            WireFormat::Anthropic => anthropic::request::body(self, request),
            WireFormat::Google => gemini::request::body(self, request),
        }?;
        let body = if self.extra.is_empty() { body } else { overlay(&body, &self.extra)? };
        if self.params.is_empty() && request.params.is_empty() {
            return Ok(body);
        }
        let mut chosen = self.params.clone();
        chosen.extend(request.params.iter().map(|(key, value)| (key.clone(), value.clone())));
        overlay(&body, &params::fields(format, &chosen, self.max_output_tokens))
    }

    /// Whether a body starts with its messages in a form that does not depend on what follows them.
    pub fn can_prepare(&self, format: WireFormat) -> bool {
        match format {
            WireFormat::OpenAi => self.prompt_cache != PromptCache::Marks,
            WireFormat::OpenAiResponses | WireFormat::Anthropic | WireFormat::Google => false,
        }
    }

    /// Serialises messages for a later request that starts with them. Only where [`Self::can_prepare`] says so.
    pub fn prepare(&self, messages: &[Arc<ModelMessage>]) {
        if let Ok(text) = openai::request::prefix(messages, self.reasoning_replay) {
            self.prepared.insert(messages, text);
        }
    }

    /// Whether serialising the request takes milliseconds.
    pub fn is_slow(&self, request: &ModelRequest) -> bool {
        request.messages.len() >= LONG_HISTORY + self.prepared.count(&request.messages)
    }
}

/// Merges `extra` into a body. Fields of the same name are merged if both are objects and replaced otherwise; all other
/// fields are copied without parsing them.
fn overlay(body: &[u8], extra: &Map<String, Value>) -> Result<Vec<u8>, serde_json::Error> {
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(body)?;
    for (name, over) in extra {
        let value = match (fields.get(name), over) {
            (Some(written), Value::Object(over)) => match serde_json::from_str(written.get())? {
                Value::Object(mut written) => {
                    protocol::json::merge(&mut written, over);
                    Value::Object(written)
                }
                _ => Value::Object(over.clone()),
            },
            (_, over) => over.clone(),
        };
        fields.insert(name.clone(), serde_json::value::to_raw_value(&value)?);
    }
    serde_json::to_vec(&fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn extra_fields_are_merged_into_objects_and_replace_the_rest() {
        let body = br#"{"model":"m","messages":[1, 2],"options":{"a":{"x":1},"b":2}}"#;
        let extra = json!({ "model": "n", "options": { "a": { "y": 2 } }, "more": [true] });
        let over = overlay(body, extra.as_object().unwrap()).unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&over).unwrap(),
            json!({ "model": "n", "messages": [1, 2], "options": { "a": { "x": 1, "y": 2 }, "b": 2 },
                    "more": [true] })
        );
    }
}
