//! Appending to the log and reading it back: a turn of 500 deltas in SQLite.

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use protocol::{
    MessageId, MessageRef, Role, RunId, SegmentKind, SessionEvent, SessionId, Timestamp, UiMessage,
    WorkspaceId, event::LogEntry,
};
use store::{Append, DeltaRow, Durability, Log, Row, SessionKey, SessionTarget, SqliteStore};
use tokio::runtime::Runtime;

const DELTAS: u64 = 500;

fn main() {
    divan::main();
}

struct BenchStore {
    runtime: Runtime,
    store: SqliteStore,
    _folder: tempfile::TempDir,
    made: u64,
}

impl BenchStore {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let store = SqliteStore::open_with(&folder.path().join("bench.db"), Durability::Process).ok()?;
        Some(Self { runtime: Runtime::new().ok()?, store, _folder: folder, made: 0 })
    }

    /// A question and an answer of many deltas, in two appends.
    fn turn(&mut self) -> Option<SessionKey> {
        self.made += 1;
        let id = SessionId::new(format!("chat {}", self.made));
        let target = SessionTarget::New { workspace: WorkspaceId::default_workspace(), id };
        let question =
            UiMessage { id: MessageId::new("u"), role: Role::User, metadata: None, parts: Vec::new() };
        let message = MessageId::new("m");
        let answers = MessageRef::first(question.id.clone());
        let run = RunId::new("run");
        let start = vec![
            event(
                1,
                SessionEvent::MessageAccepted { message: question, revision: 0, parent: None, facts: None },
            ),
            event(
                2,
                SessionEvent::RunStarted { run, answers, message: message.clone(), options: Box::default() },
            ),
        ];
        let key = self.append(target, start, 2)?;
        let delta = SessionEvent::SegmentDelta {
            message,
            segment: 0,
            kind: SegmentKind::Text,
            delta: "a few words ".to_owned(),
        };
        let mut row = DeltaRow::start(3, Timestamp(0), &delta)?;
        for seq in 4..3 + DELTAS {
            row.extend(seq, &delta);
        }
        self.append(SessionTarget::Known(key), vec![Row::Deltas(row)], 3 + DELTAS)
    }

    fn append(&self, target: SessionTarget, rows: Vec<Row>, high_water: u64) -> Option<SessionKey> {
        let append =
            Append { target, at: Timestamp(0), rows, messages: Vec::new(), high_water: Some(high_water) };
        self.runtime.block_on(self.store.append(Arc::new(append))).ok()
    }
}

fn event(seq: u64, event: SessionEvent) -> Row {
    Row::Event(LogEntry { seq, at: Timestamp(0), event })
}

#[divan::bench]
fn append(bencher: Bencher<'_, '_>) {
    let mut bench = BenchStore::new();
    bencher.counter(ItemsCount::new(DELTAS)).bench_local(|| bench.as_mut().and_then(BenchStore::turn));
}

#[divan::bench]
fn replay(bencher: Bencher<'_, '_>) {
    let mut bench = BenchStore::new();
    let key = bench.as_mut().and_then(BenchStore::turn);
    bencher.counter(ItemsCount::new(DELTAS)).bench_local(|| {
        let (bench, key) = (bench.as_ref()?, key?);
        bench.runtime.block_on(bench.store.read_log(key, 0, usize::MAX)).ok()
    });
}
