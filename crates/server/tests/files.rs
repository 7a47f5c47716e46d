//! The files of a workspace over HTTP: the changes of a chat, their differences and their revert, folders and contents.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "files/browse.rs"]
mod browse;
#[path = "files/changes.rs"]
mod changes;
#[path = "files/crash.rs"]
mod crash;
#[path = "files/project_notes.rs"]
mod project_notes;

use serde_json::{Value, json};
use testkit::{
    Reply, TestApp, calls,
    files::{NewContent, NewFile},
    says,
    test_tools::TestTool,
    tools::{ToolCtx, ToolError},
};

/// A tool that writes the files of its input, all together: `{"a.txt": "text", "b": null}`; `null` deletes.
fn edit_tool() -> TestTool {
    TestTool::new("edit", |ctx, input| async move { edit(&ctx, &input).await }).with_side_effect()
}

async fn edit(ctx: &ToolCtx, input: &Value) -> Result<Value, ToolError> {
    let domain = &ctx.files.domain;
    let mut files = Vec::new();
    for (name, text) in input.as_object().unwrap() {
        let path = domain.resolve(name)?;
        let before = domain.read(&path, u64::MAX).ok().map(|content| content.state);
        let bytes = |text: &str| NewFile { bytes: text.as_bytes().to_vec(), mode: None };
        files.push(NewContent { path, before, after: text.as_str().map(bytes) });
    }
    ctx.files.record.change(files).await?;
    Ok(json!("done"))
}

/// A chat in which the agent makes these changes, one per message.
async fn app_with(edits: &[Value]) -> TestApp {
    let replies = edits.iter().flat_map(|edit| [calls("c", "edit", edit.clone()), says("Done.")]);
    start(replies.collect::<Vec<_>>()).await
}

async fn start(replies: Vec<Reply>) -> TestApp {
    let app = TestApp::builder().replies(replies).tool(edit_tool().any()).with_auth().start().await;
    std::fs::create_dir_all(app.workdir()).unwrap();
    app
}

fn write(app: &TestApp, name: &str, text: impl AsRef<[u8]>) {
    let path = app.workdir().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(app: &TestApp, name: &str) -> Option<String> {
    std::fs::read_to_string(app.workdir().join(name)).ok()
}
