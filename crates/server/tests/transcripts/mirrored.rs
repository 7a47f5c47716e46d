//! The live mirror: folders that follow their sessions without slowing them down.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use engine::transcript::Mirror;
use serde_json::json;
use testkit::{Gate, TestApp, protocol::WorkspaceId, says, store::Store, waits};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

struct Mirrored {
    app: TestApp,
    end: CancellationToken,
    task: JoinSet<()>,
}

async fn mirrored(folder: &Path, replies: Vec<testkit::Reply>) -> Mirrored {
    let mirror = Mirror::new(folder.to_owned());
    let to = Arc::clone(&mirror);
    let app = TestApp::builder().replies(replies).engine(|settings| settings.mirror = Some(to)).start().await;
    let (end, mut task) = (CancellationToken::new(), JoinSet::new());
    let (store, ended) = (Arc::clone(&app.store) as Arc<dyn Store>, end.clone());
    task.spawn(async move { mirror.run(&store, &[WorkspaceId::default_workspace()], &ended).await });
    Mirrored { app, end, task }
}

impl Mirrored {
    async fn stop(mut self) -> TestApp {
        self.end.cancel();
        self.task.join_next().await.unwrap().unwrap();
        self.app
    }
}

/// Waits until the file holds these words.
async fn until(path: &Path, words: &str) -> String {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.contains(words) {
            return text;
        }
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{words:?} never came to {}: {text}",
            path.display()
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_folder_follows_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let mirrored = mirrored(folder.path(), vec![says("first answer"), says("second answer")]).await;
    let place = folder.path().join("s-default/s-chat");
    let app = &mirrored.app;
    app.send("one").await.end().await;
    until(&place.join("messages.jsonl"), "first answer").await;
    app.send("two").await.end().await;
    let text = until(&place.join("messages.jsonl"), "second answer").await;
    assert_eq!(text.lines().count(), 4);
    app.caller.patch_json("/api/sessions/chat", &json!({ "title": "标题" })).await;
    until(&place.join("session.json"), "标题").await;
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status, 204);
    let began = Instant::now();
    while place.exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "the folder of a deleted session stays");
        tokio::task::yield_now().await;
    }
    mirrored.stop().await;
}

#[tokio::test]
async fn what_an_earlier_process_left_behind_is_made_up_for() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("s-default/s-chat/messages.jsonl");
    let first = mirrored(folder.path(), vec![says("before the mirror ended"), says("after it ended")]).await;
    first.app.send("one").await.end().await;
    until(&place, "before the mirror ended").await;
    let app = first.stop().await;
    app.send("two").await.end().await;
    assert!(!fs::read_to_string(&place).unwrap().contains("after it ended"));
    let mirror = Mirror::new(folder.path().to_owned());
    let (store, end) = (Arc::clone(&app.store) as Arc<dyn Store>, CancellationToken::new());
    let workspaces = [WorkspaceId::default_workspace()];
    tokio::join!(mirror.run(&store, &workspaces, &end), async {
        until(&place, "after it ended").await;
        end.cancel();
    });
}

#[tokio::test]
async fn a_mirror_that_cannot_write_is_no_concern_of_the_chat() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("a file");
    fs::write(&blocked, "in the way").unwrap();
    let gate = Gate::new();
    let mirrored =
        mirrored(&blocked, vec![says("fine"), says("also ").then(waits(&gate)).then(says("fine"))]).await;
    assert_eq!(mirrored.app.send("one").await.message().await.text(), "fine");
    let mut turn = mirrored.app.send("two").await;
    gate.reached().await;
    gate.open();
    assert_eq!(turn.message().await.text(), "also fine");
    mirrored.stop().await;
}

/// The mark of the folder is a pipe: reading it takes until its other end is closed.
#[cfg(unix)]
#[tokio::test]
async fn a_disk_that_does_not_answer_holds_up_the_mirror_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let app = TestApp::scripted([says("one"), says("two")]).await;
    app.send("first").await.end().await;
    let place = folder.path().join("s-default/s-chat");
    fs::create_dir_all(&place).unwrap();
    let mark = place.join(".mirrored");
    assert!(Command::new("mkfifo").arg(&mark).status().unwrap().success());
    let (release, released) = mpsc::channel();
    let is_reading = Arc::new(AtomicBool::new(false));
    let reached = Arc::clone(&is_reading);
    let holding = thread::spawn(move || {
        let held = fs::OpenOptions::new().write(true).open(mark).unwrap();
        reached.store(true, Ordering::Relaxed);
        let in_time = released.recv_timeout(Duration::from_secs(10)).is_ok();
        drop(held);
        in_time
    });
    let mirror = Mirror::new(folder.path().to_owned());
    let (store, end) = (Arc::clone(&app.store) as Arc<dyn Store>, CancellationToken::new());
    let workspaces = [WorkspaceId::default_workspace()];
    tokio::join!(mirror.run(&store, &workspaces, &end), async {
        while !is_reading.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(app.send("second").await.message().await.text(), "two");
        release.send(()).expect("the chat waited for the disk of the mirror");
        assert!(holding.join().unwrap());
        until(&place.join("messages.jsonl"), "two").await;
        end.cancel();
    });
}
