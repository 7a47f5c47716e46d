//! Sub-agents inside the message that delegated to them: the output of the delegating call is the sub-agent's message.
//!
//! The log holds every agent's events once, under its own message. This module nests the messages for a reader of one
//! message: a preliminary output while the sub-agent works, the final output when it has ended. Pure.

use serde_json::Value;

use crate::{
    event::{SessionEvent, ToolOutcome},
    fold::{FoldError, MessageFold},
    id::{MessageId, ToolCallId},
    message::{Part, ToolState, UiMessage},
};

/// The sub-agents below one message that are not settled yet.
#[derive(Debug)]
pub struct Nested {
    top: MessageId,
    frames: Vec<Child>,
}

#[derive(Debug)]
struct Child {
    parent: MessageId,
    call: ToolCallId,
    fold: MessageFold,
    background: bool,
    /// Its call has a result, but the agent still works.
    detached: bool,
    closed: bool,
}

/// The effect of a sub-agent's event.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The call of the top message below which it happened.
    pub top_call: ToolCallId,
    /// The delegating call of the agent itself.
    pub call: ToolCallId,
    /// Whether it was more than a text delta.
    pub border: bool,
    /// A background agent directly below the top has ended: this is the final output of its call.
    pub ended: Option<UiMessage>,
}

