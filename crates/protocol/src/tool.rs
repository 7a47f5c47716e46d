//! A tool as a model sees it, and a call of one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{id::ToolCallId, policy::RuleEffect};

/// The description of a tool that a model reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the input.
    pub input_schema: Value,
}

/// What a call of a tool can do, for lists that people read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolRisk {
    /// It changes nothing outside of the chat.
    Reads,
    /// It changes files or something else outside of the chat.
    Writes,
    /// It runs programs.
    Executes,
    /// It does nothing without an approval.
    Asks,
    /// It asks the person to fill in a form, in every mode.
    Input,
    /// It starts or directs another agent, whose calls are judged one by one.
    Delegates,
    /// The front end executes it.
    FrontEnd,
}

impl ToolRisk {
    /// The word that lists show.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Executes => "executes",
            Self::Asks => "asks",
            Self::Input => "input",
            Self::Delegates => "delegates",
            Self::FrontEnd => "front end",
        }
    }
}

/// A tool as `GET /api/tools` lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedTool {
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// The capability group that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    pub risk: ToolRisk,
    /// What happens to an ordinary call under the rules in force, before a person says more.
    pub rule: RuleEffect,
}

/// A complete call: the input is JSON and was accepted by the tool's schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: ToolCallId,
    pub name: String,
    pub input: Value,
}

/// Why a tool failed, as a code that callers may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    InvalidPath,
    AccessDenied,
    NotFound,
    /// The file is not in the state that the call expects.
    Conflict,
    InvalidArgument,
    ValidationFailed,
    TooLarge,
    UnsupportedMediaType,
    NotConfigured,
    UpstreamUnavailable,
    Timeout,
    Cancelled,
    ModelUnavailable,
    Internal,
}

impl FailureCode {
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidPath => "invalid_path",
            Self::AccessDenied => "access_denied",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::InvalidArgument => "invalid_argument",
            Self::ValidationFailed => "validation_failed",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::NotConfigured => "not_configured",
            Self::UpstreamUnavailable => "upstream_unavailable",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::ModelUnavailable => "model_unavailable",
            Self::Internal => "internal",
        }
    }
}

impl std::fmt::Display for FailureCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
