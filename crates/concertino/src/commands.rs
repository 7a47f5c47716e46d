//! One file per command.

pub(crate) mod agents;
pub(crate) mod backup;
pub(crate) mod chat;
pub(crate) mod doctor;
pub(crate) mod link;
pub(crate) mod models;
pub(crate) mod restore;
pub(crate) mod serve;
pub(crate) mod token;
pub(crate) mod transcript;
pub(crate) mod usage;
