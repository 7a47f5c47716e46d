//! The session log from which every client view is derived.
//!
//! Small and closed: a new variant is a decision. Every event of a frame names the message the frame writes, so
//! that one message is a filter over the log. A *boundary* ([`SessionEvent::is_boundary`]) must be on disk before any
//! viewer receives it; other events are published at once and stored within a tenth of a second.

mod older;
mod session;
mod size;
mod views;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    older::Reported,
    session::{Announcement, TitledBy, UnboundReason},
};
use crate::{
    artifact::Artifact,
    compaction::Compaction,
    facts::TurnFacts,
    file_change::FileChange,
    id::{ApprovalId, ChangeId, MessageId, MessageRef, RuleId, RunId, SessionId, ToolCallId},
    interaction::{AnsweredBy, InteractionKind},
    message::{UiMessage, facts::MessageFacts},
    planted::Planted,
    policy::{CallPattern, GrantScope, Question, Rule},
    provider::{ProviderMetadata, Source},
    run::RunOptions,
    source::Timestamp,
    tool::ToolCall,
    usage::{Cost, Usage},
    user_input::InputAnswers,
};

/// The number of an event in its session. Strictly increasing, never reused, gaps allowed.
pub type Seq = u64;

/// The `data-<name>` part with a text for an agent at work.
pub const STEERING: &str = "steering";

/// An event with its number and the time it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    pub seq: Seq,
    pub at: Timestamp,
    pub event: SessionEvent,
}

