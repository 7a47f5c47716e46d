//! The acceptance checklist of tools, items 1 to 15, where no other test has them: `docs/tool-checklist.md` is the table.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::fs;

use serde_json::{Value, json};
use testkit::{
    TestApp, calls, calls_many,
    models::ModelMessage,
    protocol::{Part, ToolState},
    raw_call, says,
    test_tools::TestTool,
    tools::{Family, Group, Registry},
};

/// The result that the model read for a call, and whether it is an error.
fn told(app: &TestApp, wanted: &str) -> (String, bool) {
    let requests = app.model.requests();
    let messages = requests.last().unwrap().messages.clone();
    let found = messages.iter().find_map(|message| match &**message {
        ModelMessage::Tool { call, text, is_error, .. } if call.as_str() == wanted => {
            Some((text.clone(), *is_error))
        }
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no result for {wanted}"))
}

fn contract_tools() -> Vec<std::sync::Arc<dyn testkit::tools::AnyTool>> {
    let registry = Registry::builtin(&Group::ALL).unwrap();
    registry.all().filter(|tool| tool.family() == Family::Contract).cloned().collect()
}

#[tokio::test]
async fn items_1_to_3_every_answer_is_one_output_or_one_error_with_a_text() {
    let app = TestApp::scripted([
        calls_many([
            ("a", "list-dir", json!({ "path": "." })),
            ("b", "read-file", json!({ "path": "missing.txt" })),
            ("c", "glob-files", json!({ "pattern": "*.none" })),
            ("d", "read-file", json!({ "path": "../outside" })),
        ]),
        says("Done."),
    ])
    .await;
    let message = app.send("go").await.message().await;
    for part in message.parts.iter().filter_map(|part| match part {
        Part::Tool(tool) => Some(tool),
        _ => None,
    }) {
        match &part.state {
            ToolState::OutputAvailable { output, .. } => {
                assert!(output.as_str().is_some_and(|text| !text.is_empty()), "{output}");
            }
            ToolState::OutputError { error_text, .. } => {
                let code = error_text.split(": ").next().unwrap();
                assert!(["not_found", "access_denied", "invalid_path"].contains(&code), "{error_text}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        (told(&app, "a").1, told(&app, "b").1, told(&app, "c").1, told(&app, "d").1),
        (false, true, false, true)
    );
}

#[test]
fn item_4_no_contract_schema_speaks_of_secrets_or_handles() {
    const WORDS: [&str; 10] =
        ["key", "token", "secret", "cookie", "password", "session", "client", "service", "handle", "model"];
    fn check(tool: &str, schema: &Value) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let text = format!("{name} {}", field["description"].as_str().unwrap_or_default()).to_lowercase();
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            for word in WORDS {
                assert!(!words.contains(&word), "{tool}: {text}");
            }
            check(tool, field);
            check(tool, &field["items"]);
        }
    }
    let tools = contract_tools();
    assert!(tools.len() >= 5);
    for tool in tools {
        check(&tool.spec().name, &tool.spec().input_schema);
    }
}

#[test]
fn item_5_a_contract_tool_refuses_an_extra_argument_by_name() {
    for tool in contract_tools() {
        let name = tool.spec().name.clone();
        let Err(error) = tool.prepare(&json!({ "text": "x", "surplus": 1 })).map(|_| ()) else {
            panic!("{name}")
        };
        assert!(!error.to_string().is_empty(), "{name}");
    }
    let echo = Registry::builtin(&[Group::Conformance]).unwrap().get("conf_echo").unwrap();
    let error = echo.prepare(&json!({ "text": "x", "surplus": 1 })).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("surplus"), "{error}");
}

#[tokio::test]
async fn item_6_an_extra_service_argument_changes_nothing_about_where_a_file_tool_reads() {
    let input = json!({ "path": "a.txt", "service": { "root": "/" }, "handle": "/etc", "workdir": "/etc" });
    let app = TestApp::scripted([calls("c", "read-file", input), says("Done.")]).await;
    fs::create_dir_all(app.workdir()).unwrap();
    fs::write(app.workdir().join("a.txt"), "inside\n").unwrap();
    app.send("go").await.end().await;
    assert_eq!(told(&app, "c"), ("L1: inside".to_owned(), false));
}

#[tokio::test]
async fn item_7_a_missing_argument_is_told_and_the_run_goes_on() {
    let app = TestApp::scripted([raw_call("c", "read-file", "{}"), says("What?"), says("I see.")]).await;
    let text = app.send("go").await.text().await;
    assert!(!text.is_empty());
    let (error, is_error) = told(&app, "c");
    assert!(is_error && error.contains("path"), "{error}");
}

#[tokio::test]
async fn item_9_what_is_secret_on_the_server_is_in_no_schema_stream_log_or_output() {
    let secret = "sk-very-secret-0123456789";
    let app = TestApp::scripted([
        calls_many([
            ("a", "list-dir", json!({ "path": ".", "depth": 5 })),
            ("b", "grep-files", json!({ "pattern": "sk-very" })),
            ("c", "read-file", json!({ "path": "../token" })),
        ]),
        says("Done."),
    ])
    .await;
    fs::write(app.data_dir().join("token"), secret).unwrap();
    let mut turn = app.send("go").await;
    let lines = turn.chunk_lines().await;
    let all = format!("{lines}{:?}{}", app.log("chat").await, app.get("/api/tools").await.json());
    assert!(!all.contains(secret) && all.contains("read-file"));
}

#[tokio::test]
async fn item_8_the_schemas_of_the_list_are_the_same_bytes_after_a_restart() {
    let app = TestApp::scripted([says("x")]).await;
    let before = app.get("/api/tools").await.json().to_string();
    let app = app.restart([says("y")]).await;
    assert_eq!(app.get("/api/tools").await.json().to_string(), before);
}

#[tokio::test]
async fn item_13_a_tool_that_panics_is_a_failed_call_and_the_stream_goes_on() {
    let broken = TestTool::new("broken", |_, _| async { panic!("index out of range") });
    let app = TestApp::builder()
        .replies([calls("c", "broken", json!({})), says("It failed.")])
        .tool(broken.any())
        .start()
        .await;
    assert_eq!(app.send("go").await.text().await, "It failed.");
    let (text, is_error) = told(&app, "c");
    assert!(is_error && text.contains("not of your call") && !text.contains("index out of range"), "{text}");
}

#[tokio::test]
async fn the_list_has_group_risk_and_rule_of_every_tool() {
    let app = TestApp::scripted([says("x")]).await;
    let list = app.get("/api/tools").await.json();
    let tool = |name: &str| {
        let tools = list["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        json!([tool["group"], tool["risk"], tool["rule"]])
    };
    assert_eq!(tool("read-file"), json!(["file-read", "reads", "allow"]));
    assert_eq!(tool("apply-patch"), json!(["file-write", "writes", "ask"]));
    assert_eq!(tool("test-approval"), json!([null, "asks", "ask"]));
    assert_eq!(tool("sub-agent"), json!([null, "delegates", "allow"]));
    let rule = json!({ "effect": "refuse", "tools": ["apply-patch"] });
    assert_eq!(app.caller.post_json("/api/rules", &rule).await.status, 201);
    let list = app.get("/api/tools").await.json();
    let tools = list["tools"].as_array().unwrap();
    assert_eq!(tools.iter().find(|tool| tool["name"] == "apply-patch").unwrap()["rule"], "refuse");
}
