//! Cases about change sets, the versions that a session knows, and the contents that change sets refer to.

use protocol::{
    ChangeId, FileChange, FileState, FrameParent, SessionEvent, SessionId, Timestamp, ToolCallId,
    WorkspaceId,
    file_change::{ChangeSet, ChangeStatus},
};
use store::{ContentUse, SqliteStore, Store, verify_database};

use crate::{StoreLocation, script::*};

const PATH: &str = "/workspace/src/a.rs";

fn state(content: &str) -> FileState {
    FileState { content: content.to_owned(), bytes: content.len() as u64, mode: 0o644 }
}

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
    FileChange { path: path.to_owned(), before: before.map(state), after: after.map(state) }
}

fn changing(message: &str, change: &str, call: Option<&str>, files: Vec<FileChange>) -> SessionEvent {
    SessionEvent::FilesChanging {
        message: id(message),
        change: ChangeId::new(change),
        call: call.map(ToolCallId::new),
        tool: if call.is_some() { "edit-file" } else { "revert" }.to_owned(),
        agent: vec!["general".to_owned()],
        files,
    }
}

fn changed(message: &str, change: &str, error: Option<&str>) -> SessionEvent {
    let error = error.map(str::to_owned);
    SessionEvent::FilesChanged { message: id(message), change: ChangeId::new(change), error }
}

fn read(path: &str, version: &str) -> SessionEvent {
    SessionEvent::FileRead {
        message: id("m"),
        call: ToolCallId::new("c"),
        path: path.to_owned(),
        version: version.to_owned(),
    }
}

async fn known(store: &dyn Store, script: &Script, path: &str) -> Option<String> {
    store.last_read(script.key(), path).await.unwrap()
}

pub async fn change_sets_are_listed_with_the_run_that_they_belong_to(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let parent = FrameParent {
        message: id("m"),
        call: ToolCallId::new("d"),
        root: id("m"),
        chat: SessionId::new("sub"),
        task: "work".to_owned(),
        context: serde_json::Value::Null,
        background: false,
    };
    let frame = SessionEvent::FrameOpened {
        message: id("f"),
        metadata: Box::default(),
        parent: Some(Box::new(parent)),
    };
    let files = vec![change(PATH, Some("old"), Some("new")), change("/workspace/b", None, Some("b"))];
    script.append(vec![frame, changing("f", "chg_2", Some("c"), files.clone())]).await;
    script.at = Timestamp(2_000);
    script.append(vec![changing("m", "chg_1", None, vec![change(PATH, Some("new"), None)])]).await;
    let unfinished = store.unfinished_changes().await.unwrap();
    let ids: Vec<_> = unfinished.iter().map(|change| change.set.id.as_str()).collect();
    assert_eq!(ids, ["chg_2", "chg_1"], "in the order in which they were begun");
    assert_eq!((&unfinished[0].session, unfinished[0].key), (&SessionId::new("s"), script.key()));
    assert_eq!((&unfinished[0].workspace, &unfinished[0].set.files), (&workspace(), &files));

    script.append(vec![changed("f", "chg_2", None), changed("m", "chg_1", Some("no room"))]).await;
    script.append(vec![changed("m", "chg_1", None)]).await;
    assert_eq!(store.unfinished_changes().await.unwrap(), []);
    let store = location.open();
    let listed = store.file_changes(script.key()).await.unwrap();
    assert_eq!(listed.iter().map(|record| record.root.as_str()).collect::<Vec<_>>(), ["m", "m"]);
    let second = ChangeSet {
        id: ChangeId::new("chg_2"),
        message_id: id("f"),
        tool_call_id: Some(ToolCallId::new("c")),
        tool: "edit-file".to_owned(),
        agent: vec!["general".to_owned()],
        at: AT,
        status: ChangeStatus::Applied,
        files,
    };
    assert_eq!(listed[0].set, second);
    assert_eq!((listed[1].set.status, listed[1].set.at), (ChangeStatus::Failed, Timestamp(2_000)));
    assert_eq!((&listed[1].set.tool_call_id, listed[1].set.tool.as_str()), (&None, "revert"));
}

