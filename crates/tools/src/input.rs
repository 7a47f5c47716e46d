//! Checks a call's arguments against the tool's `Input`; errors name the field.
//!
//! A host tool is lenient: unknown fields and invalid optional fields are dropped; a required field is never invented. A
//! contract tool is exact: every deviation is refused. An optional field is dropped only if its own value has the wrong
//! type; an error deeper in it, or a value that is too large, is reported, because dropping it would lose its meaning.

use protocol::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use crate::{InputError, schema, typed::Family};

/// The most fields that are dropped; a call with more invalid fields is refused.
const MAX_DROPPED_FIELDS: usize = 32;
const LONGEST_QUOTE: usize = 120;

/// The input that a tool accepts.
pub(crate) struct InputSchema {
    pub spec: ToolSpec,
    pub family: Family,
}

impl InputSchema {
    pub(crate) fn of<I: schemars::JsonSchema>(name: &str, family: Family) -> Self {
        let described = schema::describe::<I>(family);
        let spec = ToolSpec {
            name: name.to_owned(),
            description: described.description,
            input_schema: described.schema,
        };
        Self { spec, family }
    }

    pub(crate) fn accept<I: DeserializeOwned>(&self, input: &Value) -> Result<I, InputError> {
        let schema = &self.spec.input_schema;
        self.expect_object(input)?;
        let first = match read(schema, input) {
            Ok(accepted) => return Ok(accepted),
            Err(problem) => problem,
        };
        if self.family == Family::Contract {
            return Err(first.into_error());
        }
        let mut input = input.clone();
        let mut problem = first;
        for _ in 0..MAX_DROPPED_FIELDS {
            if !(problem.may_be_dropped(schema) && remove(&mut input, &problem.path)) {
                break;
            }
            problem = match read(schema, &input) {
                Ok(accepted) => return Ok(accepted),
                Err(next) => next,
            };
        }
        Err(problem.into_error())
    }

    fn expect_object(&self, input: &Value) -> Result<(), InputError> {
        let schema = &self.spec.input_schema;
        if schema["type"] != "object" || input.is_object() {
            return Ok(());
        }
        let names = schema::required(schema.as_object().unwrap_or(&Map::new()));
        let fields = match names.as_slice() {
            [] => String::new(),
            names => format!(" with the fields {}", quoted(names.iter().map(String::as_str))),
        };
        Err(InputError(format!("the arguments: expected an object{fields}, got {}", kind(input))))
    }
}

fn read<I: DeserializeOwned>(schema: &Value, input: &Value) -> Result<I, InputProblem> {
    let accepted =
        serde_path_to_error::deserialize(input).map_err(|error| InputProblem::from_serde(&error))?;
    let mut path = Vec::new();
    match constraint_fault(schema, input, &mut path) {
        Some(fault) => Err(InputProblem { path, fault }),
        None => Ok(accepted),
    }
}

enum PathStep {
    Field(String),
    Item(usize),
}

enum InputFault {
    Superfluous(String),
    Missing,
    Invalid(String),
    /// Of the right type, but too large or too small. Never dropped, because its meaning is clear.
    OutOfBounds(String),
}

struct InputProblem {
    path: Vec<PathStep>,
    fault: InputFault,
}

impl InputProblem {
    fn from_serde(error: &serde_path_to_error::Error<serde_json::Error>) -> Self {
        let mut path: Vec<PathStep> = error
            .path()
            .iter()
            .filter_map(|segment| match segment {
                Segment::Seq { index } => Some(PathStep::Item(*index)),
                Segment::Map { key } => Some(PathStep::Field(key.clone())),
                Segment::Enum { variant } => Some(PathStep::Field(variant.clone())),
                Segment::Unknown => None,
            })
            .collect();
        let message = error.inner().to_string();
        let fault = if let Some(field) = message.strip_prefix("missing field ") {
            path.push(PathStep::Field(field.trim_matches('`').to_owned()));
            InputFault::Missing
        } else if message.starts_with("unknown field ") {
            InputFault::Superfluous(expected_part(&message).map(known_fields).unwrap_or_default())
        } else {
            InputFault::Invalid(reworded(&message))
        };
        Self { path, fault }
    }

    fn into_error(self) -> InputError {
        let field = path_text(&self.path);
        InputError(match self.fault {
            InputFault::Superfluous(known) => format!("{field}: this tool has no such field{known}"),
            InputFault::Missing => format!("{field}: is required and missing"),
            InputFault::Invalid(reason) | InputFault::OutOfBounds(reason) => format!("{field}: {reason}"),
        })
    }

