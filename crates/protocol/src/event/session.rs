//! Values of events that concern the session itself, not one message.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{agent::MainAgent, id::ApprovalId};

/// Who gave a session its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitledBy {
    Person,
    Model,
}

/// Something that a client at the session is told once. It changes nothing and is not told again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Announcement {
    /// The session left this connection.
    Unbound { connection: String, reason: UnboundReason },
    /// A client has come back: these questions still wait.
    StillPending { requests: Vec<ApprovalId> },
    /// A client has come back: this is the plan.
    Plan { steps: Value },
    /// The main agent was not changed.
    SwitchRefused {
        connection: String,
        code: String,
        text: String,
        agents: Vec<MainAgent>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
    /// The conversation, and perhaps files, were put back to what they were before a message.
    RolledBack {
        message_index: usize,
        files: usize,
        /// Why files were not put back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
}

/// Why a session left a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnboundReason {
    /// Another connection has it now.
    TakenOver,
    Deleted,
}
