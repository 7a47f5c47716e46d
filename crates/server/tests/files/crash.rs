//! A change that a crash interrupted is finished at the next start, before the run goes on.

use serde_json::json;
use testkit::{protocol::SessionEvent, says};

use crate::{app_with, read};

#[tokio::test]
async fn an_interrupted_change_is_finished_at_the_next_start() {
    let app = app_with(&[json!({ "a": "new" })]).await;
    app.send("go").await.end().await;
    // As if the process had ended after the first event and before the file was written.
    std::fs::remove_file(app.workdir().join("a")).unwrap();
    assert_eq!(app.tamper("UPDATE change_sets SET status = 'applying'"), 1);
    let list = app.get("/api/chat/chat/changes").await.json();
    assert_eq!(list["changes"][0]["status"], "applying");

    let app = app.restart([says("Done.")]).await;
    assert_eq!(read(&app, "a").as_deref(), Some("new"));
    let list = app.get("/api/chat/chat/changes").await.json();
    assert_eq!(
        (&list["changes"][0]["status"], &list["files"][0]["revertible"]),
        (&json!("applied"), &json!(true))
    );
    let finished = app.log("chat").await;
    let count =
        finished.iter().filter(|entry| matches!(entry.event, SessionEvent::FilesChanged { .. })).count();
    assert_eq!(count, 2, "the log has the first end, and that of the recovery");
    app.chat("another").send("and on").await.end().await;
}
