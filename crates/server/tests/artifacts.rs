//! Output that is too long for a message is stored as a file: a preview for the model, the whole for the person.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use testkit::{
    TestApp, calls,
    models::ModelMessage,
    protocol::{Chunk, ErrorCode},
    says,
    test_tools::TestTool,
};

fn long_text() -> String {
    (0..20_000).map(|number| format!("line {number} é\n")).collect()
}

fn long_tool() -> TestTool {
    TestTool::new("long", |_, input| async move {
        Ok(match input["as"].as_str() {
            Some("json") => json!({ "rows": vec!["x".repeat(100); 1000] }),
            _ => Value::from(long_text()),
        })
    })
}

async fn app() -> TestApp {
    let replies = [calls("c1", "long", json!({})), says("Done.")];
    TestApp::builder().replies(replies).tool(long_tool().any()).with_auth().start().await
}

/// The final output of the first call.
async fn output(app: &TestApp) -> Value {
    let mut turn = app.send("go").await;
    turn.end().await;
    let output = turn.chunks.iter().find_map(|chunk| match chunk {
        Chunk::ToolOutputAvailable { output, preliminary: false, .. } => Some(output.clone().into_owned()),
        _ => None,
    });
    output.unwrap()
}

#[tokio::test]
async fn long_output_is_a_preview_for_the_model_and_a_file_for_the_person() {
    let app = app().await;
    let output = output(&app).await;
    let preview = output["preview"].as_str().unwrap();
    assert!(preview.starts_with("line 0 é\nline 1 é\n") && preview.ends_with("line 19999 é\n"), "{preview}");
    assert!(preview.contains("characters left out …]"), "{preview}");
    assert!(output.to_string().chars().count() <= 50_000);
    assert_eq!(output["truncated"], true);
    assert_eq!(output["artifact"]["name"], "long-output.txt");

    let requests = app.model.requests();
    let read = requests.last().unwrap().messages.iter().find_map(|message| match &**message {
        ModelMessage::Tool { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(serde_json::from_str::<Value>(&read.unwrap()).unwrap(), output, "the model reads the preview");

    let url = output["artifact"]["url"].as_str().unwrap();
    let file = app.get(url).await;
    assert_eq!((file.status, &file.body), (200, &long_text()));
    assert_eq!(file.header("content-type"), "text/plain; charset=utf-8");
    assert!(file.header("content-disposition").starts_with("attachment; filename=\"long-output.txt\""));
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    assert!(file.header("content-security-policy").contains("sandbox"));
    assert_eq!(file.header("content-length"), long_text().len().to_string());

    let list = app.get("/api/artifacts?chatId=chat").await.json();
    let entry = &list["artifacts"][0];
    assert_eq!(
        (&entry["id"], &entry["toolCallId"], &entry["chatId"], &entry["messageId"]),
        (&output["artifact"]["id"], &json!("c1"), &json!("chat"), &json!("msg_1"))
    );
    assert_eq!(entry["bytes"], long_text().len());
    assert_eq!(app.get("/api/artifacts").await.json(), list);
}

#[tokio::test]
async fn a_part_of_a_file_can_be_asked_for() {
    let app = app().await;
    let output = output(&app).await;
    let url = output["artifact"]["url"].as_str().unwrap();
    let whole = long_text();
    let range = |range: &'static str| {
        let caller = app.caller.clone();
        async move { caller.request("GET", url, &[("range", range)], "").await }
    };
    let part = range("bytes=5-13").await;
    assert_eq!((part.status, part.body.as_str()), (206, &whole[5..14]));
    assert_eq!(part.header("content-range"), format!("bytes 5-13/{}", whole.len()));
    let end = range("bytes=-20").await;
    assert_eq!((end.status, end.body.as_str()), (206, &whole[whole.len() - 20..]));
    range("bytes=99999999-").await.assert_problem(ErrorCode::RangeNotSatisfiable);
}

#[tokio::test]
async fn another_workspace_sees_no_file_and_a_deleted_chat_has_none() {
    let app = app().await;
    let output = output(&app).await;
    let url = output["artifact"]["url"].as_str().unwrap();
    let other = app.caller_of("other").await;
    other.get(url).await.assert_problem(ErrorCode::ArtifactNotFound);
    assert_eq!(other.get("/api/artifacts").await.json(), json!({ "artifacts": [] }));
    other.get("/api/artifacts?chatId=chat").await.assert_problem(ErrorCode::SessionNotFound);
    app.stranger().get(url).await.assert_problem(ErrorCode::Unauthorized);
    app.get("/api/artifacts/art_nothing").await.assert_problem(ErrorCode::ArtifactNotFound);
    assert_eq!(app.files(), 1);
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status, 204);
    app.get(url).await.assert_problem(ErrorCode::ArtifactNotFound);
    assert_eq!(app.get("/api/artifacts").await.json(), json!({ "artifacts": [] }));
    assert_eq!(app.files(), 0, "the bytes are gone as well");
}

#[tokio::test]
async fn files_come_in_pages_and_survive_a_restart() {
    let turns =
        (0..3).flat_map(|turn| [calls(&format!("c{turn}"), "long", json!({ "as": "json" })), says("Done.")]);
    let app = TestApp::builder().replies(turns).tool(long_tool().any()).start().await;
    for turn in 0..3 {
        app.send(&format!("{turn}")).await.end().await;
        app.clock.advance(1000);
    }
    let app = app.restart([]).await;
    let first = app.get("/api/artifacts?limit=2").await.json();
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = app.get(&format!("/api/artifacts?limit=2&cursor={cursor}")).await.json();
    let pages = [&first["artifacts"], &second["artifacts"]];
    let all: Vec<_> = pages.iter().flat_map(|page| page.as_array().unwrap()).collect();
    let calls: Vec<_> = all.iter().map(|entry| entry["toolCallId"].as_str().unwrap()).collect();
    assert_eq!(calls, ["c2", "c1", "c0"]);
    assert_eq!(second["nextCursor"], Value::Null);
    let file = app.get(&format!("/api/artifacts/{}", all[0]["id"].as_str().unwrap())).await;
    assert_eq!(file.header("content-type"), "application/json");
    assert_eq!(file.json()["rows"].as_array().unwrap().len(), 1000);
    app.get("/api/artifacts?cursor=x").await.assert_problem(ErrorCode::InvalidMessage);
    app.get("/api/artifacts?limit=0").await.assert_problem(ErrorCode::InvalidMessage);
}

#[tokio::test]
async fn a_file_that_cannot_be_kept_does_not_cost_the_result() {
    let faults = testkit::faults::Faults::default();
    let replies = [calls("c1", "long", json!({})), says("Done.")];
    let app = TestApp::builder().replies(replies).tool(long_tool().any()).faults(&faults).start().await;
    faults.on(testkit::faults::Method::PutFile, testkit::faults::When::Always, testkit::faults::Effect::Fail);
    let output = output(&app).await;
    assert_eq!((&output["truncated"], &output["artifact"]), (&json!(true), &Value::Null));
    assert_eq!(app.get("/api/artifacts").await.json(), json!({ "artifacts": [] }));
}
