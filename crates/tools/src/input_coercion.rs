//! Coerces arguments into a tool's schema where their meaning is clear. Only for host tools: arguments of contract tools
//! must be exact.
//!
//! Nothing is invented and nothing is lost: a value is moved, renamed or converted to the type of the schema, and only
//! if the conversion is exact. Other values are not changed, and the check of the input names the field.

use serde_json::{Map, Number, Value};

use crate::schema::{self, ACTION_NAME};

/// Fields in which some models wrap the arguments.
const WRAPPERS: [&str; 5] = ["arguments", "parameters", "args", "input", "params"];
/// Fields that may accompany a wrapper.
const LABELS: [&str; 5] = ["name", "tool", "tool_name", "type", "id"];
const MAX_PLAIN_TEXT: usize = 4_000;

pub(crate) fn coerce(schema: &Value, value: Value) -> Value {
    if schema["type"] != "object" {
        return value;
    }
    let value = match value {
        Value::String(text) => match text_field(schema) {
            Some(field) => object(field, text),
            None => Value::String(text),
        },
        Value::Array(mut items) if items.len() == 1 && items[0].is_object() => items.remove(0),
        value => value,
    };
    fit(schema, unwrap(schema, value))
}

/// Reads a text that is not JSON, for a tool with one required text field.
pub(crate) fn from_plain_text(schema: &Value, raw: &str) -> Option<Value> {
    let field = text_field(schema)?;
    let is_assignment = || {
        let name = raw.split([':', '=']).next().unwrap_or_default().trim();
        name.len() < raw.len() && schema["properties"].get(name).is_some()
    };
    let is_plain = !raw.contains(['{', '}', '[', ']', '"', '`', '<']);
    (raw.len() <= MAX_PLAIN_TEXT && is_plain && !is_assignment()).then(|| object(field, raw.to_owned()))
}

/// The only required field, if it is a text.
fn text_field(schema: &Value) -> Option<String> {
    let required = schema::required(schema.as_object()?);
    let mut asked = required.into_iter().filter(|name| name != ACTION_NAME);
    let field = asked.next().filter(|_| asked.next().is_none())?;
    (schema["properties"][&field]["type"] == "string").then_some(field)
}

fn object(field: String, text: String) -> Value {
    Value::Object(Map::from_iter([(field, Value::String(text))]))
}

/// Unwraps `{"arguments": {…}}`, which may also contain the tool's name.
fn unwrap(schema: &Value, value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    let known = |name: &str| schema["properties"].get(name).is_some();
    let inside = fields.keys().find(|name| WRAPPERS.contains(&name.as_str()) && !known(name)).cloned();
    let alone = fields
        .keys()
        .all(|name| Some(name) == inside.as_ref() || (LABELS.contains(&name.as_str()) && !known(name)));
    let Some(inside) = inside.filter(|_| alone) else { return Value::Object(fields) };
    let wrapped = match fields.get(&inside) {
        Some(Value::Object(_)) => fields.shift_remove(&inside),
        Some(Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    };
    wrapped.unwrap_or(Value::Object(fields))
}

/// Converts a value to the type of the schema. Values have at most 64 levels, so the recursion is bounded.
fn fit(schema: &Value, value: Value) -> Value {
    match (schema["type"].as_str(), value) {
        (Some("object"), Value::Object(fields)) => Value::Object(fit_fields(schema, fields)),
        (Some("object"), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(fields)) => Value::Object(fit_fields(schema, fields)),
            _ => Value::String(text),
        },
        (Some("array"), Value::Array(items)) => {
            items.into_iter().map(|item| fit(&schema["items"], item)).collect()
        }
        (Some("array"), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => fit(schema, Value::Array(items)),
            _ if schema["items"]["type"] == "string" => Value::Array(vec![Value::String(text)]),
            _ => Value::String(text),
        },
        (Some("array"), Value::Object(item)) if schema["items"]["type"] == "object" => {
            Value::Array(vec![fit(&schema["items"], Value::Object(item))])
        }
        (Some("string"), Value::String(text)) => Value::String(spelled(schema, text)),
        (Some("string"), Value::Number(number)) => Value::String(number.to_string()),
        (Some("string"), Value::Bool(truth)) => Value::String(truth.to_string()),
        (Some("integer"), Value::String(text)) => whole(&text).map_or(Value::String(text), Value::Number),
        (Some("integer"), Value::Number(number)) => Value::Number(without_fraction(number)),
        (Some("number"), Value::String(text)) => decimal(&text).map_or(Value::String(text), Value::Number),
        (Some("boolean"), Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(text),
        },
        (_, value) => value,
    }
}

/// Renames misspelt fields if only one field can be meant and its name is not used.
fn fit_fields(schema: &Value, fields: Map<String, Value>) -> Map<String, Value> {
    let Some(known) = schema["properties"].as_object() else { return fields };
    let mut fitted = Map::new();
    for (name, value) in &fields {
        let meant = match known.get(name) {
            Some(_) => name,
            None => {
                let mut same = known.keys().filter(|known| letters(known) == letters(name));
                let twice = fields.keys().filter(|other| letters(other) == letters(name)).count() > 1;
                match (same.next(), same.next()) {
                    (Some(meant), None) if !twice => meant,
                    _ => name,
                }
            }
        };
        let value = known.get(meant).map_or_else(|| value.clone(), |schema| fit(schema, value.clone()));
        fitted.insert(meant.clone(), value);
    }
    fitted
}

fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Corrects the spelling of an enumeration's value.
fn spelled(schema: &Value, text: String) -> String {
    let Some(words) = schema["enum"].as_array() else { return text };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    if words.contains(&text.as_str()) {
        return text;
    }
    let mut same = words.into_iter().filter(|word| letters(word) == letters(&text));
    match (same.next(), same.next()) {
        (Some(word), None) => word.to_owned(),
        _ => text,
    }
}

fn whole(text: &str) -> Option<Number> {
    let text = text.trim();
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

fn decimal(text: &str) -> Option<Number> {
    whole(text).or_else(|| Number::from_f64(text.trim().parse().ok()?))
}

/// Converts a number without a fraction to an integer: `3.0`, but not `3.5`.
fn without_fraction(number: Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            Number::from(float as i64)
        }
        _ => number,
    }
}

#[cfg(test)]
#[path = "input_coercion_tests.rs"]
mod tests;
