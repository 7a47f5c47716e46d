//! A frame as it is written into the log: the state machine between the agent loop and the wire. Pure.
//!
//! It opens a step at the first thing a model says, closes segments at tool calls, tool results and the end of a
//! model turn, makes call ids unique, settles every call exactly once, and always ends with one close. The state
//! is what the events say: a frame is restored by applying the log.

mod compaction;
mod control;
mod decide;
mod inputs;
mod model_output;
mod questions;
mod results;

use std::collections::{HashMap, HashSet};

pub(crate) use self::{
    inputs::{InputRequest, InputState},
    questions::Answered,
};
use models::FellBack;
use protocol::json::disarm;
use protocol::{
    AnsweredBy, ApprovalId, Artifact, Cost, ErrorCode, Fallback, FoldError, FrameEnd, FrameParent,
    MessageFacts, MessageFold, MessageId, MessageStatus, Part, RunId, SegmentKind, SessionEvent, SessionId,
    Source, ToolCallId, ToolState, UiMessage, Usage,
};
use serde_json::Value;

/// What a model call was, for the ledger.
#[derive(Default)]
pub(crate) struct ModelCall {
    pub(crate) run: Option<RunId>,
    pub(crate) agent: Vec<String>,
    pub(crate) model: String,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<Cost>,
    pub(crate) window: Option<u64>,
    pub(crate) duration_ms: u64,
    pub(crate) failed: bool,
}

/// What a call that a restart cut off is answered with.
const CUT_OFF: &str = "the server restarted before this call was complete";

pub(crate) struct Frame {
    fold: MessageFold,
    step_open: bool,
    open: Option<(u32, SegmentKind)>,
    next_segment: u32,
    sources: Vec<Source>,
    calls: HashSet<ToolCallId>,
    /// Copies of sub-agents' questions: the call each stands under here.
    raised: HashMap<ApprovalId, ToolCallId>,
    /// Requests for input, answered or not.
    inputs: HashMap<ApprovalId, InputRequest>,
    usage: Usage,
    /// Of the calls whose price is known.
    cost: Option<Cost>,
    steps: u32,
    /// What the newest call took of the window.
    context: Option<u64>,
    /// How it ended, unless it went on afterwards.
    end: Option<FrameEnd>,
    /// Calls that a restart cut off.
    cut_off: HashSet<ToolCallId>,
    /// Calls whose result will be that of a background agent.
    reports: HashMap<ToolCallId, SessionId>,
    /// All facts of the message so far.
    facts: Box<MessageFacts>,
    /// The code of a failure, until the message is closed.
    failure: Option<ErrorCode>,
    out: Vec<SessionEvent>,
}

impl Frame {
    pub(crate) fn new(message: MessageId) -> Self {
        Self {
            fold: MessageFold::new(message),
            step_open: false,
            open: None,
            next_segment: 0,
            sources: Vec::new(),
            calls: HashSet::new(),
            raised: HashMap::new(),
            inputs: HashMap::new(),
            usage: Usage::default(),
            cost: None,
            steps: 0,
            context: None,
            end: None,
            cut_off: HashSet::new(),
            reports: HashMap::new(),
            facts: Box::default(),
            failure: None,
            out: Vec::new(),
        }
    }

