//! The session log from which every client view is derived.
//!
//! Small and closed: a new variant is a decision. Every event of a frame names the message the frame writes, so
//! that one message is a filter over the log. What must be on disk before anyone sees it is a *boundary*
//! ([`SessionEvent::is_boundary`]); the rest is told at once and reaches disk within a tenth of a second.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    id::{ApprovalId, MessageId, MessageRef, RunId, ToolCallId},
    message::UiMessage,
    run::RunOptions,
    source::Timestamp,
    tool::ToolCall,
    usage::Usage,
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
    /// An unknown session arrived with earlier messages; their text and files were taken over, once.
    HistoryPlanted {
        messages: Vec<UiMessage>,
    },
    /// A user's message, new or edited (then with a higher revision).
    MessageAccepted {
        message: UiMessage,
        revision: u32,
        parent: Option<MessageRef>,
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
        metadata: Map<String, Value>,
    },
    FrameClosed {
        message: MessageId,
        end: FrameEnd,
        metadata: Map<String, Value>,
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
        metadata: Map<String, Value>,
    },
    /// What a model call cost; no client sees it as an event of its own.
    ModelCalled {
        message: MessageId,
        model: String,
        usage: Usage,
        duration_ms: u64,
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
    },

    ToolInputStarted {
        message: MessageId,
        call: ToolCallId,
        tool: String,
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
    },
    /// The call cannot be run: broken JSON, an unknown tool, arguments the schema refuses.
    ToolRejected {
        message: MessageId,
        call: ToolCallId,
        tool: String,
        input: Value,
        error: String,
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

    /// The call waits for a person; what runs later is this input, whatever the client sends.
    ApprovalAsked {
        message: MessageId,
        approval: ApprovalId,
        call: ToolCall,
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
    },
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
            | Self::RunStarted { .. }
            | Self::RunParked { .. }
            | Self::RunResumed { .. }
            | Self::RunEnded { .. }
            | Self::FrameOpened { .. }
            | Self::FrameClosed { .. }
            | Self::ToolRequested { .. }
            | Self::ToolRejected { .. }
            | Self::ToolSettled { .. }
            | Self::ApprovalAsked { .. }
            | Self::ApprovalAnswered { .. }
            | Self::ModelCalled { .. } => true,
            Self::StepStarted { .. }
            | Self::StepFinished { .. }
            | Self::MetadataAdded { .. }
            | Self::SegmentOpened { .. }
            | Self::SegmentDelta { .. }
            | Self::SegmentClosed { .. }
            | Self::ToolInputStarted { .. }
            | Self::ToolInputDelta { .. }
            | Self::ToolProgress { .. }
            | Self::DataPushed { .. } => false,
        }
    }

    /// The message of the frame this event belongs to; `None` for what concerns the session itself.
    pub fn message(&self) -> Option<&MessageId> {
        match self {
            Self::HistoryPlanted { .. } | Self::MessageAccepted { .. } => None,
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
            | Self::ToolInputStarted { message, .. }
            | Self::ToolInputDelta { message, .. }
            | Self::ToolRequested { message, .. }
            | Self::ToolRejected { message, .. }
            | Self::ToolProgress { message, .. }
            | Self::ToolSettled { message, .. }
            | Self::DataPushed { message, .. }
            | Self::ApprovalAsked { message, .. }
            | Self::ApprovalAnswered { message, .. } => Some(message),
        }
    }
}
