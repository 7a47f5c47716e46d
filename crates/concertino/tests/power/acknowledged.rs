//! Every boundary event that any client received, held against a copy of the data folder.

use std::{collections::BTreeMap, path::Path};

use rusqlite::Connection;
use store::{Durability, SqliteStore};

use crate::{
    audit::{kept_as, log},
    world::{Told, World},
};

/// The boundary events that clients received so far, by session.
#[derive(Default)]
pub struct Acknowledged {
    sessions: BTreeMap<String, Vec<Told>>,
}

impl Acknowledged {
    /// Adds what clients received since the last call.
    pub fn gather(&mut self, world: &World) {
        for told in world.take_fresh() {
            self.sessions.entry(told.session.clone()).or_default().push(told);
        }
    }

    pub fn count(&self) -> u64 {
        self.sessions.values().map(|told| told.len() as u64).sum()
    }

    /// The events that the database in this folder does not have under the number and with the content the client saw.
    pub async fn lost_in(&self, folder: &Path) -> Vec<String> {
        let store = SqliteStore::open_with(&database(folder), Durability::Process).unwrap();
        let mut lost = Vec::new();
        for (session, told) in &self.sessions {
            let log = log(&store, session).await.unwrap_or_default();
            for Told { seq, json, .. } in told {
                let kept = kept_as(&log, *seq);
                if kept.as_ref() != Some(json) {
                    lost.push(format!(
                        "{session}: {seq} was acknowledged as {json} and is stored as {kept:?}"
                    ));
                }
            }
        }
        lost
    }
}

/// What SQLite says about the database in this folder: `ok`, or what is wrong.
pub fn integrity(folder: &Path) -> String {
    let connection = Connection::open(database(folder)).unwrap();
    connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap_or_else(|error| format!("integrity_check: {error}"))
}

pub fn database(folder: &Path) -> std::path::PathBuf {
    folder.join("concertino.db")
}