/// Everything that can happen in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEvent {
    /// Earlier messages that a client sent with the first request of an unknown session; only text and files are kept.
    /// A long history is several of these in a row.
    HistoryPlanted {
        messages: Planted,
    },
    /// A user's message, new or edited (then with a higher revision).
    MessageAccepted {
        message: UiMessage,
        revision: u32,
        parent: Option<MessageRef>,
        /// Facts that the model reads before the person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        facts: Option<Box<TurnFacts>>,
    },
    /// A client made the session before its first message.
    SessionCreated,
    /// The session was given a title, or its title was taken away.
    TitleSet {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        by: TitledBy,
    },
    /// A person put the session at the top of their list, or took it from there.
    PinSet {
        pinned: bool,
    },
    /// The active branch ends here now; absent when it is empty.
    BranchChosen {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leaf: Option<MessageRef>,
    },
    /// The main agent of the following runs.
    AgentChosen {
        agent: String,
        display_name: String,
        /// The one before.
        previous: String,
        /// The client's own name for its request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
    /// A client at the session is told something. Changes nothing.
    Announced {
        announcement: Box<Announcement>,
    },
    /// The part of the system prompt that belongs to the session. Applies to the following runs, until the next one.
    PrefaceWritten {
        agent: String,
        text: String,
    },
    /// A user's message that is queued behind the active run. It is no part of any branch yet.
    MessageQueued {
        message: UiMessage,
        /// The stored user message that this one edits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edits: Option<MessageId>,
        /// The message it follows; the end of the active branch when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<MessageId>,
        options: Box<RunOptions>,
    },
    /// A message left the queue.
    QueueLeft {
        queued: MessageId,
        why: QueueExit,
    },
    RunStarted {
        run: RunId,
        answers: MessageRef,
        message: MessageId,
        options: Box<RunOptions>,
    },
    /// The run waits for a person and has left memory.
    RunParked {
        run: RunId,
        message: MessageId,
    },
    /// A parked, stopped or interrupted run goes on in the same message.
    RunResumed {
        run: RunId,
        message: MessageId,
    },
    RunEnded {
        run: RunId,
        message: MessageId,
        end: RunEnd,
    },

    /// An agent starts its message.
    FrameOpened {
        message: MessageId,
        metadata: Box<MessageFacts>,
        /// The message and call that delegated; none for the main agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Box<FrameParent>>,
    },
    FrameClosed {
        message: MessageId,
        end: FrameEnd,
        metadata: Box<MessageFacts>,
    },
    /// One model call and its tool calls.
    StepStarted {
        message: MessageId,
    },
    StepFinished {
        message: MessageId,
    },
    /// Facts about the message that are not content.
    MetadataAdded {
        message: MessageId,
        metadata: Box<MessageFacts>,
    },
    /// A sub-agent that was queued got its slot and works.
    DelegationStarted {
        message: MessageId,
    },
    /// The server stopped the agent, because a call failed again and again with the same input.
    AgentStuck {
        message: MessageId,
        tool: String,
        times: usize,
    },
    /// What a model call cost; clients do not see it as an event of its own.
    ModelCalled {
        message: MessageId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        /// The agents from the root to the one that called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        agent: Vec<String>,
        model: String,
        usage: Usage,
        /// `None` when the model's price is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
        /// How many tokens the model's context window holds, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
        duration_ms: u64,
        /// The call broke off; the tokens counted until then are paid for all the same.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },

    /// A stretch of text or reasoning. Numbered from 0 in its message, never reused.
    SegmentOpened {
        message: MessageId,
        segment: u32,
        kind: SegmentKind,
    },
    SegmentDelta {
        message: MessageId,
        segment: u32,
        kind: SegmentKind,
        delta: String,
    },
    SegmentClosed {
        message: MessageId,
        segment: u32,
        kind: SegmentKind,
        /// Data that the provider wants back with this reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderMetadata>,
    },
    /// A source that the answer cites. Numbered from 0 in its message.
    SourceCited {
        message: MessageId,
        number: u32,
        source: Source,
    },

    ToolInputStarted {
        message: MessageId,
        call: ToolCallId,
        tool: String,
        /// The name as the model wrote it, when the tool's differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written: Option<String>,
    },
    ToolInputDelta {
        message: MessageId,
        call: ToolCallId,
        delta: String,
    },
    /// The call is complete and its tool is known; nothing has run yet.
    ToolRequested {
        message: MessageId,
        call: ToolCall,
        /// Data that the provider wants back with this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderMetadata>,
    },
    /// The call cannot be run: broken JSON, an unknown tool, arguments the schema refuses.
    ToolRejected {
        message: MessageId,
        call: ToolCallId,
        tool: String,
        input: Value,
        error: String,
        /// The process ended before the call was complete: it was never made, so it did not fail either.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_off: bool,
    },
    /// A snapshot of a running tool's output; each replaces the one before.
    ToolProgress {
        message: MessageId,
        call: ToolCallId,
        output: Value,
    },
    ToolSettled {
        message: MessageId,
        call: ToolCallId,
        outcome: ToolOutcome,
    },
    /// A part pushed by a running tool.
    DataPushed {
        message: MessageId,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        data: Value,
        transient: bool,
    },
    /// A person or a caller steered the agent: its model reads the text before its next step.
    AgentSteered {
        message: MessageId,
        /// Of the part in the message.
        id: String,
        text: String,
    },
    /// The agent received the results of agents that it had started in the background.
    BackgroundReported {
        message: MessageId,
        agents: Vec<SessionId>,
        /// Absent when the results are the output of a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<ReportNote>,
    },
    /// A compaction of the conversation started or changed. The same id replaces the state before.
    CompactionChanged {
        message: MessageId,
        /// Of the part in the message.
        id: String,
        compaction: Box<Compaction>,
    },

    /// A file was made. It was on disk before this event.
    ArtifactKept {
        message: MessageId,
        artifact: Artifact,
    },

    /// The call waits for a person: for their approval, or for what they fill in. The input of an approval is what runs
    /// later, whatever the client sends.
    ApprovalAsked {
        message: MessageId,
        approval: ApprovalId,
        call: ToolCall,
        /// What the person is told. Absent in older logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Box<Question>>,
        #[serde(default, skip_serializing_if = "InteractionKind::is_approval")]
        kind: InteractionKind,
        /// A copy, in the main agent's message, of a question that a sub-agent asked in its own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raised: bool,
    },
    ApprovalAnswered {
        message: MessageId,
        approval: ApprovalId,
        approved: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Nobody denied it: a new message or a stop made the question moot.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        withdrawn: bool,
        #[serde(default, skip_serializing_if = "InteractionKind::is_approval")]
        kind: InteractionKind,
        /// What the person filled in. Absent for an approval, and when they declined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<Box<InputAnswers>>,
        /// Absent in older logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<AnsweredBy>,
        /// The same answer, for the copy of the question.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raised: bool,
    },
    /// A person changed the input of a call they were asked about. The new input is what runs.
    InputEdited {
        message: MessageId,
        approval: ApprovalId,
        call: ToolCallId,
        input: Value,
        /// The same change, for the copy of the question.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raised: bool,
    },
    /// With their answer a person allowed all such calls.
    GrantGiven {
        message: MessageId,
        approval: ApprovalId,
        grant: CallPattern,
        /// The rule that it became. Absent in older logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleId>,
        #[serde(default, skip_serializing_if = "GrantScope::is_session")]
        scope: GrantScope,
    },
    /// A person wrote a rule for the session.
    RuleAdded {
        rule: Box<Rule>,
    },
    /// A person revoked a rule of the session.
    RuleRevoked {
        rule: RuleId,
    },

    /// The agent has read a file; it may change it as long as nobody else does.
    FileRead {
        message: MessageId,
        call: ToolCallId,
        path: String,
        /// The state that was read, as the file access layer names it.
        version: String,
    },
    /// Files are about to change; their contents before and after are on disk.
    FilesChanging {
        message: MessageId,
        change: ChangeId,
        /// Absent when a person reverts changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<ToolCallId>,
        tool: String,
        /// The agents from the root to the one that changes them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        agent: Vec<String>,
        files: Vec<FileChange>,
    },
    /// All files of the change set were changed, or none.
    FilesChanged {
        message: MessageId,
        change: ChangeId,
        /// Why none was changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// Where a sub-agent's work comes from and where it can be followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameParent {
    /// The message that delegated, and the call in it.
    pub message: MessageId,
    pub call: ToolCallId,
    /// The message of the run.
    pub root: MessageId,
    /// The chat id under which this agent can be followed, stopped and steered; also its agent id.
    pub chat: SessionId,
    /// The task, word for word.
    pub task: String,
    /// A copy of the context that the caller passed with the task.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub context: Value,
    /// The caller does not wait for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

/// The text in which background agents are reported to their caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportNote {
    /// Of the part in the message.
    pub id: String,
    pub text: String,
}

/// A `data-<name>` part that an event adds to its message.
#[derive(Clone, Debug, PartialEq)]
pub struct DataPart<'a> {
    pub name: &'a str,
    /// A part with the same name and id is replaced.
    pub id: Option<&'a str>,
    pub data: Cow<'a, Value>,
    /// Shown to those who watch, and not kept.
    pub transient: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    Text,
    Reasoning,
}

/// The one result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolOutcome {
    Done { output: Value },
    Failed { message: String },
    Denied { reason: Option<String> },
}

/// Why a message left the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueExit {
    /// Its run starts, in the same append.
    Begun,
    /// A person took it back, or stopped the chat.
    Withdrawn,
    /// It could not be answered any more when it became first in the queue.
    Refused,
}

/// How an agent's message ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FrameEnd {
    Finished { reason: FinishReason },
    Cancelled,
    Failed { message: String },
}

/// How a run ended; each run has exactly one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Finished,
    Cancelled,
    Failed,
    /// A new question made the waiting approval moot.
    Withdrawn,
}

/// Why a model stopped; the spellings every client release accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    Stop,
    Length,
    ContentFilter,
    ToolCalls,
    Error,
    Other,
}
