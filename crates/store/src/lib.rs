//! The truth: sessions, messages, runs, interactions and the log.
//!
//! The engine appends events; every table is a fold over them, applied in the same transaction
//! (`sqlite/apply.rs`). Nothing else writes a message or a run.

pub mod access;
mod files;
pub mod record;
pub mod row;
pub mod sqlite;
pub mod store;
pub mod usage;

pub use access::{NewSignIn, NewToken, OwnerToken, SignInRecord, SignIns, TokenRecord, Tokens};
pub use record::{
    Append, ArtifactPage, BranchPoint, DefinitionRecord, FrameRecord, FrameStatus, MessageRecord,
    PrefaceRecord, QueuedMessage, RunRecord, RunStatus, SessionKey, SessionPage, SessionRecord,
    SessionTarget, Waiting,
};
pub use row::{DeltaRow, DeltaTarget, Row};
pub use sqlite::SqliteStore;
pub use store::{
    Artifacts, Definitions, Frames, Interactions, Ledger, Log, Messages, Queue, Runs, Sessions, Shelf, Store,
    StoreError,
};
pub use usage::{UsageBy, UsageQuery, UsageSum};
