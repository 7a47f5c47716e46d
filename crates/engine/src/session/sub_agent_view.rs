//! What a reader of one message receives of the sub-agents below it.
//!
//! By default the preliminary output of the delegating call is the sub-agent's message, sent again as it grows: when the
//! agent begins, when parts begin and end, and a few times a second, less often as it gets long; the newest state is always
//! sent before a pause. A client that asked for it (`subAgentStream`) receives the sub-agents' own chunks or text instead,
//! and the whole message only at the end, so that the number of bytes stays proportional at any depth.

use std::{collections::HashMap, time::Duration};

use protocol::{
    Chunk, MessageId, Seq, SessionEvent, SubAgentStream, ToolCallId, UiMessage,
    event::SegmentKind,
    project::{
        chat::{Reading, chunk_of},
        nested::Nested,
    },
    wire::chat::{DataChunk, DataKind, Profile, write_sse_event, write_unnumbered_sse_event},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::log::merge::join;

/// Time between two snapshots while text is streamed; one more interval for every 64 KiB of message.
const TEXT_INTERVAL: Duration = Duration::from_millis(200);
const SLOWER_EVERY: usize = 64 << 10;
/// Time between two snapshots when parts begin and end.
const BORDER_INTERVAL: Duration = Duration::from_millis(40);
/// Time between two chunks of a sub-agent's own text, once there is enough of it; a slow model's text is held a little
/// longer.
const LANE_INTERVAL: Duration = Duration::from_millis(50);
const LANE_PATIENCE: Duration = Duration::from_millis(150);
const LANE_ENOUGH: usize = 96;
const LANE_BYTES: usize = 4 << 10;

pub(super) struct SubAgentView {
    nested: Nested,
    lane: Option<SubAgentStream>,
    profile: Profile,
    /// Calls whose snapshot is out of date, and when the next may be sent.
    due: HashMap<ToolCallId, Instant>,
    sent: HashMap<ToolCallId, Sent>,
    /// Text that is held until there is more.
    held: HashMap<MessageId, Held>,
    /// Whether the message itself is in a step. In one, the final message of an agent in the background waits for the
    /// step's end: a result belongs neither into a text nor before one of the same step.
    in_step: bool,
    ended: Vec<(ToolCallId, UiMessage)>,
}

#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    bytes: usize,
}

struct Held {
    seq: Seq,
    call: ToolCallId,
    event: SessionEvent,
    since: Instant,
    until: Instant,
}

impl SubAgentView {
    pub(super) fn new(message: MessageId, lane: Option<SubAgentStream>, profile: Profile) -> Self {
        Self {
            nested: Nested::new(message),
            lane,
            profile,
            due: HashMap::new(),
            sent: HashMap::new(),
            held: HashMap::new(),
            in_step: false,
            ended: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nested.is_empty() && self.ended.is_empty()
    }

    /// Tracks whether the message itself is in a step.
    fn follow(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::StepStarted { .. } => self.in_step = true,
            SessionEvent::StepFinished { .. } | SessionEvent::FrameClosed { .. } => self.in_step = false,
            _ => {}
        }
    }

    /// Applies an event that the client has already received.
    pub(super) fn read_up(&mut self, own: bool, event: &SessionEvent) {
        if own {
            self.follow(event);
        }
        match event {
            SessionEvent::ToolSettled { message, call, outcome } if own => {
                self.nested.settle(message, call, outcome);
            }
            _ if own => {}
            _ => {
                if let Err(error) = self.nested.take(event) {
                    tracing::error!(%error, "a sub-agent's events make no message");
                }
            }
        }
    }

    /// Writes an event of the message itself; `false` if it needs no special treatment.
    pub(super) fn own(&mut self, out: &mut Vec<u8>, seq: Seq, event: &SessionEvent) -> bool {
        self.follow(event);
        if !self.in_step {
            self.send_ended(out);
        }
        match event {
            SessionEvent::ToolSettled { message, call, outcome } => {
                self.release(out, None);
                let Some(whole) = self.nested.settle(message, call, outcome) else { return false };
                let preliminary = self.nested.is_detached(call);
                self.due.remove(call);
                put(out, |out| write_sse_event(out, seq, &snapshot(call, &whole, preliminary)));
                true
            }
            SessionEvent::RunParked { .. } | SessionEvent::FrameClosed { .. } => {
                self.release(out, None);
                let calls: Vec<ToolCallId> = self.due.keys().cloned().collect();
                calls.iter().for_each(|call| self.send(out, call));
                false
            }
            _ => false,
        }
    }

