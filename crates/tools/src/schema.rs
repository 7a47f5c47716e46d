//! Generates the schema that the model reads from a tool's `Input` type.
//!
//! Two exports of the same type are the same bytes, fields keep the order of the code, and the schema contains nothing
//! that is useless for the model: no `$schema`, no type names, no number formats, no `null` for optional fields.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::typed::Family;

/// The field that every host tool requires: shown to the person, not read by the tool.
pub(crate) const ACTION_NAME: &str = "actionName";

/// The description and the schema of a tool's input.
pub(crate) struct Described {
    pub description: String,
    pub schema: Value,
}

pub(crate) fn describe<I: JsonSchema>(family: Family) -> Described {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<I>());
    clean(&mut schema);
    let Value::Object(mut root) = schema else {
        return Described { description: String::new(), schema: json!({}) };
    };
    let description = match root.shift_remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    if root.get("type").and_then(Value::as_str) == Some("object") {
        root.entry("properties").or_insert_with(|| json!({}));
    }
    match family {
        Family::Host => ask_for_action_name(&mut root),
        Family::Contract => close(&mut root),
    }
    Described { description, schema: Value::Object(root) }
}

/// Adds the `actionName` field, except to a tool whose whole input is a string.
fn ask_for_action_name(root: &mut Map<String, Value>) {
    let Some(Value::Object(fields)) = root.get_mut("properties") else { return };
    if fields.contains_key(ACTION_NAME) {
        return;
    }
    let text =
        json!({ "type": "string", "description": "A short purpose of this call, shown to the person." });
    fields.shift_insert(0, ACTION_NAME.to_owned(), text);
    match root.get_mut("required") {
        Some(Value::Array(required)) => required.insert(0, ACTION_NAME.into()),
        _ => {
            root.insert("required".to_owned(), json!([ACTION_NAME]));
        }
    }
}

/// Forbids other fields: the field set of a contract tool is fixed.
fn close(root: &mut Map<String, Value>) {
    let composed = ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|keyword| root.contains_key(*keyword));
    if root.contains_key("properties") && !composed {
        root.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// Removes useless keywords from schemas, but not from fields: a *field* may be called `title` or `format`.
fn clean(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    node.shift_remove("title");
    if node.get("format").and_then(Value::as_str).is_some_and(is_rust_number) {
        node.shift_remove("format");
    }
    if node.get("default").is_some_and(Value::is_null) {
        node.shift_remove("default");
    }
    if let Some(Value::String(text)) = node.get_mut("description") {
        *text = reflow(text);
    }
    let required = required(node);
    if let Some(Value::Object(fields)) = node.get_mut("properties") {
        for (name, field) in fields {
            if !required.contains(name) {
                without_null(field);
            }
            clean(field);
        }
    }
    if let Some(Value::Object(definitions)) = node.get_mut("$defs") {
        definitions.values_mut().for_each(clean);
    }
    for keyword in ["items", "additionalProperties", "not"] {
        if let Some(inner) = node.get_mut(keyword) {
            clean(inner);
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        if let Some(Value::Array(inner)) = node.get_mut(keyword) {
            inner.iter_mut().for_each(clean);
        }
    }
}

pub(crate) fn required(node: &Map<String, Value>) -> Vec<String> {
    let names = node.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn is_rust_number(format: &str) -> bool {
    format.starts_with("int") || format.starts_with("uint") || format == "float" || format == "double"
}

/// Removes `null` from an optional field, which is left out instead.
fn without_null(field: &mut Value) {
    let Value::Object(node) = field else { return };
    if let Some(Value::Array(types)) = node.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            node.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(choices)) = node.get_mut("anyOf") else { return };
    choices.retain(|choice| *choice != json!({ "type": "null" }));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        node.shift_remove("anyOf");
        for (keyword, value) in only {
            node.entry(keyword).or_insert(value);
        }
    }
}

/// Joins the lines of a doc comment, except at blank lines and list items. Lines between code fences stay as they are.
fn reflow(text: &str) -> String {
    let mut flowed = String::with_capacity(text.len());
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let line = if in_code { line } else { line.trim() };
        let starts_anew = in_code || line.is_empty() || line.starts_with("- ") || flowed.ends_with('\n');
        if !flowed.is_empty() {
            flowed.push(if starts_anew { '\n' } else { ' ' });
        }
        flowed.push_str(line);
    }
    flowed
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Look things up in
    /// the index.
    ///
    /// - fast
    /// - bounded
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Lookup {
        /// The title of
        /// the page.
        title: String,
        page_size: Option<u32>,
        order: Option<Order>,
        /// How to filter.
        filter: Option<Filter>,
        #[serde(default)]
        tags: Vec<String>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        NewestFirst,
        OldestFirst,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Filter {
        format: i64,
    }

    #[test]
    fn a_host_schema_asks_for_the_purpose_first_and_carries_no_noise() {
        let described = describe::<Lookup>(Family::Host);
        assert_eq!(described.description, "Look things up in the index.\n\n- fast\n- bounded");
        insta::assert_snapshot!(serde_json::to_string_pretty(&described.schema).unwrap(), @r#"
        {
          "type": "object",
          "properties": {
            "actionName": {
              "type": "string",
              "description": "A short purpose of this call, shown to the person."
            },
            "title": {
              "type": "string",
              "description": "The title of the page."
            },
            "pageSize": {
              "type": "integer",
              "minimum": 0
            },
            "order": {
              "type": "string",
              "enum": [
                "newest_first",
                "oldest_first"
              ]
            },
            "filter": {
              "type": "object",
              "properties": {
                "format": {
                  "type": "integer"
                }
              },
              "required": [
                "format"
              ],
              "description": "How to filter."
            },
            "tags": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "default": []
            }
          },
          "required": [
            "actionName",
            "title"
          ]
        }
        "#);
    }

    #[test]
    fn a_contract_schema_has_the_fields_of_the_type_and_is_closed() {
        let described = describe::<Filter>(Family::Contract);
        assert_eq!(
            described.schema,
            json!({
                "type": "object",
                "properties": { "format": { "type": "integer" } },
                "required": ["format"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn a_bare_string_has_no_place_for_the_purpose() {
        assert_eq!(describe::<String>(Family::Host).schema, json!({ "type": "string" }));
    }

    #[test]
    fn code_keeps_its_lines() {
        let text = "Write\nthis:\n\n```text\na\n  b\n```\n\nand\nmore";
        assert_eq!(reflow(text), "Write this:\n\na\n  b\n\nand more");
    }

    #[test]
    fn two_exports_are_equal_to_the_byte() {
        let export = || describe::<Lookup>(Family::Host).schema.to_string();
        assert_eq!(export(), export());
    }
}
