//! Checks that nothing is left of chats that were all deleted.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::process::Process;

/// Tables that have nothing to do with chats.
const OTHERS: [&str; 3] = ["tokens", "agent_definitions", "revocations"];

/// The bytes of all files below a folder. A file that goes meanwhile counts nothing.
pub fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// What the server itself counts comes back to nothing.
pub async fn nothing_in_memory(url: &str) {
    let mut held = Value::Null;
    // A run's task ends a moment after its last reader has seen the end.
    for _ in 0..500 {
        held = reqwest::get(format!("{url}/api/diagnostics")).await.unwrap().json().await.unwrap();
        let engine = &held["engine"];
        if engine["liveSessions"] == 0 && engine["historyCacheBytes"] == 0 && held["connections"] == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the server holds on to chats that were deleted: {held}");
}

/// No row in any table of chats, and no file of an artifact.
pub fn nothing_on_disk(process: &Process) {
    let database = Connection::open_with_flags(process.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut tables = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables.iter().filter(|table| !OTHERS.contains(&table.as_str())) {
        let rows: i64 =
            database.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "rows of deleted chats are left in {table}");
    }
    let files = bytes_below(&process.folder().join("data/artifacts"));
    assert_eq!(files, 0, "files of deleted chats are left");
}
