//! Damage that was found since the store was opened. A list leaves out a damaged row, adds it here, and continues.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::StoreError;

/// More places than this are not added.
const MAX_PLACES: usize = 200;

/// The rows of a query that could be read.
pub(super) struct ReadableRows<T> {
    pub(super) rows: Vec<T>,
    /// Whether the query was read to its end. If not, the table itself is damaged.
    pub(super) is_complete: bool,
}

#[derive(Default)]
pub(super) struct DamageReport {
    /// What is wrong, by place.
    found: Mutex<BTreeMap<String, String>>,
}

impl DamageReport {
    /// Adds damage at a place, and logs it if it is new.
    pub(super) fn note(&self, place: impl Into<String>, what: impl std::fmt::Display) {
        let place = place.into();
        let mut found = self.found.lock();
        if found.len() < MAX_PLACES && !found.contains_key(&place) {
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

    /// Collects the rows that can be read. A row that cannot be read is added to the report.
    pub(super) fn readable<T>(
        &self,
        place: &str,
        rows: impl Iterator<Item = rusqlite::Result<Result<T, StoreError>>>,
    ) -> Result<ReadableRows<T>, StoreError> {
        let mut kept = Vec::new();
        for (number, row) in rows.enumerate() {
            match row {
                Ok(Ok(row)) => kept.push(row),
                Ok(Err(StoreError::Corrupt(what))) => self.note(format!("{place}, row {}", number + 1), what),
                Ok(Err(error)) => return Err(error),
                Err(error) => match StoreError::from(error) {
                    StoreError::Corrupt(what) => {
                        self.note(place, what);
                        return Ok(ReadableRows { rows: kept, is_complete: false });
                    }
                    error => return Err(error),
                },
            }
        }
        Ok(ReadableRows { rows: kept, is_complete: true })
    }
}
