//! Tools that are part of the loop itself: the one that ends a structured answer, and the one that changes which tools
//! are equipped. They run between two model calls and touch nothing but the frame.

use std::sync::Arc;

use protocol::{MessageFacts, ToolCall, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::{drive::RunCtx, frame::Frame, schema};
use crate::agents::ToolGroup;

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

/// Checks a call of one of these tools; `None` when it is another tool. Nothing has changed when this fails.
pub(crate) fn check(run: &RunCtx, tool: &str, input: &Value) -> Option<Result<(), String>> {
    match tool {
        FINISH => {
            let schema = run.kit.finish.as_ref()?;
            let problems = schema::problems(&Value::Object(schema.clone()), input);
            Some(if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) })
        }
        EQUIP if !run.kit.groups.is_empty() => Some(check_groups(&run.kit.groups, input)),
        _ => None,
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

/// Does what an accepted call says; `None` when it is another tool.
pub(crate) fn call(
    run: &RunCtx,
    frame: &mut Frame,
    call: &ToolCall,
) -> Result<Option<ToolOutcome>, protocol::FoldError> {
    let output = match call.name.as_str() {
        FINISH if run.kit.finish.is_some() => {
            let structured_output = Some(call.input.clone());
            frame.note(MessageFacts { structured_output, ..MessageFacts::default() })?;
            json!({ "ok": true })
        }
        EQUIP if !run.kit.groups.is_empty() => {
            let active: Vec<String> = active(&call.input);
            let tools: Vec<&String> = run
                .kit
                .groups
                .iter()
                .filter(|group| active.contains(&group.name))
                .flat_map(|group| &group.tools)
                .collect();
            json!({ "ok": true, "active": active, "tools": tools })
        }
        _ => return Ok(None),
    };
    Ok(Some(ToolOutcome::Done { output }))
}

fn active(input: &Value) -> Vec<String> {
    let wanted = input.as_object().into_iter().flatten();
    wanted.filter(|(_, on)| **on == Value::Bool(true)).map(|(name, _)| name.clone()).collect()
}

/// The tools of a frame at the moment: what its newest `reset_equipped_tools` says, else what its groups begin with.
pub(crate) fn equipped(run: &RunCtx, frame: &Frame) -> Arc<[ToolSpec]> {
    if run.kit.groups.is_empty() {
        return Arc::clone(&run.kit.specs);
    }
    let chosen = frame.message().tool_parts().rev().find_map(|part| match &part.state {
        protocol::ToolState::OutputAvailable { input, .. } if part.tool == EQUIP => Some(active(input)),
        _ => None,
    });
    let is_on = |group: &ToolGroup| match &chosen {
        Some(chosen) => chosen.contains(&group.name),
        None => group.active,
    };
    let put_away = run.kit.groups.iter().filter(|group| !is_on(group)).flat_map(|group| &group.tools);
    run.kit.without(&put_away.map(String::as_str).collect::<Vec<_>>())
}
