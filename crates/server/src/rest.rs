//! The REST routes; errors are problem JSON.

pub(crate) mod about;
pub(crate) mod access;
pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod diagnostics;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod models;
pub(crate) mod rules;
pub(crate) mod sessions;
pub(crate) mod tools;
pub(crate) mod usage;
