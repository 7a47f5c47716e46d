//! What a log contains, in the words of the report: proof that the generator reaches everything.

use std::collections::BTreeSet;

use protocol::{FrameEnd, LogEntry, SegmentKind, SessionEvent, ToolOutcome};

/// Every kind a report lists, also those with nothing in them.
pub const KINDS: [&str; 17] = [
    "text",
    "reasoning",
    "tools",
    "parallel tools",
    "approvals",
    "denied",
    "errors",
    "tool errors",
    "cancels",
    "rejected input",
    "progress",
    "data parts",
    "transient data",
    "client tools",
    "continued",
    "signatures",
    "sources",
];

pub fn kinds(log: &[LogEntry]) -> BTreeSet<&'static str> {
    let mut kinds = BTreeSet::new();
    let mut calls_in_step = 0;
    let mut parked = false;
    for entry in log {
        match &entry.event {
            SessionEvent::SegmentOpened { kind: SegmentKind::Text, .. } => drop(kinds.insert("text")),
            SessionEvent::SegmentOpened { .. } => drop(kinds.insert("reasoning")),
            SessionEvent::SegmentClosed { provider: Some(_), .. } => drop(kinds.insert("signatures")),
            SessionEvent::SourceCited { .. } => drop(kinds.insert("sources")),
            SessionEvent::StepStarted { .. } => calls_in_step = 0,
            SessionEvent::ToolRequested { .. } | SessionEvent::ToolRejected { .. } => {
                kinds.insert("tools");
                calls_in_step += 1;
                if calls_in_step > 1 {
                    kinds.insert("parallel tools");
                }
                if matches!(entry.event, SessionEvent::ToolRejected { .. }) {
                    kinds.insert("rejected input");
                }
            }
            SessionEvent::ToolProgress { .. } => drop(kinds.insert("progress")),
            SessionEvent::ToolSettled { outcome, .. } => match outcome {
                ToolOutcome::Done { .. } if parked => drop(kinds.insert("client tools")),
                ToolOutcome::Done { .. } => {}
                ToolOutcome::Failed { .. } => drop(kinds.insert("tool errors")),
                ToolOutcome::Denied { .. } => drop(kinds.insert("denied")),
            },
            SessionEvent::DataPushed { transient, .. } => {
                kinds.insert(if *transient { "transient data" } else { "data parts" });
            }
            SessionEvent::ApprovalAsked { .. } => drop(kinds.insert("approvals")),
            SessionEvent::FrameClosed { end: FrameEnd::Failed { .. }, .. } => drop(kinds.insert("errors")),
            SessionEvent::FrameClosed { end: FrameEnd::Cancelled, .. } => drop(kinds.insert("cancels")),
            SessionEvent::RunParked { .. } => parked = true,
            SessionEvent::RunResumed { .. } => {
                parked = false;
                kinds.insert("continued");
            }
            _ => {}
        }
    }
    kinds
}
