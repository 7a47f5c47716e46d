//! Assembles `reasoning_details`: reasoning with signatures and encrypted parts, which OpenRouter streams in deltas. They
//! are sent back unchanged in later requests.

use protocol::ProviderMetadata;
use serde_json::{Map, Value};

pub const PROVIDER: &str = "openrouter";
pub const FIELD: &str = "reasoning_details";

/// The most details of one reasoning segment; a larger one is not sent back.
const MAX_DETAILS: usize = 256;
const MAX_BYTES: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub struct ReasoningDetails {
    details: Vec<Map<String, Value>>,
    bytes: usize,
}

impl ReasoningDetails {
    pub fn take(&mut self, details: Value) {
        let Value::Array(details) = details else { return };
        for detail in details {
            let Value::Object(detail) = detail else { continue };
            self.bytes = self.bytes.saturating_add(size(&detail));
            if self.is_too_much() {
                self.details.clear();
                continue;
            }
            match self.details.last_mut().filter(|last| continues(last, &detail)) {
                Some(last) => extend(last, detail),
                None => self.details.push(detail),
            }
        }
    }

    /// Returns the details collected since the last call.
    pub fn finish(&mut self) -> Option<ProviderMetadata> {
        if self.details.is_empty() {
            return None;
        }
        self.bytes = 0;
        let details: Vec<Value> = std::mem::take(&mut self.details).into_iter().map(Value::Object).collect();
        Some(ProviderMetadata::one(PROVIDER, FIELD, details))
    }

    fn is_too_much(&self) -> bool {
        self.bytes > MAX_BYTES || self.details.len() >= MAX_DETAILS
    }
}

/// Whether `next` is a delta of the same detail: same type and index.
fn continues(last: &Map<String, Value>, next: &Map<String, Value>) -> bool {
    last.get("type") == next.get("type") && last.get("index") == next.get("index")
}

/// Appends texts and replaces all other fields.
fn extend(last: &mut Map<String, Value>, next: Map<String, Value>) {
    for (name, value) in next {
        match (last.get_mut(&name), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary" | "data") =>
            {
                text.push_str(&more);
            }
            (_, value) => {
                last.insert(name, value);
            }
        }
    }
}

fn size(detail: &Map<String, Value>) -> usize {
    let text = |value: &Value| value.as_str().map_or(16, str::len);
    detail.iter().map(|(name, value)| name.len() + text(value)).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_a_thought_grow_together_and_the_signature_is_kept() {
        let mut thoughts = ReasoningDetails::default();
        assert_eq!(thoughts.finish(), None);
        thoughts.take(json!([{ "type": "reasoning.text", "index": 0, "text": "a" }]));
        thoughts.take(json!([{ "type": "reasoning.text", "index": 0, "text": "b", "signature": null }]));
        thoughts.take(json!([{ "type": "reasoning.text", "index": 0, "signature": "s" }]));
        thoughts.take(json!([{ "type": "reasoning.encrypted", "index": 1, "data": "x" }, 7]));
        let kept = thoughts.finish().unwrap();
        assert_eq!(
            kept.field(PROVIDER, FIELD).unwrap(),
            &json!([
                { "type": "reasoning.text", "index": 0, "text": "ab", "signature": "s" },
                { "type": "reasoning.encrypted", "index": 1, "data": "x" },
            ])
        );
        assert_eq!(thoughts.finish(), None);
    }

    #[test]
    fn thoughts_without_end_are_not_kept() {
        let mut thoughts = ReasoningDetails::default();
        for index in 0..=MAX_DETAILS {
            thoughts.take(json!([{ "type": "reasoning.text", "index": index, "text": "a" }]));
        }
        assert_eq!(thoughts.finish(), None);
    }
}
