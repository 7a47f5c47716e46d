//! The schema of chunks in the strictest clients: which fields a chunk must and may have, and their types. Those clients
//! fail on everything else: an unknown field, a `null` in an optional one, an unknown finish reason.

use serde_json::Value;

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Object,
    Any,
    Reason,
}

use Kind::{Any, Flag, Object, Reason, Text};

type Fields = &'static [(&'static str, Kind)];

/// Required and optional fields; `None` for an unknown type.
fn fields(kind: &str) -> Option<(Fields, Fields)> {
    Some(match kind {
        "start" => (&[("messageId", Text)], &[("messageMetadata", Object)]),
        "start-step" | "finish-step" | "abort" => (&[], &[]),
        "finish" => (&[("finishReason", Reason)], &[("messageMetadata", Object)]),
        "error" => (&[("errorText", Text)], &[]),
        "message-metadata" => (&[("messageMetadata", Object)], &[]),
        "text-start" | "text-end" | "reasoning-start" => (&[("id", Text)], &[]),
        "reasoning-end" => (&[("id", Text)], &[("providerMetadata", Object)]),
        "text-delta" | "reasoning-delta" => (&[("id", Text), ("delta", Text)], &[]),
        "tool-input-start" => (&[("toolCallId", Text), ("toolName", Text)], &[]),
        "tool-input-delta" => (&[("toolCallId", Text), ("inputTextDelta", Text)], &[]),
        "tool-input-available" => {
            (&[("toolCallId", Text), ("toolName", Text), ("input", Any)], &[("providerMetadata", Object)])
        }
        "tool-input-error" => {
            (&[("toolCallId", Text), ("toolName", Text), ("input", Any), ("errorText", Text)], &[])
        }
        "tool-approval-request" => (&[("approvalId", Text), ("toolCallId", Text)], &[]),
        "tool-output-available" => (&[("toolCallId", Text), ("output", Any)], &[("preliminary", Flag)]),
        "tool-output-error" => (&[("toolCallId", Text), ("errorText", Text)], &[]),
        "tool-output-denied" => (&[("toolCallId", Text)], &[]),
        "source-url" => (&[("sourceId", Text), ("url", Text)], &[("title", Text)]),
        "source-document" => {
            (&[("sourceId", Text), ("mediaType", Text), ("title", Text)], &[("filename", Text)])
        }
        "file" => (&[("url", Text), ("mediaType", Text)], &[]),
        // Clients before release 7 refuse it; it is sent only in the profile that asks for it.
        "tool-approval-response" => (&[("approvalId", Text), ("approved", Flag)], &[("reason", Text)]),
        data if data.len() > "data-".len() && data.starts_with("data-") => {
            (&[("data", Any)], &[("id", Text), ("transient", Flag)])
        }
        _ => return None,
    })
}

/// Returns why a strict client would refuse this chunk.
pub fn violation(chunk: &Value) -> Option<String> {
    let object = chunk.as_object()?;
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    let Some((required, optional)) = fields(kind) else { return Some(format!("unknown type `{kind}`")) };
    let missing = required.iter().find(|(name, _)| !object.contains_key(*name));
    if let Some((name, _)) = missing {
        return Some(format!("`{kind}` lacks `{name}`"));
    }
    for (name, value) in object.iter().filter(|(name, _)| *name != "type") {
        let Some((_, kind_of_field)) = required.iter().chain(optional).find(|(known, _)| known == name)
        else {
            return Some(format!("`{kind}` has the extra field `{name}`"));
        };
        let fits = match kind_of_field {
            Text => value.is_string(),
            Flag => value.is_boolean(),
            Object => value.is_object(),
            Any => true,
            Reason => matches!(
                value.as_str(),
                Some("stop" | "length" | "content-filter" | "tool-calls" | "error" | "other")
            ),
        };
        if !fits {
            return Some(format!("`{kind}.{name}` is {value}"));
        }
    }
    None
}
