//! A run that left memory comes back from the log: after an answer, after a stop, after a crash.
//!
//! Finished results are never run again; a read-only call may be; a call with side effects and no result is told
//! to the model as unknown.

use std::sync::Arc;

use protocol::{SessionEvent, ToolCall, ToolState};
use store::{RunRecord, SessionKey, Store, StoreError};
use tools::{Approval, Effect, Place, Registry};

use super::{
    frame::Frame,
    turn::{Plan, PlannedCall},
};

const READ_BYTES: usize = 1 << 20;

/// Why a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A person answered, or asked to go on.
    Asked,
    /// The process that ran it is gone.
    Crashed,
}

/// The frame of a run as the log left it.
pub(crate) async fn rebuild(
    store: &Arc<dyn Store>,
    key: SessionKey,
    run: &RunRecord,
) -> Result<Frame, StoreError> {
    let mut events: Vec<SessionEvent> = Vec::new();
    let mut after = run.first_seq.saturating_sub(1);
    loop {
        let entries = store.read_log(key, after, READ_BYTES).await?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        events.extend(entries.into_iter().map(|entry| entry.event));
    }
    Frame::rebuild(run.message.clone(), &events).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// What is to be done with each call that has no result.
pub(crate) fn plan(frame: &Frame, tools: &Registry, why: Why) -> Vec<PlannedCall> {
    frame
        .open_calls()
        .into_iter()
        .filter_map(|(id, name, state)| {
            let plan = plan_one(&name, &state, tools, why)?;
            let input = state.input().cloned().unwrap_or_default();
            Some(PlannedCall { call: ToolCall { id, name, input }, plan })
        })
        .collect()
}

fn plan_one(name: &str, state: &ToolState, tools: &Registry, why: Why) -> Option<Plan> {
    let tool = tools.get(name);
    let again = match (&tool, why) {
        (Some(tool), Why::Crashed) if tool.effect() == Effect::SideEffect => Plan::Unknown,
        (Some(_), _) => Plan::Run,
        (None, _) => Plan::Unknown,
    };
    Some(match state {
        ToolState::ApprovalRequested { .. } => Plan::Wait,
        ToolState::ApprovalResponded { approval, .. } if approval.approved == Some(true) => again,
        ToolState::ApprovalResponded { approval, .. } => Plan::Deny(approval.reason.clone()),
        ToolState::InputAvailable { input } | ToolState::OutputAvailable { input, .. } => match tool {
            Some(tool) if tool.place() == Place::Client => Plan::Wait,
            Some(tool) if matches!(tool.clone().prepare(input), Ok(call) if call.approval == Approval::Ask) => {
                Plan::Ask
            }
            _ => again,
        },
        ToolState::InputStreaming { .. } | ToolState::OutputError { .. } | ToolState::OutputDenied { .. } => {
            return None;
        }
    })
}
