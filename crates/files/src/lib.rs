//! The one file access layer: the files of a workspace, never anything outside of it.
//!
//! A [`FileDomain`] holds a handle of the work directory and opens everything below it one path component at a time, by
//! handles, so that no name can be swapped between a check and its use. [`stage`], [`apply`] and [`complete`] change
//! several files at once: all of them or none, also when the process is killed. A [`Snapshot`] tells what something else
//! changed. Everything here blocks; call it from a thread that may.

mod change;
mod commit;
mod contents;
mod domain;
mod error;
mod expand;
mod folders;
mod found;
mod glob;
mod grep;
mod handle;
mod ignored;
mod known;
mod lines;
mod lookup;
mod pack;
mod parallel;
mod path;
mod place;
mod present;
mod protected;
mod search;
mod seen;
mod snapshot;
mod snapshot_store;
mod sync;
pub mod text;
mod traverse;
mod undo;
mod walk;

pub use change::{Completed, MAX_CHANGED_BYTES, NewContent, NewFile, Staged, apply, complete, stage};
pub use contents::ContentStore;
pub use domain::{Content, Entry, FileDomain, FileInfo, OpenFile};
pub use error::FileError;
pub use glob::{GlobQuery, GlobReport};
pub use grep::{GrepFile, GrepLine, GrepQuery, GrepReport};
pub use ignored::IgnoreRules;
pub use lines::{LINE_BYTES, Line, Lines};
pub use parallel::in_parallel;
pub use path::LogicalPath;
pub use place::Place;
pub use present::FilesToChange;
pub use protected::HardLinks;
pub use search::Watch;
pub use snapshot::{Snapshot, SnapshotLimits};
pub use snapshot_store::SnapshotStore;
pub use walk::{WalkEntry, WalkQuery, WalkReport};
