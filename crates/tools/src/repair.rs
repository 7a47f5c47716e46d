//! From the argument text of a model to a JSON value: the step before [`AnyTool::prepare`](crate::AnyTool::prepare).
//!
//! Strict JSON is taken as it is. Otherwise it is repaired where the intent is plain, which means that nothing can be
//! lost: one object with at most prose or a code fence around it. Text that ends too early, two objects, or
//! anything that looks like more fields outside the object is an error, and the model is asked again.

use serde_json::{Map, Value};

use crate::lenient::{self, DEEPEST, Fault};

/// The longest argument text, in bytes.
const LONGEST: usize = 1024 * 1024;

/// The error is for the model.
pub fn parse_arguments(raw: &str) -> Result<Value, String> {
    if raw.len() > LONGEST {
        return Err(format!(
            "the arguments are {} bytes long; at most {LONGEST} are accepted; split the work into several calls",
            raw.len()
        ));
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