impl Nested {
    pub fn new(top: MessageId) -> Self {
        Self { top, frames: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether this is the message that is read.
    pub fn is_top(&self, message: &MessageId) -> bool {
        *message == self.top
    }

    /// Applies an event of another message; `None` when that message is not below the top.
    pub fn take(&mut self, event: &SessionEvent) -> Result<Option<Change>, FoldError> {
        let Some(message) = event.message() else { return Ok(None) };
        if let SessionEvent::FrameOpened { parent: Some(parent), .. } = event {
            if (parent.message != self.top && self.place(&parent.message).is_none())
                || self.place(message).is_some()
            {
                return Ok(None);
            }
            self.frames.push(Child {
                parent: parent.message.clone(),
                call: parent.call.clone(),
                fold: MessageFold::new(message.clone()),
                background: parent.background,
                detached: false,
                closed: false,
            });
        }
        let Some(place) = self.place(message) else { return Ok(None) };
        let call = self.frames[place].call.clone();
        let top_call = self.top_call(place);
        let nested = match event {
            SessionEvent::ToolSettled { call, outcome, .. } => self.settle(message, call, outcome),
            _ => None,
        };
        // Frames below it may have been removed.
        let Some(place) = self.place(message) else { return Ok(None) };
        let child = &mut self.frames[place];
        child.fold.event(event)?;
        if let (Some(nested), SessionEvent::ToolSettled { call, .. }) = (nested, event) {
            child.fold.replace_output(call, to_value(&nested));
        }
        child.closed |= matches!(event, SessionEvent::FrameClosed { .. });
        if matches!(event, SessionEvent::RunResumed { .. }) {
            child.closed = false;
        }
        let ended = if child.closed && child.detached { self.end_detached(message) } else { None };
        let border =
            !matches!(event, SessionEvent::SegmentDelta { .. } | SessionEvent::ToolInputDelta { .. });
        Ok(Some(Change { top_call, call, border, ended }))
    }

    /// Settles a call of `message`: returns the sub-agent's message, if there is one and it is the output, and removes it
    /// with everything below it.
    pub fn settle(
        &mut self,
        message: &MessageId,
        call: &ToolCallId,
        outcome: &ToolOutcome,
    ) -> Option<UiMessage> {
        let place = self.child(message, call)?;
        let child = &mut self.frames[place];
        if child.background && !child.closed {
            child.detached = true;
            return Some(self.assemble(place));
        }
        let id = child.fold.message().id.clone();
        let whole = self.assemble(place);
        self.forget(&id);
        matches!(outcome, ToolOutcome::Done { .. }).then_some(whole)
    }

    /// The current message of the sub-agent at work under a call of the top message.
    pub fn snapshot(&self, call: &ToolCallId) -> Option<UiMessage> {
        self.child(&self.top, call).map(|place| self.assemble(place))
    }

    /// Whether the call of the top message has a result while its agent still works.
    pub fn is_detached(&self, call: &ToolCallId) -> bool {
        self.child(&self.top, call).is_some_and(|place| self.frames[place].detached)
    }

    /// The calls of the top message that have sub-agents at work.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCallId> {
        self.frames.iter().filter(|child| child.parent == self.top).map(|child| &child.call)
    }

    fn end_detached(&mut self, message: &MessageId) -> Option<UiMessage> {
        let place = self.place(message)?;
        let whole = self.assemble(place);
        let (parent, call) = (self.frames[place].parent.clone(), self.frames[place].call.clone());
        self.forget(message);
        if parent == self.top {
            return Some(whole);
        }
        if let Some(place) = self.place(&parent) {
            self.frames[place].fold.replace_output(&call, to_value(&whole));
        }
        None
    }

    fn place(&self, message: &MessageId) -> Option<usize> {
        self.frames.iter().position(|child| child.fold.message().id == *message)
    }

    fn child(&self, message: &MessageId, call: &ToolCallId) -> Option<usize> {
        self.frames.iter().position(|child| child.parent == *message && child.call == *call)
    }

    fn top_call(&self, place: usize) -> ToolCallId {
        let mut at = &self.frames[place];
        while at.parent != self.top {
            match self.place(&at.parent) {
                Some(above) => at = &self.frames[above],
                None => break,
            }
        }
        at.call.clone()
    }

    fn assemble(&self, place: usize) -> UiMessage {
        let mut message = self.frames[place].fold.message().clone();
        let id = message.id.clone();
        for part in &mut message.parts {
            let Part::Tool(tool) = part else { continue };
            if let Some(below) = self.child(&id, &tool.call)
                && !matches!(tool.state, ToolState::OutputError { .. } | ToolState::OutputDenied { .. })
            {
                tool.state = ToolState::OutputAvailable {
                    approval: tool.state.approval(),
                    input: tool.state.input().cloned().unwrap_or_default(),
                    output: to_value(&self.assemble(below)),
                    preliminary: true,
                };
            }
        }
        message
    }

    fn forget(&mut self, message: &MessageId) {
        let below: Vec<MessageId> = self
            .frames
            .iter()
            .filter(|child| child.parent == *message)
            .map(|child| child.fold.message().id.clone())
            .collect();
        for below in below {
            self.forget(&below);
        }
        self.frames.retain(|child| child.fold.message().id != *message);
    }
}

/// The message of a sub-agent.
pub struct NestedMessage {
    pub message: UiMessage,
    pub at_work: bool,
}

/// Finds the message of the sub-agent that a call of a message started.
pub type FindBelow<'a> = dyn FnMut(&MessageId, &ToolCallId) -> Option<NestedMessage> + 'a;

/// Replaces the outputs of delegating calls with the messages of their sub-agents, at every depth, as [`Nested`] does for a
/// stream.
pub fn expand(message: &mut UiMessage, find: &mut FindBelow<'_>) {
    let id = message.id.clone();
    for part in &mut message.parts {
        let Part::Tool(tool) = part else { continue };
        let (input, approval, settled) = match &tool.state {
            ToolState::InputAvailable { input } => (input.clone(), None, false),
            ToolState::OutputAvailable { input, approval, preliminary, .. } => {
                (input.clone(), approval.clone(), !preliminary)
            }
            _ => continue,
        };
        let Some(mut below) = find(&id, &tool.call) else { continue };
        expand(&mut below.message, find);
        let preliminary = below.at_work || !settled;
        tool.state =
            ToolState::OutputAvailable { input, output: to_value(&below.message), preliminary, approval };
    }
}

fn to_value(message: &UiMessage) -> Value {
    serde_json::to_value(message).unwrap_or_default()
}

#[cfg(test)]
#[path = "nested_tests.rs"]
mod tests;
