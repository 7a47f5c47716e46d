//! Plans what to do with the calls of an agent that have no result: after an answer, and when a run is resumed.

use protocol::{ToolCall, ToolState};
use tools::{Effect, Executor, Registry};

use super::approval::must_ask;
use crate::{
    run::{
        agent_loop::turn::{Plan, PlannedCall},
        frame::Frame,
    },
    session::grants::Grants,
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
pub(crate) fn plan(frame: &Frame, tools: &Registry, grants: &Grants, cause: Cause) -> Vec<PlannedCall> {
    frame
        .own_open_calls()
        .into_iter()
        .filter_map(|(id, name, state)| {
            let input = frame.edited(&id).or(state.input()).cloned().unwrap_or_default();
            let call = ToolCall { id, name, input };
            let plan = plan_one(&call, &state, tools, grants, cause)?;
            Some(PlannedCall { call, plan })
        })
        .collect()
}

fn plan_one(
    call: &ToolCall,
    state: &ToolState,
    tools: &Registry,
    grants: &Grants,
    cause: Cause,
) -> Option<Plan> {
    let tool = tools.get(&call.name);
    let again = match (&tool, cause) {
        (Some(tool), Cause::Crash) if tool.effect() == Effect::SideEffect => Plan::Unknown,
        (Some(_), _) => Plan::Run,
        (None, _) => Plan::Unknown,
    };
    Some(match state {
        ToolState::ApprovalRequested { .. } => Plan::Wait,
        ToolState::ApprovalResponded { approval, .. } if approval.approved == Some(true) => again,
        ToolState::ApprovalResponded { approval, .. } => Plan::Deny(approval.reason.clone()),
        ToolState::InputAvailable { .. } | ToolState::OutputAvailable { .. } => match tool {
            Some(tool) if tool.executor() == Executor::Client => Plan::Wait,
            Some(_) if must_ask(tools, grants, call) => Plan::Ask,
            _ => again,
        },
        ToolState::InputStreaming { .. } | ToolState::OutputError { .. } | ToolState::OutputDenied { .. } => {
            return None;
        }
    })
}
