//! Log → transcript. Messages that are still being written are left out, as in the history.

use std::collections::HashMap;

use super::{
    record::{Agent, AgentFile, Line, RunLine, SessionFile, Transcript},
    write::{Place, TranscriptError},
};
use crate::{
    event::{FrameParent, LogEntry, SessionEvent},
    fold::MessageFold,
    id::{MessageId, MessageRef, SessionId},
    interaction::InteractionKind,
    normalize::normalize,
    source::Timestamp,
};

/// Folds a whole log, oldest first. `session` holds what is not in the log: the id, the title, the pin, the active leaf.
pub fn read_log(
    session: &SessionFile,
    log: impl IntoIterator<Item = LogEntry>,
) -> Result<Transcript, TranscriptError> {
    let mut view = View::default();
    for entry in log {
        view.take(entry)?;
    }
    Ok(view.finish(session.clone()))
}

fn unreadable(wrong: String) -> TranscriptError {
    TranscriptError { place: Place::default(), wrong }
}

#[derive(Default)]
struct View {
    /// Lines in the order their messages were stored; those of agents are filled in at the end.
    order: Vec<Spot>,
    work: HashMap<MessageId, Work>,
    /// Sub-agents in the order they started.
    frames: Vec<MessageId>,
    preface: Option<(String, String)>,
    /// The last planted message.
    tail: Option<MessageRef>,
}

enum Spot {
    Line(Box<Line>),
    Agent(MessageId),
}

/// A message that an agent writes.
struct Work {
    fold: MessageFold,
    line: Line,
    parent: Option<FrameParent>,
    /// Whether it is stored, because it waits or has ended.
    at_rest: bool,
    placed: bool,
}

impl View {
    fn take(&mut self, LogEntry { at, event, .. }: LogEntry) -> Result<(), TranscriptError> {
        if let SessionEvent::FrameOpened { message, parent: Some(parent), .. } = &event {
            self.frames.push(message.clone());
            self.begin(message, None, Some(FrameParent::clone(parent)), at);
        }
        match &event {
            SessionEvent::HistoryPlanted { messages } => {
                for message in messages.messages().map_err(unreadable)? {
                    let id = message.id.clone();
                    let mut line = Line::bare(message, self.tail.take(), at);
                    line.planted = true;
                    self.tail = Some(MessageRef::first(id));
                    self.order.push(Spot::Line(Box::new(line)));
                }
            }
            SessionEvent::MessageAccepted { message, revision, parent, facts } => {
                let mut line = Line::bare(message.clone(), parent.clone(), at);
                line.revision = *revision;
                line.facts = facts.clone();
                self.order.push(Spot::Line(Box::new(line)));
            }
            SessionEvent::PrefaceWritten { agent, text } => {
                self.preface = Some((agent.clone(), text.clone()))
            }
            SessionEvent::RunStarted { run, answers, message, options } => {
                let run = RunLine { id: run.clone(), options: options.as_ref().clone(), end: None };
                self.begin(message, Some((run, answers.clone())), None, at);
            }
            _ => {}
        }
        let Some(id) = event.message() else { return Ok(()) };
        let Some(work) = self.work.get_mut(id) else { return Ok(()) };
        work.fold.event(&event).map_err(|error| unreadable(error.to_string()))?;
        match event {
            SessionEvent::RunParked { .. } => (work.at_rest, work.line.ended_at) = (true, Some(at)),
            SessionEvent::RunResumed { .. } => {
                (work.at_rest, work.line.end, work.line.ended_at) = (false, None, None);
                if let Some(run) = &mut work.line.run {
                    run.end = None;
                }
            }
            SessionEvent::FrameClosed { end, .. } => {
                work.at_rest = true;
                (work.line.end, work.line.ended_at) = (Some(end), Some(at));
            }
            SessionEvent::RunEnded { end, .. } => {
                if let Some(run) = &mut work.line.run {
                    run.end = Some(end);
                }
            }
            SessionEvent::ArtifactKept { artifact, .. } => work.line.artifacts.push(artifact),
            SessionEvent::ApprovalAnswered {
                approval,
                withdrawn: true,
                kind: InteractionKind::Approval,
                ..
            } => {
                work.line.withdrawn.push(approval);
            }
            _ => return Ok(()),
        }
        if work.at_rest && !work.placed && work.parent.is_none() {
            work.placed = true;
            let id = work.line.id.clone();
            self.order.push(Spot::Agent(id));
        }
        Ok(())
    }

    fn begin(
        &mut self,
        message: &MessageId,
        run: Option<(RunLine, MessageRef)>,
        parent: Option<FrameParent>,
        at: Timestamp,
    ) {
        let fold = MessageFold::new(message.clone());
        let (run, answers) = run.unzip();
        let mut line = Line::bare(fold.message().clone(), answers, at);
        line.run = run;
        self.work.insert(message.clone(), Work { fold, line, parent, at_rest: false, placed: false });
    }

    fn finish(mut self, mut session: SessionFile) -> Transcript {
        let mut lines = Vec::new();
        let mut written = Vec::new();
        for spot in std::mem::take(&mut self.order) {
            match spot {
                Spot::Line(line) => lines.push(*line),
                Spot::Agent(id) => {
                    if let Some(line) = self.work.get(&id).filter(|work| work.at_rest).map(Work::line) {
                        written.push(id);
                        lines.push(line);
                    }
                }
            }
        }
        let times = || lines.iter().flat_map(|line| [Some(line.created_at), line.ended_at]).flatten();
        session.created_at = times().min().unwrap_or(session.created_at);
        session.updated_at = times().max().unwrap_or(session.created_at);
        session.message_count = lines.len() as u64;
        (session.preface_agent, session.session_preface) = self.preface.take().unzip();
        let agents = self.below(&written);
        Transcript { session, lines, agents }
    }

    /// The sub-agents of these messages, with those below them.
    fn below(&self, callers: &[MessageId]) -> Vec<Agent> {
        let mut agents = Vec::new();
        for id in &self.frames {
            let Some(work) = self.work.get(id).filter(|work| work.at_rest) else { continue };
            let Some(parent) = work.parent.as_ref().filter(|parent| callers.contains(&parent.message)) else {
                continue;
            };
            let file = work.file(parent);
            let mut line = work.line();
            let task = file.task_line(&line.id);
            line.parent_message_id = Some(task.id.clone());
            let agents_below = self.below(std::slice::from_ref(id));
            agents.push(Agent { file, lines: vec![task, line], agents: agents_below });
        }
        agents
    }
}

impl Work {
    fn line(&self) -> Line {
        let mut message = self.fold.message().clone();
        if self.line.end.is_none() {
            message = normalize(message);
        }
        Line { metadata: message.metadata, parts: message.parts, ..self.line.clone() }
    }

    fn file(&self, parent: &FrameParent) -> AgentFile {
        let facts = self.fold.message().facts();
        let agent_type = facts.agent_name.unwrap_or_default();
        AgentFile {
            id: SessionId::clone(&parent.chat),
            title: facts.agent.map_or_else(|| agent_type.clone(), |agent| agent.display_name),
            task: parent.task.clone(),
            agent_type,
            created_at: self.line.created_at,
            parent_message_id: parent.message.clone(),
            parent_tool_call_id: parent.call.clone(),
            background: parent.background,
            context: parent.context.clone(),
        }
    }
}
