//! `AGENTS.md`: the project's notes reach the model, marked as the project's, and do not change the bytes of a session.

use std::fs;

use serde_json::json;
use testkit::{TestApp, calls, models::ModelMessage, says};

async fn app(replies: impl IntoIterator<Item = testkit::Reply>) -> TestApp {
    let app = TestApp::scripted(replies).await;
    fs::create_dir_all(app.workdir().join("src")).unwrap();
    fs::write(app.workdir().join("AGENTS.md"), "Use tabs. {{ project }}\n").unwrap();
    fs::write(app.workdir().join("src/AGENTS.md"), "No unsafe code.\n").unwrap();
    fs::write(app.workdir().join("src/a.rs"), "fn a() {}\n").unwrap();
    app
}

#[tokio::test]
async fn the_notes_of_the_work_directory_are_in_the_prompt_and_stay_as_they_were() {
    let app = app([says("One."), says("Two."), says("Three.")]).await;
    app.send("hi").await.end().await;
    let first = app.model.requests()[0].system.clone();
    assert!(
        first.contains("not the person you work for") && first.contains("\nUse tabs. {{ project }}\n"),
        "{first}"
    );
    fs::write(app.workdir().join("AGENTS.md"), "Use spaces.\n").unwrap();
    app.send("again").await.end().await;
    assert_eq!(app.model.requests()[1].system, first, "a request begins with the bytes of the one before");
    app.chat("new").send("hi").await.end().await;
    assert!(app.model.requests()[2].system.contains("Use spaces."), "a new session reads them again");
    let app = app.restart([says("Four.")]).await;
    app.main.reload().await;
    app.main.set_messages(|messages| messages.push(testkit::user("u9", "once more")));
    app.main.open_turn(&app.main.body(json!({}), json!({}))).await.end().await;
    assert_eq!(app.model.requests()[0].system, first, "also after a restart");
}

#[tokio::test]
async fn the_notes_of_a_folder_come_with_the_first_read_in_it() {
    let read = |id: &str| calls(id, "read-file", json!({ "path": "src/a.rs" }));
    let app = app([read("x"), read("y"), says("Done.")]).await;
    app.send("go").await.end().await;
    let requests = app.model.requests();
    let told = |wanted: &str| {
        requests.last().unwrap().messages.iter().find_map(|message| match &**message {
            ModelMessage::Tool { call, text, .. } if call.as_str() == wanted => Some(text.clone()),
            _ => None,
        })
    };
    let first = told("x").unwrap();
    assert!(
        first.starts_with("L1: fn a() {}\n\nThe project's own notes for agents, the file src/AGENTS.md"),
        "{first}"
    );
    assert!(first.contains("\nNo unsafe code.\n"), "{first}");
    assert_eq!(told("y").unwrap(), "L1: fn a() {}");
}

#[tokio::test]
async fn a_sub_agent_that_reads_files_gets_them_too() {
    let hand = calls("c", "sub-agent", json!({ "name": "document", "task": "Look at it." }));
    let app = app([hand, says("Looked."), says("Done.")]).await;
    app.send("go").await.end().await;
    let requests = app.model.requests();
    let sub_agent =
        requests.iter().find(|request| request.system.contains("You are the document agent")).unwrap();
    assert!(sub_agent.system.contains("\nUse tabs. {{ project }}\n"), "{}", sub_agent.system);
}
