//! A call changes files as one recorded change set, and the session knows what it has read and written.

use std::path::Path;

use ::files::{HardLinks, NewFile};
use protocol::{
    Durability, FailureCode, FileState, MessageRef, Part, Role, RunId, RunOptions, SessionId, Timestamp,
    UiMessage, WorkspaceId,
    event::LogEntry,
    file_change::{ChangeStatus, NotRevertible},
};
use store::{Append, FileChanges, Log, Row, SessionTarget, SqliteStore, StoreError};
use tokio::sync::Notify;

use super::*;
use crate::{
    RandomIds,
    files::{
        changes::Scope,
        kept_contents,
        recovery::{IdleLog, finish_changes},
        revert,
        workspaces::{FileSettings, Workspaces},
    },
    services::for_tests::TemporaryStore,
};

/// A log of one session that is written directly to the store.
struct DirectLog {
    store: Arc<SqliteStore>,
    session: SessionKey,
    next: Mutex<u64>,
    /// When set, the end of a change set is held back until it is notified.
    held: Option<Arc<Notify>>,
    /// Fails at the end of a change set, as a crash would.
    crashes: bool,
}

#[async_trait]
impl EventSink for DirectLog {
    async fn append(&self, events: Vec<SessionEvent>) -> Result<(), StoreError> {
        if events.iter().any(|event| matches!(event, SessionEvent::FilesChanged { .. })) {
            if self.crashes {
                return Err(StoreError::Unavailable("crashed".into()));
            }
            if let Some(held) = &self.held {
                held.notified().await;
            }
        }
        let first = {
            let mut next = self.next.lock();
            *next += events.len() as u64;
            *next + 1 - events.len() as u64
        };
        let at = Timestamp(i64::try_from(first).unwrap());
        let row = |(seq, event)| Row::Event(LogEntry { seq, at, event });
        let rows: Vec<Row> = (first..).zip(events).map(row).collect();
        let high_water = Some(first + rows.len() as u64 - 1);
        let target = SessionTarget::Known(self.session);
        let append = Append { target, at, rows, messages: Vec::new(), high_water };
        self.store.append(Arc::new(append)).await.map(drop)
    }
}

#[async_trait]
impl IdleLog for DirectLog {
    async fn append(
        &self,
        _: &store::UnfinishedChange,
        event: SessionEvent,
    ) -> Result<(), crate::EngineError> {
        Ok(EventSink::append(self, vec![event]).await?)
    }
}

struct World {
    folder: tempfile::TempDir,
    store: TemporaryStore,
    workspaces: Workspaces,
    session: SessionKey,
}

async fn session(store: &SqliteStore, id: &str) -> SessionKey {
    let message = UiMessage {
        id: MessageId::new("u"),
        role: Role::User,
        metadata: None,
        parts: vec![Part::Text { text: "go".to_owned(), state: None }],
    };
    let events = [
        SessionEvent::MessageAccepted { message, revision: 0, parent: None, facts: None },
        SessionEvent::RunStarted {
            run: RunId::new("run"),
            answers: MessageRef::first(MessageId::new("u")),
            message: MessageId::new("m"),
            options: Box::<RunOptions>::default(),
        },
    ];
    let at = Timestamp(1);
    let rows = (1..).zip(events).map(|(seq, event)| Row::Event(LogEntry { seq, at, event })).collect();
    let target = SessionTarget::New { workspace: WorkspaceId::default_workspace(), id: SessionId::new(id) };
    let append = Append { target, at, rows, messages: Vec::new(), high_water: Some(2) };
    store.append(Arc::new(append)).await.unwrap()
}

impl World {
    async fn new(content_limit: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = TemporaryStore::new();
        let settings = FileSettings {
            workdir: folder.path().join("work"),
            data_dir: folder.path().join("data"),
            protected: Vec::new(),
            hard_links: HardLinks::Refuse,
            content_limit,
            durability: Durability::Process,
        };
        let session = session(&store.store, "s").await;
        Self { folder, workspaces: Workspaces::new(Some(settings)), session, store }
    }

    async fn workspace(&self) -> Arc<Workspace> {
        self.workspaces.get(&WorkspaceId::default_workspace()).await.unwrap()
    }

    fn log(&self, from: u64) -> DirectLog {
        let store = Arc::clone(&self.store.store);
        DirectLog { store, session: self.session, next: Mutex::new(from), held: None, crashes: false }
    }

