//! The session log from which every client view is derived.
//!
//! Small and closed: a new variant is a decision. Every event of a frame names the message the frame writes, so
//! that one message is a filter over the log. What must be on disk before anyone sees it is a *boundary*
//! ([`SessionEvent::is_boundary`]); the rest is told at once and reaches disk within a tenth of a second.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    artifact::Artifact,
    facts::TurnFacts,
    id::{ApprovalId, MessageId, MessageRef, RunId, SessionId, ToolCallId},
    interaction::Grant,
    message::{UiMessage, facts::MessageFacts},
    planted::Planted,
    provider::{ProviderMetadata, Source},
    run::RunOptions,
    source::Timestamp,
    tool::ToolCall,
    usage::{Cost, Usage},
};

/// The number of an event in its session. Strictly increasing, never reused, gaps allowed.
pub type Seq = u64;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    pub seq: Seq,
    pub at: Timestamp,
    pub event: SessionEvent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEvent {
    /// An unknown session arrived with earlier messages; their text and files were taken over, once. A long history is
    /// several of these in a row.
    HistoryPlanted {
        messages: Planted,
    },
    /// A user's message, new or edited (then with a higher revision).
    MessageAccepted {
        message: UiMessage,
        revision: u32,
        parent: Option<MessageRef>,
        /// What the model is told before the person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        facts: Option<Box<TurnFacts>>,
    },
    /// The part of the system prompt that belongs to the session; holds for the runs that follow, until the next.
    PrefaceWritten {
        agent: String,
        text: String,
    },
    /// A user's message that waits behind the run that is on. It is no part of any branch yet.
    MessageQueued {
        message: UiMessage,
        /// Names a stored user message: this is an edit of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edits: Option<MessageId>,
        /// The message it follows; the end of the active branch when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<MessageId>,
        options: Box<RunOptions>,
    },
    /// A message waits no longer.
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

    /// An agent begins its message.
    FrameOpened {
        message: MessageId,
        metadata: Box<MessageFacts>,
        /// Who handed it the work; none for the main agent.
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
    /// What a model call cost; no client sees it as an event of its own.
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
        duration_ms: u64,
        /// It broke off; what it had counted until then is paid for all the same.
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
        /// What the provider wants back with this reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderMetadata>,
    },
    /// Something the answer leans on. Numbered from 0 in its message.
    SourceCited {
        message: MessageId,
        number: u32,
        source: Source,
    },

    ToolInputStarted {
        message: MessageId,
        call: ToolCallId,
        tool: String,
        /// The name the model wrote, where it is not quite the tool's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        written: Option<String>,
    },
    ToolInputDelta {
        message: MessageId,
        call: ToolCallId,
        delta: String,
    },
    /// The call is complete and known; nothing has run yet.
    ToolRequested {
        message: MessageId,
        call: ToolCall,
        /// What the provider wants back with this call.
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
        /// The process ended before the call was complete: nobody made it, so it did not fail either.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_off: bool,
    },
    /// A snapshot of what a running tool has so far; each replaces the one before.
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

    /// A file was made. It was on disk before this.
    ArtifactKept {
        message: MessageId,
        artifact: Artifact,
    },

    /// The call waits for a person; what runs later is this input, whatever the client sends.
    ApprovalAsked {
        message: MessageId,
        approval: ApprovalId,
        call: ToolCall,
        /// Asked by a sub-agent in its own message; shown in the main agent's message as well.
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
        /// The same answer, where the question was shown as well.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raised: bool,
    },
    /// A person changed the input of a call they were asked about: this is what runs.
    InputEdited {
        message: MessageId,
        approval: ApprovalId,
        call: ToolCallId,
        input: Value,
        /// The same change, where the question was shown as well.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raised: bool,
    },
    /// With their answer a person allowed every such call of the session.
    GrantGiven {
        message: MessageId,
        approval: ApprovalId,
        grant: Grant,
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
    /// What the agent was asked, word for word.
    pub task: String,
    /// A copy of what the caller handed over beside the task.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub context: Value,
    /// The caller does not wait for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    Text,
    Reasoning,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolOutcome {
    Done { output: Value },
    Failed { message: String },
    Denied { reason: Option<String> },
}

/// Why a message waits no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueExit {
    /// Its run begins, in the same append.
    Begun,
    /// A person took it back, or stopped the chat.
    Withdrawn,
    /// When its turn came it could not be answered any more.
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

impl SessionEvent {
    /// Stored before it is told.
    pub fn is_boundary(&self) -> bool {
        match self {
            Self::HistoryPlanted { .. }
            | Self::MessageAccepted { .. }
            | Self::PrefaceWritten { .. }
            | Self::MessageQueued { .. }
            | Self::QueueLeft { .. }
            | Self::RunStarted { .. }
            | Self::RunParked { .. }
            | Self::RunResumed { .. }
            | Self::RunEnded { .. }
            | Self::FrameOpened { .. }
            | Self::FrameClosed { .. }
            | Self::ToolRequested { .. }
            | Self::ToolRejected { .. }
            | Self::ToolSettled { .. }
            | Self::ArtifactKept { .. }
            | Self::ApprovalAsked { .. }
            | Self::ApprovalAnswered { .. }
            | Self::InputEdited { .. }
            | Self::GrantGiven { .. }
            | Self::ModelCalled { .. } => true,
            Self::StepStarted { .. }
            | Self::StepFinished { .. }
            | Self::MetadataAdded { .. }
            | Self::SegmentOpened { .. }
            | Self::SegmentDelta { .. }
            | Self::SegmentClosed { .. }
            | Self::SourceCited { .. }
            | Self::ToolInputStarted { .. }
            | Self::ToolInputDelta { .. }
            | Self::ToolProgress { .. }
            | Self::DataPushed { .. } => false,
        }
    }

    /// Facts that the event adds to its message.
    pub fn facts(&self) -> Option<Cow<'_, Box<MessageFacts>>> {
        match self {
            Self::FrameOpened { metadata, .. }
            | Self::MetadataAdded { metadata, .. }
            | Self::FrameClosed { metadata, end: FrameEnd::Finished { .. }, .. } => {
                Some(Cow::Borrowed(metadata))
            }
            Self::InputEdited { call, input, .. } => {
                Some(Cow::Owned(Box::new(MessageFacts::of_edit(call, input))))
            }
            _ => None,
        }
    }

    /// Messages that a client brought along, if it is about those.
    pub fn planted(&self) -> Option<&Planted> {
        match self {
            Self::HistoryPlanted { messages } => Some(messages),
            _ => None,
        }
    }

    /// The message of the frame this event belongs to; `None` for what concerns the session itself.
    pub fn message(&self) -> Option<&MessageId> {
        match self {
            Self::HistoryPlanted { .. }
            | Self::MessageAccepted { .. }
            | Self::PrefaceWritten { .. }
            | Self::MessageQueued { .. }
            | Self::QueueLeft { .. } => None,
            Self::RunStarted { message, .. }
            | Self::RunParked { message, .. }
            | Self::RunResumed { message, .. }
            | Self::RunEnded { message, .. }
            | Self::FrameOpened { message, .. }
            | Self::FrameClosed { message, .. }
            | Self::StepStarted { message }
            | Self::StepFinished { message }
            | Self::MetadataAdded { message, .. }
            | Self::ModelCalled { message, .. }
            | Self::SegmentOpened { message, .. }
            | Self::SegmentDelta { message, .. }
            | Self::SegmentClosed { message, .. }
            | Self::SourceCited { message, .. }
            | Self::ToolInputStarted { message, .. }
            | Self::ToolInputDelta { message, .. }
            | Self::ToolRequested { message, .. }
            | Self::ToolRejected { message, .. }
            | Self::ToolProgress { message, .. }
            | Self::ToolSettled { message, .. }
            | Self::DataPushed { message, .. }
            | Self::ArtifactKept { message, .. }
            | Self::ApprovalAsked { message, .. }
            | Self::ApprovalAnswered { message, .. }
            | Self::InputEdited { message, .. }
            | Self::GrantGiven { message, .. } => Some(message),
        }
    }
}
