//! A session: its log, its one owner task, its readers.

pub(crate) mod actor;
mod answer;
mod begin;
mod below;
pub(crate) mod flush;
mod frames;
pub(crate) mod log;
mod merge;
pub(crate) mod registry;
pub mod request;
mod submit;
pub mod subscribe;
mod watch;
