//! Executes the tools that are part of the loop itself (`agents/loop_tools.rs`). They run between two model calls and
//! change nothing but the frame.

use std::sync::Arc;

use protocol::{MessageFacts, ToolCall, ToolOutcome, ToolSpec};
use serde_json::{Value, json};

use crate::{
    agents::{
        ToolGroup,
        loop_tools::{EQUIP, FINISH},
    },
    run::{context::AgentContext, frame::Frame},
};

/// Executes a call that was accepted.
pub(crate) fn call(
    run: &AgentContext,
    frame: &mut Frame,
    call: &ToolCall,
) -> Result<ToolOutcome, protocol::FoldError> {
    let output = match call.name.as_str() {
        FINISH => {
            let structured_output = Some(call.input.clone());
            frame.note(MessageFacts { structured_output, ..MessageFacts::default() })?;
            json!({ "ok": true })
        }
        EQUIP => {
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
        other => {
            return Ok(ToolOutcome::Failed { message: format!("The loop has no tool named \"{other}\".") });
        }
    };
    Ok(ToolOutcome::Done { output })
}

fn active(input: &Value) -> Vec<String> {
    let wanted = input.as_object().into_iter().flatten();
    wanted.filter(|(_, on)| **on == Value::Bool(true)).map(|(name, _)| name.clone()).collect()
}

/// The group of a tool that the agent has put away; `None` for a tool that is offered, or that it does not have.
pub(crate) fn inactive_group<'r>(run: &'r AgentContext, frame: &Frame, tool: &str) -> Option<&'r str> {
    let tools = &run.agent.tools;
    let group = tools.groups.iter().find(|group| group.tools.iter().any(|own| own == tool))?;
    let is_put_away = tools.has(tool) && !equipped(run, frame).iter().any(|spec| spec.name == tool);
    is_put_away.then_some(group.name.as_str())
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
