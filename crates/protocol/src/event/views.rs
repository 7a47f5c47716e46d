//! What an event means to the folds: whether it is a boundary, which message it belongs to, and what it adds to it.

use std::borrow::Cow;

use serde_json::json;

use super::{DataPart, FrameEnd, ReportNote, STEERING, SessionEvent};
use crate::{
    compaction::COMPACTION,
    id::MessageId,
    message::facts::{MessageFacts, MessageStatus, StopReason, Stopped},
    planted::Planted,
};

/// The sender of a text for an agent at work, when it reports background agents.
pub(super) const BACKGROUND: &str = "background";

impl SessionEvent {
    /// Whether the event must be durable before any viewer receives it.
    pub fn is_boundary(&self) -> bool {
        match self {
            Self::HistoryPlanted { .. }
            | Self::MessageAccepted { .. }
            | Self::SessionCreated
            | Self::TitleSet { .. }
            | Self::PinSet { .. }
            | Self::BranchChosen { .. }
            | Self::AgentChosen { .. }
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
            | Self::RuleAdded { .. }
            | Self::RuleRevoked { .. }
            | Self::FilesChanging { .. }
            | Self::FilesChanged { .. }
            | Self::ModelCalled { .. } => true,
            Self::StepStarted { .. }
            | Self::StepFinished { .. }
            | Self::MetadataAdded { .. }
            | Self::DelegationStarted { .. }
            | Self::AgentStuck { .. }
            | Self::SegmentOpened { .. }
            | Self::SegmentDelta { .. }
            | Self::SegmentClosed { .. }
            | Self::SourceCited { .. }
            | Self::ToolInputStarted { .. }
            | Self::ToolInputDelta { .. }
            | Self::ToolProgress { .. }
            | Self::DataPushed { .. }
            | Self::AgentSteered { .. }
            | Self::BackgroundReported { .. }
            | Self::CompactionChanged { .. }
            | Self::FileRead { .. }
            | Self::Announced { .. } => false,
        }
    }

    /// Facts that the event adds to its message.
    pub fn facts(&self) -> Option<Cow<'_, Box<MessageFacts>>> {
        let facts = match self {
            Self::FrameOpened { metadata, .. }
            | Self::MetadataAdded { metadata, .. }
            | Self::FrameClosed { metadata, end: FrameEnd::Finished { .. }, .. } => {
                return Some(Cow::Borrowed(metadata));
            }
            Self::DelegationStarted { .. } => MessageFacts::of_status(MessageStatus::Running),
            Self::AgentStuck { tool, times, .. } => {
                let stopped =
                    Stopped { reason: StopReason::RepeatedFailure, tool: tool.clone(), times: *times };
                MessageFacts { stopped: Some(stopped), ..MessageFacts::default() }
            }
            Self::InputEdited { call, input, .. } => MessageFacts::of_edit(call, input),
            _ => return None,
        };
        Some(Cow::Owned(Box::new(facts)))
    }

    /// The `data-<name>` part that the event adds to its message.
    pub fn data_part(&self) -> Option<DataPart<'_>> {
        let (name, id, data) = match self {
            Self::DataPushed { name, id, data, transient, .. } => {
                let (id, data) = (id.as_deref(), Cow::Borrowed(data));
                return Some(DataPart { name, id, data, transient: *transient });
            }
            Self::AgentSteered { id, text, .. } => (STEERING, id, json!({ "text": text })),
            Self::BackgroundReported { note, .. } => {
                let ReportNote { id, text } = note.as_ref()?;
                (STEERING, id, json!({ "text": text, "from": BACKGROUND }))
            }
            Self::CompactionChanged { id, compaction, .. } => (COMPACTION, id, json!(compaction)),
            _ => return None,
        };
        Some(DataPart { name, id: Some(id), data: Cow::Owned(data), transient: false })
    }

    /// Messages that a client sent with the first request of the session.
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
            | Self::SessionCreated
            | Self::TitleSet { .. }
            | Self::PinSet { .. }
            | Self::BranchChosen { .. }
            | Self::AgentChosen { .. }
            | Self::Announced { .. }
            | Self::PrefaceWritten { .. }
            | Self::MessageQueued { .. }
            | Self::QueueLeft { .. }
            | Self::RuleAdded { .. }
            | Self::RuleRevoked { .. } => None,
            Self::RunStarted { message, .. }
            | Self::RunParked { message, .. }
            | Self::RunResumed { message, .. }
            | Self::RunEnded { message, .. }
            | Self::FrameOpened { message, .. }
            | Self::FrameClosed { message, .. }
            | Self::StepStarted { message }
            | Self::StepFinished { message }
            | Self::MetadataAdded { message, .. }
            | Self::DelegationStarted { message }
            | Self::AgentStuck { message, .. }
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
            | Self::AgentSteered { message, .. }
            | Self::BackgroundReported { message, .. }
            | Self::CompactionChanged { message, .. }
            | Self::ArtifactKept { message, .. }
            | Self::ApprovalAsked { message, .. }
            | Self::ApprovalAnswered { message, .. }
            | Self::InputEdited { message, .. }
            | Self::GrantGiven { message, .. }
            | Self::FileRead { message, .. }
            | Self::FilesChanging { message, .. }
            | Self::FilesChanged { message, .. } => Some(message),
        }
    }
}
