//! A sub-agent's request for input is shown in the main message, and answered there or over REST.

use serde_json::json;
use testkit::{Reply, TestApp, calls, protocol::ToolState, says};

use super::cast::{Cast, define, hands, nested, output, sub, told};

fn colour(call: &str) -> Reply {
    calls(call, "request-user-input", json!({ "question": "Which colour?", "options": ["red", "blue"] }))
}

/// The address of the only pending question.
async fn path(app: &TestApp) -> String {
    let list = app.get("/api/approvals").await.json();
    assert_eq!(list["approvals"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(list["approvals"][0]["approval"]["kind"], "input");
    format!("/api/approvals/{}", list["approvals"][0]["approval"]["id"].as_str().unwrap())
}

fn cast() -> Cast {
    Cast::new()
        .with("go", [hands("c", "a", "outer"), says("all done")])
        .with("outer", [hands("d", "b", "careful"), says("outer done")])
        .with("careful", [colour("s"), says("thanks")])
}

fn define_agents(app: &TestApp) {
    let mut agents = vec![sub("a", &["b"]), sub("b", &[])];
    agents.iter_mut().for_each(|agent| agent.tools.push("request-user-input".to_owned()));
    define(app, agents);
}

#[tokio::test]
async fn it_is_answered_by_a_stock_client_in_the_main_message() {
    let app = cast().start().await;
    define_agents(&app);
    let mut turn = app.send("go").await;
    turn.end().await;
    let part = turn.shown();
    let part = part.tool_parts().find(|part| part.call.as_str() == "s").unwrap();
    assert!(matches!(part.state, ToolState::InputAvailable { .. }), "{part:?}");
    turn.add_output("s", json!("blue")).await;
    let message = turn.message().await;
    assert!(message.text().ends_with("all done"), "{message:?}");
    let inner = nested(&nested(&message, "c"), "d");
    for shown in [&message, &inner] {
        assert_eq!(output(shown, "s"), json!({ "answer": "blue" }));
    }
    assert!(told(&app, "s").contains("blue"));
    assert_eq!(app.main.history().await.pop().unwrap(), message);
}

#[tokio::test]
async fn it_is_answered_over_rest_after_a_restart() {
    let app = cast().start().await;
    define_agents(&app);
    app.send("go").await.end().await;
    let app = app.restart_with_model(cast().model_by_request()).await;
    define_agents(&app);
    let path = path(&app).await;
    let answered = app.caller.post_json(&path, &json!({ "selected": "red" })).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    app.main.settled().await;
    let message = app.main.history().await.pop().unwrap();
    assert_eq!(output(&message, "s"), json!({ "answer": "red" }));
    assert!(message.text().ends_with("all done"));
}

#[tokio::test]
async fn a_stop_withdraws_it_in_both_messages() {
    let app = cast().start().await;
    define_agents(&app);
    app.send("go").await.end().await;
    let path = path(&app).await;
    app.main.stop().await;
    app.main.settled().await;
    assert_eq!(app.get(&path).await.json()["approval"]["status"], "withdrawn");
    let message = app.main.history().await.pop().unwrap();
    let part = message.tool_parts().find(|part| part.call.as_str() == "s").unwrap();
    assert!(matches!(part.state, ToolState::OutputError { .. }), "{part:?}");
}
