//! Agents in files: read like a definition that was sent, and every mistake has its line.
//!
//! `agent.toml` calls three fields otherwise (`prompt`, `promptZh`, `tools`) and may leave the prompts to `prompt.md` and
//! `prompt.zh.md` beside it. JSON is what the REST routes take and give, one agent or many.

use std::{borrow::Cow, collections::HashMap};

use serde_json::{Map, Value, value::RawValue};
use toml::de::{DeTable, DeValue};

/// What `agent.toml` calls a field, and what a definition does.
const TOML_NAMES: [(&str, &str); 3] =
    [("prompt", "systemPrompt"), ("promptZh", "systemPromptZh"), ("tools", "toolKeys")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Toml,
    Json,
}

/// A text that is no agent at all, and where reading it ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    pub line: usize,
    pub message: String,
}

/// A definition: where it stands in the file, and its fields.
pub type Body = (String, Map<String, Value>);

/// The agents of a text as they would be sent, each with its place in the text.
pub fn bodies(form: Form, text: &str) -> Result<Vec<Body>, Unreadable> {
    match form {
        Form::Toml => Ok(vec![(String::new(), of_toml(text)?)]),
        Form::Json => of_json(text),
    }
}

fn of_toml(text: &str) -> Result<Map<String, Value>, Unreadable> {
    let body: Map<String, Value> = toml::from_str(text).map_err(|error| Unreadable {
        line: error.span().map_or(1, |span| line_at(text, span.start)),
        message: error.message().to_owned(),
    })?;
    let rename = |key: String| {
        let other = TOML_NAMES.iter().find(|(name, _)| *name == key);
        other.map_or(key, |(_, field)| (*field).to_owned())
    };
    Ok(body.into_iter().map(|(key, value)| (rename(key), value)).collect())
}

fn of_json(text: &str) -> Result<Vec<Body>, Unreadable> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Unreadable { line: error.line().max(1), message: error.to_string() })?;
    let not_an_agent = |path: &str| Unreadable {
        line: line_of(Form::Json, text, path),
        message: "an agent must be an object".to_owned(),
    };
    let many = |base: &str, list: Vec<Value>| {
        let agents = list.into_iter().enumerate().map(|(at, value)| {
            let path = format!("{base}[{at}]");
            match value {
                Value::Object(body) => Ok((path, body)),
                _ => Err(not_an_agent(&path)),
            }
        });
        agents.collect()
    };
    match value {
        Value::Array(list) => many("", list),
        Value::Object(mut body) => match body.remove("agents") {
            // What `GET /api/agents` and `concertino agents list --json` give.
            Some(Value::Array(list)) => many("agents", list),
            Some(_) => Err(not_an_agent("agents")),
            None => Ok(vec![(String::new(), body)]),
        },
        _ => Err(not_an_agent("")),
    }
}

/// The path as the file spells it.
pub fn spelled(form: Form, path: &str) -> String {
    let (root, rest) = path.split_at(path.find(['[', '.']).unwrap_or(path.len()));
    let other = TOML_NAMES.iter().find(|(_, field)| *field == root && form == Form::Toml);
    format!("{}{rest}", other.map_or(root, |(name, _)| name))
}

/// The line of a field, or of the nearest thing around it that is there.
pub fn line_of(form: Form, text: &str, path: &str) -> usize {
    let steps = steps(path);
    let at = match form {
        Form::Toml => toml_offset(text, &steps),
        Form::Json => json_offset(text, &steps),
    };
    line_at(text, at)
}

enum Step<'a> {
    Field(&'a str),
    Entry(usize),
}

/// `toolGroups[0].tools[1]` in pieces.
fn steps(path: &str) -> Vec<Step<'_>> {
    let pieces = path.split(['.', '[']).filter(|piece| !piece.is_empty());
    let step = |piece: &'_ str| piece.strip_suffix(']').and_then(|number| number.parse().ok());
    pieces.map(|piece| step(piece).map_or(Step::Field(piece), Step::Entry)).collect()
}

