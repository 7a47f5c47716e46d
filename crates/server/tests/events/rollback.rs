//! Rollback: the history before a message of the user, and the files that agents changed since.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};
use testkit::{
    EventsClient, TestApp, calls,
    files::{NewContent, NewFile},
    says,
    test_tools::TestTool,
};

use crate::started;

/// A tool that writes the files of its input, all together; `null` deletes, and a number sets the mode.
fn edit_tool() -> TestTool {
    let tool = TestTool::new("edit", |ctx, input: Value| async move {
        let domain = &ctx.files.domain;
        let mut files = Vec::new();
        for (name, wanted) in input.as_object().unwrap() {
            let path = domain.resolve(name)?;
            let before = domain.read(&path, u64::MAX).ok();
            let mode = wanted.as_u64().map(|mode| u32::try_from(mode).unwrap());
            let bytes = match wanted {
                Value::String(text) => Some(text.as_bytes().to_vec()),
                Value::Number(_) => before.as_ref().map(|content| content.bytes.to_vec()),
                _ => None,
            };
            let after = bytes.map(|bytes| NewFile { bytes, mode });
            files.push(NewContent { path, before: before.map(|content| content.state), after });
        }
        ctx.files.record.change(files).await?;
        Ok(json!("done"))
    });
    tool.with_side_effect()
}

async fn app_with(edits: &[Value]) -> TestApp {
    let replies = edits.iter().flat_map(|edit| [calls("c", "edit", edit.clone()), says("Done.")]);
    let app = started(TestApp::builder().replies(replies.collect::<Vec<_>>()).tool(edit_tool().any())).await;
    fs::create_dir_all(app.workdir()).unwrap();
    app
}

fn read(app: &TestApp, name: &str) -> Option<String> {
    fs::read_to_string(app.workdir().join(name)).ok()
}

fn write(app: &TestApp, name: &str, text: &str) {
    fs::write(app.workdir().join(name), text).unwrap();
}

fn mode(app: &TestApp, name: &str) -> u32 {
    fs::metadata(app.workdir().join(name)).unwrap().permissions().mode() & 0o777
}

