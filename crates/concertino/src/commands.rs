//! One file per command.

pub(crate) mod agents;
pub(crate) mod backup;
pub(crate) mod chat;
pub(crate) mod doctor;
pub(crate) mod link;
mod listing;
pub(crate) mod models;
pub(crate) mod policy;
pub(crate) mod restore;
pub(crate) mod rules;
pub(crate) mod serve;
pub(crate) mod sign_ins;
pub(crate) mod token;
pub(crate) mod tools;
pub(crate) mod transcript;
pub(crate) mod usage;
mod workspace_access;
