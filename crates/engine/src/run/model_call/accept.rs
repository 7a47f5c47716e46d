//! Checks whether a call that a model wrote can be made. Changes nothing.

use protocol::{ProviderMetadata, ToolCall, ToolCallId, ToolSpec, json::disarm};
use serde_json::Value;
use tools::{Approval, Executor};

use crate::{
    agents::loop_tools::{EQUIP, FINISH},
    run::{
        agent_loop::turn::{Plan, PlannedCall},
        context::AgentContext,
        delegation::request,
        tool_calls::{approval::is_covered, loop_tools},
    },
};

/// A call as the model wrote it.
pub(crate) struct WrittenCall {
    /// Identifies the call within one answer.
    pub(crate) index: u32,
    pub(crate) id: ToolCallId,
    /// The tool that the name means, or the name as it was written if it means none.
    pub(crate) tool: String,
    pub(crate) raw: String,
    /// Provider data that must be sent back with the call.
    pub(crate) provider: Option<ProviderMetadata>,
}

impl WrittenCall {
    pub(crate) fn new(index: u32, id: ToolCallId, tool: &str) -> Self {
        Self { index, id, tool: tool.to_owned(), raw: String::new(), provider: None }
    }
}

/// Why a call cannot be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) input: Value,
    /// The reason, for the model.
    pub(crate) error: String,
    /// Whether the model is asked once more for the same call: the tool exists.
    pub(crate) can_be_corrected: bool,
}

/// The offered tool that a name means.
pub(crate) fn meant<'a>(offered: &'a [ToolSpec], written: &str) -> Option<&'a str> {
    tools::names::resolve(written, offered.iter().map(|spec| spec.name.as_str()))
}

pub(crate) fn accept(run: &AgentContext, call: &WrittenCall) -> Result<PlannedCall, Refusal> {
    let refuse = |input: Value, error: String, can_be_corrected| Refusal { input, error, can_be_corrected };
    let raw = || Value::String(call.raw.clone());
    let planned = |input, plan| PlannedCall {
        call: ToolCall { id: call.id.clone(), name: call.tool.clone(), input },
        plan,
    };
    if matches!(call.tool.as_str(), FINISH | EQUIP) {
        let mut input = tools::parse_arguments(&call.raw).map_err(|error| refuse(raw(), error, false))?;
        disarm(&mut input);
        match loop_tools::check(run, &call.tool, &input) {
            Some(Ok(())) => return Ok(planned(input, Plan::Run)),
            Some(Err(error)) => return Err(refuse(input, error, false)),
            None => {}
        }
    }
    let Some(tool) = run.services.tools.get(&call.tool).filter(|_| run.agent.tools.has(&call.tool)) else {
        let names = run.agent.tools.names().join(", ");
        let error = format!("There is no tool named \"{}\". The tools are: {names}.", call.tool);
        return Err(refuse(raw(), error, false));
    };
    let mut input = tools::read_arguments(&*tool, &call.raw).map_err(|error| refuse(raw(), error, true))?;
    // What runs is what is stored.
    disarm(&mut input);
    let plan = match tool.clone().prepare(&input) {
        Err(error) if tool.executor() == Executor::Engine => {
            return Err(refuse(input, request::Refusal::invalid(error.to_string()).to_string(), true));
        }
        Err(error) => return Err(refuse(input, error.to_string(), true)),
        Ok(_) if tool.executor() == Executor::Client => Plan::Wait,
        Ok(prepared) => match prepared.approval {
            Approval::NotNeeded => Plan::Run,
            asks if is_covered(&run.tree.grants, &call.tool, &asks) => Plan::Run,
            Approval::Ask { .. } => Plan::Ask,
        },
    };
    Ok(planned(input, plan))
}
