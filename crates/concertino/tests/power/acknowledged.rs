//! Every boundary event that any client received, held against a copy of the data folder.

use std::{collections::BTreeMap, path::Path};

use rusqlite::Connection;
use serde_json::Value;
use store::{Durability, SqliteStore};

use crate::{
    audit::{kept_as, log},
    bulk,
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

    /// The files that tool results refer to: the name of the file and its length.
    pub fn files(&self) -> impl Iterator<Item = (String, u64)> {
        let results = self.sessions.values().flatten().filter(|told| told.json.contains("\"artifact\""));
        results.filter_map(|told| {
            let result: Value = serde_json::from_str(&told.json).ok()?;
            let artifact = &result["output"]["artifact"];
            Some((artifact["id"].as_str()?.to_owned(), artifact["bytes"].as_u64()?))
        })
    }

    /// The files of acknowledged events that are not in this folder as they were made.
    pub fn files_lost_in(&self, folder: &Path) -> Vec<String> {
        let mut lost = Vec::new();
        for (name, bytes) in self.files() {
            let stored = std::fs::read(folder.join("artifacts/w-default").join(&name)).unwrap_or_default();
            if stored.len() as u64 != bytes || !bulk::is_result(&stored) {
                lost.push(format!("the file {name} of {bytes} bytes is stored as {} bytes", stored.len()));
            }
        }
        lost
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
