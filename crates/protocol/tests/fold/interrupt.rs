//! Cuts a log short anywhere, as a stop or a failure does, and closes what was open, as the engine must.

use std::collections::BTreeMap;

use protocol::{
    FrameEnd, InteractionKind, MessageStatus, RunEnd, RunId, SegmentKind, SessionEvent, ToolCallId,
    ToolOutcome,
};
use serde_json::Value;

use crate::{
    content,
    log::{Writer, approval_of},
};

/// Ends the log at a random event after the frame opened. Now and then the run goes on later in the same message.
pub fn stop(writer: &mut Writer, end: FrameEnd) {
    let opened = writer
        .entries
        .iter()
        .position(|entry| matches!(entry.event, SessionEvent::FrameOpened { .. }))
        .expect("a generated log opens its frame");
    let keep = writer.rng.between(opened + 1, writer.entries.len());
    writer.entries.truncate(keep);
    let still_open = StillOpen::after(writer);
    let was_parked = still_open.parked;
    still_open.close(writer);

    let (run_end, status) = match end {
        FrameEnd::Cancelled => (RunEnd::Cancelled, MessageStatus::Cancelled),
        _ => (RunEnd::Failed, MessageStatus::Failed),
    };
    let mut metadata = content::facts(&mut writer.rng);
    metadata.status = Some(status);
    let message = writer.message.clone();
    writer.write(SessionEvent::MetadataAdded { message: message.clone(), metadata });
    writer.write(SessionEvent::FrameClosed { message: message.clone(), end, metadata: Box::default() });
    writer.write(SessionEvent::RunEnded {
        run: writer.run.clone(),
        message: writer.message.clone(),
        end: run_end,
    });

    if !was_parked && writer.rng.percent(20) {
        writer.run = RunId::new(format!("{}_again", writer.run));
        writer.write(SessionEvent::RunResumed { run: writer.run.clone(), message });
        writer.steps();
        writer.finish();
    }
}

#[derive(Default)]
struct StillOpen {
    in_step: bool,
    parked: bool,
    segments: Vec<(u32, SegmentKind)>,
    /// Tool and raw text of each input that is being written.
    inputs: BTreeMap<ToolCallId, (String, String)>,
    /// Calls without an outcome, in call order; `true` while a person is asked and has not answered.
    calls: Vec<(ToolCallId, bool)>,
}

impl StillOpen {
    fn after(writer: &Writer) -> Self {
        let mut open = Self::default();
        for entry in &writer.entries {
            open.see(&entry.event);
        }
        open
    }

    fn see(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::StepStarted { .. } => self.in_step = true,
            SessionEvent::StepFinished { .. } => self.in_step = false,
            SessionEvent::RunParked { .. } => self.parked = true,
            SessionEvent::RunResumed { .. } => self.parked = false,
            SessionEvent::SegmentOpened { segment, kind, .. } => self.segments.push((*segment, *kind)),
            SessionEvent::SegmentClosed { segment, .. } => self.segments.retain(|(open, _)| open != segment),
            SessionEvent::ToolInputStarted { call, tool, .. } => {
                self.inputs.insert(call.clone(), (tool.clone(), String::new()));
            }
            SessionEvent::ToolInputDelta { call, delta, .. } => {
                self.inputs.get_mut(call).expect("the input was started").1.push_str(delta);
            }
            SessionEvent::ToolRequested { call, .. } => {
                self.inputs.remove(&call.id);
                self.calls.push((call.id.clone(), false));
            }
            SessionEvent::ToolRejected { call, .. } => {
                self.inputs.remove(call);
            }
            SessionEvent::ApprovalAsked { call, .. } => {
                self.calls
                    .iter_mut()
                    .filter(|(open, _)| *open == call.id)
                    .for_each(|(_, asked)| *asked = true);
            }
            SessionEvent::ApprovalAnswered { approval, .. } => {
                let answered = self.calls.iter_mut().filter(|(open, _)| approval_of(open) == *approval);
                answered.for_each(|(_, asked)| *asked = false);
            }
            SessionEvent::ToolSettled { call, .. } => self.calls.retain(|(open, _)| open != call),
            _ => {}
        }
    }

    fn close(self, writer: &mut Writer) {
        let message = writer.message.clone();
        for (segment, kind) in self.segments {
            let message = message.clone();
            writer.write(SessionEvent::SegmentClosed { message, segment, kind, provider: None });
        }
        for (call, (tool, raw)) in self.inputs {
            writer.write(SessionEvent::ToolRejected {
                message: message.clone(),
                call,
                tool,
                input: Value::String(raw),
                error: "the run was stopped".to_owned(),
                cut_off: false,
            });
        }
        for (call, asked) in self.calls {
            let outcome = if asked {
                let reason = Some("the question was withdrawn".to_owned());
                writer.write(SessionEvent::ApprovalAnswered {
                    message: message.clone(),
                    approval: approval_of(&call),
                    approved: false,
                    reason: reason.clone(),
                    withdrawn: true,
                    kind: InteractionKind::Approval,
                    answers: None,
                    by: None,
                    raised: false,
                });
                ToolOutcome::Denied { reason }
            } else {
                ToolOutcome::Failed { message: "the run was stopped".to_owned() }
            };
            writer.write(SessionEvent::ToolSettled { message: message.clone(), call, outcome });
        }
        if self.in_step {
            writer.write(SessionEvent::StepFinished { message });
        }
    }
}
