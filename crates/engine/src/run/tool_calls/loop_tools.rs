//! Executes the tools that are part of the loop itself (`agents/loop_tools.rs`). They run between two model calls and
//! change nothing but the frame.

use std::sync::Arc;

use protocol::{MessageFacts, ToolCall, ToolOutcome, ToolSpec};
use serde_json::{Value, json};

use super::schema;
use crate::{
    agents::{
        ToolGroup,
        loop_tools::{EQUIP, FINISH},
    },
    run::{context::AgentContext, frame::Frame},
};

/// Checks a call of one of these tools; `None` if it is another tool. Changes nothing.
pub(crate) fn check(run: &AgentContext, tool: &str, input: &Value) -> Option<Result<(), String>> {
    match tool {
        FINISH => {
            let schema = run.agent.tools.finish.as_ref()?;
            let problems = schema::problems(&Value::Object(schema.clone()), input);
            Some(if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) })
        }
        EQUIP if !run.agent.tools.groups.is_empty() => Some(check_groups(&run.agent.tools.groups, input)),
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

/// Executes an accepted call; `None` if it is another tool.
pub(crate) fn call(
    run: &AgentContext,
    frame: &mut Frame,
    call: &ToolCall,
) -> Result<Option<ToolOutcome>, protocol::FoldError> {
    let output = match call.name.as_str() {
        FINISH if run.agent.tools.finish.is_some() => {
            let structured_output = Some(call.input.clone());
            frame.note(MessageFacts { structured_output, ..MessageFacts::default() })?;
            json!({ "ok": true })
        }
        EQUIP if !run.agent.tools.groups.is_empty() => {
            let active: Vec<String> = active(&call.input);
            let tools: Vec<&String> = run
                .agent
                .tools
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

/// The tools that a model call offers: what the newest `reset_equipped_tools` says, else what the groups begin with.
pub(crate) fn equipped(run: &AgentContext, frame: &Frame) -> Arc<[ToolSpec]> {
    if run.agent.tools.groups.is_empty() {
        return Arc::clone(&run.agent.tools.specs);
    }
    let chosen = frame.message().tool_parts().rev().find_map(|part| match &part.state {
        protocol::ToolState::OutputAvailable { input, .. } if part.tool == EQUIP => Some(active(input)),
        _ => None,
    });
    let is_active = |group: &ToolGroup| match &chosen {
        Some(chosen) => chosen.contains(&group.name),
        None => group.active,
    };
    let put_away =
        run.agent.tools.groups.iter().filter(|group| !is_active(group)).flat_map(|group| &group.tools);
    run.agent.tools.without(&put_away.map(String::as_str).collect::<Vec<_>>())
}
