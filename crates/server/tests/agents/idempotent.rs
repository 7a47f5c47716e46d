//! Rule 6.3 of the requirement document: a message that is sent, read or finished again is stored once under its id.

use serde_json::json;
use testkit::{Gate, TestApp, calls, protocol::UiMessage, says, waits};

use super::cast::{Cast, define, hands, nested, sub};

fn cast() -> Cast {
    Cast::new()
        .with("go", [says("begin ").then(hands("c", "a", "outer")), says("done")])
        .with("outer", [says("look ").then(hands("d", "b", "inner")), says("outer said")])
        .with("inner", [calls("x", "conf_echo", json!({ "text": "e" })), says("inner said")])
}

async fn app_of(cast: Cast) -> TestApp {
    let app = cast.start().await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    app
}

/// Messages of the session and of its sub-agents, as rows.
async fn stored(app: &TestApp) -> (i64, i64, i64) {
    let rows = app.rows().await;
    (rows["messages"], rows["frames"], rows["runs"])
}

/// The ids of a message's parts and calls; none may be there twice.
fn calls_of(message: &UiMessage) -> Vec<&str> {
    message.tool_parts().map(|part| part.call.as_str()).collect()
}

#[tokio::test]
async fn rule_6_3_a_request_that_is_sent_again_stores_nothing_twice() {
    let app = app_of(cast()).await;
    let body = app.main.body_of("go", json!({}));
    let first = app.main.open_turn(&body).await.message().await;
    for _ in 0..3 {
        assert_eq!(
            app.chat("chat").open_turn(&body).await.message().await,
            first,
            "the same answer under the same id"
        );
    }
    assert_eq!(stored(&app).await, (2, 2, 1));
    assert_eq!(app.model.requests().len(), 6);
}

#[tokio::test]
async fn rule_6_3_a_request_that_is_sent_again_while_its_run_is_on_joins_it() {
    let gate = Gate::new();
    let held = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("done")])
        .with("outer", [says("half ").then(waits(&gate)).then(says("whole"))]);
    let app = app_of(held).await;
    let body = app.main.body_of("go", json!({}));
    let mut first = app.main.open_turn(&body).await;
    gate.reached().await;
    let mut again = app.chat("chat").open_turn(&body).await;
    gate.open();
    assert_eq!(first.message().await, again.message().await);
    assert_eq!(stored(&app).await, (2, 1, 1));
}

#[tokio::test]
async fn rule_6_3_reconnecting_at_any_time_and_often_stores_nothing_twice() {
    let gate = Gate::new();
    let held = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("done")])
        .with("outer", [hands("d", "b", "inner"), says("outer said")])
        .with("inner", [says("deep ").then(waits(&gate)).then(says("down"))]);
    let app = app_of(held).await;
    let turn = app.send("go").await;
    gate.reached().await;
    drop(turn);
    let mut readers = Vec::new();
    for _ in 0..5 {
        readers.push(app.chat("chat").resume().await.unwrap());
    }
    drop(readers.pop());
    gate.open();
    let mut seen = Vec::new();
    for mut reader in readers {
        seen.push(reader.message().await);
    }
    assert!(seen.windows(2).all(|two| two[0] == two[1]));
    assert_eq!(app.main.history().await.pop().unwrap(), seen[0]);
    assert_eq!(stored(&app).await, (2, 2, 1));
}

#[tokio::test]
async fn rule_6_3_a_nested_message_is_stored_once_under_the_id_the_client_saw() {
    let app = app_of(cast()).await;
    let message = app.send("go").await.message().await;
    let outer = nested(&message, "c");
    let inner = nested(&outer, "d");
    let mut ids: Vec<String> =
        app.frames("chat").await.iter().map(|frame| frame.message.to_string()).collect();
    ids.sort();
    let mut seen = [outer.id.to_string(), inner.id.to_string()];
    seen.sort();
    assert_eq!(ids, seen);
    assert_eq!(stored(&app).await, (2, 2, 1));
}

#[tokio::test]
async fn rule_6_3_a_message_that_is_stored_again_has_each_part_once() {
    let ask = calls("s", "conf_approve", json!({ "text": "may I" }));
    let asking = Cast::new().with("go", [says("begin ").then(hands("c", "a", "outer")), says("done")]).with(
        "outer",
        [says("first ").then(calls("x", "conf_echo", json!({ "text": "e" }))), ask, says("then")],
    );
    let app = app_of(asking).await;
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    // Stored while it waits, and again when it is finished.
    let (messages, frames, runs) = stored(&app).await;
    let waiting = app.frames("chat").await.remove(0);
    let path = format!("/api/approvals/{approval}");
    for expected in [200, 200] {
        let answer = app.caller.post_json(&path, &json!({ "approved": true })).await;
        assert_eq!(answer.status, expected, "{answer:?}");
    }
    while let Some(mut turn) = app.main.resume().await {
        turn.end().await;
    }
    assert_eq!(stored(&app).await, (messages, frames, runs));
    let message = app.main.history().await.pop().unwrap();
    let outer = nested(&message, "c");
    assert_eq!(outer.id, waiting.message);
    assert_eq!((calls_of(&outer), outer.text()), (vec!["x", "s"], "first then".to_owned()));
    assert_eq!(calls_of(&message), ["c", "s"]);
}

#[tokio::test]
async fn rule_6_3_a_run_that_a_crash_cut_goes_on_in_the_same_messages() {
    let shut = Gate::new();
    let delegate =
        |call: &str, task: &str| calls(call, "conf_delegate", json!({ "agent": task, "task": task }));
    let app = Cast::new()
        .with("go", [delegate("c", "cut")])
        .with("cut", [says("half ").then(waits(&shut))])
        .start()
        .await;
    let turn = app.send("go").await;
    shut.reached().await;
    let before = (stored(&app).await, app.frames("chat").await.remove(0).message);
    drop(turn);
    let app = app.restart([says("and half"), says("whole")]).await;
    while let Some(mut turn) = app.main.resume().await {
        turn.end().await;
    }
    let message = app.main.history().await.pop().unwrap();
    let cut = nested(&message, "c");
    assert_eq!((cut.id.clone(), cut.text()), (before.1, "half and half".to_owned()));
    let ((_, frames, runs), (_, frames_before, runs_before)) = (stored(&app).await, before.0);
    assert_eq!((frames, runs), (frames_before, runs_before));
    let log = app.log("chat").await;
    let opened = log.iter().filter(|entry| json!(entry.event)["type"] == "frame_opened").count();
    assert_eq!(opened, 2, "each message began once");
}