    /// The frame as the log left it.
    #[cfg(test)]
    pub(crate) fn rebuild<'a>(
        message: MessageId,
        events: impl IntoIterator<Item = &'a SessionEvent>,
    ) -> Result<Self, FoldError> {
        let mut frame = Self::new(message);
        for event in events {
            frame.apply(event)?;
        }
        Ok(frame)
    }

    pub(crate) fn message(&self) -> &UiMessage {
        self.fold.message()
    }

    /// The message, when nothing more will be written into it.
    pub(crate) fn into_message(self) -> UiMessage {
        self.fold.into_message()
    }

    /// Whether the newest step has said something to the person.
    pub(crate) fn has_text_in_step(&self) -> bool {
        let parts = self.message().parts.iter().rev().take_while(|part| !matches!(part, Part::StepStart));
        parts.into_iter().any(|part| matches!(part, Part::Text { text, .. } if !text.trim().is_empty()))
    }

    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// What was written since the last call.
    pub(crate) fn take(&mut self) -> Vec<SessionEvent> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.end.is_some()
    }

    /// How it ended.
    pub(crate) fn end(&self) -> Option<&FrameEnd> {
        self.end.as_ref()
    }

    /// Calls that were never made, because a restart cut them off.
    pub(crate) fn cut_off(&self) -> &HashSet<ToolCallId> {
        &self.cut_off
    }

    pub(crate) fn open(
        &mut self,
        facts: MessageFacts,
        parent: Option<Box<FrameParent>>,
    ) -> Result<(), FoldError> {
        let (message, metadata) = (self.id(), Box::new(facts));
        self.put(SessionEvent::FrameOpened { message, metadata, parent })
    }

    /// All facts of the message so far.
    pub(crate) fn facts(&self) -> &MessageFacts {
        &self.facts
    }

    /// The model's turn is over: nothing of it stays open.
    pub(crate) fn end_model_turn(&mut self, call: ModelCall) -> Result<(), FoldError> {
        self.close_segment()?;
        let message = self.id();
        let ModelCall { run, agent, model, usage, cost, window, duration_ms, failed } = call;
        self.put(SessionEvent::ModelCalled {
            message,
            run,
            agent,
            model,
            usage,
            cost,
            window,
            duration_ms,
            failed,
        })
    }

    /// Adds facts about the message.
    pub(crate) fn note(&mut self, facts: MessageFacts) -> Result<(), FoldError> {
        let (message, metadata) = (self.id(), Box::new(facts));
        self.put(SessionEvent::MetadataAdded { message, metadata })
    }

    /// Another model answers than the one the message began with; the message says so.
    pub(crate) fn note_fallback(&mut self, note: &FellBack) -> Result<(), FoldError> {
        let FellBack { from, to, why } = note.clone();
        let mut fallbacks = self.facts.fallbacks.clone().unwrap_or_default();
        fallbacks.push(Fallback { from, to: to.clone(), reason: why });
        self.note(MessageFacts { model: Some(to), fallbacks: Some(fallbacks), ..MessageFacts::default() })
    }

    /// A snapshot of a running call; dropped once the call is settled.
    pub(crate) fn progress(&mut self, call: &ToolCallId, mut output: Value) -> Result<(), FoldError> {
        if self.is_settled(call) != Some(false) {
            return Ok(());
        }
        let message = self.id();
        disarm(&mut output);
        self.put(SessionEvent::ToolProgress { message, call: call.clone(), output })
    }

    pub(crate) fn data(
        &mut self,
        name: String,
        id: Option<String>,
        mut data: Value,
        transient: bool,
    ) -> Result<(), FoldError> {
        disarm(&mut data);
        let message = self.id();
        self.put(SessionEvent::DataPushed { message, name, id, data, transient })
    }

    /// A file was made; it is on disk.
    pub(crate) fn artifact(&mut self, artifact: Artifact) -> Result<(), FoldError> {
        let message = self.id();
        self.put(SessionEvent::ArtifactKept { message, artifact })
    }

    /// The run waits for a person.
    pub(crate) fn park(&mut self, run: RunId) -> Result<(), FoldError> {
        self.finish_step()?;
        let message = self.id();
        self.put(SessionEvent::RunParked { run, message })
    }

    /// Resumes the run; calls that a crash cut off are rejected first.
    pub(crate) fn resume(&mut self, run: RunId) -> Result<(), FoldError> {
        for (call, tool, state) in self.open_calls() {
            if let ToolState::InputStreaming { raw } = state {
                self.put_rejected(&call, &tool, Value::String(raw), CUT_OFF.to_owned(), true)?;
            }
        }
        self.finish_step()?;
        let message = self.id();
        self.put(SessionEvent::RunResumed { run, message })
    }

    pub(crate) fn finish_step(&mut self) -> Result<(), FoldError> {
        self.close_segment()?;
        if self.step_open {
            let message = self.id();
            self.put(SessionEvent::StepFinished { message })?;
        }
        Ok(())
    }

    /// Ends the message with a failure; the code is for programs, the message for people.
    pub(crate) fn fail(&mut self, code: ErrorCode, message: String) -> Result<(), FoldError> {
        if !self.is_closed() {
            self.failure = Some(code);
        }
        self.close(FrameEnd::Failed { message })
    }

    /// Closes everything that is open, settles every call, and ends the message. Once.
    pub(crate) fn close(&mut self, end: FrameEnd) -> Result<(), FoldError> {
        if self.is_closed() {
            return Ok(());
        }
        self.close_segment()?;
        let why = match &end {
            FrameEnd::Cancelled => "stopped before this call had a result",
            FrameEnd::Failed { .. } => "the run failed before this call had a result",
            FrameEnd::Finished { .. } => "the run ended before this call had a result",
        };
        self.settle_open_calls(why, AnsweredBy::Server)?;
        self.finish_step()?;
        self.stop_compaction()?;
        let message = self.id();
        let (status, reason, error) = match &end {
            FrameEnd::Finished { reason } => (MessageStatus::Finished, Some(*reason), None),
            FrameEnd::Cancelled => (MessageStatus::Cancelled, None, None),
            FrameEnd::Failed { message } => (MessageStatus::Failed, None, Some(message.clone())),
        };
        let metadata = Box::new(MessageFacts {
            error_code: self.failure.take(),
            status: Some(status),
            finish_reason: reason,
            error,
            usage: (!self.usage.is_empty()).then_some(self.usage),
            cost: self.cost.map(Cost::usd),
            context_tokens: self.context,
            ..MessageFacts::default()
        });
        if reason.is_some() {
            self.put(SessionEvent::FrameClosed { message, end, metadata })
        } else {
            // `abort` and `error` cannot carry metadata.
            self.put(SessionEvent::MetadataAdded { message: message.clone(), metadata })?;
            self.put(SessionEvent::FrameClosed { message, end, metadata: Box::default() })
        }
    }

    fn id(&self) -> MessageId {
        self.message().id.clone()
    }

    fn start_step(&mut self) -> Result<(), FoldError> {
        if self.step_open {
            return Ok(());
        }
        let message = self.id();
        self.put(SessionEvent::StepStarted { message })
    }

    fn put(&mut self, event: SessionEvent) -> Result<(), FoldError> {
        self.apply(&event)?;
        self.out.push(event);
        Ok(())
    }

    pub(super) fn apply(&mut self, event: &SessionEvent) -> Result<(), FoldError> {
        if event.message() != Some(&self.message().id) {
            return Ok(());
        }
        self.note_context(event);
        self.fold.event(event)?;
        self.apply_input(event);
        if event.facts().is_some() {
            *self.facts = self.message().facts();
        }
        match event {
            SessionEvent::StepStarted { .. } => {
                self.step_open = true;
                self.steps += 1;
            }
            SessionEvent::StepFinished { .. } => self.step_open = false,
            SessionEvent::SegmentOpened { segment, kind, .. } => {
                self.open = Some((*segment, *kind));
                self.next_segment = segment + 1;
            }
            SessionEvent::SegmentClosed { .. } => self.open = None,
            SessionEvent::SourceCited { source, .. } => self.sources.push(source.clone()),
            SessionEvent::ToolInputStarted { call, .. } => {
                self.calls.insert(call.clone());
            }
            SessionEvent::ToolRejected { call, cut_off, .. } => {
                self.calls.insert(call.clone());
                if *cut_off {
                    self.cut_off.insert(call.clone());
                }
            }
            SessionEvent::ToolRequested { call, .. } => {
                self.calls.insert(call.id.clone());
            }
            // A raised question has a step of its own that no model call began.
            SessionEvent::ApprovalAsked { approval, call, raised: true, .. } => {
                self.raised.insert(approval.clone(), call.id.clone());
                self.steps = self.steps.saturating_sub(1);
            }
            SessionEvent::ModelCalled { usage, cost, .. } => {
                self.usage += *usage;
                if let Some(cost) = cost {
                    *self.cost.get_or_insert_default() += *cost;
                }
            }
            SessionEvent::FrameClosed { end, .. } => self.end = Some(end.clone()),
            SessionEvent::RunResumed { .. } => self.end = None,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
