//! A type for each kind of id, so that swapping two does not compile. No code reads meaning out of an id.
//!
//! Ids that a client chooses are opaque, 1–200 bytes of UTF-8 without control characters; they are never used
//! as a file name. Ids on the wire, in the log and in the store are the same strings.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// The longest id a client may choose, in bytes.
pub const MAX_ID_BYTES: usize = 200;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident $(= $prefix:literal)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            $(
                /// The prefix of ids of this kind that the server makes.
                pub const PREFIX: &'static str = $prefix;
            )?

            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// Checks and accepts an id from a client.
            pub fn from_outside(text: &str) -> Result<Self, IdError> {
                check(text)?;
                Ok(Self(text.into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    )*};
}

id! {
    /// The tenant a token belongs to. Data of another workspace is invisible.
    WorkspaceId;
    /// The holder of a token.
    PrincipalId;
    /// A stored conversation. The client chooses the id; the server makes the id of a sub-agent's chat.
    SessionId = "sub_";
    /// The work on one user turn; a session has at most one active run.
    RunId = "run_";
    /// A message. The client chooses the id of a user's message, the server that of an agent's.
    MessageId = "msg_";
    /// A tool call: the provider's id if it is unique in the message, else one that the server makes.
    ToolCallId = "call_";
    /// A question to a person: 128 random bits.
    ApprovalId = "apr_";
    /// A file that was made: 128 random bits.
    ArtifactId = "art_";
    /// An agent that a workspace defined.
    AgentId = "agt_";
    /// A rule about which calls run: 128 random bits.
    RuleId = "rul_";
    /// A set of changes to files that is applied as a whole.
    ChangeId = "chg_";
    /// A command that runs or has run: 128 random bits.
    JobId = "job_";
}

impl WorkspaceId {
    /// The workspace of the first token, and of every caller while authentication is off.
    pub fn default_workspace() -> Self {
        Self::new("default")
    }
}

/// One version of a message. Editing a user message keeps its id and increments the revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MessageRef {
    pub id: MessageId,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revision: u32,
}

impl MessageRef {
    pub fn first(id: MessageId) -> Self {
        Self { id, revision: 0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(revision: &u32) -> bool {
    *revision == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("must not be empty")]
    Empty,
    #[error("is longer than {MAX_ID_BYTES} bytes")]
    TooLong,
    #[error("must not contain control characters")]
    ControlCharacter,
}

pub(crate) fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        Err(IdError::Empty)
    } else if text.len() > MAX_ID_BYTES {
        Err(IdError::TooLong)
    } else if text.chars().any(char::is_control) {
        Err(IdError::ControlCharacter)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_outside_are_bounded_and_printable() {
        assert!(SessionId::from_outside("a/b ü 会话").is_ok());
        assert_eq!(SessionId::from_outside(""), Err(IdError::Empty));
        assert_eq!(SessionId::from_outside(&"x".repeat(201)), Err(IdError::TooLong));
        assert!(SessionId::from_outside(&"x".repeat(200)).is_ok());
        assert_eq!(SessionId::from_outside("a\u{0}b"), Err(IdError::ControlCharacter));
        assert_eq!(SessionId::from_outside("a\nb"), Err(IdError::ControlCharacter));
    }
}
