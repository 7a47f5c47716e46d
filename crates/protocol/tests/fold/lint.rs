//! The order rules of the protocol, for one response: what every client release since 6.0.0 relies on.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{Chunk, FinishReason, ToolState, UiMessage};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    InputOpen,
    Announced,
    Asked,
    Answered,
    InProgress,
    Settled,
}

/// Whether the reader is told that a person approved: a replay in the common profile cannot say so.
#[derive(Clone, Copy, PartialEq)]
pub enum Approvals {
    Told,
    Untold,
}

/// What is wrong with a complete response; `before` is the message as the client had it.
pub fn problems(chunks: &[Chunk<'_>], before: &UiMessage, approvals: Approvals) -> Vec<String> {
    let mut lint = Lint::continuing(before, approvals);
    for chunk in chunks {
        let before = lint.problems.len();
        lint.see(chunk);
        let found = lint.problems.split_off(before);
        lint.problems.extend(found.into_iter().map(|problem| format!("{problem} at {chunk:?}")));
    }
    lint.check(lint.ended, "a response without an end");
    lint.problems
}

struct Lint {
    problems: Vec<String>,
    approvals: Approvals,
    calls: BTreeMap<String, Call>,
    open_parts: BTreeSet<String>,
    used_parts: BTreeSet<String>,
    started: bool,
    in_step: bool,
    result_in_step: bool,
    ended: bool,
}

impl Lint {
    fn continuing(message: &UiMessage, approvals: Approvals) -> Self {
        let state = |state: &ToolState| match state {
            ToolState::InputStreaming { .. } => Call::InputOpen,
            ToolState::InputAvailable { .. } => Call::Announced,
            ToolState::ApprovalRequested { .. } => Call::Asked,
            ToolState::ApprovalResponded { .. } => Call::Answered,
            ToolState::OutputAvailable { preliminary: true, .. } => Call::InProgress,
            ToolState::OutputAvailable { .. }
            | ToolState::OutputError { .. }
            | ToolState::OutputDenied { .. } => Call::Settled,
        };
        Self {
            calls: message.tool_parts().map(|tool| (tool.call.to_string(), state(&tool.state))).collect(),
            problems: Vec::new(),
            approvals,
            open_parts: BTreeSet::new(),
            used_parts: BTreeSet::new(),
            started: false,
            in_step: false,
            result_in_step: false,
            ended: false,
        }
    }

    fn check(&mut self, holds: bool, problem: &str) {
        if !holds {
            self.problems.push(problem.to_owned());
        }
    }

    fn see(&mut self, chunk: &Chunk<'_>) {
        self.check(!self.ended, "a chunk after the end");
        self.check(
            self.started || chunk.is_transient() || matches!(chunk, Chunk::Start { .. }),
            "a chunk before `start`",
        );
        match chunk {
            Chunk::Start { message_id, .. } => {
                self.check(!self.started, "a second `start`");
                self.check(!message_id.is_empty(), "`start` without an id");
                self.started = true;
            }
            Chunk::StartStep => {
                self.check(!self.in_step, "a step inside a step");
                self.in_step = true;
                self.result_in_step = false;
            }
            Chunk::FinishStep => {
                self.check(self.in_step, "no step to finish");
                self.check_nothing_open();
                self.in_step = false;
            }
            Chunk::TextStart { id } => {
                self.check(!self.result_in_step, "text after a tool result needs a new step");
                self.open_part(id);
            }
            Chunk::ReasoningStart { id } => self.open_part(id),
            Chunk::TextDelta { id, delta } | Chunk::ReasoningDelta { id, delta } => {
                self.check(!delta.is_empty(), "an empty delta");
                self.check(self.open_parts.contains(&**id), "a delta for a part that is not open");
            }
            Chunk::TextEnd { id } | Chunk::ReasoningEnd { id, .. } => {
                let was_open = self.open_parts.remove(&**id);
                self.check(was_open, "the end of a part that is not open");
            }
            Chunk::ToolInputStart { tool_call_id, .. } => {
                self.check(self.in_step, "content outside of a step");
                let before = self.calls.insert(tool_call_id.to_string(), Call::InputOpen);
                self.check(before.is_none(), "a call announced twice");
            }
            Chunk::ToolInputDelta { tool_call_id, .. } => {
                self.check(self.call(tool_call_id) == Some(Call::InputOpen), "an input that is not open");
            }
            Chunk::ToolInputAvailable { tool_call_id, .. } => self.announce(tool_call_id, Call::Announced),
            Chunk::ToolInputError { tool_call_id, .. } => self.announce(tool_call_id, Call::Settled),
            Chunk::ToolApprovalRequest { tool_call_id, .. } => {
                self.check(self.in_step, "a question outside of a step");
                self.check(
                    self.call(tool_call_id) == Some(Call::Announced),
                    "a question about no waiting call",
                );
                self.calls.insert(tool_call_id.to_string(), Call::Asked);
            }
            Chunk::ToolApprovalResponse { approval_id, .. } => {
                let call = approval_id.trim_start_matches("apr_");
                self.check(self.call(call) == Some(Call::Asked), "an answer nobody asked for");
                self.calls.insert(call.to_owned(), Call::Answered);
            }
            Chunk::ToolOutputAvailable { tool_call_id, preliminary, .. } => {
                let unapproved =
                    self.call(tool_call_id) == Some(Call::Asked) && self.approvals == Approvals::Told;
                self.check(!unapproved, "an output of a call that waits for approval");
                self.settle(tool_call_id, if *preliminary { Call::InProgress } else { Call::Settled });
            }
            Chunk::ToolOutputError { tool_call_id, .. } | Chunk::ToolOutputDenied { tool_call_id } => {
                self.settle(tool_call_id, Call::Settled);
            }
            Chunk::SourceUrl { .. } | Chunk::SourceDocument { .. } | Chunk::File { .. } => {
                self.check(self.in_step, "content outside of a step");
            }
            // A tool that runs after its approval pushes data before the next step begins.
            Chunk::Data(_) | Chunk::MessageMetadata { .. } => {}
            Chunk::Finish { finish_reason: FinishReason::ToolCalls, .. } => {
                let waits = self.calls.values().any(|call| matches!(call, Call::Announced | Call::Asked));
                self.check(waits, "a pause that waits for nothing");
                self.end();
            }
            Chunk::Finish { .. } | Chunk::Abort | Chunk::Error { .. } => {
                let settled = self.calls.values().all(|call| *call == Call::Settled);
                self.check(settled, "a call left without an outcome");
                self.end();
            }
        }
    }

    fn call(&self, id: &str) -> Option<Call> {
        self.calls.get(id).copied()
    }

    fn open_part(&mut self, id: &str) {
        self.check(self.in_step, "content outside of a step");
        self.open_parts.insert(id.to_owned());
        let fresh = self.used_parts.insert(id.to_owned());
        self.check(fresh, "a part id used twice");
    }

    fn announce(&mut self, id: &str, state: Call) {
        self.check(self.in_step, "content outside of a step");
        let before = self.calls.insert(id.to_owned(), state);
        self.check(matches!(before, None | Some(Call::InputOpen)), "a call announced twice");
    }

    fn settle(&mut self, id: &str, state: Call) {
        let before = self.calls.insert(id.to_owned(), state);
        let legal = matches!(before, Some(Call::Announced | Call::Asked | Call::Answered | Call::InProgress));
        self.check(legal, "an outcome of no waiting call");
        self.result_in_step |= self.in_step && state == Call::Settled;
    }

    fn check_nothing_open(&mut self) {
        self.check(self.open_parts.is_empty(), "a part left open");
        let input_open = self.calls.values().any(|call| *call == Call::InputOpen);
        self.check(!input_open, "a tool input left open");
    }

    fn end(&mut self) {
        self.check_nothing_open();
        self.check(!self.in_step, "a step left open");
        self.ended = true;
    }
}
