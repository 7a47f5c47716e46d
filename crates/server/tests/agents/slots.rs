//! Slots, the queue, stopping and steering: many agents, of which few are active at a time.

use engine::{SubAgentLimits, agents::AgentDefinition};
use serde_json::json;
use testkit::{
    Gate, Reply, TestApp,
    protocol::{Chunk, ToolState},
    says, waits,
};

use super::cast::{Cast, define, hands, nested, sub, told, told_json};

async fn with_limits(cast: Cast, running: usize, queued: usize) -> TestApp {
    let limits = SubAgentLimits { running, queued };
    TestApp::builder().script(cast.model()).sub_agents(limits).start().await
}

fn all(agents: &[(&str, &str, &str)]) -> Reply {
    agents.iter().fold(Reply::default(), |reply, (call, name, task)| reply.then(hands(call, name, task)))
}

fn abc() -> Vec<AgentDefinition> {
    vec![sub("a", &["b"]), sub("b", &["c"]), sub("c", &[])]
}

#[tokio::test]
async fn one_slot_is_enough_for_any_depth() {
    let cast = Cast::new()
        .with("go", [all(&[("c1", "a", "deep 1"), ("c2", "a", "deep 2")]), says("done")])
        .with("deep 1", [hands("d", "b", "deeper 1"), says("one")])
        .with("deep 2", [hands("d", "b", "deeper 2"), says("two")])
        .with("deeper 1", [hands("e", "c", "deepest 1"), says("b1")])
        .with("deeper 2", [hands("e", "c", "deepest 2"), says("b2")])
        .with("deepest 1", [says("c1")])
        .with("deepest 2", [says("c2")]);
    let app = with_limits(cast, 1, 64).await;
    define(&app, abc());
    let message = app.send("go").await.message().await;
    assert_eq!((nested(&message, "c1").text(), nested(&message, "c2").text()), ("one".into(), "two".into()));
}

#[tokio::test]
async fn who_waits_for_a_slot_is_shown_as_queued_and_a_full_queue_refuses() {
    let gate = Gate::new();
    let cast = Cast::new()
        .with("go", [all(&[("c1", "a", "hold"), ("c2", "a", "wait"), ("c3", "a", "too many")]), says("done")])
        // Whichever comes first holds the only slot.
        .with("hold", [waits(&gate).then(says("held"))])
        .with("wait", [waits(&gate).then(says("waited"))])
        .with("too many", [waits(&gate).then(says("was not too many"))]);
    let app = with_limits(cast, 1, 1).await;
    define(&app, abc());
    let mut turn = app.send("go").await;
    turn.until(|chunk| {
        matches!(chunk, Chunk::ToolOutputAvailable { preliminary: true, output, .. }
            if output["metadata"]["status"] == "queued")
    })
    .await;
    gate.open();
    let message = turn.message().await;
    let results = ["c1", "c2", "c3"].map(|call| told_json(&app, call));
    let refused = results.iter().filter(|result| result["error"]["code"] == "queue_full").count();
    assert_eq!(refused, 1, "{results:?}");
    assert_eq!(message.tool_parts().count(), 3);
}

#[tokio::test]
async fn item_109_stopping_the_run_stops_its_sub_agents_at_once() {
    let (one, two) = (Gate::new(), Gate::new());
    let cast = Cast::new()
        .with("go", [all(&[("c1", "a", "outer"), ("c2", "b", "other")]), says("never")])
        .with("outer", [hands("d", "b", "inner"), says("never")])
        .with("inner", [says("half ").then(waits(&one))])
        .with("other", [waits(&two)]);
    let app = with_limits(cast, 4, 64).await;
    define(&app, abc());
    let mut turn = app.send("go").await;
    one.reached().await;
    two.reached().await;
    let before = std::time::Instant::now();
    assert_eq!(app.main.stop().await.status, 200);
    assert!(before.elapsed().as_millis() < 2000);
    app.model.idle().await;
    let message = turn.message().await;
    for call in ["c1", "c2"] {
        let part = message.tool_parts().find(|part| part.call.as_str() == call).unwrap();
        let ToolState::OutputError { error_text, .. } = &part.state else { panic!("{part:?}") };
        assert!(error_text.contains("stopped"), "{error_text}");
    }
    assert_eq!(app.main.history().await.pop().unwrap(), message);
    let frames = app.frames("chat").await;
    assert_eq!(frames.len(), 3);
    assert!(frames.iter().all(|frame| format!("{:?}", frame.status) == "Cancelled"), "{frames:?}");
    assert!(frames.iter().any(|frame| frame.body.as_deref().unwrap().contains("half ")));
}

#[tokio::test]
async fn one_sub_agent_can_be_stopped_alone_and_its_caller_goes_on() {
    let gate = Gate::new();
    let cast = Cast::new()
        .with("go", [all(&[("c1", "a", "stuck"), ("c2", "b", "fine")]), says("went on")])
        .with("stuck", [says("so far ").then(waits(&gate))])
        .with("fine", [says("good")]);
    let app = with_limits(cast, 4, 64).await;
    define(&app, abc());
    let mut turn = app.send("go").await;
    gate.reached().await;
    let frames = app.frames("chat").await;
    let stuck = frames.iter().find(|frame| frame.task == "stuck").unwrap();
    let answer = app.chat(stuck.chat.as_str()).stop().await;
    assert_eq!((answer.status, answer.json()["stopped"].clone()), (200, json!(true)));
    let message = turn.message().await;
    assert!(message.text().ends_with("went on"));
    assert!(told(&app, "c1").starts_with("cancelled: "), "{}", told(&app, "c1"));
    assert_eq!(nested(&message, "c2").text(), "good");
}

#[tokio::test]
async fn a_sub_agent_hears_what_is_said_to_it_before_its_next_step() {
    let gate = Gate::new();
    let cast = Cast::new().with("go", [hands("c1", "a", "walk"), says("done")]).with(
        "walk",
        [waits(&gate).then(testkit::calls("x", "conf_echo", json!({"text": "step"}))), says("turned left")],
    );
    let app = with_limits(cast, 4, 64).await;
    define(&app, abc());
    let mut turn = app.send("go").await;
    gate.reached().await;
    let frames = app.frames("chat").await;
    let path = format!("/api/chat/{}/message", frames[0].chat);
    let answer = app.caller.post_json(&path, &json!({ "text": "turn left" })).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    gate.open();
    let message = turn.message().await;
    let walk = nested(&message, "c1");
    assert_eq!(walk.text(), "turned left");
    assert!(serde_json::to_string(&walk).unwrap().contains("data-steering"));
    let heard = app
        .model
        .requests()
        .iter()
        .any(|request| format!("{:?}", request.messages.last()).contains("turn left"));
    assert!(heard);
    let late = app.caller.post_json(&path, &json!({ "text": "too late" })).await;
    assert_eq!(late.status, 409, "{late:?}");
}
