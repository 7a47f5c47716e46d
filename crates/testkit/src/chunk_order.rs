//! Checks the order of chunks in one response against the protocol: one start, then steps, nothing left open, one end.

use std::collections::{HashMap, HashSet};

use protocol::{Chunk, FinishReason};

/// What comes next for a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Input,
    Output,
    /// The client filled in an output; the server may replace it.
    FilledIn,
    Settled,
}

#[derive(Default)]
pub struct ChunkOrder {
    started: bool,
    ended: bool,
    in_step: bool,
    results_in_step: bool,
    open: Option<String>,
    segments: HashSet<String>,
    calls: HashMap<String, Call>,
}

impl ChunkOrder {
    /// A stream that continues a message. The message has these tool calls; the flag says which have a result.
    pub fn continuing(calls: impl IntoIterator<Item = (String, bool)>) -> Self {
        let calls = calls
            .into_iter()
            .map(|(call, settled)| (call, if settled { Call::Settled } else { Call::Output }))
            .collect();
        Self { calls, ..Self::default() }
    }

    /// The client filled in the output of this call, and the server may replace it with what it made of it.
    pub fn filled_in(&mut self, call: String) {
        self.calls.insert(call, Call::FilledIn);
    }

    /// Accepts the next chunk of the stream, or returns what is wrong with it.
    pub fn accept(&mut self, chunk: &Chunk<'_>) -> Result<(), String> {
        let ensure = |fine: bool, wrong: &str| if fine { Ok(()) } else { Err(wrong.to_owned()) };
        ensure(!self.ended, "something follows the end")?;
        if let Chunk::Start { .. } = chunk {
            ensure(!self.started, "a second start")?;
            self.started = true;
            return Ok(());
        }
        ensure(self.started || chunk.is_transient(), "the stream does not begin with start")?;
        match chunk {
            Chunk::Start { .. } | Chunk::Data(_) | Chunk::MessageMetadata { .. } => {}
            Chunk::StartStep => {
                ensure(!self.in_step, "a step inside a step")?;
                self.in_step = true;
                self.results_in_step = false;
            }
            Chunk::FinishStep => {
                ensure(self.in_step, "no step to finish")?;
                ensure(self.open.is_none(), "a segment is open at the end of its step")?;
                self.in_step = false;
            }
            Chunk::TextStart { id } | Chunk::ReasoningStart { id } => {
                ensure(self.in_step, "a segment outside of a step")?;
                ensure(self.open.is_none(), "two segments are open")?;
                ensure(!self.results_in_step, "text after a tool result in the same step")?;
                ensure(self.segments.insert(id.to_string()), "a segment id is used again")?;
                self.open = Some(id.to_string());
            }
            Chunk::TextDelta { id, delta } | Chunk::ReasoningDelta { id, delta } => {
                ensure(self.open.as_deref() == Some(id), "a delta for a segment that is not open")?;
                ensure(!delta.is_empty(), "an empty delta")?;
            }
            Chunk::TextEnd { id } | Chunk::ReasoningEnd { id, .. } => {
                ensure(self.open.take().as_deref() == Some(id), "an end for a segment that is not open")?;
            }
            Chunk::ToolInputStart { tool_call_id, .. } => {
                ensure(self.in_step, "a call outside of a step")?;
                ensure(self.open.is_none(), "a call while a segment is open")?;
                let before = self.calls.insert(tool_call_id.to_string(), Call::Input);
                ensure(before.is_none(), "a call is announced twice")?;
            }
            Chunk::ToolInputDelta { tool_call_id, .. } => {
                ensure(self.call(tool_call_id) == Some(Call::Input), "input for a call that takes none")?;
            }
            Chunk::ToolInputAvailable { tool_call_id, .. } => {
                ensure(self.open.is_none(), "a call while a segment is open")?;
                ensure(matches!(self.call(tool_call_id), None | Some(Call::Input)), "an input twice")?;
                self.calls.insert(tool_call_id.to_string(), Call::Output);
            }
            Chunk::ToolInputError { tool_call_id, .. } => {
                ensure(matches!(self.call(tool_call_id), None | Some(Call::Input)), "an input twice")?;
                self.calls.insert(tool_call_id.to_string(), Call::Settled);
            }
            Chunk::ToolApprovalRequest { tool_call_id, .. } => {
                ensure(self.call(tool_call_id) == Some(Call::Output), "a question about no open call")?;
            }
            Chunk::ToolApprovalResponse { .. } => {}
            Chunk::ToolOutputAvailable { tool_call_id, preliminary: true, .. } => {
                ensure(
                    self.call(tool_call_id) == Some(Call::Output),
                    "progress of a call that does not run",
                )?;
            }
            Chunk::ToolOutputAvailable { tool_call_id, .. }
            | Chunk::ToolOutputError { tool_call_id, .. }
            | Chunk::ToolOutputDenied { tool_call_id } => {
                ensure(self.open.is_none(), "a result while a segment is open")?;
                let is_open = matches!(self.call(tool_call_id), Some(Call::Output | Call::FilledIn));
                ensure(is_open, "a result for no open call")?;
                self.calls.insert(tool_call_id.to_string(), Call::Settled);
                self.results_in_step = true;
            }
            Chunk::SourceUrl { .. } | Chunk::SourceDocument { .. } | Chunk::File { .. } => {
                ensure(self.in_step, "a source or file outside of a step")?;
            }
            Chunk::Finish { finish_reason, .. } => {
                self.end(*finish_reason == FinishReason::ToolCalls)?;
            }
            Chunk::Abort | Chunk::Error { .. } => self.end(false)?,
        }
        Ok(())
    }

    /// Whether the last chunk of the stream was accepted.
    pub fn is_complete(&self) -> bool {
        self.ended
    }

    fn end(&mut self, may_wait: bool) -> Result<(), String> {
        if self.in_step || self.open.is_some() {
            return Err("a step or a segment is open at the end".to_owned());
        }
        let waits = |state: &Call| *state == Call::Input || (*state == Call::Output && !may_wait);
        if let Some((call, _)) = self.calls.iter().find(|(_, state)| waits(state)) {
            return Err(format!("the call {call} has no result at the end"));
        }
        self.ended = true;
        Ok(())
    }

    fn call(&self, id: &str) -> Option<Call> {
        self.calls.get(id).copied()
    }
}
