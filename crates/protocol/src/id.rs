//! Every id is its own type: swapping two does not compile. No code reads meaning out of an id.
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
                /// What an id of this kind begins with when we make it.
                pub const PREFIX: &'static str = $prefix;
            )?

            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// Accepts an id that came from outside.
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
    /// The scope a token belongs to. What belongs to another workspace does not exist.
    WorkspaceId;
    /// Who a token was given to.
    PrincipalId;
    /// A stored conversation; the client chose the id. A sub-agent's own chat has one of ours.
    SessionId = "sub_";
    /// One user turn being worked on; at most one live run per session.
    RunId = "run_";
    /// A message: the client's id for a user's, ours for an agent's.
    MessageId = "msg_";
    /// The provider's where it is unique in the message, else made unique.
    ToolCallId = "call_";
    /// A question put to a person: 128 random bits.
    ApprovalId = "apr_";
    /// A file that was made: 128 random bits.
    ArtifactId = "art_";
    /// An agent that a workspace defined.
    AgentId = "agt_";
}

impl WorkspaceId {
    /// The workspace of the first token, and of every caller while authentication is off.
    pub fn default_workspace() -> Self {
        Self::new("default")
    }
}

/// One version of a message: editing a user message keeps its id and counts the revision up.
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
