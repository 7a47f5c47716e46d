//! A file that was made in a session: a tool's output that is too long for a message, or a document.
//!
//! Its description is an event of the log; its bytes are in a file that was on disk before the event.

use serde::{Deserialize, Serialize};

use crate::{
    id::{ArtifactId, MessageId, SessionId, ToolCallId},
    source::Timestamp,
};

/// The description of a file, for people and models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub id: ArtifactId,
    /// A name to save it under; never a path.
    pub name: String,
    pub media_type: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
}

/// An artifact with the chat and message it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactInfo {
    #[serde(flatten)]
    pub artifact: Artifact,
    pub chat_id: SessionId,
    pub message_id: MessageId,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactList {
    /// Newest first.
    pub artifacts: Vec<ArtifactInfo>,
    /// Pass this as `cursor` to get the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
