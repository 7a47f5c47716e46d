//! What searches and listings of many files are given to watch while they work.

use std::time::Instant;

use crate::FileError;

/// When to stop, and which files to leave out.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Asked often; the operation fails with `cancelled` once this is true.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Whether a file may be read without asking a person, by its path relative to the work directory.
    pub may_read: &'a (dyn Fn(&str) -> bool + Sync),
    /// When to stop with what was found so far.
    pub deadline: Option<Instant>,
}

impl Watch<'_> {
    /// Never stops and reads everything.
    pub const ALWAYS: Watch<'static> = Watch { cancelled: &|| false, may_read: &|_| true, deadline: None };

    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    pub(crate) fn check(&self) -> Result<(), FileError> {
        if (self.cancelled)() { Err(FileError::cancelled()) } else { Ok(()) }
    }
}
