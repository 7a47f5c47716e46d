//! What a person allowed for the rest of a session, shared by all agents of a run.
//!
//! The log records it (`GrantGiven`), and the session's row is its fold. A run starts with that and adds what is allowed
//! while it is active.

use std::collections::HashSet;

use parking_lot::Mutex;
use protocol::Grant;

#[derive(Default)]
pub(crate) struct Grants(Mutex<HashSet<Grant>>);

impl Grants {
    pub(crate) fn new(given: impl IntoIterator<Item = Grant>) -> Self {
        Self(Mutex::new(given.into_iter().collect()))
    }

    pub(crate) fn add(&self, grant: Grant) {
        self.0.lock().insert(grant);
    }

    pub(crate) fn has(&self, grant: &Grant) -> bool {
        self.0.lock().contains(grant)
    }
}