/// A field of a table: where its name stands, and its value.
fn find<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<(usize, &'t DeValue<'i>)> {
    let (key, value) = table.iter().find(|(key, _)| key.get_ref().as_ref() == name)?;
    Some((key.span().start, value.get_ref()))
}

fn toml_offset(text: &str, steps: &[Step<'_>]) -> usize {
    let Ok(table) = DeTable::parse(text) else { return 0 };
    let Some((Step::Field(root), rest)) = steps.split_first() else { return 0 };
    let other = TOML_NAMES.iter().find(|(_, field)| field == root).map(|(name, _)| *name);
    let found = find(table.get_ref(), root).or_else(|| find(table.get_ref(), other?));
    let Some((mut at, mut value)) = found else { return 0 };
    for step in rest {
        let next = match (step, value) {
            (Step::Field(name), DeValue::Table(table)) => find(table, name),
            (Step::Entry(number), DeValue::Array(list)) => {
                list.get(*number).map(|entry| (entry.span().start, entry.get_ref()))
            }
            _ => None,
        };
        match next {
            Some((place, inner)) => (at, value) = (place, inner),
            None => break,
        }
    }
    at
}

fn json_offset(text: &str, steps: &[Step<'_>]) -> usize {
    let Ok(mut value) = serde_json::from_str::<&RawValue>(text) else { return 0 };
    for step in steps {
        let inner = match step {
            Step::Field(name) => serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(value.get())
                .ok()
                .and_then(|fields| fields.get(*name).copied()),
            Step::Entry(number) => serde_json::from_str::<Vec<&RawValue>>(value.get())
                .ok()
                .and_then(|list| list.get(*number).copied()),
        };
        match inner {
            Some(inner) => value = inner,
            None => break,
        }
    }
    // Every inner value is a part of the text itself.
    (value.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_toml_file_has_its_line() {
        let text = "name = \"a\"\ntools = [\n  \"x\",\n  \"y\",\n]\nprompt = \"\"\"\nlong\n\"\"\"\n[model]\nprovider = \"p\"\n";
        let line = |path| line_of(Form::Toml, text, path);
        assert_eq!((line("name"), line("toolKeys"), line("toolKeys[1]")), (1, 2, 4));
        assert_eq!((line("systemPrompt"), line("model.provider"), line("model.modelId")), (6, 10, 9));
        assert_eq!((line("maxSteps"), line("")), (1, 1));
        assert_eq!(spelled(Form::Toml, "toolKeys[1]"), "tools[1]");
        assert_eq!(spelled(Form::Json, "toolKeys[1]"), "toolKeys[1]");
    }

    #[test]
    fn a_field_of_a_json_file_has_its_line() {
        let text = "[\n {\"name\": \"a\"},\n {\n  \"toolKeys\": [\"x\",\n   \"y\"]\n }\n]";
        let line = |path| line_of(Form::Json, text, path);
        assert_eq!((line("[1].toolKeys[0]"), line("[1].toolKeys[1]"), line("[1].name")), (4, 5, 3));
        let all = bodies(Form::Json, text).unwrap();
        assert_eq!(all.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["[0]", "[1]"]);
        let listed = bodies(Form::Json, "{\"agents\": [{\"name\": \"a\"}], \"groups\": []}").unwrap();
        assert_eq!(listed[0].0, "agents[0]");
        assert_eq!(bodies(Form::Json, "{\"name\": \"a\"}").unwrap()[0].0, "");
    }

    #[test]
    fn a_text_that_cannot_be_read_says_where() {
        let error = bodies(Form::Toml, "name = \"a\"\ntools = [\n").unwrap_err();
        assert!(error.line >= 2, "{error:?}");
        assert_eq!(bodies(Form::Json, "[\n1]").unwrap_err().line, 2);
        assert_eq!(bodies(Form::Json, "{\n\"a\": }").unwrap_err().line, 2);
    }
}
