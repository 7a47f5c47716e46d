//! Turns the argument text of a model into a JSON value, before [`AnyTool::prepare`] checks it.
//!
//! [`read_arguments`] uses the tool's schema: a tool whose whole input is a text accepts plain text, and arguments of a
//! host tool are coerced into its schema (`input_coercion.rs`). [`parse_arguments`] only reads JSON.
//!
//! Strict JSON is accepted unchanged. Other text is repaired (`json_repair.rs`, ADR 26) if nothing can be lost: one
//! object with at most prose or a code fence around it. Text that ends too early, two objects, or further fields outside
//! the object are an error, and the model is asked to correct the call.

use serde_json::{Map, Value};

use crate::{
    AnyTool, Family, input_coercion,
    json_repair::{self, MAX_DEPTH, RepairError},
};

/// The longest argument text, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Reads the model's text as the input of this tool. The error is for the model.
pub fn read_arguments(tool: &dyn AnyTool, raw: &str) -> Result<Value, String> {
    let schema = &tool.spec().input_schema;
    if schema["type"] == "string" {
        return text_argument(raw).map(Value::String);
    }
    match (parse_arguments(raw), tool.family()) {
        (parsed, Family::Contract) => parsed,
        (Ok(value), Family::Host) => Ok(input_coercion::coerce(schema, value)),
        (Err(error), Family::Host) => {
            let raw = raw.trim();
            input_coercion::from_plain_text(schema, raw).filter(|_| !raw.is_empty()).ok_or(error)
        }
    }
}

/// Reads a text that is the whole input of a tool: quoted, in an object, or plain.
fn text_argument(raw: &str) -> Result<String, String> {
    if raw.len() > MAX_BYTES {
        return Err(too_long(raw));
    }
    let trimmed = raw.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::String(text)) if !text.is_empty() => return Ok(text),
        Ok(Value::Object(fields)) => return only_text(&fields),
        Ok(Value::Number(_) | Value::Bool(_)) => return Ok(trimmed.to_owned()),
        Ok(Value::Null | Value::Array(_) | Value::String(_)) => return Err(TEXT_EXPECTED.to_owned()),
        Err(_) => {}
    }
    match trimmed.chars().next() {
        None => Err(TEXT_EXPECTED.to_owned()),
        // The model meant JSON: invalid JSON is not passed on as a text.
        Some('{') => match json_repair::object(trimmed) {
            Ok((Value::Object(fields), rest)) if rest.trim().is_empty() => only_text(&fields),
            _ => Err(TEXT_EXPECTED.to_owned()),
        },
        Some('"') => match json_repair::text(trimmed) {
            Ok((text, rest)) if rest.trim().is_empty() => Ok(text),
            _ => Err(TEXT_EXPECTED.to_owned()),
        },
        Some(_) => Ok(raw.to_owned()),
    }
}

const TEXT_EXPECTED: &str = "the whole input of this tool is one text; send it as one JSON string";

/// The text of an object with one text field, whatever its name: `{"input": "…"}`.
fn only_text(fields: &Map<String, Value>) -> Result<String, String> {
    let mut texts = fields.iter().filter(|(name, _)| *name != crate::schema::ACTION_NAME);
    match (texts.next(), texts.next()) {
        (Some((_, Value::String(text))), None) => Ok(text.clone()),
        _ => Err(TEXT_EXPECTED.to_owned()),
    }
}

fn too_long(raw: &str) -> String {
    format!(
        "the arguments are {} bytes long; at most {MAX_BYTES} are accepted; split the work into several calls",
        raw.len()
    )
}

/// Reads JSON, repairing it where that is safe. The error is for the model.
pub fn parse_arguments(raw: &str) -> Result<Value, String> {
    if raw.len() > MAX_BYTES {
        return Err(too_long(raw));
    }
    let raw = raw.trim_start_matches('\u{feff}').trim();
    if raw.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let value = match serde_json::from_str::<Value>(raw) {
        Ok(Value::Null) => Value::Object(Map::new()),
        Ok(Value::String(text)) => object_in(&text).unwrap_or(Value::String(text)),
        Ok(value) => value,
        Err(error) => return repaired(raw).map_err(|fault| error_text(fault, &error)),
    };
    if is_deeper_than(&value, MAX_DEPTH) { Err(too_deep()) } else { Ok(value) }
}

/// The object in a JSON string: an object that was encoded twice.
fn object_in(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

fn repaired(raw: &str) -> Result<Value, RepairError> {
    let start = raw.find('{').ok_or(RepairError::NotJson)?;
    let (before, text) = raw.split_at(start);
    let (object, after) = json_repair::object(text)?;
    if is_lead_in(before) && is_lead_out(after) { Ok(object) } else { Err(RepairError::NotJson) }
}

/// Whether the text before the object is prose or a code fence, not the beginning of a larger value.
fn is_lead_in(before: &str) -> bool {
    let before = before.trim_end();
    !["[", ",", "\"", "'", "\":", "':"].iter().any(|end| before.ends_with(end))
}

/// Whether the text after the object is prose, a code fence or extra braces, not further fields or another object.
fn is_lead_out(after: &str) -> bool {
    let after = after.trim_start_matches(|c: char| c == '}' || c.is_whitespace());
    !after.contains(['{', '}']) && !after.starts_with([',', ':', ']', '"', '\''])
}

fn error_text(fault: RepairError, strict: &serde_json::Error) -> String {
    match fault {
        RepairError::Incomplete => format!(
            "the arguments end before the JSON is complete ({strict}); send the whole call again, shorter if need be"
        ),
        RepairError::TooDeep => too_deep(),
        RepairError::NotJson => format!("the arguments are not valid JSON: {strict}; send one JSON object"),
    }
}

fn too_deep() -> String {
    format!("the arguments are nested more than {MAX_DEPTH} levels deep")
}

/// Whether a value is nested deeper than `levels`. Parsed values have at most 128 levels, so the recursion is bounded.
fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let deeper = |inner: &Value| match levels.checked_sub(1) {
        Some(levels) => is_deeper_than(inner, levels),
        None => true,
    };
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(deeper),
        Value::Object(fields) => levels == 0 || fields.values().any(deeper),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
