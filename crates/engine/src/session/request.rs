//! What a client asks of a session, already parsed and bounded by the surface.

use protocol::{
    ApprovalId, MessageId, RunOptions, SessionId, ToolCallId, UiMessage, WorkspaceId, planted::Unread,
};
use serde_json::Value;

use crate::mailbox::answer::Decision;

pub struct SendRequest {
    pub workspace: WorkspaceId,
    pub session: SessionId,
    pub kind: SendKind,
    pub options: RunOptions,
}

pub enum SendKind {
    Submit(Submit),
    Regenerate {
        /// The answer to replace, or the user message to answer anew.
        at: Option<MessageId>,
        /// The last user message the client kept; sent now if it never arrived.
        last: Option<Submit>,
    },
    /// The client hands an assistant message back with answers in it.
    Continue {
        message: MessageId,
        answers: Vec<ApprovalAnswer>,
        outputs: Vec<ClientOutput>,
    },
}

#[derive(Clone, Debug)]
pub struct ApprovalAnswer {
    pub approval: ApprovalId,
    pub decision: Decision,
    /// The client's copy of the input; must be the one that was asked about.
    pub input: Option<Value>,
}

/// The output of a tool that the front end runs.
#[derive(Clone, Debug)]
pub struct ClientOutput {
    pub call: ToolCallId,
    pub result: Result<Value, String>,
}

/// A user's message.
pub struct Submit {
    pub message: UiMessage,
    /// Names a stored user message: this is an edit of it.
    pub edits: Option<MessageId>,
    /// The message before it in the client's list.
    pub after: Option<MessageId>,
    /// The messages before it, read only for a session the server has not seen.
    pub earlier: Unread,
}
