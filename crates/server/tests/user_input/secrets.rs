//! The value of a secret field is stored encrypted and apart; nothing else ever contains it.

use std::{fs, path::Path};

use serde_json::json;
use testkit::{
    TestApp,
    protocol::{SessionId, WorkspaceId},
    says,
};

use crate::{asks, output, parked, path, told};

const SECRET: &str = "hunter2-is-not-to-be-found";

fn login() -> testkit::Reply {
    asks(
        "c",
        json!({ "questions": [
            { "key": "user", "label": "User" },
            { "key": "password", "label": "Password", "type": "secret", "minLength": 8 },
        ]}),
    )
}

/// Whether any file below the folder contains the text.
fn contains(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return contains(&path, text);
        }
        fs::read(&path).unwrap().windows(text.len()).any(|bytes| bytes == text.as_bytes())
    })
}

#[tokio::test]
async fn a_secret_is_nowhere_but_encrypted_and_the_model_has_a_reference() {
    let app = TestApp::scripted([login(), says("Signed in.")]).await;
    parked(&app, "sign in").await;
    let path = path(&app).await;
    let short =
        app.caller.post_json(&path, &json!({ "answers": { "user": "eve", "password": "short7x" } })).await;
    assert_eq!(short.status, 400);
    assert!(!short.body.contains("short7x"), "a refusal repeats nothing: {short:?}");
    let given = json!({ "answers": { "user": "eve", "password": SECRET } });
    let answered = app.caller.post_json(&path, &given).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    assert!(!answered.body.contains(SECRET));
    app.main.settled().await;
    let shown = output(&app.main.history().await.pop().unwrap(), "c");
    let reference = shown["answers"]["password"].as_str().unwrap().to_owned();
    assert!(reference.starts_with("secret://"));
    assert_eq!(told(&app), [json!({ "answers": { "user": "eve", "password": reference } })]);
    let log = format!("{:?}", app.log("chat").await);
    assert!(log.contains(&reference) && !log.contains(SECRET));
    assert!(contains(app.data_dir(), &reference), "the search finds what is there");
    assert!(!contains(app.data_dir(), SECRET));
    assert_eq!(app.caller.post_json(&path, &given).await.status, 200, "the same answer again");
    let other = json!({ "answers": { "user": "eve", "password": "another-password" } });
    assert_eq!(app.caller.post_json(&path, &other).await.status, 409);

    let app = app.restart([]).await;
    let (workspace, chat) = (WorkspaceId::new("default"), SessionId::new("chat"));
    let resolve = async || app.engine.resolve_secret(&workspace, &chat, &reference).await;
    assert_eq!(resolve().await.unwrap(), SECRET);
    assert_eq!(app.caller.delete("/api/sessions/chat").await.status / 100, 2);
    assert!(resolve().await.is_err(), "it is deleted with its chat");
}

#[tokio::test]
async fn a_secret_in_the_message_of_a_stock_client_is_exchanged_too() {
    let app = TestApp::scripted([login(), says("Signed in.")]).await;
    let mut turn = app.send("sign in").await;
    turn.add_output("c", json!({ "answers": { "user": "eve", "password": SECRET } })).await;
    assert!(turn.text().await.ends_with("Signed in."));
    let shown = output(&turn.message().await, "c");
    assert!(shown["answers"]["password"].as_str().unwrap().starts_with("secret://"), "{shown}");
    assert!(!contains(app.data_dir(), SECRET));
    assert!(!format!("{:?}", app.model.requests()).contains(SECRET));
}