pub async fn a_session_knows_what_it_read_or_wrote_last(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    assert_eq!(known(&*store, &script, PATH).await, None);
    script.append(vec![read(PATH, "1"), read(PATH, "2"), read("/workspace/b", "b")]).await;
    assert_eq!(known(&*store, &script, PATH).await.as_deref(), Some("2"));

    script.append(vec![changing("m", "x", Some("c"), vec![change(PATH, Some("2"), Some("3"))])]).await;
    assert_eq!(known(&*store, &script, PATH).await.as_deref(), Some("3"), "it wrote this");
    script.append(vec![changed("m", "x", Some("failed"))]).await;
    assert_eq!(known(&*store, &script, PATH).await.as_deref(), Some("2"), "nothing was written");

    let files = vec![
        change(PATH, Some("2"), Some("4")),
        change("/workspace/b", Some("b"), None),
        change("/workspace/new", None, Some("n")),
    ];
    script.append(vec![changing("m", "y", Some("c"), files), changed("m", "y", None)]).await;
    assert_eq!(known(&*store, &script, PATH).await.as_deref(), Some("4"));
    assert_eq!(known(&*store, &script, "/workspace/b").await, None, "it is deleted");
    assert_eq!(known(&*store, &script, "/workspace/new").await.as_deref(), Some("n"));

    script.append(vec![changing("m", "z", None, vec![change(PATH, Some("4"), Some("2"))])]).await;
    assert_eq!(known(&*store, &script, PATH).await, None, "what a person reverts must be read again");
    script.append(vec![changed("m", "z", Some("failed"))]).await;
    assert_eq!(known(&*store, &script, PATH).await.as_deref(), Some("4"));

    script.append(vec![changing("m", "w", Some("c"), vec![change(PATH, Some("4"), Some("5"))])]).await;
    script.append(vec![read(PATH, "6"), changed("m", "w", Some("failed"))]).await;
    assert_eq!(known(&*store, &script, PATH).await.as_deref(), Some("6"), "what was read since counts");

    let mut other = Script::new(&store, "other");
    other.ask("u", None, "m").await;
    assert_eq!(known(&*store, &other, PATH).await, None, "every session for itself");
}

pub async fn contents_are_in_use_until_their_last_chat_is_deleted(location: &StoreLocation) {
    let store = location.open();
    let mut one = Script::new(&store, "one");
    one.ask("u", None, "m").await;
    let mut two = Script::new(&store, "two");
    two.ask("u", None, "m").await;
    let mut foreign = Script::in_workspace(&store, "other", "one");
    foreign.ask("u", None, "m").await;
    one.at = Timestamp(1_000);
    let files = vec![change(PATH, Some("a"), Some("bb"))];
    one.append(vec![changing("m", "x", Some("c"), files), changed("m", "x", None)]).await;
    two.at = Timestamp(3_000);
    let files = vec![change(PATH, Some("bb"), Some("ccc"))];
    two.append(vec![changing("m", "y", Some("c"), files.clone())]).await;
    one.at = Timestamp(2_000);
    let failed = vec![change(PATH, None, Some("dddd"))];
    one.append(vec![changing("m", "f", Some("c"), failed), changed("m", "f", Some("no"))]).await;
    foreign.append(vec![changing("m", "z", Some("c"), vec![change(PATH, Some("a"), None)])]).await;

    let used = |content: &str, at, is_needed| ContentUse {
        content: content.to_owned(),
        bytes: content.len() as u64,
        last_used: Timestamp(at),
        is_needed,
    };
    assert_eq!(
        store.contents_in_use(&workspace()).await.unwrap(),
        [used("a", 1_000, false), used("bb", 3_000, true), used("ccc", 3_000, true)],
        "a failed change set uses nothing"
    );
    let mut all = store.contents_of_session(one.key()).await.unwrap();
    all.sort();
    assert_eq!(all, ["a", "bb", "dddd"]);
    assert_eq!(store.unused_contents(&workspace(), all.clone()).await.unwrap(), ["dddd"]);

    store.delete_session(one.key()).await.unwrap();
    assert_eq!(store.unused_contents(&workspace(), all.clone()).await.unwrap(), ["a", "dddd"]);
    let other = WorkspaceId::new("other");
    assert_eq!(store.unused_contents(&other, all).await.unwrap(), ["bb", "dddd"]);
    store.delete_session(two.key()).await.unwrap();
    assert_eq!(store.contents_in_use(&workspace()).await.unwrap(), []);
    assert_eq!(store.file_changes(one.key()).await.unwrap(), []);
    assert_eq!(store.last_read(one.key(), PATH).await.unwrap(), None);
    store.delete_session(foreign.key()).await.unwrap();
    assert_eq!(store.unfinished_changes().await.unwrap(), [], "they go with their chat");
}

#[tokio::test]
async fn sqlite_tables_of_changes_are_what_the_log_says() {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation { folder, open: crate::sqlite_at };
    let path = location.folder.path().join("test.db");
    a_session_knows_what_it_read_or_wrote_last(&location).await;
    drop(SqliteStore::open(&path).unwrap());
    assert_eq!(verify_database(&path, &mut |_| {}).unwrap().problems, Vec::<String>::new());
}
