//! Stores sessions: their logs, and the tables that are derived from the logs (messages, runs, interactions and more).
//!
//! The engine appends events; every table is a fold over them, applied in the same transaction (`sqlite/apply.rs`).
//! Nothing else writes a message or a run.

pub mod access;
mod durability;
pub mod file_changes;
mod files;
pub mod record;
pub mod row;
pub mod sqlite;
pub mod store;
pub mod usage;

pub use access::{NewSignIn, NewToken, OwnerToken, SignInRecord, SignIns, TokenRecord, Tokens};
pub use durability::{Durability, make_private_folder, sync_folder};
pub use file_changes::{ChangeRecord, ContentUse, FileChanges, UnfinishedChange};
pub use record::{
    ActiveRun, Append, ArtifactCursor, ArtifactPage, BranchPoint, DefinitionRecord, FrameRecord, FrameStatus,
    LastRun, MAX_WORKSPACE_RULES, MessageRecord, PendingInteraction, PrefaceRecord, QueuedMessage,
    RecoveryAttempt, RecoveryStage, RuleRecord, RunRecord, RunStatus, SessionCursor, SessionInteraction,
    SessionKey, SessionPage, SessionRecord, SessionTarget, SubAgentChat,
};
pub use row::{DeltaRow, DeltaTarget, Row};
pub use sqlite::{
    BackupProgress, SqliteStore, VerifyReport, WalFinding, artifact_files, check_wal, contents_in_database,
    copy_database, damaged_wal_copies, verify_database,
};
pub use store::{
    Artifacts, Definitions, Frames, Health, Interactions, Log, Messages, Queue, Recovery, Rules, Runs,
    SessionIndex, Sessions, Store, StoreError, StoreHealth, UsageReports,
};
pub use usage::{UsageBy, UsageQuery, UsageSum};
