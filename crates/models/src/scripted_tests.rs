//! The script itself, because all other tests depend on it.

use serde_json::json;

use super::*;
use crate::model::{ModelMessage, UserContent};

fn request(text: &str) -> ModelRequest {
    let content = vec![UserContent::Text(text.to_owned())];
    ModelRequest { messages: vec![ModelMessage::User { content }.into()], ..ModelRequest::default() }
}

async fn answer(model: &Scripted, text: &str) -> Vec<Result<ModelEvent, ModelError>> {
    model.stream(request(text)).collect().await
}

fn text(text: &str) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Text(text.to_owned()))
}

#[tokio::test]
async fn each_call_gets_the_next_reply_and_the_requests_are_kept() {
    let model = Scripted::new([says("one"), says_in_pieces(&["t", "wo"])]);
    let held: Arc<dyn Model> = Arc::new(model.clone());
    assert_eq!(held.name(), "scripted/script");
    let finished = Ok(ModelEvent::Finished(FinishReason::Stop));
    assert_eq!(answer(&model, "a").await, [text("one"), finished.clone()]);
    assert_eq!(answer(&model, "b").await, [text("t"), text("wo"), finished]);
    let message = "the script has no reply left".to_owned();
    assert_eq!(answer(&model, "c").await, [Err(ModelError::Refused { status: 410, message })]);
    assert_eq!(model.requests(), [request("a"), request("b"), request("c")]);
}

#[tokio::test]
async fn a_reply_is_a_sequence_and_numbers_its_calls() {
    let usage = Usage { input_tokens: 3, ..Usage::default() };
    let reply = reasons("hm")
        .then(says("ok"))
        .then(calls_many([("1", "a", json!({ "x": 1 })), ("2", "b", json!({}))]))
        .then(raw_call("", "c", "{oops"))
        .then(call_in_pieces("4", "d", &["", "{", "}"]))
        .uses(usage);
    let started = |index, id: Option<&str>, name: &str| {
        Ok(ModelEvent::ToolStarted { index, id: id.map(str::to_owned), name: name.to_owned() })
    };
    let delta = |index, delta: &str| Ok(ModelEvent::ToolDelta { index, delta: delta.to_owned() });
    assert_eq!(
        answer(&Scripted::new([reply]), "a").await,
        [
            Ok(ModelEvent::Reasoning("hm".to_owned())),
            text("ok"),
            started(0, Some("1"), "a"),
            delta(0, "{\"x\":1}"),
            started(1, Some("2"), "b"),
            delta(1, "{}"),
            started(2, None, "c"),
            delta(2, "{oops"),
            started(3, Some("4"), "d"),
            delta(3, "{"),
            delta(3, "}"),
            Ok(ModelEvent::Usage(usage)),
            Ok(ModelEvent::Finished(FinishReason::ToolCalls)),
        ]
    );
}

#[tokio::test]
async fn nothing_follows_a_failure() {
    let model = Scripted::new([says("a").then(fails(ModelError::Cut)).then(says("b"))]);
    assert_eq!(answer(&model, "x").await, [text("a"), Err(ModelError::Cut)]);
}

#[tokio::test]
async fn a_closure_may_choose_and_the_finish_may_be_given() {
    let model = Scripted::choosing(|request| {
        says(&request.messages.len().to_string()).finishes(FinishReason::Length)
    });
    let expected = [text("1"), Ok(ModelEvent::Finished(FinishReason::Length))];
    assert_eq!(answer(&model, "x").await, expected);
    assert_eq!(answer(&model, "y").await, expected);
}

#[tokio::test]
async fn an_answer_waits_at_a_closed_gate_and_a_dropped_one_is_seen() {
    let gate = Gate::new();
    let reply = says("a").then(waits(&gate)).then(says("b"));
    let model = Scripted::new([reply.clone(), reply]);
    let mut first = model.stream(request("x"));
    assert_eq!(first.next().await, Some(text("a")));
    tokio::select! {
        biased;
        event = first.next() => panic!("passed a closed gate with {event:?}"),
        () = gate.reached() => {}
    }
    assert_eq!(model.live(), 1);
    drop(first);
    model.idle().await;
    gate.open();
    assert_eq!(answer(&model, "y").await.len(), 3);
    assert_eq!(model.live(), 0);
}
