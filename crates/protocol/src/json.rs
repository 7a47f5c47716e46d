//! JSON helpers that several modules share.

use jiter::{JsonValue, PartialMode};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// Reads as much as possible of JSON text that is still being written; `None` when nothing can be read yet. Values nested
/// too deep to be read back become text, as in [`disarm`].
pub fn partial(text: &str) -> Option<Value> {
    let read = JsonValue::parse_with_config(text.as_bytes(), false, PartialMode::TrailingStrings).ok()?;
    let mut value = owned(&read);
    cut(&mut value, 0);
    Some(value)
}

fn cut(value: &mut Value, depth: usize) {
    match value {
        Value::Object(_) | Value::Array(_) if depth >= DEEPEST => *value = Value::String(value.to_string()),
        Value::Object(fields) => fields.values_mut().for_each(|value| cut(value, depth + 1)),
        Value::Array(items) => items.iter_mut().for_each(|value| cut(value, depth + 1)),
        _ => {}
    }
}

fn owned(value: &JsonValue<'_>) -> Value {
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(value) => Value::Bool(*value),
        JsonValue::Int(value) => Value::from(*value),
        JsonValue::BigInt(value) => value.to_string().parse::<Number>().map_or(Value::Null, Value::Number),
        JsonValue::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        JsonValue::Str(value) => Value::String(value.to_string()),
        JsonValue::Array(items) => items.iter().map(owned).collect(),
        JsonValue::Object(fields) => {
            fields.iter().map(|(key, value)| (key.to_string(), owned(value))).collect::<Map<_, _>>().into()
        }
    }
}

/// Compares values, regardless of the order of keys and the spelling of numbers (`1`, `1.0`).
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The deepest nesting of a value from outside. JSON is read up to 128 levels, and a value is nested in an event, a message
/// and the messages of the agents above, where it must still be readable.
const DEEPEST: usize = 40;

/// Removes keys with which the client's JSON reader would refuse the stream: `__proto__`, and `constructor` with a
/// `prototype` in it. Values nested too deep to be read back become text.
pub fn disarm(value: &mut Value) {
    cut(value, 0);
    take_out_keys(value);
}

fn take_out_keys(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| {
                key != "__proto__" && !(key == "constructor" && value.get("prototype").is_some())
            });
            fields.values_mut().for_each(take_out_keys);
        }
        Value::Array(items) => items.iter_mut().for_each(take_out_keys),
        _ => {}
    }
}

/// Reads any value, for fields where `null` is a value and not an absence.
pub(crate) fn any_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Merges deeply, as the client does: objects are merged, everything else is replaced, and keys that reach a JavaScript
/// prototype are skipped.
pub fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        if matches!(key.as_str(), "__proto__" | "constructor" | "prototype") {
            continue;
        }
        match (into.get_mut(key), value) {
            (Some(Value::Object(into)), Value::Object(from)) => merge(into, from),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_nested_too_deep_becomes_text_and_nothing_is_lost() {
        let mut deep = json!("core");
        for _ in 0..120 {
            deep = json!([deep]);
        }
        let before = deep.to_string();
        disarm(&mut deep);
        let mut innermost = &deep;
        for _ in 0..DEEPEST {
            innermost = &innermost[0];
        }
        let text = innermost.as_str().unwrap();
        assert_eq!(format!("{}{text}{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST)), before);
        assert_eq!(partial(&"[".repeat(150)).map(|read| read.to_string().matches('[').count()), Some(150));
        let read = partial(&"[".repeat(150)).unwrap().to_string();
        assert!(serde_json::from_str::<Value>(&read).is_ok(), "it can be read back: {read}");
        let mut shallow = json!({ "a": [{ "b": [] }] });
        disarm(&mut shallow);
        assert_eq!(shallow, json!({ "a": [{ "b": [] }] }));
    }

    #[test]
    fn cut_json_is_read_as_far_as_it_goes() {
        assert_eq!(partial(r#"{"a": "x", "b": "unfin"#), Some(json!({"a": "x", "b": "unfin"})));
        assert_eq!(partial(""), None);
    }

    #[test]
    fn equal_values_may_be_spelled_differently() {
        assert!(same(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": null})));
    }

    #[test]
    fn keys_that_end_the_clients_stream_are_taken_out() {
        let mut value = json!({"a": [{"__proto__": 1, "b": 2}], "constructor": {"prototype": {}}, "c": {"constructor": 1}});
        disarm(&mut value);
        assert_eq!(value, json!({"a": [{"b": 2}], "c": {"constructor": 1}}));
    }

    #[test]
    fn merging_goes_deep_and_replaces_lists() {
        let mut into = json!({"a": {"x": 1, "y": [1]}, "k": 1}).as_object().cloned().unwrap();
        merge(&mut into, json!({"a": {"y": [2]}, "k": 2}).as_object().unwrap());
        assert_eq!(Value::from(into), json!({"a": {"x": 1, "y": [2]}, "k": 2}));
    }

    #[test]
    fn merging_never_reaches_a_prototype() {
        let mut into = json!({"a": {"x": 1}}).as_object().cloned().unwrap();
        merge(&mut into, json!({"a": {"constructor": 1, "y": 2}, "prototype": {}}).as_object().unwrap());
        assert_eq!(Value::from(into), json!({"a": {"x": 1, "y": 2}}));
    }
}
