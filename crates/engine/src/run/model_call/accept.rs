//! Checks whether a call that a model wrote can be made. Changes nothing.

use protocol::{ProviderMetadata, ToolCall, ToolCallId, ToolSpec, json::disarm};
use serde_json::Value;
use tools::Executor;

use crate::run::{
    agent_loop::turn::{Plan, PlannedCall},
    context::AgentContext,
    delegation::request,
    tool_calls::verdict::Judge,
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
    let Some(tool) = run.agent.tools.get(&call.tool) else {
        let names = run.agent.tools.names().join(", ");
        let error = format!("There is no tool named \"{}\". The tools are: {names}.", call.tool);
        return Err(refuse(raw(), error, false));
    };
    let executor = tool.executor();
    // A structured answer is checked, not asked for again: the model is told what does not fit, as a result.
    let can_be_corrected = executor != Executor::Loop;
    let mut input =
        tools::read_arguments(&*tool, &call.raw).map_err(|error| refuse(raw(), error, can_be_corrected))?;
    // What runs is what is stored.
    disarm(&mut input);
    let plan = match tool.prepare(&input) {
        Err(error) => {
            let error = match executor {
                Executor::Delegation => request::Refusal::invalid(error.to_string()).to_string(),
                Executor::Server | Executor::Client | Executor::Loop => error.to_string(),
            };
            return Err(refuse(input, error, can_be_corrected));
        }
        Ok(_) if executor == Executor::Client => Plan::Wait,
        Ok(prepared) => Judge::of(run).plan(&call.tool, &*prepared),
    };
    if let Plan::Refuse(why) = plan {
        return Err(refuse(input, why, false));
    }
    let call = ToolCall { id: call.id.clone(), name: call.tool.clone(), input };
    Ok(PlannedCall { call, executor, plan })
}
