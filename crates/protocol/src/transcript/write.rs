//! Transcript → log. The files may come from anybody: what does not fit is refused with its line, and the resulting log is
//! checked by folding it again.

use std::{collections::HashSet, fmt};

use super::{
    record::{Agent, Line, SessionFile, Transcript},
    unfold::Unfold,
};
use crate::{
    event::{FrameParent, SessionEvent},
    fold::MessageFold,
    id::{ApprovalId, ArtifactId, MessageId, MessageRef, SessionId},
    message::{Role, UiMessage},
    planted::Planted,
    source::Timestamp,
};

/// A log that folds into the transcript, and the messages of its frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    pub events: Vec<TimedEvent>,
    pub messages: Vec<UiMessage>,
}

/// An event with the time it is stored under.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedEvent {
    pub at: Timestamp,
    pub event: SessionEvent,
}

impl Imported {
    fn push(&mut self, at: Timestamp, event: SessionEvent) {
        self.events.push(TimedEvent { at, event });
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {wrong}")]
pub struct TranscriptError {
    pub place: Place,
    pub wrong: String,
}

/// The file and line of a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The sub-agents from the session's own downwards.
    pub agents: Vec<SessionId>,
    /// The line of `messages.jsonl`, from 1; `None` means `session.json`.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for agent in &self.agents {
            write!(f, "agents/{agent}/")?;
        }
        match self.line {
            Some(line) => write!(f, "messages.jsonl, line {line}"),
            None => f.write_str("session.json"),
        }
    }
}

impl Place {
    fn of(agents: &[SessionId], line: Option<usize>) -> Self {
        Self { agents: agents.to_vec(), line }
    }

    fn wrong(self, wrong: impl Into<String>) -> TranscriptError {
        TranscriptError { place: self, wrong: wrong.into() }
    }
}

/// The log of a session that would be exported as this transcript.
pub fn to_log(transcript: &Transcript) -> Result<Imported, TranscriptError> {
    let session = Place::default();
    if transcript.session.version != SessionFile::VERSION {
        let wrong = format!(
            "version {} is not known here, only {}",
            transcript.session.version,
            SessionFile::VERSION
        );
        return Err(session.wrong(wrong));
    }
    let mut writer = Writer::default();
    let file = &transcript.session;
    if let (Some(agent), Some(text)) = (&file.preface_agent, &file.session_preface) {
        let event = SessionEvent::PrefaceWritten { agent: agent.clone(), text: text.clone() };
        writer.out.push(file.created_at, event);
    }
    let planted = transcript.lines.iter().take_while(|line| line.planted).count();
    writer.plant(&transcript.lines[..planted])?;
    for (number, line) in transcript.lines.iter().enumerate().skip(planted) {
        let is_last = number + 1 == transcript.lines.len();
        writer.line(line, &transcript.agents, Place::of(&[], Some(number + 1)), is_last)?;
    }
    if let Some(agent) = transcript.agents.iter().find(|agent| !writer.agents.contains(&agent.file.id)) {
        return Err(
            Place::of(std::slice::from_ref(&agent.file.id), None).wrong("no message calls this agent")
        );
    }
    if let Some(leaf) = file.active_leaf.as_ref().filter(|leaf| !writer.seen.contains(leaf)) {
        return Err(session.wrong(format!("activeLeaf: there is no message {:?}", leaf.id)));
    }
    Ok(writer.out)
}

#[derive(Default)]
struct Writer {
    out: Imported,
    seen: HashSet<MessageRef>,
    frames: HashSet<MessageId>,
    agents: HashSet<SessionId>,
    approvals: HashSet<ApprovalId>,
    artifacts: HashSet<ArtifactId>,
}

/// The frames of one run, while they are written.
struct Run<'a> {
    root: &'a MessageId,
    parked: bool,
    /// Whether one of its calls has no result.
    asks: bool,
    /// Frames that wait, with the time at which they started to.
    waiting: Vec<(Timestamp, MessageId)>,
}

impl Writer {
    /// Writes the planted messages, a single chain from the first line on.
    fn plant(&mut self, lines: &[Line]) -> Result<(), TranscriptError> {
        let Some(first) = lines.first() else { return Ok(()) };
        let mut before: Option<MessageRef> = None;
        for (number, line) in lines.iter().enumerate() {
            let place = Place::of(&[], Some(number + 1));
            if line.parent() != before || line.revision > 0 || line.role == Role::System {
                return Err(place.wrong("planted messages follow each other, from the first line on"));
            }
            before = Some(self.note(line, &place)?);
        }
        let given: Vec<UiMessage> = lines.iter().map(Line::message).collect();
        let place = Place::of(&[], Some(1));
        let messages = Planted::of(&given).map_err(|wrong| place.clone().wrong(wrong))?;
        let kept = messages.messages().map_err(|wrong| place.wrong(wrong))?;
        if let Some(other) = kept.iter().zip(&given).position(|(kept, given)| kept != given) {
            let wrong = "a planted message has text and files, and the origin \"client\" in its metadata";
            return Err(Place::of(&[], Some(other + 1)).wrong(wrong));
        }
        self.out.push(first.created_at, SessionEvent::HistoryPlanted { messages });
        Ok(())
    }

