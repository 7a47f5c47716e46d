//! From the argument text of a model to a JSON value: the step before [`AnyTool::prepare`].
//!
//! [`read_arguments`] knows the tool: a tool whose whole input is a text takes text as it comes, and for a host tool the
//! wrong shape is mended too (`mend.rs`). [`parse_arguments`] knows only JSON.
//!
//! Strict JSON is taken as it is. Otherwise it is repaired where the intent is plain, which means that nothing can be
//! lost: one object with at most prose or a code fence around it. Text that ends too early, two objects, or
//! anything that looks like more fields outside the object is an error, and the model is asked again.

use serde_json::{Map, Value};

use crate::{
    AnyTool, Family,
    lenient::{self, DEEPEST, Fault},
    mend,
};

/// The longest argument text, in bytes.
const LONGEST: usize = 1024 * 1024;

/// The input that the model's text means to this tool. The error is for the model.
pub fn read_arguments(tool: &dyn AnyTool, raw: &str) -> Result<Value, String> {
    let schema = &tool.spec().input_schema;
    if schema["type"] == "string" {
        return text_argument(raw).map(Value::String);
    }
    match (parse_arguments(raw), tool.family()) {
        (parsed, Family::Contract) => parsed,
        (Ok(value), Family::Host) => Ok(mend::mend(schema, value)),
        (Err(error), Family::Host) => {
            let raw = raw.trim();
            mend::words(schema, raw).filter(|_| !raw.is_empty()).ok_or(error)
        }
    }
}

/// The text that is the whole input of a tool: quoted, in an object of its own, or plain.
fn text_argument(raw: &str) -> Result<String, String> {
    if raw.len() > LONGEST {
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
        // Somebody meant JSON: what cannot be read as such is not passed on as a text.
        Some('{') => match lenient::object(trimmed) {
            Ok((Value::Object(fields), rest)) if rest.trim().is_empty() => only_text(&fields),
            _ => Err(TEXT_EXPECTED.to_owned()),
        },
        Some('"') => match lenient::text(trimmed) {
            Ok((text, rest)) if rest.trim().is_empty() => Ok(text),
            _ => Err(TEXT_EXPECTED.to_owned()),
        },
        Some(_) => Ok(raw.to_owned()),
    }
}

const TEXT_EXPECTED: &str = "the whole input of this tool is one text; send it as one JSON string";

/// `{"input": "…"}`, whatever the field is called: there is only one text that can be meant.
fn only_text(fields: &Map<String, Value>) -> Result<String, String> {
    let mut texts = fields.iter().filter(|(name, _)| *name != crate::schema::ACTION_NAME);
    match (texts.next(), texts.next()) {
        (Some((_, Value::String(text))), None) => Ok(text.clone()),
        _ => Err(TEXT_EXPECTED.to_owned()),
    }
}

fn too_long(raw: &str) -> String {
    format!(
        "the arguments are {} bytes long; at most {LONGEST} are accepted; split the work into several calls",
        raw.len()
    )
}

/// The error is for the model.
pub fn parse_arguments(raw: &str) -> Result<Value, String> {
    if raw.len() > LONGEST {
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
        Err(error) => return repaired(raw).map_err(|fault| told(fault, &error)),
    };
    if is_deeper_than(&value, DEEPEST) { Err(too_deep()) } else { Ok(value) }
}

/// An object that was encoded twice.
fn object_in(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

fn repaired(raw: &str) -> Result<Value, Fault> {
    let start = raw.find('{').ok_or(Fault::NotJson)?;
    let (before, text) = raw.split_at(start);
    let (object, after) = lenient::object(text)?;
    if leads_in(before) && leads_out(after) { Ok(object) } else { Err(Fault::NotJson) }
}

/// Prose or a fence before the object; not the beginning of something of which the object is a part.
fn leads_in(before: &str) -> bool {
    let before = before.trim_end();
    !["[", ",", "\"", "'", "\":", "':"].iter().any(|end| before.ends_with(end))
}

/// Prose, a fence or surplus braces behind the object; not further fields and not another object.
fn leads_out(after: &str) -> bool {
    let after = after.trim_start_matches(|c: char| c == '}' || c.is_whitespace());
    !after.contains(['{', '}']) && !after.starts_with([',', ':', ']', '"', '\''])
}

fn told(fault: Fault, strict: &serde_json::Error) -> String {
    match fault {
        Fault::Cut => format!(
            "the arguments end before the JSON is complete ({strict}); send the whole call again, shorter if need be"
        ),
        Fault::TooDeep => too_deep(),
        Fault::NotJson => format!("the arguments are not valid JSON: {strict}; send one JSON object"),
    }
}

fn too_deep() -> String {
    format!("the arguments are nested more than {DEEPEST} levels deep")
}

/// Parsed values are at most 128 levels deep, so is this recursion.
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
#[path = "repair_tests.rs"]
mod tests;