    fn may_be_dropped(&self, schema: &Value) -> bool {
        match self.fault {
            InputFault::Superfluous(_) => true,
            InputFault::Missing | InputFault::OutOfBounds(_) => false,
            InputFault::Invalid(_) => is_optional(schema, &self.path),
        }
    }
}

fn path_text(path: &[PathStep]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            PathStep::Item(index) => name.push_str(&format!("[{index}]")),
            PathStep::Field(field) if name.is_empty() => name.push_str(field),
            PathStep::Field(field) => name.push_str(&format!(".{field}")),
        }
    }
    if name.is_empty() { "the arguments".to_owned() } else { format!("field `{name}`") }
}

fn is_optional(schema: &Value, path: &[PathStep]) -> bool {
    let Some((PathStep::Field(last), parents)) = path.split_last() else { return false };
    let parent = parents.iter().try_fold(schema, |node, step| match step {
        PathStep::Field(field) => node.get("properties")?.get(field),
        PathStep::Item(_) => node.get("items"),
    });
    let Some(parent) = parent.and_then(Value::as_object) else { return false };
    let known = parent.get("properties").is_some_and(|fields| fields.get(last).is_some());
    known && !schema::required(parent).contains(last)
}

fn remove(input: &mut Value, path: &[PathStep]) -> bool {
    let Some((PathStep::Field(last), parents)) = path.split_last() else { return false };
    let parent = parents.iter().try_fold(input, |node, step| match step {
        PathStep::Field(field) => node.get_mut(field),
        PathStep::Item(index) => node.get_mut(index),
    });
    parent.and_then(Value::as_object_mut).is_some_and(|fields| fields.shift_remove(last).is_some())
}

/// Checks what serde does not: unknown fields of closed objects, and the bounds of lists, texts and numbers.
fn constraint_fault(schema: &Value, value: &Value, path: &mut Vec<PathStep>) -> Option<InputFault> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let outside = |amount: f64, least: &str, most: &str, unit: &str| {
        if let Some(least) = bound(least).filter(|least| amount < *least) {
            return Some(InputFault::OutOfBounds(format!("expected at least {least}{unit}, got {amount}")));
        }
        let most = bound(most).filter(|most| amount > *most)?;
        Some(InputFault::OutOfBounds(format!("expected at most {most}{unit}, got {amount}")))
    };
    match value {
        Value::Null | Value::Bool(_) => None,
        Value::Number(number) => outside(number.as_f64()?, "minimum", "maximum", ""),
        Value::String(text) => outside(text.chars().count() as f64, "minLength", "maxLength", " characters"),
        Value::Array(items) => {
            outside(items.len() as f64, "minItems", "maxItems", " entries").or_else(|| {
                let schema = schema.get("items")?;
                items.iter().enumerate().find_map(|(index, item)| {
                    with_step(path, PathStep::Item(index), |path| constraint_fault(schema, item, path))
                })
            })
        }
        Value::Object(fields) => {
            let known = schema.get("properties")?.as_object()?;
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            fields.iter().find_map(|(name, field)| {
                with_step(path, PathStep::Field(name.clone()), |path| match known.get(name) {
                    Some(schema) => constraint_fault(schema, field, path),
                    None => closed.then(|| {
                        let names = quoted(known.keys().map(String::as_str));
                        InputFault::Superfluous(if known.is_empty() {
                            names
                        } else {
                            format!("; it has {names}")
                        })
                    }),
                })
            })
        }
    }
}

/// Runs a check one step deeper. The step stays on the path if there is a fault, so that the path shows where it is.
fn with_step(
    path: &mut Vec<PathStep>,
    step: PathStep,
    check: impl FnOnce(&mut Vec<PathStep>) -> Option<InputFault>,
) -> Option<InputFault> {
    path.push(step);
    let fault = check(path);
    if fault.is_none() {
        path.pop();
    }
    fault
}

/// Rewrites serde's message, which names Rust types, in JSON terms, with the expectation first.
fn reworded(message: &str) -> String {
    let Some(expected) = expected_part(message) else { return clipped(message) };
    let got = message.split(", expected ").next().unwrap_or_default();
    let got = ["unknown variant ", "invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|prefix| got.strip_prefix(prefix))
        .unwrap_or(got);
    let got = match got.strip_prefix('`').and_then(|got| got.strip_suffix('`')) {
        Some(variant) if message.starts_with("unknown variant") => format!("\"{}\"", clipped(variant)),
        _ => clipped(got),
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    format!("expected {expected}, got {got}")
}

fn expected_part(message: &str) -> Option<&str> {
    message.rsplit_once(", expected ").map(|(_, expected)| expected)
}

fn known_fields(expected: &str) -> String {
    format!("; expected {expected}")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