    async fn call(&self, sink: DirectLog) -> CallFiles {
        let run = RunFiles::new(
            self.workspace().await,
            Arc::clone(&self.store.store) as _,
            Arc::new(RandomIds),
            Some(self.session),
            TaskTracker::new(),
        );
        CallFiles {
            run: Arc::new(run),
            sink: Arc::new(sink),
            message: MessageId::new("m"),
            call: ToolCallId::new("c"),
            tool: "write-file".to_owned(),
            agent: vec!["general".to_owned()],
            cancel: CancellationToken::new(),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("work").join(name)
    }

    fn contents(&self) -> usize {
        std::fs::read_dir(self.folder.path().join("data/contents/default")).unwrap().count()
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

async fn write(
    call: &CallFiles,
    name: &str,
    before: Option<FileState>,
    bytes: &str,
) -> Result<(), ToolError> {
    let path = call.run.workspace.domain.resolve(name).unwrap();
    let after = Some(NewFile { bytes: bytes.as_bytes().to_vec(), mode: None });
    call.change(vec![NewContent { path, before, after }]).await
}

fn state(call: &CallFiles, name: &str) -> Option<FileState> {
    let path = call.run.workspace.domain.resolve(name).unwrap();
    call.run.workspace.domain.read(&path, 1 << 20).ok().map(|content| content.state)
}

#[tokio::test]
async fn a_change_is_recorded_and_the_session_knows_what_it_wrote() {
    let world = World::new(u64::MAX).await;
    let call = world.call(world.log(2)).await;
    let path = call.run.workspace.domain.resolve("a/b.txt").unwrap();
    assert_eq!(call.last_read(&path).await.unwrap(), None);
    write(&call, "a/b.txt", None, "one\n").await.unwrap();
    let version = call.run.workspace.domain.version(&path).unwrap();
    assert_eq!(call.last_read(&path).await.unwrap(), version, "it wrote this");

    call.was_read(&path, "read".to_owned()).await;
    assert_eq!(call.last_read(&path).await.unwrap().as_deref(), Some("read"), "at once");
    let error = write(&call, "a/b.txt", None, "two\n").await.unwrap_err();
    assert!(matches!(error, ToolError::Failed { code: FailureCode::Conflict, .. }), "{error:?}");
    assert_eq!(text(&world.path("a/b.txt")), "one\n");

    let records = world.store.store.file_changes(world.session).await.unwrap();
    assert_eq!(records.len(), 1, "what was refused before it began is no change set");
    let set = &records[0].set;
    assert_eq!((set.status, set.tool.as_str()), (ChangeStatus::Applied, "write-file"));
    assert_eq!((set.files[0].path.as_str(), &set.files[0].before), ("/workspace/a/b.txt", &None));
}

#[tokio::test]
async fn a_change_that_has_begun_is_finished_although_its_call_is_dropped() {
    let world = World::new(u64::MAX).await;
    let held = Arc::new(Notify::new());
    let call = world.call(DirectLog { held: Some(Arc::clone(&held)), ..world.log(2) }).await;
    let mut writing = Box::pin(write(&call, "a", None, "one"));
    while world.store.store.unfinished_changes().await.unwrap().is_empty() {
        tokio::select! {
            _ = &mut writing => panic!("it is held back"),
            () = tokio::task::yield_now() => {}
        }
    }
    call.cancel.cancel();
    drop(writing);
    let settled = call.run.settled();
    tokio::pin!(settled);
    let is_settled = tokio::time::timeout(std::time::Duration::from_millis(20), &mut settled).await.is_ok();
    assert!(!is_settled, "the run waits for it");
    held.notify_one();
    settled.await;
    assert_eq!(text(&world.path("a")), "one");
    let records = world.store.store.file_changes(world.session).await.unwrap();
    assert_eq!(records[0].set.status, ChangeStatus::Applied);
    assert!(matches!(write(&call, "b", None, "x").await, Err(ToolError::Cancelled)));
}

#[tokio::test]
async fn a_change_that_has_not_begun_never_does_when_its_call_is_dropped() {
    let world = World::new(u64::MAX).await;
    let call = world.call(world.log(2)).await;
    let workspace = world.workspace().await;
    let held = workspace.lock().await;
    let mut writing = Box::pin(write(&call, "a", None, "one"));
    let dropped = tokio::time::timeout(std::time::Duration::from_millis(20), &mut writing).await;
    assert!(dropped.is_err(), "another change set is being made");
    drop(writing);
    drop(held);
    call.run.settled().await;
    assert!(!world.path("a").exists());
    assert_eq!(world.store.store.file_changes(world.session).await.unwrap(), []);
}

#[tokio::test]
async fn what_a_crash_interrupted_is_finished_at_the_next_start() {
    let world = World::new(u64::MAX).await;
    let call = world.call(DirectLog { crashes: true, ..world.log(2) }).await;
    write(&call, "a", None, "one").await.unwrap();
    // As if the process had ended before the file was written.
    std::fs::remove_file(world.path("a")).unwrap();
    let (store, log) = (&*world.store.store, world.log(10));
    assert_eq!(finish_changes(&world.workspaces, store, &log).await.unwrap(), 1);
    assert_eq!(text(&world.path("a")), "one");
    assert_eq!(store.file_changes(world.session).await.unwrap()[0].set.status, ChangeStatus::Applied);
    assert_eq!(finish_changes(&world.workspaces, store, &log).await.unwrap(), 0);

    let call = world.call(DirectLog { crashes: true, ..world.log(20) }).await;
    let before = state(&call, "a");
    write(&call, "a", before, "two").await.unwrap();
    std::fs::write(world.path("a"), "somebody else").unwrap();
    assert_eq!(finish_changes(&world.workspaces, store, &world.log(30)).await.unwrap(), 1);
    assert_eq!(text(&world.path("a")), "somebody else", "it is left alone");
    let records = store.file_changes(world.session).await.unwrap();
    let plan = revert::plan(&*world.workspace().await, &records, Scope::Chat, &Default::default()).unwrap();
    assert_eq!((plan.changes.len(), plan.refused[0].code), (0, NotRevertible::ChangedSince));
}

#[tokio::test]
async fn the_oldest_contents_go_first_when_the_limit_is_reached() {
    let world = World::new(1_000).await;
    let call = world.call(world.log(2)).await;
    write(&call, "old", None, &"a".repeat(300)).await.unwrap();
    let before = state(&call, "old");
    write(&call, "old", before, &"b".repeat(300)).await.unwrap();
    write(&call, "new", None, &"c".repeat(300)).await.unwrap();
    assert_eq!(world.contents(), 3);
    let before = state(&call, "new");
    write(&call, "new", before, &"d".repeat(300)).await.unwrap();
    let workspace = world.workspace().await;
    assert!(workspace.contents.bytes().unwrap() <= 1_000);
    let records = world.store.store.file_changes(world.session).await.unwrap();
    // The file was made by the chat, so its revert needs no content; the content in between is gone.
    let plan = revert::plan(&workspace, &records, Scope::Chat, &Default::default()).unwrap();
    assert_eq!(plan.refused, []);
    let only_last: Vec<_> = records.into_iter().skip(1).take(1).collect();
    let plan = revert::plan(&workspace, &only_last, Scope::Chat, &Default::default()).unwrap();
    assert_eq!(
        plan.refused.iter().map(|refused| refused.code).collect::<Vec<_>>(),
        [NotRevertible::ContentRemoved]
    );
}

#[tokio::test]
async fn contents_are_removed_with_the_last_chat_that_needs_them_and_swept_after_a_crash() {
    let mut world = World::new(u64::MAX).await;
    let call = world.call(world.log(2)).await;
    write(&call, "a", None, "one").await.unwrap();
    let first = world.session;
    world.session = session(&world.store.store, "other").await;
    let call = world.call(world.log(2)).await;
    let before = state(&call, "a");
    write(&call, "a", before, "two").await.unwrap();
    assert_eq!(world.contents(), 2);

    let store = &*world.store.store;
    let id = WorkspaceId::default_workspace();
    for (key, left) in [(first, 2), (world.session, 0)] {
        let contents = store.contents_of_session(key).await.unwrap();
        store::Sessions::delete_session(store, key).await.unwrap();
        kept_contents::remove_unused(&world.workspaces, store, &id, contents).await;
        assert_eq!(world.contents(), left);
    }
    world.workspace().await.contents.put(b"left behind").unwrap();
    assert_eq!(kept_contents::sweep(&world.workspaces, store).await.unwrap(), 1);
    assert_eq!(world.contents(), 0);
}
