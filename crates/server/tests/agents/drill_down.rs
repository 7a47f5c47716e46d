//! A sub-agent's own chat: followed live under its own ids, with its history and its stop.

use std::time::Duration;

use testkit::{
    Gate, TestApp,
    faults::{Effect, Faults, Hold, Method, When},
    protocol::Chunk,
    says, waits,
};

use super::cast::{Cast, define, hands, nested, sub};

#[tokio::test]
async fn a_sub_agent_can_be_followed_live_under_its_own_chat_id() {
    let (first, second) = (Gate::new(), Gate::new());
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("done")])
        .with("outer", [says("begin ").then(waits(&first)).then(hands("d", "b", "inner")), says("end")])
        .with("inner", [waits(&second).then(says("inside"))])
        .start()
        .await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    first.reached().await;
    let frames = app.frames("chat").await;
    let chat = app.chat(frames[0].chat.as_str());
    assert_eq!(chat.history().await.len(), 1, "the message of a run in progress is left out");
    let mut own = chat.resume().await.unwrap();
    first.open();
    second.reached().await;
    second.open();
    let message = turn.message().await;
    let followed = own.message().await;
    assert_eq!(followed, nested(&message, "c"));
    assert!(chat.resume().await.is_none());
    assert_eq!(chat.history().await[1], followed);
}

#[tokio::test]
async fn a_chat_id_of_another_workspace_does_not_exist() {
    let app = testkit::TestApp::builder()
        .script(
            Cast::new().with("go", [hands("c", "research", "t"), says("x")]).with("t", [says("y")]).model(),
        )
        .with_auth()
        .start()
        .await;
    app.send("go").await.end().await;
    let frames = app.frames("chat").await;
    let path = format!("/api/chat/{}/messages", frames[0].chat);
    assert_eq!(app.get(&path).await.status, 200);
    assert_eq!(app.caller_of("elsewhere").await.get(&path).await.status, 404);
}

#[tokio::test]
async fn a_reader_that_comes_late_or_comes_back_sees_the_same_tree() {
    let gate = Gate::new();
    let app = Cast::new()
        .with("go", [says("look: ").then(hands("c", "a", "outer")), says("done")])
        .with("outer", [hands("d", "b", "inner"), says("end")])
        .with("inner", [says("deep ").then(waits(&gate)).then(says("down"))])
        .start()
        .await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    gate.reached().await;
    let mut late = app.chat("chat").resume().await.unwrap();
    late.until(|chunk| serde_json::to_string(chunk).unwrap().contains("deep ")).await;
    gate.open();
    let message = turn.message().await;
    assert_eq!(late.message().await, message);
    assert_eq!(app.main.history().await.pop().unwrap(), message);
}

#[tokio::test]
async fn a_heartbeat_in_the_middle_of_reading_loses_no_sub_agent() {
    let (quick, gate) = (Gate::new(), Gate::new());
    let (faults, hold) = (Faults::new(), Hold::new());
    let model = Cast::new()
        .with(
            "go",
            [says("look: ").then(hands("b", "a", "quick")).then(hands("c", "a", "slow")), says("done")],
        )
        .with("quick", [waits(&quick).then(says("soon"))])
        .with("slow", [says("deep ").then(waits(&gate)).then(says("down"))])
        .model();
    let app = TestApp::builder()
        .script(model)
        .faults(&faults)
        .server(|server| server.heartbeat = Duration::from_millis(30))
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let mut turn = app.send("go").await;
    quick.reached().await;
    turn.until(|chunk| serde_json::to_string(chunk).unwrap().contains("deep ")).await;
    // The result of the first has a number; the second began before it and is still at work.
    quick.open();
    turn.until(|chunk| match chunk {
        Chunk::ToolOutputAvailable { tool_call_id, preliminary, .. } => tool_call_id == "b" && !preliminary,
        _ => false,
    })
    .await;
    // A tab that has everything up to here comes back; while it reads what came before, its heart beats.
    let after = turn.seqs.last().unwrap().to_string();
    faults.on(Method::ReadLog, When::call(0), Effect::Block(hold.clone()));
    let headers = [("last-event-id", after.as_str())];
    let reading = app.caller.request("GET", "/api/chat/chat/stream", &headers, String::new());
    let letting = async {
        hold.reached().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        hold.release();
        gate.open();
    };
    let (rest, ()) = tokio::join!(reading, letting);
    let message = turn.message().await;
    let rest = rest.body;
    assert!(rest.contains(": keep-alive"), "its heart never beat: {rest}");
    let whole = nested(&message, "c").id.to_string();
    assert!(rest.contains(&format!("\"id\":\"{whole}\"")), "the sub-agent's message is missing: {rest}");
}