    /// Records a version of a message and checks that it is unique and follows a known one.
    fn note(&mut self, line: &Line, place: &Place) -> Result<MessageRef, TranscriptError> {
        MessageId::from_outside(line.id.as_str())
            .map_err(|error| place.clone().wrong(format!("the message id {error}")))?;
        if let Some(parent) = line.parent().filter(|parent| !self.seen.contains(parent)) {
            return Err(place
                .clone()
                .wrong(format!("no line before has the message {:?} it follows", parent.id)));
        }
        let reference = MessageRef { id: line.id.clone(), revision: line.revision };
        if !self.seen.insert(reference.clone()) {
            return Err(place.clone().wrong(format!("the message {:?} is there twice", line.id)));
        }
        Ok(reference)
    }

    fn line(
        &mut self,
        line: &Line,
        agents: &[Agent],
        place: Place,
        is_last: bool,
    ) -> Result<(), TranscriptError> {
        let reference = self.note(line, &place)?;
        if line.planted {
            return Err(place.wrong("planted messages come first"));
        }
        match line.role {
            Role::System => Err(place.wrong("a session has no system messages")),
            Role::User => {
                let event = SessionEvent::MessageAccepted {
                    message: line.message(),
                    revision: reference.revision,
                    parent: line.parent(),
                    facts: line.facts.clone(),
                };
                self.out.push(line.created_at, event);
                Ok(())
            }
            Role::Assistant => self.run(line, agents, place, is_last),
        }
    }

    fn run(
        &mut self,
        line: &Line,
        agents: &[Agent],
        place: Place,
        is_last: bool,
    ) -> Result<(), TranscriptError> {
        let wrong = |what: &str| place.clone().wrong(what);
        let run =
            line.run.as_ref().ok_or_else(|| wrong("run: an agent's message says which run wrote it"))?;
        let answers =
            line.parent().ok_or_else(|| wrong("parentMessageId: an agent's message answers another"))?;
        if run.end.is_some() != line.end.is_some() {
            return Err(wrong("end: a message has ended when its run has"));
        }
        let parked = run.end.is_none();
        if parked && !is_last {
            return Err(wrong("end: only the last message may wait for a person"));
        }
        let (message, options) = (line.id.clone(), Box::new(run.options.clone()));
        let started = SessionEvent::RunStarted { run: run.id.clone(), answers, message, options };
        self.out.push(line.created_at, started);
        let mut whole = Run { root: &line.id, parked, asks: false, waiting: Vec::new() };
        self.frame(line, None, agents, &mut whole, &mut Vec::new(), &place)?;
        if parked && !whole.asks {
            return Err(wrong("end: nothing waits for a person"));
        }
        for (at, message) in whole.waiting {
            self.out.push(at, SessionEvent::RunParked { run: run.id.clone(), message });
        }
        if let Some(end) = run.end {
            let at = line.ended_at.unwrap_or(line.created_at);
            self.out.push(at, SessionEvent::RunEnded { run: run.id.clone(), message: line.id.clone(), end });
        }
        Ok(())
    }

