//! Whether a call that a model wrote can be made. Nothing has happened yet when it cannot.

use protocol::{ProviderMetadata, ToolCall, ToolCallId, ToolSpec, json::disarm};
use serde_json::Value;
use tools::{Approval, Executor};

use super::{
    drive::RunCtx,
    inline, order,
    turn::{Plan, PlannedCall},
};

/// A call as the model wrote it.
pub(crate) struct WrittenCall {
    /// Tells the calls of one answer apart.
    pub(crate) index: u32,
    pub(crate) id: ToolCallId,
    /// The tool that is meant, or the name as it was written where none is.
    pub(crate) tool: String,
    pub(crate) raw: String,
    /// What the provider wants back with the call.
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
    /// For the model.
    pub(crate) error: String,
    /// The tool exists: the model is asked once more for the same call.
    pub(crate) can_be_corrected: bool,
}

/// The tool that a name means, among those on offer.
pub(crate) fn meant<'a>(offered: &'a [ToolSpec], written: &str) -> Option<&'a str> {
    tools::names::resolve(written, offered.iter().map(|spec| spec.name.as_str()))
}

pub(crate) fn accept(run: &RunCtx, call: &WrittenCall) -> Result<PlannedCall, Refusal> {
    let refuse = |input: Value, error: String, can_be_corrected| Refusal { input, error, can_be_corrected };
    let raw = || Value::String(call.raw.clone());
    let planned = |input, plan| PlannedCall {
        call: ToolCall { id: call.id.clone(), name: call.tool.clone(), input },
        plan,
    };
    if matches!(call.tool.as_str(), inline::FINISH | inline::EQUIP) {
        let mut input = tools::parse_arguments(&call.raw).map_err(|error| refuse(raw(), error, false))?;
        disarm(&mut input);
        match inline::check(run, &call.tool, &input) {
            Some(Ok(())) => return Ok(planned(input, Plan::Run)),
            Some(Err(error)) => return Err(refuse(input, error, false)),
            None => {}
        }
    }
    let Some(tool) = run.parts.tools.get(&call.tool).filter(|_| run.kit.has(&call.tool)) else {
        let names = run.kit.names().join(", ");
        let error = format!("There is no tool named \"{}\". The tools are: {names}.", call.tool);
        return Err(refuse(raw(), error, false));
    };
    let mut input = tools::read_arguments(&*tool, &call.raw).map_err(|error| refuse(raw(), error, true))?;
    // What runs is what is stored.
    disarm(&mut input);
    let plan = match tool.clone().prepare(&input) {
        Err(error) if tool.executor() == Executor::Engine => {
            return Err(refuse(input, order::Refusal::invalid(error.to_string()).to_string(), true));
        }
        Err(error) => return Err(refuse(input, error.to_string(), true)),
        Ok(_) if tool.executor() == Executor::Client => Plan::Wait,
        Ok(prepared) => match prepared.approval {
            Approval::NotNeeded => Plan::Run,
            asks if run.tree.grants.cover(&call.tool, &asks) => Plan::Run,
            Approval::Ask { .. } => Plan::Ask,
        },
    };
    Ok(planned(input, plan))
}
