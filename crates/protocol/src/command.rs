//! Commands that agents run: the report of a call, and the list of jobs. A job is a command that runs or has run, and
//! belongs to a chat.

use serde::{Deserialize, Serialize};

use crate::{
    id::{ArtifactId, JobId, SessionId, ToolCallId},
    source::Timestamp,
};

/// What `shell`, `shell-command`, `exec-command` and `write-stdin` return, and what they show while they run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommandReport {
    /// Absent while the command runs, and when a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the command, such as `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    pub duration_ms: u64,
    /// Standard output and standard error as they came. Of long output the beginning and the end.
    pub output: String,
    /// How many bytes are missing in the middle of `output`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_bytes: u64,
    /// Where the whole output is, when some of it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<OutputFile>,
    /// Which protections were active, in one line.
    pub sandbox: String,
    /// The command still runs: pass this to `write-stdin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<JobId>,
    /// Something the reader should know, such as a limit that was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A file with the whole output of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutputFile {
    pub id: ArtifactId,
    pub name: String,
    pub bytes: u64,
    pub url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    Running,
    Ended,
}

/// A command that runs, or that ended a short time ago.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub id: JobId,
    pub chat_id: SessionId,
    pub tool_call_id: ToolCallId,
    /// The line, or the words of the command joined by spaces.
    pub command: String,
    /// The folder it runs in, as agents write it: `/workspace/src`.
    pub workdir: String,
    /// Whether it has a terminal.
    pub tty: bool,
    pub state: JobState,
    pub started_at: Timestamp,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    pub output_bytes: u64,
    pub sandbox: String,
}

/// `GET /api/jobs`: newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobList {
    pub jobs: Vec<Job>,
}

/// An event of `GET /api/jobs/{id}/output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum JobEvent {
    /// A piece of the output. `offset` is the place of its first byte in the whole output; a gap means that older output is
    /// no longer kept.
    Output { offset: u64, text: String },
    /// The command has ended; nothing follows.
    Ended { job: Job },
}

/// `POST /api/jobs/{id}/input`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobInput {
    /// What a person typed; `\u0003` is Ctrl-C.
    #[serde(default)]
    pub chars: String,
    /// The new size of the terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<TerminalSize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}
