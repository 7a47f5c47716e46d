//! Writes legal logs of one assistant message, as the engine would.
//!
//! What must stay true: text after a tool result stands in a new step; everything opened in a step is closed before
//! `StepFinished`; a run parks only between steps; calls the front end or a person must answer are settled only
//! after their answer; every call is settled when the frame closes.

use protocol::{
    AgentRef, ApprovalId, Artifact, ArtifactId, FinishReason, FrameEnd, InteractionKind, LogEntry,
    MessageFacts, MessageId, MessageRef, Part, ProviderMetadata, QueueExit, ReportNote, Role, RunEnd, RunId,
    SegmentKind, Seq, SessionEvent, SessionId, Source, Timestamp, ToolCall, ToolCallId, ToolOutcome,
    UiMessage, Usage,
    compaction::{Compaction, Status, Trigger},
    run::RunOptions,
};
use serde_json::Value;
use test_support::Rng;

use crate::{content, interrupt};

const TOOLS: [&str; 5] = ["read-file", "search_google", "time-now", "conf_approve", "x"];
const REASONS: [FinishReason; 3] = [FinishReason::Stop, FinishReason::Length, FinishReason::ContentFilter];

/// The whole log of one run of one session; equal for equal seeds.
pub fn log(seed: u64) -> Vec<LogEntry> {
    let mut writer = Writer::new(seed);
    writer.open();
    writer.steps();
    match writer.rng.below(100) {
        0..25 => interrupt::stop(&mut writer, FrameEnd::Cancelled),
        25..45 => {
            let message = content::text(&mut writer.rng, 4);
            interrupt::stop(&mut writer, FrameEnd::Failed { message });
        }
        _ => writer.finish(),
    }
    writer.entries
}

/// The message a generated log is about.
pub fn message_of(log: &[LogEntry]) -> MessageId {
    log.iter()
        .find_map(|entry| match &entry.event {
            SessionEvent::FrameOpened { message, .. } => Some(message.clone()),
            _ => None,
        })
        .expect("a generated log opens its frame")
}

pub struct Writer {
    pub rng: Rng,
    pub entries: Vec<LogEntry>,
    pub message: MessageId,
    pub run: RunId,
    seq: Seq,
    segments: u32,
    sources: u32,
    calls: u32,
    /// Whether people and front ends are asked in this log at all.
    asks: bool,
    has_client_tools: bool,
}

enum Fate {
    Runs,
    Rejected,
    Asks,
    ClientRuns,
}

struct Call {
    call: ToolCall,
    fate: Fate,
}

