//! Log → events of the events surface (`GET /events`). Pure; decides nothing.
//!
//! The fold follows one session. Text is sent as it grows: the reader asks for [`EventsFold::growing`] as often as it wants
//! to send, and the end of a segment is an event of its own with the whole text. So a replay sends a finished segment once.

pub mod history;
mod sub_agents;
mod values;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::sub_agents::SubAgents;
use crate::{
    event::{
        Announcement, FrameEnd, LogEntry, RunEnd, SegmentKind, Seq, SessionEvent, ToolOutcome, UnboundReason,
    },
    id::{ApprovalId, MessageId, RunId, SessionId, ToolCallId},
    interaction::AnsweredBy,
    message::{Part, UiMessage},
    policy::Question,
    run::Origin,
    source::Timestamp,
    tool::ToolCall,
    usage::Usage,
    wire::events::{GROWTH, ServerEvent, event_number},
};

/// The name of the `data-<name>` part with the plan.
const PLAN: &str = "plan";

pub struct EventsFold {
    session: SessionId,
    /// The connection that the events are for.
    connection: String,
    /// The newest message of a user, until its run begins.
    accepted: Option<UiMessage>,
    run: Option<Run>,
    /// The run that ended last; a person may ask it to go on.
    ended: Option<Run>,
    /// Questions that wait for an answer, with the event that asked.
    pending: BTreeMap<ApprovalId, Asked>,
    /// The last entry that was folded. A growing text has its number, so that it follows what was told before.
    last: Seq,
}

struct Run {
    id: RunId,
    message: MessageId,
    agent: String,
    usage: Usage,
    /// The segment that is being written.
    open: Option<OpenSegment>,
    /// How many segments of each kind were announced.
    texts: u32,
    thoughts: u32,
    /// Names of the calls that have no result yet.
    calls: BTreeMap<ToolCallId, String>,
    sub_agents: SubAgents,
    /// What sub-agents asked. The copy in the main agent's message has the call only.
    raised: BTreeMap<ApprovalId, Box<Question>>,
}

struct OpenSegment {
    kind: SegmentKind,
    text: String,
    /// When text was last added.
    at: Timestamp,
    /// How much of the text was sent.
    sent: usize,
}

#[derive(Clone)]
struct Asked {
    kind: &'static str,
    data: Value,
}

/// Whether a reader sends whole texts or only what is new while a segment grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    #[default]
    Whole,
    Deltas,
}

/// An event that the fold has a question about before it can go on.
pub fn needs_user_message(entry: &LogEntry) -> Option<&MessageId> {
    match &entry.event {
        SessionEvent::RunStarted { answers, .. } => Some(&answers.id),
        _ => None,
    }
}

impl EventsFold {
    pub fn new(session: SessionId, connection: String) -> Self {
        Self {
            session,
            connection,
            accepted: None,
            run: None,
            ended: None,
            pending: BTreeMap::new(),
            last: 0,
        }
    }

    /// Whether the fold has the message that a run answers; otherwise it is to be [given](Self::set_accepted).
    pub fn has_accepted(&self, message: &MessageId) -> bool {
        self.accepted.as_ref().is_some_and(|accepted| accepted.id == *message)
    }

    pub fn set_accepted(&mut self, message: UiMessage) {
        self.accepted = Some(message);
    }

    /// Whether the session left this connection with this event.
    pub fn leaves(&self, event: &SessionEvent) -> bool {
        matches!(event, SessionEvent::Announced { announcement }
            if matches!(&**announcement, Announcement::Unbound { connection, .. } if *connection == self.connection))
    }

