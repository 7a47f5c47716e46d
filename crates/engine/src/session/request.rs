//! What a client asks of a session, already parsed and bounded by the surface.

use protocol::{
    ApprovalId, GrantScope, MessageId, RunOptions, SessionId, ToolCallId, UiMessage, WorkspaceId,
    planted::Unread,
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
        answers: Vec<ReturnedAnswer>,
        outputs: Vec<ClientOutput>,
    },
}

/// An answer in a message that a client sent back.
#[derive(Clone, Debug)]
pub struct ReturnedAnswer {
    pub approval: ApprovalId,
    pub decision: Decision,
    /// The client's copy of the input; must be the one that was asked about.
    pub input: Option<Value>,
    /// What the person gave with the answer.
    pub payload: Option<ApprovalPayload>,
    /// The client only shows an answer that is stored already.
    pub shown: bool,
}

/// What a person gives with an answer in a chat message (`toolApprovalPayloads`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApprovalPayload {
    /// An input that replaces the one of the question.
    pub input: Option<Value>,
    /// Allow all such calls from now on.
    pub always: Option<GrantScope>,
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
