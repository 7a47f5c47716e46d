//! A session: its log, its one owner task, its readers.

pub(crate) mod actor;
mod admit;
mod answer;
mod begin;
mod below;
pub(crate) mod flush;
pub mod following;
mod frames;
pub(crate) mod log;
mod merge;
mod queue;
pub(crate) mod recover;
mod recover_rows;
pub(crate) mod registry;
pub mod request;
mod submit;
pub mod subscribe;
mod watch;
