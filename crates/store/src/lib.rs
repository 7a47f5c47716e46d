//! The truth: sessions, messages, runs, interactions and the log.
//!
//! The engine appends events; every table is a fold over them, applied in the same transaction
//! (`sqlite/apply.rs`). Nothing else writes a message or a run.

pub mod record;
pub mod row;
pub mod sqlite;
pub mod store;

pub use record::{
    Append, BranchPoint, MessageRecord, NewToken, RunRecord, RunStatus, SessionKey, SessionPage,
    SessionRecord, SessionTarget, TokenRecord, UsageTotal, Waiting,
};
pub use row::{DeltaRow, DeltaTarget, Row};
pub use sqlite::SqliteStore;
pub use store::{Interactions, Log, Messages, Runs, Sessions, Shelf, Store, StoreError, Tokens};