async fn points(app: &TestApp, session: &str) -> Vec<Value> {
    let answer = app.caller.get(&format!("/session/rollback-points?sessionId={session}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["points"].as_array().unwrap().clone()
}

/// Rolls back; returns the data of `rollback_result`.
async fn roll_back(client: &mut EventsClient, rollback: Value) -> Value {
    let body = json!({ "type": "rollback", "rollback": rollback, "requestId": "back" });
    assert_eq!(client.message(body).await, json!({ "success": true }));
    let result = client.until_kind("rollback_result").await;
    assert_eq!(result.request_id(), "back");
    result.data().clone()
}

#[tokio::test]
async fn the_history_ends_before_the_message() {
    let app =
        started(TestApp::builder().replies([says("one"), says("two"), says("three"), says("other")])).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    for text in ["first", "second  \n question", "third"] {
        client.ask(text).await;
    }
    let listed = points(&app, &session).await;
    let shown: Vec<_> = listed
        .iter()
        .map(|point| (point["messageIndex"].as_u64().unwrap(), point["summary"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [(0, "first"), (2, "second question"), (4, "third")]);
    assert!(listed.iter().all(|point| point["role"] == "user" && point["hasSnapshot"] == false));
    let result = roll_back(&mut client, json!({ "messageIndex": 2, "rollbackFiles": false })).await;
    assert_eq!(
        result,
        json!({ "success": true, "sessionId": session, "messageIndex": 2, "filesRolledBack": 0 })
    );
    let contents = |items: &[Value]| {
        items.iter().map(|item| item["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(contents(&client.history(&session).await), ["first", "one"]);
    assert_eq!(client.ask("instead").await, "other");
    assert_eq!(
        app.model.requests().last().unwrap().messages.len(),
        3,
        "the model is sent the shorter history"
    );
    assert_eq!(contents(&client.history(&session).await), ["first", "one", "instead", "other"]);
    let texts: Vec<String> =
        app.chat(&session).history().await.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["first", "one", "instead", "other"], "the chat surface has the same");
    roll_back(&mut client, json!({ "messageIndex": 0, "rollbackFiles": false })).await;
    assert!(client.history(&session).await.is_empty());
}

#[tokio::test]
async fn an_index_that_is_no_message_of_the_user_is_refused() {
    let app = started(TestApp::builder().replies([says("one")])).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.ask("first").await;
    for index in [1, 2, 1_000_000] {
        let body =
            json!({ "type": "rollback", "rollback": { "messageIndex": index, "rollbackFiles": false } });
        let refused = client.send(body).await;
        assert_eq!(
            (refused.status, &refused.json()["errorCode"]),
            (400, &json!("invalid_message")),
            "{index}"
        );
    }
    assert_eq!(client.rest().await, []);
    assert_eq!(client.history(&session).await.len(), 2);
    for (query, status) in [("", 400), ("?sessionId=ses_nobody", 404), ("?sessionId=..%2F..", 404)] {
        assert_eq!(
            app.caller.get(&format!("/session/rollback-points{query}")).await.status,
            status,
            "{query}"
        );
    }
}

#[tokio::test]
async fn files_are_put_back_created_changed_deleted_and_their_mode() {
    let app = app_with(&[
        json!({ "kept.txt": "kept" }),
        json!({ "new.txt": "new", "changed.txt": "after", "deleted.txt": null, "tool.sh": 0o755 }),
        json!({ "changed.txt": "later" }),
    ])
    .await;
    for (name, text) in [("changed.txt", "before"), ("deleted.txt", "gone"), ("tool.sh", "#!/bin/sh")] {
        write(&app, name, text);
    }
    fs::set_permissions(app.workdir().join("tool.sh"), fs::Permissions::from_mode(0o640)).unwrap();
    let mut client = app.caller.events().await;
    let session = client.create().await;
    for text in ["one", "two", "three"] {
        client.ask(text).await;
    }
    assert_eq!((read(&app, "deleted.txt"), mode(&app, "tool.sh")), (None, 0o755));
    let listed = points(&app, &session).await;
    let counts: Vec<_> = listed
        .iter()
        .map(|point| (&point["snapshot"]["fileCount"], &point["filesToRollbackCount"]))
        .collect();
    assert_eq!(counts, [(&json!(1), &json!(5)), (&json!(4), &json!(4)), (&json!(1), &json!(1))]);
    let index = listed[1]["messageIndex"].as_u64().unwrap();
    let result = roll_back(&mut client, json!({ "messageIndex": index, "rollbackFiles": true })).await;
    assert_eq!((&result["success"], &result["filesRolledBack"]), (&json!(true), &json!(4)), "{result}");
    assert_eq!(read(&app, "kept.txt").as_deref(), Some("kept"), "of an earlier message");
    assert_eq!(read(&app, "new.txt"), None);
    assert_eq!(read(&app, "changed.txt").as_deref(), Some("before"));
    assert_eq!(read(&app, "deleted.txt").as_deref(), Some("gone"));
    assert_eq!(mode(&app, "tool.sh"), 0o640);
    assert_eq!(client.history(&session).await[0]["content"], "one");
}

#[tokio::test]
async fn selected_files_only() {
    let app = app_with(&[json!({ "a.txt": "a", "b.txt": "b" })]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    client.ask("go").await;
    let chosen = json!({ "messageIndex": 0, "rollbackFiles": true, "selectedFiles": ["b.txt"] });
    assert_eq!(roll_back(&mut client, chosen).await["filesRolledBack"], 1);
    assert_eq!((read(&app, "a.txt").as_deref(), read(&app, "b.txt")), (Some("a"), None));
}

#[tokio::test]
async fn a_file_that_somebody_changed_since_is_not_touched_and_this_is_told() {
    let app = app_with(&[json!({ "a.txt": "a", "b.txt": "b" })]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.ask("go").await;
    write(&app, "a.txt", "mine");
    let result = roll_back(&mut client, json!({ "messageIndex": 0, "rollbackFiles": true })).await;
    assert_eq!(result["success"], false, "{result}");
    assert!(result["error"].as_str().unwrap().starts_with("a.txt: "), "{result}");
    assert_eq!(read(&app, "a.txt").as_deref(), Some("mine"));
    assert_eq!((&result["filesRolledBack"], read(&app, "b.txt")), (&json!(1), None), "{result}");
    assert!(client.history(&session).await.is_empty(), "the history is put back all the same");
}
