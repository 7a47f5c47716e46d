//! Tools that the loop itself executes: one ends a structured answer, one changes which tools are equipped.

use protocol::{ToolGroup, ToolSpec};
use serde_json::{Map, Value, json};

/// Ends a task that has an output schema.
pub(crate) const FINISH: &str = "generate_response";
/// Sets which tool groups are active.
pub(crate) const EQUIP: &str = "reset_equipped_tools";
pub(crate) fn finish_spec(schema: &Map<String, Value>) -> ToolSpec {
    ToolSpec {
        name: FINISH.to_owned(),
        description: "Give your final answer. Call this once, when the task is done; nothing can follow it."
            .to_owned(),
        input_schema: Value::Object(schema.clone()),
    }
}

pub(crate) fn equip_spec(groups: &[ToolGroup]) -> ToolSpec {
    let properties: Map<String, Value> = groups
        .iter()
        .map(|group| {
            let text = format!("{} Tools: {}.", group.description, group.tools.join(", "));
            (group.name.clone(), json!({ "type": "boolean", "description": text.trim() }))
        })
        .collect();
    ToolSpec {
        name: EQUIP.to_owned(),
        description: "Choose which groups of tools you have from now on. Groups you leave out are put away."
            .to_owned(),
        input_schema: json!({ "type": "object", "properties": properties, "additionalProperties": false }),
    }
}
