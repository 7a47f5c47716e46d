//! Sources of time and ids. Both are passed in, so that tests can compare whole streams.

use serde::{Deserialize, Serialize};

use crate::id::{
    AgentId, ApprovalId, ArtifactId, ChangeId, JobId, MessageId, RuleId, RunId, SessionId, ToolCallId,
};

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(pub i64);

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// Makes ids. Approval and artifact ids must be unguessable (128 random bits); the others sort by time.
pub trait IdSource: Send + Sync {
    fn time_ordered(&self) -> String;
    fn unguessable(&self) -> String;
    /// The secret of a browser's sign-in: 256 random bits, as letters and digits. `None` when the system has no
    /// random bits.
    fn secret(&self) -> Option<String>;

    fn run(&self) -> RunId {
        RunId::new(format!("{}{}", RunId::PREFIX, self.time_ordered()))
    }
    fn message(&self) -> MessageId {
        MessageId::new(format!("{}{}", MessageId::PREFIX, self.time_ordered()))
    }
    fn tool_call(&self) -> ToolCallId {
        ToolCallId::new(format!("{}{}", ToolCallId::PREFIX, self.time_ordered()))
    }
    /// The chat of a sub-agent.
    fn sub_chat(&self) -> SessionId {
        SessionId::new(format!("{}{}", SessionId::PREFIX, self.time_ordered()))
    }
    /// An agent that a workspace defines.
    fn agent(&self) -> AgentId {
        AgentId::new(format!("{}{}", AgentId::PREFIX, self.time_ordered()))
    }
    fn approval(&self) -> ApprovalId {
        ApprovalId::new(format!("{}{}", ApprovalId::PREFIX, self.unguessable()))
    }
    fn rule(&self) -> RuleId {
        RuleId::new(format!("{}{}", RuleId::PREFIX, self.unguessable()))
    }
    fn change(&self) -> ChangeId {
        ChangeId::new(format!("{}{}", ChangeId::PREFIX, self.time_ordered()))
    }
    fn job(&self) -> JobId {
        JobId::new(format!("{}{}", JobId::PREFIX, self.unguessable()))
    }
    fn artifact(&self) -> ArtifactId {
        ArtifactId::new(format!("{}{}", ArtifactId::PREFIX, self.unguessable()))
    }
}