    /// Writes an agent's message, with the messages of the agents it called at their calls.
    fn frame(
        &mut self,
        line: &Line,
        parent: Option<FrameParent>,
        agents: &[Agent],
        run: &mut Run<'_>,
        path: &mut Vec<SessionId>,
        place: &Place,
    ) -> Result<(), TranscriptError> {
        let wrong = |what: String| place.clone().wrong(what);
        if !self.frames.insert(line.id.clone()) {
            return Err(wrong(format!("the message {:?} is there twice", line.id)));
        }
        if line.end.is_none() && !run.parked {
            return Err(wrong("end: its run has ended, and it has not".to_owned()));
        }
        let mut message = line.message();
        let open = message.tool_parts().any(|part| !part.state.is_settled());
        if open && line.end.is_some() {
            return Err(wrong("end: a call has no result".to_owned()));
        }
        run.asks |= open;
        let mut facts = Unfold::facts(&mut message).map_err(wrong)?.into_iter().map(Box::new);
        let from = self.out.events.len();
        let at = line.created_at;
        let (id, metadata) = (line.id.clone(), facts.next().unwrap_or_default());
        let opened =
            SessionEvent::FrameOpened { message: id.clone(), metadata, parent: parent.map(Box::new) };
        self.out.push(at, opened);
        for metadata in facts {
            self.out.push(at, SessionEvent::MetadataAdded { message: id.clone(), metadata });
        }
        self.keep_files(line, place)?;
        // The events of the message and of the agents below are interleaved, each with the time of its agent.
        let mut own = Vec::new();
        let mut failure = None;
        let mut unfold = Unfold::new(&message, &line.withdrawn);
        let unfolded = unfold.parts(&line.parts, &mut own, &mut |call, own| {
            own.drain(..).for_each(|event| self.out.push(at, event));
            let mut called = agents.iter().filter(|agent| {
                agent.file.parent_message_id == line.id && agent.file.parent_tool_call_id == *call
            });
            if let Some(agent) = called.next() {
                let below = self.agent(agent, run, path);
                failure = below.err();
            }
            match (&failure, called.next()) {
                (Some(_), _) => Err("an agent below".to_owned()),
                (None, Some(_)) => Err(format!("two agents were called by {call}")),
                (None, None) => Ok(()),
            }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        unfolded.map_err(wrong)?;
        own.into_iter().for_each(|event| self.out.push(at, event));
        let rest = line.ended_at.unwrap_or(at);
        match line.end.clone() {
            Some(end) => {
                let (message, metadata) = (line.id.clone(), Box::default());
                self.out.push(rest, SessionEvent::FrameClosed { message, end, metadata });
            }
            None => run.waiting.push((rest, line.id.clone())),
        }
        self.check(from, &message, place)?;
        self.out.messages.push(message);
        Ok(())
    }

    fn agent(
        &mut self,
        agent: &Agent,
        run: &mut Run<'_>,
        path: &mut Vec<SessionId>,
    ) -> Result<(), TranscriptError> {
        const DEEPEST: usize = 16;
        let file = &agent.file;
        path.push(file.id.clone());
        let outer = Place::of(path, None);
        if path.len() > DEEPEST {
            return Err(outer.wrong(format!("agents may be nested {DEEPEST} levels deep")));
        }
        if !self.agents.insert(file.id.clone()) {
            return Err(outer.wrong("this agent is there twice"));
        }
        let [task, line] = agent.lines.as_slice() else {
            return Err(outer.wrong("its messages.jsonl must hold its task and its answer, two lines"));
        };
        let (first, second) = (Place::of(path, Some(1)), Place::of(path, Some(2)));
        if *task != file.task_line(&line.id) {
            return Err(
                first.wrong("must be the task of session.json, under the id of the answer with \"-task\"")
            );
        }
        if line.role != Role::Assistant
            || line.run.is_some()
            || line.parent_message_id.as_ref() != Some(&task.id)
        {
            return Err(second.wrong("must be the agent's answer to its task"));
        }
        let parent = FrameParent {
            message: file.parent_message_id.clone(),
            call: file.parent_tool_call_id.clone(),
            root: run.root.clone(),
            chat: file.id.clone(),
            task: file.task.clone(),
            context: file.context.clone(),
            background: file.background,
        };
        self.frame(line, Some(parent), &agent.agents, run, path, &second)?;
        if let Some(lost) = agent.agents.iter().find(|agent| !self.agents.contains(&agent.file.id)) {
            path.push(lost.file.id.clone());
            return Err(Place::of(path, None).wrong("no message calls this agent"));
        }
        path.pop();
        Ok(())
    }

    fn keep_files(&mut self, line: &Line, place: &Place) -> Result<(), TranscriptError> {
        for artifact in &line.artifacts {
            if !self.artifacts.insert(artifact.id.clone()) {
                return Err(place.clone().wrong(format!("the file {} is there twice", artifact.id)));
            }
            let (message, artifact) = (line.id.clone(), artifact.clone());
            self.out.push(line.created_at, SessionEvent::ArtifactKept { message, artifact });
        }
        Ok(())
    }

    /// Checks that the events since `from` fold to the message they were written from.
    fn check(&mut self, from: usize, message: &UiMessage, place: &Place) -> Result<(), TranscriptError> {
        let mut fold = MessageFold::new(message.id.clone());
        for TimedEvent { event, .. } in &self.out.events[from..] {
            if event.message() != Some(&message.id) {
                continue;
            }
            fold.event(event).map_err(|error| place.clone().wrong(error.to_string()))?;
            if let SessionEvent::ApprovalAsked { approval, raised: false, .. } = event
                && !self.approvals.insert(approval.clone())
            {
                return Err(place.clone().wrong(format!("the question {approval} is there twice")));
            }
        }
        if fold.message() == message {
            return Ok(());
        }
        let parts = fold.message().parts.iter().zip(&message.parts);
        let place_of = parts.take_while(|(made, given)| made == given).count();
        Err(place.clone().wrong(format!("parts[{place_of}]: no agent can have written this message")))
    }
}
