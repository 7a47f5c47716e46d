//! A session as a folder of files, in the layout of the requirement document, and back again.
//!
//! ```text
//! <folder>/session.json            what is known of the session
//! <folder>/messages.jsonl          its messages, one a line, in the order they were stored
//! <folder>/artifacts/<id>          files that were made
//! <folder>/agents/<id>/            a sub-agent: session.json, messages.jsonl and agents/ of its own
//! ```
//!
//! [`read_log`] folds the log into a [`Transcript`]; [`to_log`] makes a log that folds into the same transcript. So an
//! imported session is a session like any other, and what is exported again is the same, byte for byte. Pure.

mod record;
mod rename;
mod unfold;
mod view;
mod write;

pub use record::{Agent, AgentFile, Line, MessageKind, RunLine, SessionFile, Transcript};
pub use rename::rename;
pub use view::read_log;
pub use write::{Imported, Place, TimedEvent, TranscriptError, to_log};
