//! An imported session is a session like any other.

use serde_json::{Value, json};
use testkit::protocol::ToolState;

use super::world::{export_session, export_to, files, import_from, settle, start, turn};
use crate::cast::nested;

#[tokio::test]
async fn a_folder_has_the_layout_of_the_requirement_document() {
    let app = start().await;
    turn(&app, "zh nest(echo nest(zh))", None).await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("session");
    let summary = export_to(&app, &target).await.unwrap();
    assert_eq!((summary.messages, summary.agents, summary.files), (2, 2, 0));
    let files = files(&target);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "agents/sub_1/agents/sub_2/messages.jsonl",
            "agents/sub_1/agents/sub_2/session.json",
            "agents/sub_1/messages.jsonl",
            "agents/sub_1/session.json",
            "messages.jsonl",
            "session.json"
        ]
    );
    let json = |name: &str| serde_json::from_slice::<Value>(&files[name]).unwrap();
    let agent = json("agents/sub_1/session.json");
    assert_eq!(
        (&agent["title"], &agent["task"], &agent["agentType"]),
        (&json!("level1"), &json!("do: echo nest(zh)"), &json!("level1"))
    );
    assert_eq!(json("session.json")["messageCount"], 2);
    let lines: Vec<Value> = String::from_utf8(files["messages.jsonl"].clone())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["parentMessageId"], Value::Null);
    assert_eq!(lines[1]["parentMessageId"], lines[0]["id"]);
    assert_eq!(lines[1]["role"], "assistant");
    assert!(lines[1]["parts"].to_string().contains("你好"), "as it was written, not escaped: {}", lines[1]);
}

#[tokio::test]
async fn an_open_question_can_be_answered_where_it_was_imported() {
    let app = start().await;
    turn(&app, "nest(ask)", None).await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("session");
    export_to(&app, &target).await.unwrap();
    let other = start().await;
    import_from(&other, &target, false).await.unwrap();
    assert_eq!(other.main.info().await["status"], "waiting");
    settle(&other, Some(true)).await;
    let message = other.main.history().await.pop().unwrap();
    assert!(nested(&message, "c0").text().contains("完成了"), "{message:#?}");
    let asked = message.tool_parts().find(|part| part.tool == "conf_approve").unwrap();
    assert!(matches!(asked.state, ToolState::OutputAvailable { .. }), "{asked:?}");
}

#[tokio::test]
async fn it_goes_on_branches_and_shows_its_agents() {
    let app = start().await;
    turn(&app, "nest(echo zh)", Some(true)).await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("session");
    export_to(&app, &target).await.unwrap();
    let other = start().await;
    // A test's ids are counted: those of the imported messages are to be behind us.
    for place in 0..5 {
        other.chat(&format!("elsewhere-{place}")).send("hello").await.end().await;
    }
    import_from(&other, &target, false).await.unwrap();
    let message = other.main.history().await.pop().unwrap();
    let inner = nested(&message, "c0");
    let chat = inner.metadata.as_ref().unwrap()["chatId"].as_str().unwrap().to_owned();
    assert_eq!(other.chat(&chat).history().await.pop().unwrap(), inner);
    other.main.reload().await;
    let again = other.main.regenerate().await.message().await;
    assert_ne!(again.id, message.id);
    // The id `u1` is taken by an imported message.
    other.main.add_user("never sent");
    turn(&other, "zh", None).await;
    assert_eq!(other.main.history().await.len(), 4);
    let branches = other.get("/api/chat/chat/branches").await.json();
    assert!(branches.to_string().contains(message.id.as_str()), "{branches}");
}

#[tokio::test]
async fn with_new_ids_a_session_can_be_there_twice() {
    let app = start().await;
    turn(&app, "ask long nest(ask long)", Some(true)).await;
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    export_to(&app, &first).await.unwrap();
    let error = import_from(&app, &first, false).await.unwrap_err().to_string();
    assert!(error.contains("the session \"chat\"") && error.contains("--new-ids"), "{error}");
    let imported = import_from(&app, &first, true).await.unwrap();
    assert_ne!(imported.session.as_str(), "chat");
    let exported = export_session(&app, imported.session.as_str(), &second).await.unwrap();
    assert_eq!((exported.messages, exported.agents, exported.files), (2, 1, 2));
    let (one, two) = (files(&first), files(&second));
    assert_eq!(one.len(), two.len());
    let all = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        files
            .iter()
            .map(|(name, bytes)| format!("{name} {}", String::from_utf8_lossy(bytes)))
            .collect::<String>()
    };
    let agent = one.keys().find_map(|name| name.strip_prefix("agents/")?.split('/').next()).unwrap();
    for old in [agent, "apr_1", "run_1"] {
        assert!(all(&one).contains(&format!("\"{old}\"")), "{old}");
        assert!(!all(&two).contains(&format!("\"{old}\"")), "{old} is still mentioned");
    }
    // Both are whole.
    for chat in ["chat", imported.session.as_str()] {
        let history = app.chat(chat).history().await;
        assert_eq!(history.len(), 2, "{chat}");
    }
    let files = app.get("/api/artifacts").await.json();
    assert_eq!(files["artifacts"].as_array().unwrap().len(), 4, "{files}");
}

#[tokio::test]
async fn what_is_still_being_written_is_left_out() {
    let gate = testkit::Gate::new();
    let app = testkit::TestApp::scripted([
        testkit::says("first"),
        testkit::says("half ").then(testkit::waits(&gate)),
    ])
    .await;
    app.send("one").await.end().await;
    let mut turn = app.send("two").await;
    gate.reached().await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("session");
    assert_eq!(export_to(&app, &target).await.unwrap().messages, 3);
    let other = start().await;
    import_from(&other, &target, false).await.unwrap();
    assert_eq!(other.main.history().await.len(), 3);
    gate.open();
    turn.end().await;
}
