//! The types of Concertino: serde types and pure functions, no I/O, no async.
//!
//! A session is one append-only log of [`SessionEvent`]s. [`project`] turns the log into the chunks that clients
//! parse, [`fold`] turns chunks into the stored message, with the same rules as the client's own reducer.

pub mod agent;
pub mod artifact;
pub mod command;
pub mod compaction;
pub mod crash_point;
pub mod durability;
pub mod error_code;
pub mod event;
pub mod facts;
pub mod file_change;
pub mod fold;
pub mod id;
pub mod interaction;
pub mod json;
pub mod message;
pub mod normalize;
pub mod planted;
pub mod policy;
pub mod project;
pub mod provider;
pub mod run;
pub mod source;
pub mod tool;
pub mod transcript;
pub mod usage;
pub mod user_input;
pub mod wire;

pub use agent::{
    AgentKind, AgentRef, AgentSource, AgentType, BudgetLimits, MainAgent, ModelChoice, ToolGroup,
};
pub use artifact::{Artifact, ArtifactInfo, ArtifactList};
pub use command::{CommandReport, Job, JobEvent, JobInput, JobList, JobState, OutputFile, TerminalSize};
pub use compaction::Compaction;
pub use durability::Durability;
pub use error_code::ErrorCode;
pub use event::{
    Announcement, DataPart, FinishReason, FrameEnd, FrameParent, LogEntry, QueueExit, ReportNote, RunEnd,
    SegmentKind, Seq, SessionEvent, TitledBy, ToolOutcome, UnboundReason,
};
pub use facts::TurnFacts;
pub use file_change::{FileChange, FileDiff, FileState};
pub use fold::{FoldError, MessageFold};
pub use id::{
    AgentId, ApprovalId, ArtifactId, ChangeId, IdError, JobId, MessageId, MessageRef, PrincipalId, RuleId,
    RunId, SessionId, ToolCallId, WorkspaceId,
};
pub use interaction::{AnsweredBy, InteractionKind};
pub use message::facts::{
    CommandName, EditedCall, Fallback, Limit, MessageCommand, MessageFacts, MessageStatus, RaisedCall,
    StopReason, Stopped,
};
pub use message::{Part, Role, TextState, ToolPart, ToolState, UiMessage};
pub use planted::{Planted, PlantedMessage, PlantedPart};
pub use policy::{ApprovalMode, CallPattern, GrantScope, Question, Rule, RuleEffect, RuleLayer, Verdict};
pub use provider::{ProviderMetadata, Source};
pub use run::{Origin, RunOptions, SubAgentStream, WhenBusy};
pub use source::{Clock, IdSource, Timestamp};
pub use tool::{FailureCode, ListedTool, ToolCall, ToolRisk, ToolSpec};
pub use usage::{Cost, Price, Usage};
pub use user_input::{
    AnswerValue, FieldType, InputAnswers, InputField, InputForm, InputOption, ShortQuestion, UserAnswer,
};
pub use wire::chat::Chunk;
