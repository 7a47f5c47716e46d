//! Checks a value against a JSON schema: the part of the language that tools and structured answers use.

use serde_json::Value;

/// Returns what does not fit, each with its path; empty if the value fits. Unknown keywords are ignored.
pub(super) fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "the answer", 0, &mut found);
    found
}

/// Schemas do not nest deeper than this.
const DEEPEST: usize = 64;

fn check(schema: &Value, value: &Value, place: &str, depth: usize, found: &mut Vec<String>) {
    let Value::Object(rules) = schema else { return };
    if depth > DEEPEST {
        return found.push(format!("{place}: nested too deeply"));
    }
    if let Some(kind) = rules.get("type")
        && !fits_type(kind, value)
    {
        return found.push(format!("{place}: must be {}, is {}", told(kind), name_of(value)));
    }
    if let Some(Value::Array(choices)) = rules.get("enum")
        && !choices.contains(value)
    {
        found.push(format!("{place}: must be one of {}", Value::Array(choices.clone())));
    }
    if let Some(constant) = rules.get("const")
        && constant != value
    {
        found.push(format!("{place}: must be {constant}"));
    }
    match value {
        Value::Object(fields) => {
            for name in rules
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                if !fields.contains_key(name) {
                    found.push(format!("{place}: `{name}` is missing"));
                }
            }
            let known = rules.get("properties").and_then(Value::as_object);
            for (name, field) in fields {
                let place = format!("{place}.{name}");
                match (known.and_then(|known| known.get(name)), rules.get("additionalProperties")) {
                    (Some(rule), _) => check(rule, field, &place, depth + 1, found),
                    (None, Some(Value::Bool(false))) => found.push(format!("{place}: is not asked for")),
                    (None, Some(rule)) => check(rule, field, &place, depth + 1, found),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            bounds(rules.get("minItems"), rules.get("maxItems"), items.len(), "items", place, found);
            if let Some(rule) = rules.get("items") {
                for (number, item) in items.iter().enumerate() {
                    check(rule, item, &format!("{place}[{number}]"), depth + 1, found);
                }
            }
        }
        Value::String(text) => {
            bounds(
                rules.get("minLength"),
                rules.get("maxLength"),
                text.chars().count(),
                "characters",
                place,
                found,
            );
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if rules.get("minimum").and_then(Value::as_f64).is_some_and(|least| number < least)
                || rules.get("maximum").and_then(Value::as_f64).is_some_and(|most| number > most)
            {
                found.push(format!("{place}: is out of range"));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn bounds(
    least: Option<&Value>,
    most: Option<&Value>,
    count: usize,
    what: &str,
    place: &str,
    found: &mut Vec<String>,
) {
    let count = count as u64;
    if least.and_then(Value::as_u64).is_some_and(|least| count < least) {
        found.push(format!("{place}: has too few {what}"));
    }
    if most.and_then(Value::as_u64).is_some_and(|most| count > most) {
        found.push(format!("{place}: has too many {what}"));
    }
}

fn fits_type(kind: &Value, value: &Value) -> bool {
    match kind {
        Value::String(kind) => match kind.as_str() {
            "integer" => {
                value.as_i64().is_some()
                    || value.as_u64().is_some()
                    || value.as_f64().is_some_and(|n| n.fract() == 0.0)
            }
            "number" => value.is_number(),
            kind => kind == name_of(value),
        },
        Value::Array(kinds) => kinds.iter().any(|kind| fits_type(kind, value)),
        _ => true,
    }
}

fn told(kind: &Value) -> String {
    match kind {
        Value::String(kind) => kind.clone(),
        other => other.to_string(),
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_problem_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "title": { "type": "string", "minLength": 1 },
                "pages": { "type": "array", "items": { "type": "integer", "minimum": 1 } },
                "kind": { "enum": ["a", "b"] },
            },
            "required": ["title", "pages"],
            "additionalProperties": false,
        });
        assert_eq!(
            problems(&schema, &json!({ "title": "t", "pages": [1, 2.0], "kind": "a" })),
            Vec::<String>::new()
        );
        let wrong = problems(&schema, &json!({ "pages": [0, "x"], "kind": "c", "more": 1 }));
        assert_eq!(
            wrong,
            [
                "the answer: `title` is missing",
                "the answer.pages[0]: is out of range",
                "the answer.pages[1]: must be integer, is string",
                "the answer.kind: must be one of [\"a\",\"b\"]",
                "the answer.more: is not asked for",
            ]
        );
        assert_eq!(problems(&schema, &json!(7)), ["the answer: must be object, is number"]);
    }
}
