//! Plans what to do with the calls of an agent that have no result: after an answer, and when a run is resumed.

use std::sync::Arc;

use protocol::{ToolCall, ToolState};
use serde_json::Value;
use tools::{AnyTool, Effect, Executor};

use super::verdict::Judge;
use crate::run::{
    agent_loop::turn::{Plan, PlannedCall},
    frame::{Frame, InputState},
};

/// What interrupted the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing: the agent waited for a person, or was stopped by one.
    Person,
    /// A crash of the process: a call with side effects may or may not have happened.
    Crash,
}

/// Plans what to do with each call that has no result.
pub(crate) fn plan(frame: &Frame, judge: Judge<'_>, cause: Cause) -> Vec<PlannedCall> {
    frame
        .own_open_calls()
        .into_iter()
        .filter_map(|(id, name, state)| {
            let input = frame.edited(&id).or(state.input()).cloned().unwrap_or_default();
            let call = ToolCall { id, name, input };
            let tool = judge.tools.get(&call.name);
            let executor = tool.as_ref().map_or(Executor::Server, |tool| tool.executor());
            let plan = plan_one(frame, &call, &state, tool, judge, cause)?;
            Some(PlannedCall { call, executor, plan })
        })
        .collect()
}

fn plan_one(
    frame: &Frame,
    call: &ToolCall,
    state: &ToolState,
    tool: Option<Arc<dyn AnyTool>>,
    judge: Judge<'_>,
    cause: Cause,
) -> Option<Plan> {
    match state {
        ToolState::ApprovalRequested { .. } => Some(Plan::Wait),
        ToolState::ApprovalResponded { approval, .. } if approval.approved != Some(true) => {
            Some(Plan::Deny(approval.reason.clone()))
        }
        ToolState::ApprovalResponded { .. } => {
            Some(tool.map_or_else(|| revoked(&call.name), |tool| allowed(call, tool, judge, cause)))
        }
        ToolState::InputAvailable { .. } | ToolState::OutputAvailable { .. } => {
            Some(match (frame.input_state(&call.id), tool) {
                (Some(InputState::Pending), _) => Plan::Wait,
                (_, None) => revoked(&call.name),
                (Some(InputState::Answered(output)), Some(tool)) => answered(call, tool, judge, output),
                (None, Some(tool)) => unasked(call, tool, judge, cause),
            })
        }
        ToolState::InputStreaming { .. } | ToolState::OutputError { .. } | ToolState::OutputDenied { .. } => {
            None
        }
    }
}

/// A person allowed the call. It runs, unless the rules refuse it by now.
fn allowed(call: &ToolCall, tool: Arc<dyn AnyTool>, judge: Judge<'_>, cause: Cause) -> Plan {
    if is_unknown(&*tool, cause) {
        return Plan::Unknown;
    }
    match tool.prepare(&call.input) {
        Ok(prepared) => judge.plan_allowed(&call.name, &*prepared),
        // The tool's input has changed since; running it reports what does not fit.
        Err(_) => Plan::Run,
    }
}

/// A person answered a request for input. Their answer is the result, unless the rules refuse the call by now.
fn answered(call: &ToolCall, tool: Arc<dyn AnyTool>, judge: Judge<'_>, output: Value) -> Plan {
    match tool.prepare(&call.input).map(|prepared| judge.plan_allowed(&call.name, &*prepared)) {
        Ok(refused @ Plan::Refuse(_)) => refused,
        _ => Plan::Answered(output),
    }
}

/// Nobody was asked about the call.
fn unasked(call: &ToolCall, tool: Arc<dyn AnyTool>, judge: Judge<'_>, cause: Cause) -> Plan {
    if tool.executor() == Executor::Client {
        return Plan::Wait;
    }
    let is_unknown = is_unknown(&*tool, cause);
    match tool.prepare(&call.input).map(|prepared| judge.plan(&call.name, &*prepared)) {
        Ok(plan @ (Plan::Ask(_) | Plan::Refuse(_))) => plan,
        _ if is_unknown => Plan::Unknown,
        _ => Plan::Run,
    }
}

/// Whether a crash may have come after the call's effect.
fn is_unknown(tool: &dyn AnyTool, cause: Cause) -> bool {
    cause == Cause::Crash && tool.effect() == Effect::SideEffect
}

/// The call was accepted, perhaps before a question or a restart, and the agent has lost the tool since.
fn revoked(tool: &str) -> Plan {
    Plan::Refuse(format!(
        "The tool \"{tool}\" was revoked from this agent after the call was made. The call was not run; go on without it."
    ))
}
