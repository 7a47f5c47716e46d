//! Changes that tools make to the files of a workspace: what the log records and what the routes return.

use serde::{Deserialize, Serialize};

use crate::{
    id::{ChangeId, MessageId, ToolCallId},
    source::Timestamp,
};

/// One state of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileState {
    /// SHA-256 of the content, in hexadecimal: the name under which the content is kept. Empty: it was not read, because it is
    /// too large or there are too many files; such a change cannot be reverted.
    pub content: String,
    pub bytes: u64,
    /// The permission bits; `120777` (octal) for a symbolic link, whose content is its target.
    pub mode: u32,
}

impl FileState {
    /// The mode of a symbolic link.
    pub const LINK: u32 = 0o120_777;

    pub fn is_link(&self) -> bool {
        self.mode == Self::LINK
    }

    /// Whether the content was read.
    pub fn is_known(&self) -> bool {
        !self.content.is_empty()
    }
}

/// What a change set does to one file. A move is a deletion and a creation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// `/workspace/src/main.rs`
    pub path: String,
    /// Absent: the file did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileState>,
    /// Absent: the file is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    Created,
    Modified,
    Deleted,
}

/// The difference of one file, for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// Relative to the work directory.
    pub path: String,
    /// The path before, when the file is moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub kind: ChangeKind,
    pub added: u32,
    pub removed: u32,
    /// Unified diff without its two header lines; empty for binary files.
    pub diff: String,
    /// Whether the diff was cut because it is long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// `GET /api/chat/{id}/changes/diff`: what became of one file, over the chat or over one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangedFileDiff {
    #[serde(flatten)]
    pub file: FileDiff,
    /// The content before or after is not text, so there is no diff.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// The permission bits before and after, when they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<[u32; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChangeStatus {
    /// It was begun and is not finished.
    Applying,
    Applied,
    /// Nothing was changed.
    Failed,
}

/// A change set of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangeSet {
    pub id: ChangeId,
    /// The message of the agent that made the change.
    pub message_id: MessageId,
    /// Absent when a person reverted changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// The tool that made it, or `revert`.
    pub tool: String,
    /// The agents from the root to the one that made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<String>,
    pub at: Timestamp,
    pub status: ChangeStatus,
    pub files: Vec<FileChange>,
}

/// What became of one file over all change sets of a chat, or of one of its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Relative to the work directory.
    pub path: String,
    pub kind: ChangeKind,
    pub added: u32,
    pub removed: u32,
    /// Whether it can be reverted now; if not, `reason` says why.
    pub revertible: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<NotRevertible>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why the change of a file cannot be reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NotRevertible {
    /// Somebody else changed the file after the chat did.
    ChangedSince,
    /// Somebody else deleted the file after the chat changed it.
    DeletedSince,
    /// Somebody else changed the file between two changes of the chat.
    ChangedBetween,
    /// A later run of the chat changed the file.
    LaterRun,
    /// The content before was removed because the limit was reached.
    ContentRemoved,
    /// A command changed the file, and its content was not kept: it is too large, or there were too many files.
    NotKept,
    /// The file cannot be read now.
    NotReadable,
    /// A change to the file is not finished.
    Unfinished,
    /// The file is as it was before, or was reverted already.
    NothingToRevert,
}

impl NotRevertible {
    /// A sentence for a person.
    pub fn reason(self) -> &'static str {
        match self {
            Self::ChangedSince => "Somebody changed it after the agent did.",
            Self::DeletedSince => "It was deleted since.",
            Self::ChangedBetween => {
                "Somebody else changed it between two changes of this chat, and that change would be lost."
            }
            Self::LaterRun => {
                "A later run of this chat changed it: revert that one first, or revert the whole chat."
            }
            Self::ContentRemoved => "Its old content was removed because the limit was reached.",
            Self::NotKept => {
                "Its content was not kept when a command changed it: it is too large, there were too many files, or the server \
                 may not read it."
            }
            Self::NotReadable => {
                "It cannot be read now: something else has its name, or the server may not read it."
            }
            Self::Unfinished => "A change to it is not finished.",
            Self::NothingToRevert => {
                "There is nothing to revert: it was reverted already, or is as it was before."
            }
        }
    }
}

/// The changes of one run that are not reverted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunChanges {
    /// The main agent's message of the run.
    pub message_id: MessageId,
    pub at: Timestamp,
    pub files: Vec<ChangedFile>,
}

/// `GET /api/chat/{id}/changes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangeList {
    /// Every file that differs from its state before the chat.
    pub files: Vec<ChangedFile>,
    /// By run, newest first.
    pub runs: Vec<RunChanges>,
    /// Every change set, newest first: the audit record.
    pub changes: Vec<ChangeSet>,
    /// Older change sets were removed because the limit was reached; they cannot be reverted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// `POST /api/chat/{id}/changes/revert`: without fields, all changes of the chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevertRequest {
    /// Only the changes of the run with this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Only these files, relative to the work directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// With a message: also the changes of all later runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub and_later: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NotReverted {
    pub path: String,
    pub code: NotRevertible,
    pub reason: String,
}

/// The response to a revert. The files that could be reverted were, all together. Both lists are empty when the chat, or
/// the run, never changed a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevertResult {
    pub reverted: Vec<String>,
    pub refused: Vec<NotReverted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    File,
    Directory,
    Link,
    Other,
}

/// An entry of a folder of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FolderEntry {
    pub name: String,
    pub kind: EntryKind,
    pub bytes: u64,
    pub modified_at: Timestamp,
    /// A `.gitignore` or a default hides it from the listing of agents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
}

/// `GET /api/files?path=src`: one folder of the workspace, folders first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FolderList {
    /// Relative to the work directory; empty for the work directory itself.
    pub path: String,
    pub entries: Vec<FolderEntry>,
    /// The folder has more entries than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}
