//! Reads a tool's input schema and builds arguments from it. It does not depend on a specific tool: the purpose of a
//! property is read from its name and description, its type from the schema.

use protocol::ToolSpec;
use serde_json::{Map, Value};

/// One property of an object schema, its references already resolved.
#[derive(Clone, Debug)]
pub(super) struct Property<'s> {
    pub(super) name: &'s str,
    pub(super) schema: &'s Value,
    pub(super) required: bool,
    /// The words of its name and its description, lower case.
    pub(super) words: Vec<String>,
    name_words: Vec<String>,
}

/// An object schema, with the document that contains its definitions.
#[derive(Clone, Copy)]
pub(super) struct Object<'s> {
    root: &'s Value,
    node: &'s Value,
}

impl<'s> Object<'s> {
    pub(super) fn of(tool: &'s ToolSpec) -> Self {
        Self { root: &tool.input_schema, node: resolve(&tool.input_schema, &tool.input_schema) }
    }

    pub(super) fn properties(self) -> Vec<Property<'s>> {
        let required: Vec<&str> =
            self.node["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = self.node["properties"].as_object().into_iter().flatten();
        properties
            .map(|(name, outer)| {
                let schema = resolve(self.root, outer);
                let name_words = split_words(name);
                let mut words = name_words.clone();
                for text in [outer, schema].iter().filter_map(|node| node["description"].as_str()) {
                    words.extend(split_words(text));
                }
                Property { name, schema, required: required.contains(&name.as_str()), words, name_words }
            })
            .collect()
    }

    /// The schema of an array's items, when they are objects.
    pub(super) fn items_of(self, property: &Property<'s>) -> Option<Self> {
        let items = resolve(self.root, property.schema.get("items")?);
        items["properties"].is_object().then_some(Self { root: self.root, node: items })
    }

    /// Arguments with the given values, and a valid value for every other required property. `purpose` is shown as plain
    /// text, so it loses its back-ticks.
    pub(super) fn fill(self, values: &[(&str, Value)], purpose: &str) -> Value {
        let mut filled = Map::new();
        for property in self.properties() {
            let given =
                values.iter().find(|(name, _)| *name == property.name).map(|(_, value)| value.clone());
            if let Some(value) = given.or_else(|| property.required.then(|| self.default(&property, purpose)))
            {
                filled.insert(property.name.to_owned(), value);
            }
        }
        Value::Object(filled)
    }

    fn default(self, property: &Property<'s>, purpose: &str) -> Value {
        let schema = property.schema;
        if let Some(value) = schema.get("default").or_else(|| schema.get("const")) {
            return value.clone();
        }
        if let Some(first) = choices(schema).first() {
            return (*first).into();
        }
        match kind(schema) {
            Some("string") => purpose.replace('`', "").into(),
            Some("integer") => schema["minimum"].as_i64().unwrap_or(1).into(),
            Some("number") => schema["minimum"].as_f64().unwrap_or(1.0).into(),
            Some("boolean") => false.into(),
            Some("array") => Value::Array(Vec::new()),
            Some("object") => Self { root: self.root, node: schema }.fill(&[], purpose),
            _ => Value::Null,
        }
    }
}

impl<'s> Property<'s> {
    pub(super) fn is_text(&self) -> bool {
        kind(self.schema) == Some("string") && self.choices().is_empty()
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(kind(self.schema), Some("integer" | "number"))
    }

    /// The values that an enumeration allows.
    pub(super) fn choices(&self) -> Vec<&'s str> {
        choices(self.schema)
    }

    pub(super) fn is_named(&self, any: &[&str]) -> bool {
        self.name_words.iter().any(|word| any.contains(&word.as_str()))
    }

    pub(super) fn mentions(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&word.as_str()))
    }

    /// Whether the property is the purpose of the call, which is shown to people and not used by the tool.
    pub(super) fn is_purpose(&self) -> bool {
        self.is_text()
            && (self.name_words.ends_with(&["action".into(), "name".into()]) || self.is_named(&["purpose"]))
    }
}

/// The allowed values, whether written as `enum`, as `oneOf` constants, or as an optional one.
fn choices(schema: &Value) -> Vec<&str> {
    let listed: Vec<&str> =
        schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !listed.is_empty() {
        return listed;
    }
    let branches = ["oneOf", "anyOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    branches.flat_map(|branch| branch["const"].as_str().into_iter().chain(choices(branch))).collect()
}

fn kind(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ if schema["properties"].is_object() => Some("object"),
        _ if !choices(schema).is_empty() => Some("string"),
        _ => None,
    }
}

/// Follows `$ref` and the only real branch of an optional value, at most eight levels: a schema may refer to itself.
fn resolve<'s>(root: &'s Value, mut node: &'s Value) -> &'s Value {
    for _ in 0..8 {
        let referred = node["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
        let branches = node["anyOf"].as_array().or_else(|| node["allOf"].as_array());
        let only = branches.and_then(|branches| {
            let mut real = branches.iter().filter(|branch| branch["type"] != "null");
            real.next().filter(|_| real.next().is_none())
        });
        match referred.or(only) {
            Some(next) => node = next,
            None => break,
        }
    }
    node
}

/// The lower-case words of a name or a text: `actionName` → `action name`, `time-zone` → `time zone`. Chinese text is
/// split only at punctuation.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    for character in text.chars() {
        if character.is_alphanumeric() {
            let boundary =
                !previous.is_alphanumeric() || (previous.is_lowercase() && character.is_uppercase());
            match words.last_mut() {
                Some(word) if !boundary => word.extend(character.to_lowercase()),
                _ => words.push(character.to_lowercase().collect()),
            }
        }
        previous = character;
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(input_schema: Value) -> ToolSpec {
        ToolSpec { name: "t".into(), description: String::new(), input_schema }
    }

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(
            split_words("actionName time_zone IANA-name"),
            ["action", "name", "time", "zone", "iana", "name"]
        );
    }

    #[test]
    fn references_optionals_and_constants_are_resolved() {
        let tool = tool(json!({
            "type": "object",
            "properties": {
                "level": { "anyOf": [{ "$ref": "#/$defs/Level" }, { "type": "null" }] },
                "self": { "$ref": "#" },
            },
            "$defs": { "Level": { "oneOf": [{ "const": "low" }, { "const": "high" }] } },
        }));
        let properties = Object::of(&tool).properties();
        assert_eq!(properties[0].choices(), ["low", "high"]);
        assert!(properties[1].schema.is_object());
    }

    #[test]
    fn whatever_is_required_gets_an_acceptable_value() {
        let tool = tool(json!({
            "type": "object",
            "required": ["why", "count", "deep", "mode", "inner", "list", "kept"],
            "properties": {
                "why": { "type": "string" },
                "count": { "type": "integer", "minimum": 3 },
                "deep": { "type": "boolean" },
                "mode": { "type": "string", "enum": ["a", "b"] },
                "inner": { "type": "object", "required": ["x"], "properties": { "x": { "type": ["string", "null"] } } },
                "list": { "type": "array", "items": {} },
                "kept": { "default": 7 },
                "optional": { "type": "string" },
            },
        }));
        assert_eq!(
            Object::of(&tool).fill(&[("deep", true.into())], "`p`"),
            json!({ "why": "p", "count": 3, "deep": true, "mode": "a", "inner": { "x": "p" }, "list": [], "kept": 7 })
        );
    }
}
