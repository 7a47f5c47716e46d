//! A definition as somebody sent it: read field by field, so that everything that is wrong is found at once.

use protocol::{
    AgentKind,
    wire::agents::{AgentFields, FieldProblem},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::AgentDefinition;

/// What was read; the fields hold the usual value where what was sent cannot be taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub fields: AgentFields,
    pub problems: Vec<FieldProblem>,
}

/// The fields of a definition, in the order of the documentation.
pub const FIELDS: [&str; 21] = [
    "name",
    "kind",
    "displayName",
    "description",
    "enabled",
    "systemPrompt",
    "systemPromptZh",
    "model",
    "fallback",
    "toolKeys",
    "groups",
    "toolGroups",
    "allowedSubAgents",
    "editableFileSuffixes",
    "maxDepth",
    "maxSteps",
    "budget",
    "autoBroadcast",
    "modes",
    "pageIds",
    "aliases",
];

/// What the server says about a definition; a client may send it back, and it changes nothing.
const SHOWN: [&str; 10] = [
    "id",
    "source",
    "type",
    "workspaceId",
    "version",
    "createdAt",
    "updatedAt",
    "available",
    "effectiveTools",
    "warnings",
];

/// What agent files call a field.
const OTHERWISE: [(&str, &str); 4] = [
    ("prompt", "systemPrompt"),
    ("promptZh", "systemPromptZh"),
    ("tools", "toolKeys"),
    ("capabilityGroups", "groups"),
];

/// Reads a whole definition; what is absent or null has the usual value.
pub fn whole(body: &Map<String, Value>) -> Draft {
    read(body, None)
}

/// Reads a change: what is absent stays as it is, null gives the usual value.
pub fn change(body: &Map<String, Value>, stored: &AgentFields) -> Draft {
    read(body, Some(stored))
}

fn read(body: &Map<String, Value>, stored: Option<&AgentFields>) -> Draft {
    let mut reader = Reader { body, problems: Vec::new() };
    reader.unknown_fields();
    let kind = reader.take("kind", stored.map(|stored| stored.kind), AgentKind::Sub, "\"main\" or \"sub\"");
    let name = reader.needed("name", stored.map(|stored| stored.name.clone()));
    let prompt = reader.needed("systemPrompt", stored.map(|stored| stored.system_prompt.clone()));
    let usual = AgentDefinition::bare(kind, &name, &prompt).fields();
    let stored = stored.cloned();
    macro_rules! field {
        ($key:literal, $field:ident, $shape:literal) => {
            reader.take(
                $key,
                stored.as_ref().map(|stored| stored.$field.clone()),
                usual.$field.clone(),
                $shape,
            )
        };
    }
    let fields = AgentFields {
        display_name: field!("displayName", display_name, "a text"),
        description: field!("description", description, "a text"),
        enabled: field!("enabled", enabled, "true or false"),
        system_prompt_zh: field!("systemPromptZh", system_prompt_zh, "a text"),
        model: field!("model", model, "an object {provider, modelId, params?}"),
        fallback: field!("fallback", fallback, "a list of models as provider/model"),
        tool_keys: field!("toolKeys", tool_keys, "a list of tool keys"),
        groups: field!("groups", groups, "a list of capability groups"),
        tool_groups: field!("toolGroups", tool_groups, "a list of {name, description?, tools, active?}"),
        allowed_sub_agents: field!("allowedSubAgents", allowed_sub_agents, "a list of names of agents"),
        editable_file_suffixes: field!(
            "editableFileSuffixes",
            editable_file_suffixes,
            "a list of suffixes such as .md"
        ),
        max_depth: field!("maxDepth", max_depth, "a whole number"),
        max_steps: field!("maxSteps", max_steps, "a whole number"),
        budget: field!("budget", budget, "an object {steps?, tokens?, microUsd?, wallTimeMs?}"),
        auto_broadcast: field!("autoBroadcast", auto_broadcast, "true or false"),
        modes: field!("modes", modes, "a list of modes"),
        page_ids: field!("pageIds", page_ids, "a list of pages"),
        aliases: field!("aliases", aliases, "a list of names"),
        name,
        kind,
        system_prompt: prompt,
    };
    Draft { fields, problems: reader.problems }
}

struct Reader<'a> {
    body: &'a Map<String, Value>,
    problems: Vec<FieldProblem>,
}