    /// Folds one event; returns what clients are told about it, in order. `is_live` is false for events that were written
    /// before the client came: announcements are not told again.
    pub fn take(&mut self, entry: &LogEntry, is_live: bool) -> Vec<ServerEvent> {
        self.last = entry.seq;
        let run = self.run.as_ref().map(|run| run.id.clone());
        let mut out = Out { session: &self.session, entry, run, events: Vec::new() };
        match &entry.event {
            SessionEvent::MessageAccepted { message, .. } => self.accepted = Some(message.clone()),
            SessionEvent::AgentChosen { agent, display_name, previous, request } => {
                let data = json!({ "previousAgentId": previous, "currentAgentId": agent, "agentName": display_name });
                out.push("agent_switched", data).request_id = request.clone();
            }
            SessionEvent::Announced { announcement } if is_live => {
                announce(&mut out, announcement, &self.connection, &self.pending);
            }
            SessionEvent::RunStarted { run, answers, message, options } => {
                out.run = Some(run.clone());
                out.push("message", session_started(&self.session)).request_id = options.request_id.clone();
                if let Some(user) = self.accepted.take() {
                    let event = out.push("message", user_message(&user, answers.id.as_str(), options.origin));
                    event.request_id = options.request_id.clone();
                }
                self.run = Some(Run::new(run.clone(), message.clone()));
            }
            SessionEvent::RunResumed { run, message } if self.run.is_none() => {
                let ended = self.ended.take().filter(|ended| ended.message == *message);
                self.run = Some(ended.unwrap_or_else(|| Run::new(run.clone(), message.clone())));
                out.run = Some(run.clone());
                out.push("message", session_started(&self.session));
            }
            event => {
                if let Some(run) = &mut self.run {
                    run.take(event, &mut out, &mut self.pending);
                }
                if let SessionEvent::RunEnded { run: ended, message, end } = event
                    && self.run.as_ref().is_some_and(|run| run.message == *message)
                    && let Some(run) = self.run.take()
                {
                    out.run = Some(ended.clone());
                    self.pending.clear();
                    out.push("complete", run.complete(&self.session, *end));
                    self.ended = Some(run);
                }
            }
        }
        out.events
    }

    /// The text that has grown since it was last asked for; `None` if there is none.
    pub fn growing(&mut self, growth: Growth) -> Option<ServerEvent> {
        let run = self.run.as_mut()?;
        let (message, id) = (run.message.clone(), run.id.clone());
        let number = |kind| match kind {
            SegmentKind::Text => run.texts,
            SegmentKind::Reasoning => run.thoughts,
        };
        let (text, thought) = (number(SegmentKind::Text), number(SegmentKind::Reasoning));
        let open = run.open.as_mut().filter(|open| open.text.len() > open.sent)?;
        let segment = if open.kind == SegmentKind::Text { text } else { thought };
        let mut data = segment_data(open.kind, &message, segment, true);
        match growth {
            Growth::Whole => data["content"] = Value::from(open.text.as_str()),
            Growth::Deltas => data["delta"] = Value::from(&open.text[open.sent..]),
        }
        open.sent = open.text.len();
        Some(ServerEvent {
            kind: segment_kind(open.kind),
            data,
            timestamp: open.at,
            request_id: None,
            session_id: Some(self.session.clone()),
            run_id: Some(id),
            seq: Some(event_number(self.last, GROWTH)),
        })
    }

    /// Whether some text has grown that was not sent.
    pub fn has_grown(&self) -> bool {
        let open = self.run.as_ref().and_then(|run| run.open.as_ref());
        open.is_some_and(|open| open.text.len() > open.sent)
    }
}

/// Events of one log entry.
struct Out<'a> {
    session: &'a SessionId,
    entry: &'a LogEntry,
    run: Option<RunId>,
    events: Vec<ServerEvent>,
}

impl Out<'_> {
    fn push(&mut self, kind: &'static str, data: Value) -> &mut ServerEvent {
        let index = self.events.len();
        self.events.push(ServerEvent {
            kind,
            data,
            timestamp: self.entry.at,
            request_id: None,
            session_id: Some(self.session.clone()),
            run_id: self.run.clone(),
            seq: Some(event_number(self.entry.seq, index)),
        });
        &mut self.events[index]
    }
}

