//! Tools that the loop itself executes: one ends a structured answer, one changes which tools are equipped. Here they are
//! described and their input is checked; `run/tool_calls/loop_tools.rs` executes them.

use std::sync::Arc;

use protocol::{ToolGroup, ToolSpec};
use serde_json::{Map, Value, json};
use tools::{AnyTool, Effect, Executor, ExternalCall, InputError, PreparedCall};

use super::json_schema;

/// Ends a task that has an output schema.
pub(crate) const FINISH: &str = "generate_response";
/// Sets which tool groups are active.
pub(crate) const EQUIP: &str = "reset_equipped_tools";

/// A tool that the loop executes.
pub(crate) struct LoopTool {
    spec: ToolSpec,
    check: Check,
}

enum Check {
    Schema,
    Groups(Vec<ToolGroup>),
}

impl LoopTool {
    /// The tool that ends the work with an answer of this schema.
    pub(crate) fn finish(schema: &Map<String, Value>) -> Self {
        let spec = ToolSpec {
            name: FINISH.to_owned(),
            description:
                "Give your final answer. Call this once, when the task is done; nothing can follow it."
                    .to_owned(),
            input_schema: Value::Object(schema.clone()),
        };
        Self { spec, check: Check::Schema }
    }

    /// The tool that chooses among these groups.
    pub(crate) fn equip(groups: &[ToolGroup]) -> Self {
        let properties: Map<String, Value> = groups
            .iter()
            .map(|group| {
                let text = format!("{} Tools: {}.", group.description, group.tools.join(", "));
                (group.name.clone(), json!({ "type": "boolean", "description": text.trim() }))
            })
            .collect();
        let input_schema =
            json!({ "type": "object", "properties": properties, "additionalProperties": false });
        let spec = ToolSpec {
            name: EQUIP.to_owned(),
            description:
                "Choose which groups of tools you have from now on. Groups you leave out are put away."
                    .to_owned(),
            input_schema,
        };
        Self { spec, check: Check::Groups(groups.to_vec()) }
    }
}

impl AnyTool for LoopTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn executor(&self) -> Executor {
        Executor::Loop
    }

    fn effect(&self) -> Effect {
        Effect::ReadOnly
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<Box<dyn PreparedCall>, InputError> {
        match &self.check {
            Check::Schema => {
                let problems = json_schema::problems(&self.spec.input_schema, input);
                if !problems.is_empty() {
                    return Err(InputError(problems.join("\n")));
                }
            }
            Check::Groups(groups) => check_groups(groups, input).map_err(InputError)?,
        }
        Ok(Box::new(ExternalCall { tool: self.spec.name.clone(), executor: "the agent loop" }))
    }
}

fn check_groups(groups: &[ToolGroup], input: &Value) -> Result<(), String> {
    let Value::Object(wanted) = input else {
        return Err("the input must be an object of booleans".to_owned());
    };
    for (name, value) in wanted {
        if !groups.iter().any(|group| group.name == *name) {
            let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
            return Err(format!(
                "there is no tool group named `{name}`; the groups are {}",
                names.join(", ")
            ));
        }
        if !value.is_boolean() {
            return Err(format!("`{name}` must be true or false"));
        }
    }
    Ok(())
}
