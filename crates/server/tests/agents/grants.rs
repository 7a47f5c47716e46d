//! "Always" and edited inputs in sub-agents: valid for the whole session and shown in both messages.

use serde_json::{Value, json};
use testkit::{
    Gate, TestApp, calls,
    protocol::{ToolState, UiMessage},
    says, waits,
};

use super::cast::{Cast, define, hands, nested, sub, told};

fn asks(call: &str, text: &str) -> testkit::Reply {
    calls(call, "conf_approve", json!({ "text": text }))
}

async fn answer(app: &TestApp, approval: &str, body: &Value) {
    let answer = app.caller.post_json(&format!("/api/approvals/{approval}"), body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn ran(message: &UiMessage, call: &str) -> Value {
    let part = message.tool_parts().find(|part| part.call.as_str() == call).unwrap();
    match &part.state {
        ToolState::OutputAvailable { output, .. } => output.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_always_given_two_levels_down_holds_for_every_agent_of_the_session() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), asks("m", "main asks"), says("all done")])
        .with("outer", [hands("d", "b", "careful"), asks("o", "outer asks"), says("outer done")])
        .with("careful", [asks("s", "first"), asks("t", "second"), says("thanks")])
        .start()
        .await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    answer(&app, approval.as_str(), &json!({ "approved": true, "always": true })).await;
    app.main.settled().await;
    let message = app.main.history().await.pop().unwrap();
    assert!(message.text().ends_with("all done"), "{message:?}");
    let inner = nested(&nested(&message, "c"), "d");
    assert_eq!(ran(&inner, "t"), json!({ "echoed": "second" }));
    assert_eq!(ran(&message, "m"), json!({ "echoed": "main asks" }));
    let log = format!("{:?}", app.log("chat").await);
    assert_eq!(log.matches("GrantGiven").count(), 1, "given once, where it was asked");
}

#[tokio::test]
async fn an_always_given_while_another_agent_works_holds_for_that_one_at_once() {
    let busy = Gate::new();
    let app = Cast::new()
        .with("go", [hands("c1", "a", "ask").then(hands("c2", "b", "work")), says("both back")])
        .with("ask", [asks("s", "one"), says("asked")])
        .with("work", [waits(&busy).then(asks("w", "two")), says("worked")])
        .start()
        .await;
    define(&app, vec![sub("a", &[]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    busy.reached().await;
    let approval = turn.next_approval().await.approval.clone();
    answer(&app, approval.as_str(), &json!({ "approved": true, "always": true })).await;
    busy.open();
    let message = turn.message().await;
    assert!(message.text().ends_with("both back"), "{message:?}");
    assert_eq!(ran(&nested(&message, "c2"), "w"), json!({ "echoed": "two" }));
}

#[tokio::test]
async fn an_edited_input_of_a_sub_agents_call_runs_there_and_shows_in_both_messages() {
    for parked in [true, false] {
        let busy = Gate::new();
        let mut first = hands("c", "a", "ask");
        if !parked {
            first = first.then(hands("d", "b", "work"));
        }
        let app = Cast::new()
            .with("go", [first, says("done")])
            .with("ask", [asks("s", "delete"), says("asked")])
            .with("work", [waits(&busy).then(says("worked"))])
            .start()
            .await;
        define(&app, vec![sub("a", &[]), sub("b", &[])]);
        let mut turn = app.send("go").await;
        let approval = turn.next_approval().await.approval.clone();
        if parked {
            turn.end().await;
        }
        answer(&app, approval.as_str(), &json!({ "approved": true, "input": { "text": "keep" } })).await;
        busy.open();
        if !parked {
            turn.end().await;
        }
        app.main.settled().await;
        let message = app.main.history().await.pop().unwrap();
        for shown in [&message, &nested(&message, "c")] {
            assert_eq!(ran(shown, "s"), json!({ "echoed": "keep" }));
            let edited = shown.metadata.as_ref().unwrap()["editedCalls"].clone();
            assert_eq!(edited, json!({ "s": { "input": { "text": "keep" } } }), "parked: {parked}");
        }
        assert!(told(&app, "s").starts_with("The person changed the input before this ran, to:"));
    }
}