fn announce(
    out: &mut Out<'_>,
    announcement: &Announcement,
    connection: &str,
    pending: &BTreeMap<ApprovalId, Asked>,
) {
    match announcement {
        Announcement::Unbound { connection: of, reason } if of == connection => {
            let reason = match reason {
                UnboundReason::TakenOver => "taken_over",
                UnboundReason::Deleted => "deleted",
            };
            out.run = None;
            out.push("session_unbound", json!({ "sessionId": out.session, "reason": reason }));
        }
        Announcement::SwitchRefused { connection: of, code, text, agents, request } if of == connection => {
            out.run = None;
            let data = json!({ "errorCode": code, "message": text, "availableAgents": agents });
            out.push("error", data).request_id = request.clone();
        }
        Announcement::Unbound { .. } | Announcement::SwitchRefused { .. } => {}
        Announcement::StillPending { requests } => {
            for (request, asked) in requests.iter().filter_map(|request| pending.get_key_value(request)) {
                out.push(asked.kind, asked.data.clone()).request_id = Some(request.to_string());
            }
        }
        Announcement::Plan { steps } => {
            out.run = None;
            out.push("todos", values::todos(out.session, steps));
        }
        Announcement::RolledBack { message_index, files, error, request } => {
            let mut data = json!({
                "success": error.is_none(), "sessionId": out.session, "messageIndex": message_index,
                "filesRolledBack": files,
            });
            if let Some(error) = error {
                data["error"] = Value::from(error.as_str());
            }
            out.run = None;
            out.push("rollback_result", data).request_id = request.clone();
        }
    }
}

/// The first event of a run, which names the session.
fn session_started(session: &SessionId) -> Value {
    json!({ "role": "system", "sessionId": session, "content": format!("Session {session}") })
}

fn user_message(message: &UiMessage, id: &str, origin: Origin) -> Value {
    let has_images = message.parts.iter().any(|part| matches!(part, Part::File { .. }));
    let origin = match origin {
        Origin::Chat => "chat",
        Origin::Events => "events",
    };
    json!({
        "role": "user", "content": message.text(), "hasImages": has_images, "messageId": id, "origin": origin,
    })
}

fn segment_kind(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::Text => "message",
        SegmentKind::Reasoning => "thinking",
    }
}

fn segment_data(kind: SegmentKind, message: &MessageId, segment: u32, streaming: bool) -> Value {
    let mut data = json!({ "messageId": message, "segment": segment, "streaming": streaming });
    if kind == SegmentKind::Text {
        data["role"] = Value::from("assistant");
    }
    data
}

impl Run {
    fn new(id: RunId, message: MessageId) -> Self {
        Self {
            id,
            message,
            agent: String::new(),
            usage: Usage::default(),
            open: None,
            texts: 0,
            thoughts: 0,
            calls: BTreeMap::new(),
            sub_agents: SubAgents::default(),
            raised: BTreeMap::new(),
        }
    }

    fn take(&mut self, event: &SessionEvent, out: &mut Out<'_>, pending: &mut BTreeMap<ApprovalId, Asked>) {
        if let SessionEvent::ModelCalled { usage, run: Some(run), .. } = event
            && *run == self.id
        {
            self.usage += *usage;
        }
        if event.message() != Some(&self.message) {
            if let SessionEvent::ApprovalAsked { approval, question: Some(question), .. } = event {
                self.raised.insert(approval.clone(), question.clone());
            }
            for data in self.sub_agents.take(event, out.entry.at) {
                out.push("sub_agent_message", data);
            }
            return;
        }
        match event {
            SessionEvent::FrameOpened { metadata, .. } => {
                self.agent = metadata.agent_name.clone().unwrap_or_default();
            }
            SessionEvent::SegmentDelta { kind, delta, .. } => self.grow(*kind, delta, out),
            SessionEvent::SegmentOpened { .. } | SessionEvent::SegmentClosed { .. } => {
                self.close_segment(out)
            }
            SessionEvent::ModelCalled { usage, window, .. } => {
                out.push("usage", values::usage(usage, *window));
            }
            SessionEvent::DataPushed { name, data, .. } if name == PLAN => {
                out.push("todo_update", values::todos(out.session, data));
            }
            SessionEvent::ToolRequested { call, .. } => {
                self.close_segment(out);
                self.call(&call.id, &call.name, &call.input, out);
            }
            SessionEvent::ToolRejected { call, tool, input, error, .. } => {
                self.close_segment(out);
                self.call(call, tool, input, out);
                self.settle(call, "error", error.clone(), out);
            }
            SessionEvent::ToolSettled { call, outcome, .. } => {
                let (status, content) = match outcome {
                    ToolOutcome::Done { output } => ("success", values::text_of(output)),
                    ToolOutcome::Failed { message } => ("error", message.clone()),
                    ToolOutcome::Denied { reason } => ("error", values::denied(reason.as_deref())),
                };
                self.settle(call, status, content, out);
            }
            SessionEvent::ApprovalAsked { approval, call, question, .. } => {
                self.close_segment(out);
                let raised = self.raised.remove(approval);
                let asked = asked(call, question.as_deref().or(raised.as_deref()));
                out.push(asked.kind, asked.data.clone()).request_id = Some(approval.to_string());
                pending.insert(approval.clone(), asked);
            }
            SessionEvent::ApprovalAnswered { approval, withdrawn, by, .. } => {
                if let Some(asked) = pending.remove(approval) {
                    let kind = asked.kind.trim_end_matches("_request");
                    let outcome = if *withdrawn { "aborted" } else { "answered" };
                    let by = by.unwrap_or(AnsweredBy::Chat);
                    let data = json!({ "requestId": approval, "kind": kind, "outcome": outcome, "by": by });
                    out.push("interaction_resolved", data);
                }
            }
            SessionEvent::FrameClosed { end, metadata, .. } => {
                self.close_segment(out);
                if let FrameEnd::Failed { message } = end {
                    let code = values::run_error_code(metadata.error_code);
                    out.push("error", json!({ "errorCode": code, "message": message }));
                }
            }
            _ => {}
        }
    }