impl Writer {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        Self {
            message: MessageId::new(format!("msg_{seed}")),
            run: RunId::new(format!("run_{seed}")),
            seq: rng.below(1000) as Seq,
            asks: rng.percent(50),
            has_client_tools: rng.percent(40),
            entries: Vec::new(),
            segments: 0,
            sources: 0,
            calls: 0,
            rng,
        }
    }

    pub fn write(&mut self, event: SessionEvent) {
        self.seq += if self.rng.percent(95) { 1 } else { self.rng.between(2, 500) as Seq };
        self.entries.push(LogEntry { seq: self.seq, at: Timestamp(self.seq as i64 * 7), event });
    }

    fn open(&mut self) {
        let question = MessageRef::first(MessageId::new("question"));
        let text = content::text(&mut self.rng, 3);
        self.write(SessionEvent::MessageAccepted {
            message: UiMessage {
                id: question.id.clone(),
                role: Role::User,
                metadata: None,
                parts: vec![Part::Text { text, state: None }],
            },
            revision: 0,
            parent: None,
            facts: None,
        });
        let (run, message) = (self.run.clone(), self.message.clone());
        let options = RunOptions::default();
        self.write(SessionEvent::RunStarted {
            run,
            answers: question,
            message: message.clone(),
            options: Box::new(options),
        });
        let agent = Some(AgentRef::main("general", "General"));
        let facts = MessageFacts { agent, model: Some("demo/demo".to_owned()), ..MessageFacts::default() };
        self.write(SessionEvent::FrameOpened { message, metadata: Box::new(facts), parent: None });
    }

    /// Some steps with calls, then one without.
    pub fn steps(&mut self) {
        for _ in 0..self.rng.pick(&[0, 1, 1, 1, 2, 2, 3]).to_owned() {
            self.step_with_calls();
        }
        self.write(SessionEvent::StepStarted { message: self.message.clone() });
        let least = usize::from(self.rng.percent(95));
        self.segments(least);
        self.model_called();
        self.write(SessionEvent::StepFinished { message: self.message.clone() });
    }

    pub fn finish(&mut self) {
        let reason = *self.rng.pick(&REASONS);
        let metadata = if self.rng.percent(60) { content::facts(&mut self.rng) } else { Box::default() };
        let message = self.message.clone();
        self.write(SessionEvent::FrameClosed { message, end: FrameEnd::Finished { reason }, metadata });
        self.write(SessionEvent::RunEnded {
            run: self.run.clone(),
            message: self.message.clone(),
            end: RunEnd::Finished,
        });
    }

    fn step_with_calls(&mut self) {
        let message = self.message.clone();
        self.write(SessionEvent::StepStarted { message: message.clone() });
        self.segments(0);
        let count = *self.rng.pick(&[1, 1, 1, 2, 2, 3, 4]);
        let calls: Vec<Call> = (0..count).map(|_| self.new_call()).collect();
        let inputs = calls.iter().map(|call| self.input_of(call)).collect();
        self.interleaved(inputs);
        self.model_called();
        let work = calls.iter().map(|call| self.work_of(call)).collect();
        self.interleaved(work);
        if self.rng.percent(20) {
            let metadata = content::facts(&mut self.rng);
            self.write(SessionEvent::MetadataAdded { message: message.clone(), metadata });
        }
        self.write(SessionEvent::StepFinished { message });
        if self.rng.percent(15) {
            let event = self.noticed();
            self.write(event);
        }
        if calls.iter().any(|call| matches!(call.fate, Fate::Asks | Fate::ClientRuns)) {
            self.pause(&calls);
        }
    }

    /// Reasoning and text in any order, each closed before the next; at least `least` stretches.
    fn segments(&mut self, least: usize) {
        for _ in 0..self.rng.between(least, 2) {
            let kind = if self.rng.percent(35) { SegmentKind::Reasoning } else { SegmentKind::Text };
            let (message, segment) = (self.message.clone(), self.segments);
            self.segments += 1;
            self.write(SessionEvent::SegmentOpened { message: message.clone(), segment, kind });
            let text = content::text(&mut self.rng, 12);
            for delta in content::cut(&mut self.rng, &text, 8) {
                self.write(SessionEvent::SegmentDelta { message: message.clone(), segment, kind, delta });
            }
            let signed = kind == SegmentKind::Reasoning && self.rng.percent(50);
            let provider = signed.then(|| self.provider());
            self.write(SessionEvent::SegmentClosed { message, segment, kind, provider });
            if self.rng.percent(20) {
                let source = self.source();
                let (message, number) = (self.message.clone(), self.sources);
                self.sources += 1;
                self.write(SessionEvent::SourceCited { message, number, source });
            }
        }
    }

    fn provider(&mut self) -> ProviderMetadata {
        ProviderMetadata::one("anthropic", "signature", content::text(&mut self.rng, 3))
    }

    fn source(&mut self) -> Source {
        let title = content::text(&mut self.rng, 2);
        if self.rng.percent(60) {
            let title = self.rng.percent(70).then_some(title);
            return Source::Url { url: format!("https://example.com/{}", self.rng.below(50)), title };
        }
        let filename = self.rng.percent(50).then(|| "a.pdf".to_owned());
        Source::Document { media_type: "application/pdf".to_owned(), title, filename }
    }

    fn new_call(&mut self) -> Call {
        self.calls += 1;
        let fate = match self.rng.below(100) {
            0..35 if self.asks => Fate::Asks,
            35..60 if self.has_client_tools => Fate::ClientRuns,
            60..72 => Fate::Rejected,
            _ => Fate::Runs,
        };
        let input = match self.rng.below(20) {
            0 => Value::Null,
            _ => Value::Object(content::object(&mut self.rng, 2)),
        };
        let id = ToolCallId::new(format!("call_{}", self.calls));
        Call { call: ToolCall { id, name: (*self.rng.pick(&TOOLS)).to_owned(), input }, fate }
    }

    /// From the first piece of the input to the call's acceptance or refusal.
    fn input_of(&mut self, call: &Call) -> Vec<SessionEvent> {
        let message = self.message.clone();
        let ToolCall { id, name: tool, input } = call.call.clone();
        let mut raw = if self.rng.percent(70) { input.to_string() } else { format!("{input:#}") };
        let refused = matches!(call.fate, Fate::Rejected);
        let broken = refused && self.rng.percent(60);
        if broken {
            raw.pop();
        }
        let mut events = Vec::new();
        if self.rng.percent(85) {
            events.push(SessionEvent::ToolInputStarted {
                message: message.clone(),
                call: id.clone(),
                tool: tool.clone(),
                written: None,
            });
            for delta in content::cut(&mut self.rng, &raw, 5) {
                events.push(SessionEvent::ToolInputDelta {
                    message: message.clone(),
                    call: id.clone(),
                    delta,
                });
            }
        }
        events.push(if refused {
            let input = if broken { Value::String(raw) } else { input };
            let error = content::text(&mut self.rng, 3);
            SessionEvent::ToolRejected { message, call: id, tool, input, error, cut_off: false }
        } else {
            let provider = self.rng.percent(30).then(|| self.provider());
            SessionEvent::ToolRequested { message, call: ToolCall { id, name: tool, input }, provider }
        });
        events
    }

    /// What happens to a call before its step ends.
    fn work_of(&mut self, call: &Call) -> Vec<SessionEvent> {
        match call.fate {
            Fate::Runs => self.execution_of(&call.call.id),
            Fate::Asks => vec![SessionEvent::ApprovalAsked {
                message: self.message.clone(),
                approval: approval_of(&call.call.id),
                call: call.call.clone(),
                question: None,
                kind: InteractionKind::Approval,
                raised: false,
            }],
            Fate::Rejected | Fate::ClientRuns => Vec::new(),
        }
    }

    fn execution_of(&mut self, call: &ToolCallId) -> Vec<SessionEvent> {
        let mut events = Vec::new();
        for _ in 0..self.rng.pick(&[0, 0, 0, 1, 2]).to_owned() {
            let output = content::value(&mut self.rng, 2);
            let message = self.message.clone();
            events.push(SessionEvent::ToolProgress { message, call: call.clone(), output });
        }
        for _ in 0..self.rng.pick(&[0, 0, 0, 1, 3]).to_owned() {
            events.push(self.data());
        }
        if self.rng.percent(10) {
            events.push(self.beside(call));
        }
        events.push(self.settled(call));
        events
    }

    /// What the log holds and no stream tells: a file that the call made, a message that waits, one that waits no longer.
    fn beside(&mut self, call: &ToolCallId) -> SessionEvent {
        let waiting = MessageId::new("waiting");
        match self.rng.below(3) {
            0 => {
                let artifact = Artifact {
                    id: ArtifactId::new("art_1"),
                    name: content::text(&mut self.rng, 1),
                    media_type: "text/plain".to_owned(),
                    bytes: 7,
                    tool_call_id: Some(call.clone()),
                };
                SessionEvent::ArtifactKept { message: self.message.clone(), artifact }
            }
            1 => {
                let text = content::text(&mut self.rng, 2);
                let parts = vec![Part::Text { text, state: None }];
                let message = UiMessage { id: waiting, role: Role::User, metadata: None, parts };
                let options = Box::new(RunOptions::default());
                SessionEvent::MessageQueued { message, edits: None, after: None, options }
            }
            _ => SessionEvent::QueueLeft { queued: waiting, why: QueueExit::Withdrawn },
        }
    }

    /// What the engine adds to a message between two steps.
    fn noticed(&mut self) -> SessionEvent {
        let message = self.message.clone();
        let id = (*self.rng.pick(&["one", "two"])).to_owned();
        match self.rng.below(6) {
            0 => SessionEvent::DelegationStarted { message },
            1 => {
                let (tool, times) = ((*self.rng.pick(&TOOLS)).to_owned(), self.rng.between(3, 5));
                SessionEvent::AgentStuck { message, tool, times }
            }
            2 => SessionEvent::AgentSteered { message, id, text: content::text(&mut self.rng, 3) },
            3 | 4 => {
                let text = content::text(&mut self.rng, 3);
                let note = self.rng.percent(50).then_some(ReportNote { id, text });
                SessionEvent::BackgroundReported { message, agents: vec![SessionId::new("sub_1")], note }
            }
            _ => {
                let mut compaction = Compaction::running(Trigger::Window, 10, 20);
                if self.rng.percent(50) {
                    compaction.status = Status::Done;
                    compaction.summary = content::text(&mut self.rng, 3);
                    compaction.plan = Some(content::value(&mut self.rng, 2));
                }
                SessionEvent::CompactionChanged { message, id, compaction: Box::new(compaction) }
            }
        }
    }

    fn data(&mut self) -> SessionEvent {
        SessionEvent::DataPushed {
            message: self.message.clone(),
            name: (*self.rng.pick(&["plan", "chart", "sub-agent-chunk"])).to_owned(),
            id: self.rng.percent(60).then(|| (*self.rng.pick(&["one", "two"])).to_owned()),
            data: content::value(&mut self.rng, 2),
            transient: self.rng.percent(30),
        }
    }

    fn settled(&mut self, call: &ToolCallId) -> SessionEvent {
        let outcome = if self.rng.percent(80) {
            ToolOutcome::Done { output: content::value(&mut self.rng, 3) }
        } else {
            ToolOutcome::Failed { message: content::text(&mut self.rng, 3) }
        };
        SessionEvent::ToolSettled { message: self.message.clone(), call: call.clone(), outcome }
    }

    /// The run leaves memory, people and front ends answer in any order, the run goes on.
    fn pause(&mut self, calls: &[Call]) {
        self.write(SessionEvent::RunParked { run: self.run.clone(), message: self.message.clone() });
        let mut answers = Vec::new();
        let mut work = Vec::new();
        for call in calls {
            match call.fate {
                Fate::Asks => {
                    let approved = self.rng.percent(60);
                    let reason = self.rng.percent(40).then(|| content::text(&mut self.rng, 2));
                    answers.push(vec![SessionEvent::ApprovalAnswered {
                        message: self.message.clone(),
                        approval: approval_of(&call.call.id),
                        approved,
                        reason: reason.clone(),
                        withdrawn: false,
                        kind: InteractionKind::Approval,
                        answers: None,
                        by: None,
                        raised: false,
                    }]);
                    work.push(if approved {
                        self.execution_of(&call.call.id)
                    } else {
                        let outcome = ToolOutcome::Denied { reason };
                        let (message, call) = (self.message.clone(), call.call.id.clone());
                        vec![SessionEvent::ToolSettled { message, call, outcome }]
                    });
                }
                Fate::ClientRuns => answers.push(vec![self.settled(&call.call.id)]),
                Fate::Runs | Fate::Rejected => {}
            }
        }
        self.interleaved(answers);
        self.write(SessionEvent::RunResumed { run: self.run.clone(), message: self.message.clone() });
        self.interleaved(work);
    }

    fn model_called(&mut self) {
        let usage = Usage { input_tokens: self.rng.below(5000), ..Usage::default() };
        let message = self.message.clone();
        self.write(SessionEvent::ModelCalled {
            window: None,
            message,
            run: None,
            agent: vec!["general".to_owned()],
            model: "demo/demo".to_owned(),
            usage,
            cost: None,
            duration_ms: 12,
            failed: false,
        });
    }

    /// Writes several queues, each in its own order: one after the other, or mixed.
    fn interleaved(&mut self, queues: Vec<Vec<SessionEvent>>) {
        let mixed = self.rng.percent(60);
        let mut queues: Vec<_> = queues.into_iter().map(Vec::into_iter).collect();
        while !queues.is_empty() {
            let place = if mixed { self.rng.below(queues.len()) } else { 0 };
            match queues[place].next() {
                Some(event) => self.write(event),
                None => drop(queues.remove(place)),
            }
        }
    }
}

pub fn approval_of(call: &ToolCallId) -> ApprovalId {
    ApprovalId::new(format!("apr_{call}"))
}
