//! What a chat changed is listed, shown and reverted; what somebody else wrote since is not touched.

use serde_json::{Value, json};
use testkit::{
    TestApp, calls,
    protocol::ErrorCode,
    says,
    test_tools::{ToolGate, gated},
};

use crate::{app_with, edit_tool, read, start, write};

const CHANGES: &str = "/api/chat/chat/changes";

async fn revert(app: &TestApp, request: Value) -> Value {
    let response = app.caller.post_json("/api/chat/chat/changes/revert", &request).await;
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

/// Path, kind, added, removed and code of listed files.
fn files(list: &Value) -> Vec<String> {
    let show = |file: &Value| {
        let code = file["code"].as_str().unwrap_or("revertible");
        assert_eq!(file["revertible"], code == "revertible", "{file}");
        assert_eq!(file["reason"].is_string(), code != "revertible", "{file}");
        let [path, kind] = ["path", "kind"].map(|field| file[field].as_str().unwrap());
        format!("{path} {kind} +{} -{} {code}", file["added"], file["removed"])
    };
    list.as_array().unwrap().iter().map(show).collect()
}

#[tokio::test]
async fn changes_are_listed_by_chat_and_by_run_and_each_run_can_be_reverted() {
    let app = app_with(&[
        json!({ "a.txt": "one\ntwo\n", "src/new.rs": "fn main() {}\n" }),
        json!({ "a.txt": "one\n2\n3\n", "old.txt": null }),
    ])
    .await;
    write(&app, "old.txt", "old\n");
    app.send("first").await.end().await;
    app.send("second").await.end().await;

    let list = app.get(CHANGES).await.json();
    assert_eq!(
        files(&list["files"]),
        [
            "a.txt created +3 -0 revertible",
            "old.txt deleted +0 -1 revertible",
            "src/new.rs created +1 -0 revertible"
        ]
    );
    let runs = list["runs"].as_array().unwrap();
    assert_eq!(
        files(&runs[0]["files"]),
        ["a.txt modified +2 -1 revertible", "old.txt deleted +0 -1 revertible"]
    );
    assert_eq!(
        files(&runs[1]["files"]),
        ["a.txt created +2 -0 later-run", "src/new.rs created +1 -0 revertible"]
    );
    let sets = list["changes"].as_array().unwrap();
    assert_eq!(sets.len(), 2);
    assert_eq!(
        (&sets[0]["tool"], &sets[0]["status"], &sets[0]["toolCallId"]),
        (&json!("edit"), &json!("applied"), &json!("c"))
    );
    assert_eq!(sets[0]["files"][0]["path"], "/workspace/a.txt");
    assert_eq!(list["incomplete"], Value::Null);

    let first = runs[1]["messageId"].clone();
    let result = revert(&app, json!({ "messageId": first })).await;
    assert_eq!(result["reverted"], json!(["src/new.rs"]));
    assert_eq!(result["refused"][0]["path"], "a.txt");
    assert_eq!(result["refused"][0]["code"], "later-run");
    assert_eq!(read(&app, "a.txt").as_deref(), Some("one\n2\n3\n"));
    assert_eq!(read(&app, "src/new.rs"), None);
    assert!(!app.workdir().join("src").exists(), "a folder that the chat made goes with its last file");

    let second = runs[0]["messageId"].clone();
    let result = revert(&app, json!({ "messageId": second, "paths": ["a.txt"] })).await;
    assert_eq!(result, json!({ "reverted": ["a.txt"], "refused": [] }));
    assert_eq!(read(&app, "a.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(read(&app, "old.txt"), None, "only the named file");

    assert_eq!(revert(&app, json!({})).await, json!({ "reverted": ["a.txt", "old.txt"], "refused": [] }));
    assert_eq!((read(&app, "a.txt"), read(&app, "old.txt").as_deref()), (None, Some("old\n")));
    let again = revert(&app, json!({})).await;
    assert_eq!(again["reverted"], json!([]));
    let codes: Vec<_> = again["refused"].as_array().unwrap().iter().map(|refused| &refused["code"]).collect();
    assert_eq!(codes, ["nothing-to-revert"; 3], "a second revert says that there is nothing to revert");

    let list = app.get(CHANGES).await.json();
    assert_eq!((&list["files"], &list["runs"]), (&json!([]), &json!([])));
    let tools: Vec<_> = list["changes"].as_array().unwrap().iter().map(|set| &set["tool"]).collect();
    assert_eq!(tools, ["revert", "revert", "revert", "edit", "edit"], "the record has everything");
    assert_eq!(list["changes"][0]["toolCallId"], Value::Null);
}

#[tokio::test]
async fn what_somebody_else_changed_since_is_left_alone_and_named() {
    let app = app_with(&[json!({ "mine": "1\n", "theirs": "1\n", "gone": "1\n", "back": null })]).await;
    write(&app, "back", "old\n");
    app.send("go").await.end().await;
    write(&app, "theirs", "1\nmore\n");
    std::fs::remove_file(app.workdir().join("gone")).unwrap();
    write(&app, "back", "another\n");
    assert_eq!(
        files(&app.get(CHANGES).await.json()["files"]),
        [
            "back deleted +0 -1 changed-since",
            "gone created +1 -0 deleted-since",
            "mine created +1 -0 revertible",
            "theirs created +1 -0 changed-since"
        ]
    );
    let result = revert(&app, json!({})).await;
    assert_eq!(result["reverted"], json!(["mine"]));
    assert_eq!(
        result["refused"],
        json!([
            { "path": "back", "code": "changed-since", "reason": "Somebody changed it after the agent did." },
            { "path": "gone", "code": "deleted-since", "reason": "It was deleted since." },
            { "path": "theirs", "code": "changed-since", "reason": "Somebody changed it after the agent did." },
        ])
    );
    assert_eq!(read(&app, "theirs").as_deref(), Some("1\nmore\n"));
    assert_eq!(read(&app, "back").as_deref(), Some("another\n"));
}

#[tokio::test]
async fn the_difference_of_a_file_is_shown_for_the_chat_and_for_a_run() {
    let app = app_with(&[
        json!({ "a.txt": "one\ntwo\n", "b": "\u{0}1" }),
        json!({ "a.txt": "one\n2\n", "b": "\u{0}2" }),
    ])
    .await;
    app.send("first").await.end().await;
    app.send("second").await.end().await;
    let diff = app.get(&format!("{CHANGES}/diff?path=a.txt")).await.json();
    assert_eq!(
        diff,
        json!({ "path": "a.txt", "kind": "created", "added": 2, "removed": 0,
            "diff": "@@ -0,0 +1,2 @@\n+one\n+2\n" })
    );
    let run = app.get(CHANGES).await.json()["runs"][0]["messageId"].as_str().unwrap().to_owned();
    let diff = app.get(&format!("{CHANGES}/diff?path=/workspace/a.txt&messageId={run}")).await.json();
    assert_eq!(diff["diff"], "@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert_eq!((&diff["kind"], &diff["added"], &diff["removed"]), (&json!("modified"), &json!(1), &json!(1)));
    let diff = app.get(&format!("{CHANGES}/diff?path=b&messageId={run}")).await.json();
    assert_eq!((&diff["binary"], &diff["diff"]), (&json!(true), &json!("")));

    let missing = app.get(&format!("{CHANGES}/diff?path=c")).await;
    missing.assert_sentence(ErrorCode::NotFound);
    app.get(&format!("{CHANGES}/diff")).await.assert_sentence(ErrorCode::InvalidMessage);
    app.get(&format!("{CHANGES}/diff?path=../x")).await.assert_sentence(ErrorCode::AccessDenied);
    let other = app.get(&format!("{CHANGES}/diff?path=a.txt&messageId=msg_99")).await;
    other.assert_sentence(ErrorCode::MessageNotFound);
}

#[tokio::test]
async fn nothing_is_reverted_while_a_run_is_active() {
    let gate = ToolGate::new();
    let replies = [calls("c1", "edit", json!({ "a": "1" })), calls("c2", "wait", json!({})), says("Done.")];
    let builder = TestApp::builder().replies(replies).tool(edit_tool().any());
    let app = builder.tool(gated("wait", &gate).any()).with_auth().start().await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    assert_eq!(files(&app.get(CHANGES).await.json()["files"]), ["a created +1 -0 revertible"]);
    let refused = app.caller.post_json("/api/chat/chat/changes/revert", &json!({})).await;
    assert_eq!(refused.status, 409);
    refused.assert_sentence(ErrorCode::SessionBusy);
    gate.open();
    turn.end().await;
    app.main.settled().await;
    assert_eq!(revert(&app, json!({})).await["reverted"], json!(["a"]));
}

#[tokio::test]
async fn a_chat_that_changed_nothing_has_empty_lists_and_requests_are_checked() {
    let app = start(vec![says("Hi.")]).await;
    app.send("hello").await.end().await;
    let empty = json!({ "files": [], "runs": [], "changes": [] });
    assert_eq!(app.get(CHANGES).await.json(), empty);
    assert_eq!(revert(&app, json!({})).await, json!({ "reverted": [], "refused": [] }));
    let refused = json!([{ "path": "x", "code": "nothing-to-revert",
        "reason": "There is nothing to revert: it was reverted already, or is as it was before." }]);
    assert_eq!(revert(&app, json!({ "paths": ["x"] })).await["refused"], refused);

    let post = async |path: &str, body: Value| app.caller.post_json(path, &body).await;
    app.get("/api/chat/none/changes").await.assert_sentence(ErrorCode::SessionNotFound);
    post("/api/chat/none/changes/revert", json!({})).await.assert_sentence(ErrorCode::SessionNotFound);
    let unknown = post("/api/chat/chat/changes/revert", json!({ "messageId": "msg_99" })).await;
    unknown.assert_sentence(ErrorCode::MessageNotFound);
    let outside = post("/api/chat/chat/changes/revert", json!({ "paths": ["../../etc/passwd"] })).await;
    assert!(outside.status == 400 || outside.status == 403, "{outside:?}");
    post("/api/chat/chat/changes", json!({})).await.assert_sentence(ErrorCode::MethodNotAllowed);
    app.get("/api/chat/chat/changes/revert").await.assert_sentence(ErrorCode::MethodNotAllowed);
}

#[tokio::test]
async fn another_workspace_sees_and_reverts_nothing() {
    let app = app_with(&[json!({ "a": "1" })]).await;
    app.send("go").await.end().await;
    let other = app.caller_of("other").await;
    other.get(CHANGES).await.assert_sentence(ErrorCode::SessionNotFound);
    let revert = other.post_json("/api/chat/chat/changes/revert", &json!({})).await;
    revert.assert_sentence(ErrorCode::SessionNotFound);
    assert_eq!(read(&app, "a").as_deref(), Some("1"));
}

#[tokio::test]
async fn contents_go_with_the_chat_and_the_files_stay() {
    let app = app_with(&[json!({ "a": "1" })]).await;
    app.send("go").await.end().await;
    let contents = app.data_dir().join("contents/default");
    assert_eq!(std::fs::read_dir(&contents).unwrap().count(), 1);
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status, 204);
    assert_eq!(std::fs::read_dir(&contents).unwrap().count(), 0);
    assert_eq!(read(&app, "a").as_deref(), Some("1"));
    let rows = app.rows().await;
    for table in ["change_sets", "changed_files", "known_files"] {
        assert_eq!(rows[table], 0, "{table}");
    }
}