    fn grow(&mut self, kind: SegmentKind, delta: &str, out: &mut Out<'_>) {
        if self.open.as_ref().is_some_and(|open| open.kind != kind) {
            self.close_segment(out);
        }
        let at = out.entry.at;
        let open = self.open.get_or_insert_with(|| OpenSegment { kind, text: String::new(), at, sent: 0 });
        open.text.push_str(delta);
        open.at = at;
    }

    /// Tells the whole text of the open segment, if there is one with text.
    fn close_segment(&mut self, out: &mut Out<'_>) {
        let Some(open) = self.open.take().filter(|open| !open.text.is_empty()) else { return };
        let count = match open.kind {
            SegmentKind::Text => &mut self.texts,
            SegmentKind::Reasoning => &mut self.thoughts,
        };
        let mut data = segment_data(open.kind, &self.message, *count, false);
        *count += 1;
        data["content"] = Value::from(open.text);
        out.push(segment_kind(open.kind), data);
    }

    fn call(&mut self, id: &ToolCallId, name: &str, input: &Value, out: &mut Out<'_>) {
        self.calls.insert(id.clone(), name.to_owned());
        // What a model wrote instead of an object is kept as text in `function`.
        let arguments = if input.is_object() { input.clone() } else { json!({}) };
        let function = json!({ "name": name, "arguments": input.to_string() });
        let data = json!({ "toolCallId": id, "name": name, "arguments": arguments, "function": function });
        out.push("tool_call", data);
    }

    fn settle(&mut self, call: &ToolCallId, status: &str, content: String, out: &mut Out<'_>) {
        let Some(name) = self.calls.remove(call) else { return };
        let data = json!({ "toolCallId": call, "toolName": name, "content": content, "status": status });
        out.push("tool_result", data);
    }

    fn complete(&self, session: &SessionId, end: RunEnd) -> Value {
        let status = match end {
            RunEnd::Finished => "finished",
            RunEnd::Cancelled => "cancelled",
            RunEnd::Failed => "failed",
            RunEnd::Withdrawn => "rejected",
        };
        json!({
            "sessionId": session, "usage": values::total(&self.usage), "tokenCount": self.usage.total_tokens,
            "status": status, "cancelled": end == RunEnd::Cancelled, "agentId": self.agent,
        })
    }
}

fn asked(call: &ToolCall, question: Option<&Question>) -> Asked {
    match question.and_then(|question| question.form.as_deref()) {
        Some(form) => Asked { kind: "user_question_request", data: values::question(call, form) },
        None => Asked { kind: "tool_confirmation_request", data: values::confirmation(call, question) },
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
