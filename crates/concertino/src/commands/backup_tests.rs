//! Contents of changed files are backed up and restored, so that changes can be reverted afterwards.

use std::sync::Arc;

use protocol::{
    ChangeId, FileChange, FileState, MessageId, Part, Role, SessionEvent, SessionId, UiMessage, WorkspaceId,
    event::LogEntry,
};
use store::{Append, Log, Row, SessionTarget, SqliteStore};

use super::*;
use crate::commands::restore::restore_folder;

/// A data folder with one chat that changed a file from one content to another.
async fn data_folder(folder: &Path, before: &str, after: &str) {
    let store = SqliteStore::open(&folder.join(DATABASE)).unwrap();
    let message = UiMessage {
        id: MessageId::new("u"),
        role: Role::User,
        metadata: None,
        parts: vec![Part::Text { text: "go".to_owned(), state: None }],
    };
    let state = |content: &str| Some(FileState { content: content.to_owned(), bytes: 3, mode: 0o644 });
    let path = "/workspace/a".to_owned();
    let events = [
        SessionEvent::MessageAccepted { message, revision: 0, parent: None, facts: None },
        SessionEvent::FilesChanging {
            message: MessageId::new("m"),
            change: ChangeId::new("chg_1"),
            call: None,
            tool: "revert".to_owned(),
            agent: Vec::new(),
            files: vec![FileChange { path, before: state(before), after: state(after) }],
        },
    ];
    let at = Timestamp(1);
    let rows = (1..).zip(events).map(|(seq, event)| Row::Event(LogEntry { seq, at, event })).collect();
    let target = SessionTarget::New { workspace: WorkspaceId::new("Team"), id: SessionId::new("s") };
    let append = Append { target, at, rows, messages: Vec::new(), high_water: Some(2) };
    store.append(Arc::new(append)).await.unwrap();
}

#[tokio::test]
async fn contents_are_backed_up_and_restored_and_a_removed_one_is_no_damage() {
    let before = format!("{:x}", Sha256::digest("old"));
    let (after, unused) = ("b".repeat(64), "c".repeat(64));
    let root = tempfile::tempdir().unwrap();
    let [data, copy, restored] = ["data", "copy", "restored"].map(|name| root.path().join(name));
    let contents = data.join("contents/_54eam");
    fs::create_dir_all(&contents).unwrap();
    data_folder(&data, &before, &after).await;
    // The content after the change was removed because the limit was reached.
    fs::write(contents.join(&before), "old").unwrap();
    fs::write(contents.join(&unused), "left by a crash").unwrap();

    let manifest = copy_all(&data, &copy).unwrap();
    assert_eq!(manifest.problems, Vec::<String>::new());
    let names: Vec<&str> = manifest.files.keys().map(String::as_str).collect();
    assert_eq!(names, [DATABASE, &format!("contents/_54eam/{before}")]);

    fs::create_dir_all(&restored).unwrap();
    let manifest = restore_folder(&copy, &restored, false).unwrap();
    assert_eq!(manifest.problems, Vec::<String>::new());
    assert_eq!(fs::read(restored.join("contents/_54eam").join(&before)).unwrap(), b"old");
}