    /// Writes an event of a sub-agent's message.
    pub(super) fn take(&mut self, out: &mut Vec<u8>, seq: Seq, event: &SessionEvent, reading: &Reading) {
        let change = match self.nested.take(event) {
            Ok(Some(change)) => change,
            Ok(None) => return,
            Err(error) => return tracing::error!(%error, "a sub-agent's events make no message"),
        };
        match self.lane {
            Some(lane) => self.pass_on(out, lane, seq, &change.call, event, reading),
            None => self.mark(&change.top_call, change.border),
        }
        if matches!(event, SessionEvent::FrameOpened { parent: Some(parent), .. } if self.nested.is_top(&parent.message))
        {
            // A call of the message's own asked for it.
            self.in_step = true;
        }
        if let Some(whole) = change.ended {
            self.due.remove(&change.top_call);
            self.ended.push((change.top_call, whole));
            if !self.in_step {
                self.send_ended(out);
            }
        }
    }

    fn send_ended(&mut self, out: &mut Vec<u8>) {
        for (call, whole) in self.ended.drain(..) {
            put(out, |out| write_unnumbered_sse_event(out, &snapshot(&call, &whole, false)));
        }
    }

    /// When something must be sent even if no event comes.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.due.values().chain(self.held.values().map(|held| &held.until)).min().copied()
    }

    /// Sends what is due. The reader has no more events.
    pub(super) fn send_due(&mut self, out: &mut Vec<u8>) {
        let now = Instant::now();
        let calls: Vec<ToolCallId> =
            self.due.iter().filter(|(_, at)| **at <= now).map(|(call, _)| call.clone()).collect();
        calls.iter().for_each(|call| self.send(out, call));
        let texts: Vec<MessageId> =
            self.held.iter().filter(|(_, held)| held.until <= now).map(|(id, _)| id.clone()).collect();
        texts.iter().for_each(|message| self.release(out, Some(message)));
    }

    fn mark(&mut self, call: &ToolCallId, border: bool) {
        let at = match self.sent.get(call) {
            None => Instant::now(),
            Some(sent) if border => sent.at + BORDER_INTERVAL,
            Some(sent) => {
                let slower = u32::try_from(sent.bytes / SLOWER_EVERY).unwrap_or(u32::MAX).min(50);
                sent.at + TEXT_INTERVAL * (1 + slower)
            }
        };
        let due = self.due.entry(call.clone()).or_insert(at);
        *due = (*due).min(at);
    }

    fn send(&mut self, out: &mut Vec<u8>, call: &ToolCallId) {
        self.due.remove(call);
        let Some(message) = self.nested.snapshot(call) else {
            self.sent.remove(call);
            return;
        };
        let before = out.len();
        put(out, |out| write_unnumbered_sse_event(out, &snapshot(call, &message, true)));
        self.sent.insert(call.clone(), Sent { at: Instant::now(), bytes: out.len() - before });
    }

    fn pass_on(
        &mut self,
        out: &mut Vec<u8>,
        lane: SubAgentStream,
        seq: Seq,
        call: &ToolCallId,
        event: &SessionEvent,
        reading: &Reading,
    ) {
        let Some(message) = event.message() else { return };
        match event {
            SessionEvent::SegmentDelta { .. } | SessionEvent::ToolInputDelta { .. } => {
                if let Some(held) = self.held.get_mut(message)
                    && length(&held.event) < LANE_BYTES
                    && join(&mut held.event, event)
                {
                    held.seq = seq;
                    if length(&held.event) >= LANE_ENOUGH {
                        held.until = held.until.min(held.since + LANE_INTERVAL);
                    }
                    return;
                }
                let waited = self.held.contains_key(message);
                self.release(out, Some(message));
                let since = Instant::now();
                let until = match length(event) {
                    _ if waited => since,
                    LANE_ENOUGH.. => since + LANE_INTERVAL,
                    _ => since + LANE_PATIENCE,
                };
                let held = Held { seq, call: call.clone(), event: event.clone(), since, until };
                self.held.insert(message.clone(), held);
                return;
            }
            // The sub-agent's message does not show pauses.
            SessionEvent::RunParked { .. } | SessionEvent::RunResumed { .. } => return,
            SessionEvent::DataPushed { transient: true, .. } if seq <= reading.edge => return,
            _ => self.release(out, Some(message)),
        }
        if let SessionEvent::FrameOpened { metadata, .. } = event {
            let mut data = json!({ "toolCallId": call, "messageId": message, "seq": seq });
            let about = metadata.to_map();
            for name in ["agent", "agentName", "agentId", "parentMessageId"] {
                if let Some(value) = about.get(name) {
                    data[name] = value.clone();
                }
            }
            transient(out, "sub-agent-start", data);
        }
        if lane == SubAgentStream::Chunks {
            self.chunk(out, seq, call, event);
        }
        if let SessionEvent::FrameClosed { end, .. } = event {
            let status = match end {
                protocol::FrameEnd::Finished { .. } => "finished",
                protocol::FrameEnd::Cancelled => "cancelled",
                protocol::FrameEnd::Failed { .. } => "failed",
            };
            let data = json!({ "toolCallId": call, "messageId": message, "seq": seq, "status": status });
            transient(out, "sub-agent-end", data);
        }
    }

    /// Sends held text, of one message or of all.
    fn release(&mut self, out: &mut Vec<u8>, message: Option<&MessageId>) {
        let held: Vec<Held> = match message {
            Some(message) => self.held.remove(message).into_iter().collect(),
            None => self.held.drain().map(|(_, held)| held).collect(),
        };
        for Held { seq, call, event, .. } in held {
            match (self.lane, &event) {
                (
                    Some(SubAgentStream::Text),
                    SessionEvent::SegmentDelta { message, kind: SegmentKind::Text, delta, .. },
                ) => {
                    let data =
                        json!({ "toolCallId": call, "messageId": message, "seq": seq, "delta": delta });
                    transient(out, "sub-agent-delta", data);
                }
                (Some(SubAgentStream::Chunks), _) => self.chunk(out, seq, &call, &event),
                _ => {}
            }
        }
    }

    fn chunk(&self, out: &mut Vec<u8>, seq: Seq, call: &ToolCallId, event: &SessionEvent) {
        let Some(chunk) = chunk_of(event).filter(|_| self.profile.shows(event)) else { return };
        let message = event.message();
        let data = json!({ "toolCallId": call, "messageId": message, "seq": seq, "chunk": chunk });
        transient(out, "sub-agent-chunk", data);
    }
}

fn length(event: &SessionEvent) -> usize {
    match event {
        SessionEvent::SegmentDelta { delta, .. } | SessionEvent::ToolInputDelta { delta, .. } => delta.len(),
        _ => 0,
    }
}

fn snapshot(call: &ToolCallId, message: &UiMessage, preliminary: bool) -> Chunk<'static> {
    Chunk::ToolOutputAvailable {
        tool_call_id: call.to_string().into(),
        output: std::borrow::Cow::Owned(serde_json::to_value(message).unwrap_or_default()),
        preliminary,
    }
}

fn transient(out: &mut Vec<u8>, name: &'static str, data: Value) {
    let chunk = Chunk::Data(DataChunk {
        kind: DataKind(name.into()),
        id: None,
        data: std::borrow::Cow::Owned(data),
        transient: true,
    });
    put(out, |out| write_unnumbered_sse_event(out, &chunk));
}

fn put(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) {
    if let Err(error) = write(out) {
        tracing::error!(%error, "an event could not be written as an SSE event");
    }
}

#[cfg(test)]
#[path = "sub_agent_view_tests.rs"]
mod tests;
