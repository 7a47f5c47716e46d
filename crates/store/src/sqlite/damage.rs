//! What was found damaged since the store was opened. Lists leave the damaged row out, note it here, and go on.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::StoreError;

/// More are counted but not named.
const NAMED: usize = 200;

#[derive(Default)]
pub(super) struct Damage {
    found: Mutex<BTreeMap<String, String>>,
}

impl Damage {
    /// Notes damage at a place, and logs it when it is new.
    pub(super) fn note(&self, place: impl Into<String>, what: impl std::fmt::Display) {
        let place = place.into();
        let mut found = self.found.lock();
        if found.len() < NAMED && !found.contains_key(&place) {
            let what = what.to_string();
            tracing::error!(
                place,
                what,
                "the database is damaged; restore a backup with `concertino restore`"
            );
            found.insert(place, what);
        }
    }

    pub(super) fn list(&self) -> Vec<String> {
        self.found.lock().iter().map(|(place, what)| format!("{place}: {what}")).collect()
    }

    /// What can be read of these rows. A row that cannot be read is noted; when the table itself cannot be read any
    /// further, what was read so far is returned, and `false`.
    pub(super) fn readable<T>(
        &self,
        place: &str,
        rows: impl Iterator<Item = rusqlite::Result<Result<T, StoreError>>>,
    ) -> Result<(Vec<T>, bool), StoreError> {
        let mut kept = Vec::new();
        for (number, row) in rows.enumerate() {
            match row {
                Ok(Ok(row)) => kept.push(row),
                Ok(Err(StoreError::Corrupt(what))) => self.note(format!("{place}, row {}", number + 1), what),
                Ok(Err(error)) => return Err(error),
                Err(error) => match StoreError::from(error) {
                    StoreError::Corrupt(what) => {
                        self.note(place, what);
                        return Ok((kept, false));
                    }
                    error => return Err(error),
                },
            }
        }
        Ok((kept, true))
    }
}
