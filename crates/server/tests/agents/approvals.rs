//! A sub-agent's question to a person: shown in the main message, answered from any client, at any depth.

use serde_json::json;
use testkit::{Gate, Reply, calls, protocol::ToolState, says, waits};

use super::cast::{Cast, define, hands, nested, sub, told};

fn asks(call: &str, text: &str) -> Reply {
    calls(call, "conf_approve", json!({ "text": text }))
}

fn cast() -> Cast {
    Cast::new()
        .with("go", [hands("c", "a", "outer"), says("all done")])
        .with("outer", [hands("d", "b", "careful"), says("outer done")])
        .with("careful", [says("may I? ").then(asks("s", "delete")), says("thanks")])
}

#[tokio::test]
async fn a_question_two_levels_down_is_raised_into_a_step_of_its_own_and_answered_there() {
    let app = cast().start().await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    let message = turn.message().await;
    let lines = turn.chunk_lines().await;
    let shown: Vec<&str> = lines.lines().filter(|line| !line.contains("tool-output-available c ")).collect();
    let from = shown.iter().position(|line| line.starts_with("tool-approval-request")).unwrap();
    assert_eq!(shown[from - 1], "tool-input-available s conf_approve {\"text\":\"delete\"}");
    assert_eq!(shown[from - 2], "start-step");
    assert_eq!(shown[from + 1], "finish-step");
    let inner = nested(&nested(&message, "c"), "d");
    assert!(inner.text().ends_with("thanks"));
    let part = message.tool_parts().find(|part| part.call.as_str() == "s").unwrap();
    assert!(matches!(part.state, ToolState::OutputAvailable { .. }), "{part:?}");
    assert_eq!(app.main.history().await.pop().unwrap(), message);
    // The main agent's model knows nothing of the question.
    let last = app.model.requests().pop().unwrap();
    assert!(!format!("{:?}", last.messages).contains("conf_approve"), "{last:?}");
}

#[tokio::test]
async fn a_denied_question_is_denied_in_both_messages() {
    let app = cast().start().await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    turn.next_approval().await.deny("not today").await;
    let message = turn.message().await;
    let inner = nested(&nested(&message, "c"), "d");
    for shown in [&message, &inner] {
        let part = shown.tool_parts().find(|part| part.call.as_str() == "s").unwrap();
        assert!(matches!(part.state, ToolState::OutputDenied { .. }), "{part:?}");
    }
    assert!(told(&app, "s").contains("not today"));
}