impl Reader<'_> {
    fn take<T: DeserializeOwned>(&mut self, name: &str, stored: Option<T>, usual: T, shape: &str) -> T {
        match self.body.get(name) {
            None => stored.unwrap_or(usual),
            Some(Value::Null) => usual,
            Some(value) => self.parse(name, value, shape).unwrap_or(usual),
        }
    }

    /// A text that has no usual value.
    fn needed(&mut self, name: &str, stored: Option<String>) -> String {
        match (self.body.get(name), stored) {
            (None, Some(stored)) => stored,
            (None | Some(Value::Null), _) => {
                let text = format!("{name} is missing.");
                self.problems.push(problem(name, "missing", text, format!("Give {name} a text.")));
                String::new()
            }
            (Some(value), _) => self.parse(name, value, "a text").unwrap_or_default(),
        }
    }

    fn parse<T: DeserializeOwned>(&mut self, name: &str, value: &Value, shape: &str) -> Option<T> {
        match serde_path_to_error::deserialize(value) {
            Ok(value) => Some(value),
            Err(error) => {
                let inner = error.path().to_string();
                let path = match inner.as_str() {
                    "." => name.to_owned(),
                    inner if inner.starts_with('[') => format!("{name}{inner}"),
                    inner => format!("{name}.{inner}"),
                };
                let text = format!("{path} cannot be read: {}.", error.inner());
                self.problems.push(problem(&path, "wrong_type", text, format!("{name} is {shape}.")));
                None
            }
        }
    }

    fn unknown_fields(&mut self) {
        for name in self.body.keys() {
            if FIELDS.contains(&name.as_str()) || SHOWN.contains(&name.as_str()) || name == "reason" {
                continue;
            }
            let otherwise = OTHERWISE.iter().find(|(other, _)| other == name).map(|(_, meant)| *meant);
            let meant = otherwise.or_else(|| tools::names::resolve(name, FIELDS.into_iter()));
            let fix = match meant {
                Some(meant) => format!("Call it {meant}."),
                None => format!("Leave it out. The fields are: {}.", FIELDS.join(", ")),
            };
            let text = format!("There is no field {name}.");
            self.problems.push(problem(name, "unknown_field", text, fix));
        }
    }
}

pub(super) fn problem(
    path: &str,
    code: &str,
    message: impl Into<String>,
    fix: impl Into<String>,
) -> FieldProblem {
    FieldProblem {
        path: path.to_owned(),
        code: code.to_owned(),
        line: None,
        message: message.into(),
        fix: fix.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_name_and_a_prompt_are_enough_and_the_rest_has_the_usual_value() {
        let draft = whole(&object(json!({ "name": "a", "systemPrompt": "p", "model": null })));
        assert_eq!(draft.problems, []);
        let fields = draft.fields;
        assert_eq!((fields.kind, fields.display_name.as_str(), fields.enabled), (AgentKind::Sub, "a", true));
        assert_eq!((fields.max_depth, fields.max_steps), (4, 20));
        let main = whole(&object(json!({ "name": "a", "systemPrompt": "p", "kind": "main" }))).fields;
        assert_eq!(main.max_steps, 50);
    }

    #[test]
    fn every_field_that_cannot_be_read_is_named_with_its_place() {
        let draft = whole(&object(json!({
            "systemPrompt": 3, "toolKeys": ["time-now", 7], "maxSteps": "many", "model": { "provider": "x" },
            "tools": [], "tooolKeys": [], "colour": "red", "version": 3, "source": "database",
        })));
        let found: Vec<(&str, &str)> =
            draft.problems.iter().map(|one| (one.path.as_str(), one.code.as_str())).collect();
        assert_eq!(
            found,
            [
                ("tools", "unknown_field"),
                ("tooolKeys", "unknown_field"),
                ("colour", "unknown_field"),
                ("name", "missing"),
                ("systemPrompt", "wrong_type"),
                ("model", "wrong_type"),
                ("toolKeys[1]", "wrong_type"),
                ("maxSteps", "wrong_type"),
            ]
        );
        assert_eq!(draft.problems[0].fix, "Call it toolKeys.");
        assert_eq!(draft.problems[1].fix, "Call it toolKeys.");
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name_and_null_takes_away() {
        let stored =
            whole(&object(json!({ "name": "a", "systemPrompt": "p", "maxSteps": 7, "pageIds": ["x"] })));
        let draft = change(&object(json!({ "description": "new", "pageIds": null })), &stored.fields);
        assert_eq!(draft.problems, []);
        assert_eq!((draft.fields.max_steps, draft.fields.description.as_str()), (7, "new"));
        assert!(draft.fields.page_ids.is_empty() && draft.fields.name == "a");
        let missing = change(&object(json!({ "name": null })), &stored.fields);
        assert_eq!(missing.problems[0].code, "missing");
    }
}
