//! A file that was made in a session: a tool's output that is too long for a message, or a document.
//!
//! What is said about it is an event of the log; the bytes lie in a file that was on disk before the event.

use serde::{Deserialize, Serialize};

use crate::{
    id::{ArtifactId, MessageId, SessionId, ToolCallId},
    source::Timestamp,
};

/// What a file is; all that people and models are told of it.
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

/// An artifact and where it belongs.
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
    /// Hand this back as `cursor` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
