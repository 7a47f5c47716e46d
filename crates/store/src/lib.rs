//! The truth: sessions, messages, runs, interactions and the log.
//!
//! The engine appends events; every table is a fold over them, applied in the same transaction
//! (`sqlite/apply.rs`). Nothing else writes a message or a run.

pub mod record;
pub mod row;
pub mod sqlite;
pub mod store;
pub mod usage;

pub use record::{
    Append, FrameRecord, FrameStatus, MessageRecord, NewToken, PrefaceRecord, RunRecord, RunStatus,
    SessionKey, SessionPage, SessionRecord, SessionTarget, TokenRecord,
};
pub use row::{DeltaRow, DeltaTarget, Row};
pub use sqlite::SqliteStore;
pub use store::{Frames, Interactions, Ledger, Log, Messages, Runs, Sessions, Store, StoreError, Tokens};
pub use usage::{UsageBy, UsageQuery, UsageSum};
