//! Generates the types of the web interface from the protocol crate: JSON schemas of what the server sends, written as
//! TypeScript. The check fails when the generated file is not up to date.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use protocol::{
    AgentRef, CommandReport, ErrorCode, Job, JobEvent, JobInput, JobList, MessageFacts, RunOptions, ToolSpec,
    Usage, UserAnswer,
    file_change::{ChangeList, ChangedFileDiff, FolderList, RevertRequest, RevertResult},
    policy::{NewRule, RuleList},
    wire::{
        access::{SignInList, TokenList},
        agents::{AgentCheck, AgentList},
        rest::{
            About, ApprovalAnswer, ApprovalList, AskedApproval, BranchList, Problem, SessionInfo, SessionList,
        },
    },
};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

pub const FILE: &str = "web/src/api/types.gen.ts";

pub fn typescript() -> Result<String> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    everything(&mut generator);
    let mut text = String::from(
        "// Made by `cargo xtask web` from crates/protocol. Change the Rust types instead.\n// oxlint-disable\n",
    );
    for (name, schema) in generator.take_definitions(true) {
        let schema = schema.as_object().with_context(|| format!("{name} is no object"))?;
        write!(text, "\n{}", declaration(&name, schema).with_context(|| name.clone())?)?;
    }
    Ok(text)
}

fn everything(generator: &mut SchemaGenerator) {
    generator.subschema_for::<About>();
    generator.subschema_for::<AgentCheck>();
    generator.subschema_for::<AgentList>();
    generator.subschema_for::<AgentRef>();
    generator.subschema_for::<ApprovalAnswer>();
    generator.subschema_for::<ApprovalList>();
    generator.subschema_for::<AskedApproval>();
    generator.subschema_for::<BranchList>();
    generator.subschema_for::<ChangeList>();
    generator.subschema_for::<ChangedFileDiff>();
    generator.subschema_for::<CommandReport>();
    generator.subschema_for::<ErrorCode>();
    generator.subschema_for::<FolderList>();
    generator.subschema_for::<Job>();
    generator.subschema_for::<JobEvent>();
    generator.subschema_for::<JobInput>();
    generator.subschema_for::<JobList>();
    generator.subschema_for::<MessageFacts>();
    generator.subschema_for::<NewRule>();
    generator.subschema_for::<Problem>();
    generator.subschema_for::<RevertRequest>();
    generator.subschema_for::<RevertResult>();
    generator.subschema_for::<RuleList>();
    generator.subschema_for::<RunOptions>();
    generator.subschema_for::<SessionInfo>();
    generator.subschema_for::<SessionList>();
    generator.subschema_for::<SignInList>();
    generator.subschema_for::<TokenList>();
    generator.subschema_for::<ToolSpec>();
    generator.subschema_for::<Usage>();
    generator.subschema_for::<UserAnswer>();
}

fn declaration(name: &str, schema: &Map<String, Value>) -> Result<String> {
    let about = comment(schema, "");
    match schema.get("properties").and_then(Value::as_object) {
        Some(fields) => Ok(format!("{about}export interface {name} {}\n", object(schema, fields)?)),
        None => Ok(format!("{about}export type {name} = {}\n", kind(schema)?)),
    }
}

fn object(schema: &Map<String, Value>, fields: &Map<String, Value>) -> Result<String> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut text = String::from("{\n");
    for (name, field) in fields {
        let needed = required.contains(&name.as_str());
        let (about, kind) = match field.as_object() {
            Some(field) => (comment(field, "  "), kind(field).with_context(|| name.clone())?),
            None => (String::new(), "unknown".to_owned()),
        };
        // An optional field is left out, never null.
        let kind = if needed { kind } else { kind.replace(" | null", "") };
        writeln!(text, "{about}  {name}{}: {kind}", if needed { "" } else { "?" })?;
    }
    text.push('}');
    Ok(text)
}

fn kind(schema: &Map<String, Value>) -> Result<String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return Ok(reference.rsplit('/').next().unwrap_or(reference).to_owned());
    }
    if let Some(value) = schema.get("const") {
        return Ok(literal(value));
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Ok(values.iter().map(literal).collect::<Vec<_>>().join(" | "));
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(choice).and_then(Value::as_array) {
            let kinds: Result<Vec<String>> =
                choices.iter().map(|one| one.as_object().map_or(Ok("unknown".to_owned()), kind)).collect();
            return Ok(kinds?.join(" | "));
        }
    }
    match schema.get("type") {
        None => Ok("unknown".to_owned()),
        Some(Value::String(name)) => named(name, schema),
        Some(Value::Array(names)) => {
            let kinds: Result<Vec<String>> =
                names.iter().filter_map(Value::as_str).map(|name| named(name, schema)).collect();
            Ok(kinds?.join(" | "))
        }
        Some(other) => bail!("a schema type that is not a name: {other}"),
    }
}

fn named(name: &str, schema: &Map<String, Value>) -> Result<String> {
    Ok(match name {
        "string" | "boolean" | "null" => name.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => {
            let item =
                schema.get("items").and_then(Value::as_object).map_or(Ok("unknown".to_owned()), kind)?;
            if item.contains(' ') { format!("({item})[]") } else { format!("{item}[]") }
        }
        "object" => match schema.get("properties").and_then(Value::as_object) {
            Some(fields) => object(schema, fields)?,
            None => match schema.get("additionalProperties").and_then(Value::as_object) {
                Some(values) => format!("Record<string, {}>", kind(values)?),
                None => "Record<string, unknown>".to_owned(),
            },
        },
        other => bail!("the type `{other}` has no counterpart yet"),
    })
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

fn comment(schema: &Map<String, Value>, indent: &str) -> String {
    match schema.get("description").and_then(Value::as_str) {
        Some(text) => format!("{indent}/** {} */\n", text.replace('\n', " ").replace("*/", "* /")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn optional_fields_are_left_out_and_nullable_ones_are_null() {
        let schema = json!({ "type": "object", "required": ["a"], "properties": {
            "a": { "type": ["string", "null"], "description": "About a." },
            "b": { "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }] },
            "c": { "type": "array", "items": { "enum": ["x", "y"] } },
            "d": true,
            "e": { "type": "object", "additionalProperties": { "$ref": "#/$defs/E" } },
        } });
        let text = declaration("T", schema.as_object().unwrap()).unwrap();
        assert_eq!(
            text,
            "export interface T {\n  /** About a. */\n  a: string | null\n  b?: B\n  c?: ('x' | 'y')[]\n  d?: unknown\n  e?: Record<string, E>\n}\n"
        );
    }

    #[test]
    fn every_error_code_is_in_the_types() {
        let text = typescript().unwrap();
        for code in ErrorCode::ALL {
            assert!(text.contains(&format!("'{code}'")), "{code}");
        }
    }
}
