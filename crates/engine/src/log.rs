//! The append-only log of a live session: numbered events, stored before boundary events are visible, shared by all readers.
//!
//! `session_log.rs` numbers, stores and publishes; `open_logs.rs` has the logs that are in memory; `writer.rs` is the right to append; `flusher.rs` stores deltas of many
//! sessions together; `merge.rs` joins neighbouring deltas for readers that are behind.

pub(crate) mod flusher;
pub(crate) mod merge;
pub(crate) mod open_logs;
pub(crate) mod session_log;
pub(crate) mod writer;
