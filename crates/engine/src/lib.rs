//! The only crate that decides: one actor per live session, the agent loop, approvals, branches.
//!
//! From top to bottom: `engine` (the handle) → `run` (the agent loop) → `session` (one owner per session) → `log` and
//! `mailbox` → `services`, `context`, `agents` and the small modules below them. No module imports from one above it
//! (`cargo xtask lint` checks this).

mod admission;
pub mod agents;
mod attachments;
mod context;
mod engine;
mod error;
mod files;
pub mod hooks;
mod jobs;
mod log;
mod mailbox;
mod model_choice;
mod run;
mod secrets;
mod services;
mod session;
mod session_name;
mod session_title;
mod settings;
mod system;
mod token_estimate;
pub mod transcript;

pub use agents::DEFAULT_AGENT;
pub use engine::{
    AddedRule, AgentChange, CompactOutcome, Credential, Defined, Engine, EngineLoad, EngineParts, Follow,
    HistoryPage, OpenStream, Principal, UsageRequest, report_usage, sign_in_info, token_info,
};
pub use error::EngineError;
pub use files::{
    browse::{FileKind, WorkspaceFile},
    workspaces::{CONTENT_LIMIT, FileSettings, content_file, contents_to_read},
};
pub use jobs::CommandSettings;
pub use mailbox::answer::Decision;
pub use models::catalog::list::{Filter as ModelFilter, ModelList};
pub use secrets::SecretError;
pub use session::{
    actor::Stopped,
    events_reader::EventsReader,
    follow::FollowFrom,
    following::Following,
    main_agent::AgentSwitch,
    registry::SessionLoad,
    request::{ApprovalPayload, ClientOutput, ReturnedAnswer, SendKind, SendRequest, Submit},
    rollback::RollbackFiles,
    viewer::{ViewError, Viewer},
};
pub use settings::{ApprovalSettings, ContextSettings, EngineSettings, SubAgentLimits};
pub use system::{RandomIds, SystemClock};
pub use tools::job::JobWatch;
