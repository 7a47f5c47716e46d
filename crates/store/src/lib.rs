//! The truth: sessions, messages, runs, interactions and the log.
//!
//! The engine appends events; every table is a fold over them, applied in the same transaction
//! (`sqlite/apply.rs`). Nothing else writes a message or a run.

mod files;
pub mod record;
pub mod row;
pub mod sqlite;
pub mod store;
pub mod usage;

pub use record::{
    Append, ArtifactPage, BranchPoint, DefinitionRecord, FrameRecord, FrameStatus, MessageRecord, NewToken,
    PrefaceRecord, QueuedMessage, RecoveryAttempt, RecoveryStage, RunRecord, RunStatus, SessionKey,
    SessionPage, SessionRecord, SessionTarget, TokenRecord, Waiting,
};
pub use row::{DeltaRow, DeltaTarget, Row};
pub use sqlite::SqliteStore;
pub use store::{
    Artifacts, Definitions, Frames, Interactions, Ledger, Log, Messages, Queue, Recovery, Runs, Sessions,
    Shelf, Store, StoreError, Tokens,
};
pub use usage::{UsageBy, UsageQuery, UsageSum};