#[tokio::test]
async fn while_another_sub_agent_works_the_answer_lets_the_asking_one_go_on_at_once() {
    let busy = Gate::new();
    let app = Cast::new()
        .with("go", [hands("c1", "a", "ask").then(hands("c2", "b", "work")), says("both back")])
        .with("ask", [asks("s", "delete"), says("asked and done")])
        .with("work", [waits(&busy).then(says("worked"))])
        .start()
        .await;
    define(&app, vec![sub("a", &[]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    busy.reached().await;
    let approval = turn.next_approval().await.approval.clone();
    let path = format!("/api/approvals/{approval}");
    let answer = app.caller.post_json(&path, &json!({ "approved": true })).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    turn.until(|chunk| serde_json::to_string(chunk).unwrap().contains("asked and done")).await;
    busy.open();
    let message = turn.message().await;
    assert!(message.text().ends_with("both back"));
    assert_eq!(nested(&message, "c2").text(), "worked");
}

#[tokio::test]
async fn a_question_survives_a_restart_and_finished_branches_are_kept() {
    let delegate =
        |call: &str, task: &str| calls(call, "conf_delegate", json!({ "agent": task, "task": task }));
    let first = Cast::new()
        .with("go", [delegate("c1", "ask").then(delegate("c2", "work"))])
        .with("ask", [asks("s", "delete")])
        .with("work", [says("worked once")]);
    let app = first.start().await;
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    let app = app.restart([says("asked again"), says("the end")]).await;
    let path = format!("/api/approvals/{approval}");
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": true })).await.status, 200);
    let message = match app.main.resume().await {
        Some(mut turn) => turn.message().await,
        None => app.main.history().await.pop().unwrap(),
    };
    assert_eq!(nested(&message, "c2").text(), "worked once");
    assert_eq!(nested(&message, "c1").text(), "asked again");
    assert!(message.text().ends_with("the end"));
    assert_eq!(app.model.requests().len(), 2, "what was finished is not done again");
}

#[tokio::test]
async fn a_question_three_levels_down_is_answered_after_a_restart_by_another_client() {
    let first = Cast::new()
        .with("go", [hands("c", "a", "outer")])
        .with("outer", [hands("d", "b", "middle")])
        .with("middle", [hands("e", "c", "careful")])
        .with("careful", [asks("s", "delete")]);
    let app = first.start().await;
    let agents = || vec![sub("a", &["b"]), sub("b", &["c"]), sub("c", &[])];
    define(&app, agents());
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    let app = app.restart([says("thanks"), says("middle done"), says("outer done"), says("all done")]).await;
    define(&app, agents());
    let other = app.caller.get("/api/approvals").await.json();
    assert_eq!(other["approvals"][0]["approval"]["id"], json!(approval));
    let why = other["approvals"][0]["question"]["why"].as_str().unwrap();
    assert_eq!(why, "The call repeats a text after you allowed it.", "what was asked is stored");
    let path = format!("/api/approvals/{approval}");
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": true })).await.status, 200);
    app.main.settled().await;
    let message = app.main.history().await.pop().unwrap();
    assert!(message.text().ends_with("all done"), "{message:?}");
    let inner = nested(&nested(&nested(&message, "c"), "d"), "e");
    assert!(inner.text().ends_with("thanks"), "{inner:?}");
}

#[tokio::test]
async fn a_new_message_withdraws_a_sub_agents_question() {
    let app = cast().start().await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    app.send("never mind").await.end().await;
    let question = app.get(&format!("/api/approvals/{approval}")).await.json();
    assert_eq!(question["approval"]["status"], "withdrawn", "{question}");
    let frames = app.frames("chat").await;
    assert!(frames.iter().all(|frame| format!("{:?}", frame.status) == "Cancelled"), "{frames:?}");
}

#[tokio::test]
async fn stopping_a_parked_sub_agent_lets_its_caller_go_on() {
    let app = cast().start().await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    turn.next_approval().await;
    turn.end().await;
    let frames = app.frames("chat").await;
    let careful = frames.iter().find(|frame| frame.task == "careful").unwrap();
    assert_eq!(app.chat(careful.chat.as_str()).stop().await.status, 200);
    let message = match app.main.resume().await {
        Some(mut turn) => turn.message().await,
        None => app.main.history().await.pop().unwrap(),
    };
    assert!(message.text().ends_with("all done"), "{message:?}");
    assert!(told(&app, "d").starts_with("cancelled: "));
}

#[tokio::test]
async fn the_approval_test_agent_asks_and_reports() {
    let ask = calls("s", "test-approval", json!({ "actionName": "try", "purpose": "try" }));
    let app = Cast::new()
        .with("go", [hands("c", "test-approval", "ask the person"), says("done")])
        .with("ask the person", [ask, says("they said yes")])
        .start()
        .await;
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    assert_eq!(nested(&turn.message().await, "c").text(), "they said yes");
}

#[tokio::test]
async fn the_same_answer_again_is_no_mistake_while_the_run_is_on_and_another_one_comes_too_late() {
    let busy = Gate::new();
    let app = Cast::new()
        .with("go", [hands("c", "a", "careful"), says("done")])
        .with("careful", [asks("s", "delete"), says("deleted, ").then(waits(&busy)).then(says("really"))])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    let path = format!("/api/approvals/{approval}");
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": true })).await.status, 200);
    busy.reached().await;
    // The agent is in the middle of a model call: nobody has to wait for it.
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": true })).await.status, 200);
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": false })).await.status, 409);
    busy.open();
    let message = app.chat("chat").resume().await.unwrap().message().await;
    assert_eq!(nested(&message, "c").text(), "deleted, really");
}
