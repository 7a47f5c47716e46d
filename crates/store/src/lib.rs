//! The truth: sessions, messages, runs, interactions and the log.
//!
//! The engine appends events; every table is a fold over them, applied in the same transaction
//! (`sqlite/apply.rs`). Nothing else writes a message or a run.

mod durability;
mod files;
pub mod record;
pub mod row;
pub mod sqlite;
pub mod store;
pub mod usage;

pub use durability::{Durability, make_private_folder, sync_folder};
pub use record::{
    Append, ArtifactPage, BranchPoint, DefinitionRecord, FrameRecord, FrameStatus, MessageRecord, NewToken,
    PrefaceRecord, QueuedMessage, RunRecord, RunStatus, SessionKey, SessionPage, SessionRecord,
    SessionTarget, TokenRecord, Waiting,
};
pub use row::{DeltaRow, DeltaTarget, Row};
pub use sqlite::{
    Progress, SqliteStore, Verified, WalFinding, check_wal, copy_database, damaged_logs, files_of,
    verify_database,
};
pub use store::{
    Artifacts, Condition, Definitions, Frames, Interactions, Ledger, Log, Messages, Queue, Runs, Sessions,
    Shelf, Store, StoreError, StoreHealth, Tokens,
};
pub use usage::{UsageBy, UsageQuery, UsageSum};
