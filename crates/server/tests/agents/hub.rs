//! What sub-agents know of each other: one context per delegation, and the hub that passes results on.

use engine::agents::AgentDefinition;
use serde_json::{Value, json};
use testkit::{
    Gate, TestApp, calls, fails,
    models::ModelError,
    protocol::{AgentKind, SessionEvent},
    says, waits,
};

use super::cast::{Cast, define, define_with, hands, here, sub, told_json};

/// The contexts of all delegations of the chat, oldest first, with the task of each.
async fn contexts(app: &TestApp) -> Vec<(String, Value)> {
    let log = app.log("chat").await;
    let opened = log.into_iter().filter_map(|entry| match entry.event {
        SessionEvent::FrameOpened { parent: Some(parent), .. } => Some((parent.task, parent.context)),
        _ => None,
    });
    opened.collect()
}

/// What the agent with this task was told lately: who said it, and what.
async fn heard(app: &TestApp, task: &str) -> Vec<(String, String)> {
    let contexts = contexts(app).await;
    let (_, context) = contexts.iter().find(|(of, _)| of == task).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let events = context["recent_events"].as_array().unwrap().iter();
    events.map(|event| (text(&event["name"]), text(&event["preview"]))).collect()
}

fn from(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

#[tokio::test]
async fn item_104_the_context_of_a_delegation_is_built_once_however_often_its_agent_goes_on() {
    let ask = calls("s", "conf_approve", json!({ "text": "may I" }));
    let app = Cast::new()
        .with(
            "go",
            [hands("c1", "a", "find"), hands("c2", "b", "ask"), hands("c3", "b", "more"), says("end")],
        )
        .with("find", [says("found it")])
        .with("ask", [ask, says("I may")])
        .with("more", [says("no more")])
        .start()
        .await;
    define(&app, vec![sub("a", &[]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    turn.next_approval().await.approve().await;
    turn.end().await;
    let built = contexts(&app).await;
    let tasks: Vec<&str> = built.iter().map(|(task, _)| task.as_str()).collect();
    assert_eq!(tasks, ["find", "ask", "more"], "one for each call, none for going on");
    assert_eq!(heard(&app, "ask").await, [from("a", "found it")]);
    // Taken once: the next call of the same role is not told again what the first was told.
    assert!(!heard(&app, "more").await.contains(&from("a", "found it")));
    // What the agent reads when it continues is the same copy, to the byte.
    let requests = app.model.requests();
    let of_ask = |request: &&testkit::models::ModelRequest| {
        format!("{:?}", request.messages[0]).contains("Text(\"ask\")")
    };
    let read: Vec<_> = requests.iter().filter(of_ask).map(|request| &request.messages[0]).collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[0], read[1]);
}

#[tokio::test]
async fn item_111_a_result_reaches_roles_that_were_not_called_before_and_never_its_sender() {
    let app = Cast::new()
        .with(
            "go",
            [
                hands("c1", "finder", "look"),
                hands("c2", "reader", "read"),
                hands("c3", "finder", "look again"),
                hands("c4", "writer", "write"),
                says("done"),
            ],
        )
        .with("look", [says("a page")])
        .with("read", [says("its text")])
        .with("look again", [says("another page")])
        .with("write", [says("written")])
        .start()
        .await;
    define(&app, ["finder", "reader", "writer"].map(|name| sub(name, &[])).into());
    app.send("go").await.end().await;
    assert_eq!(heard(&app, "read").await, [from("finder", "a page")]);
    assert_eq!(heard(&app, "look again").await, [from("reader", "its text")]);
    assert_eq!(
        heard(&app, "write").await,
        [from("finder", "a page"), from("reader", "its text"), from("finder", "another page")]
    );
}

#[tokio::test]
async fn item_111_nothing_is_sent_for_a_delegation_that_was_refused_or_failed() {
    let app = Cast::new()
        .with(
            "go",
            [
                hands("c1", "nobody", "x"),
                hands("c2", "a", " "),
                hands("c3", "a", "break"),
                hands("c4", "b", "listen"),
                says("done"),
            ],
        )
        .with("break", [says("half a ").then(fails(ModelError::Cut))])
        .with("listen", [says("silence")])
        .start()
        .await;
    define(&app, vec![sub("a", &[]), sub("b", &[])]);
    app.send("go").await.end().await;
    assert_eq!(told_json(&app, "c1")["ok"], false);
    // Without news, the last thing that was said in the conversation.
    assert_eq!(heard(&app, "listen").await, [from("general", "go")]);
}

#[tokio::test]
async fn item_111_what_was_found_before_a_pause_is_handed_on_after_it() {
    let ask = calls("s", "conf_approve", json!({ "text": "may I" }));
    let app = Cast::new()
        .with(
            "go",
            [hands("c1", "a", "find"), hands("c2", "b", "ask"), hands("c3", "c", "use it"), says("end")],
        )
        .with("find", [says("found before")])
        .with("ask", [ask, says("they said yes")])
        .with("use it", [says("used")])
        .start()
        .await;
    define(&app, ["a", "b", "c"].map(|name| sub(name, &[])).into());
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    // Nothing of the run is in memory now.
    assert_eq!(app.get("/api/diagnostics").await.json()["engine"]["liveSessions"], 0);
    let path = format!("/api/approvals/{approval}");
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": true })).await.status, 200);
    while let Some(mut turn) = app.main.resume().await {
        turn.end().await;
    }
    assert_eq!(heard(&app, "use it").await, [from("a", "found before"), from("b", "they said yes")]);
}

#[tokio::test]
async fn item_112_with_auto_broadcast_off_only_what_a_person_says_reaches_all() {
    let gate = Gate::new();
    let app = Cast::new()
        .with(
            "go",
            [
                hands("c1", "a", "find"),
                waits(&gate).then(hands("c2", "b", "listen")),
                hands("c3", "a", "listen too"),
                says("done"),
            ],
        )
        .with("find", [says("found it")])
        .with("listen", [says("heard")])
        .with("listen too", [says("heard")])
        .start()
        .await;
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.auto_broadcast = false;
    main.allowed_sub_agents = vec!["a".to_owned(), "b".to_owned()];
    main.tools = vec!["*".to_owned()];
    main.workspace = Some(here());
    define_with(&app, main, vec![sub("a", &[]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    gate.reached().await;
    let said = json!({ "text": "mind the gap" });
    let answer = app.caller.post_json(&app.main.path("message"), &said).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    gate.open();
    turn.end().await;
    assert_eq!(heard(&app, "listen").await, [from("general", "go")], "it was said, but not read yet");
    assert_eq!(heard(&app, "listen too").await, [from("person", "mind the gap")]);
}

#[tokio::test]
async fn item_112_a_stopped_agents_role_is_out_until_it_is_called_again() {
    let gate = Gate::new();
    let app = Cast::new()
        .with(
            "go",
            [
                hands("c1", "a", "stuck"),
                hands("c2", "b", "find"),
                hands("c3", "a", "again"),
                hands("c4", "c", "sum up"),
                says("done"),
            ],
        )
        .with("stuck", [says("half ").then(waits(&gate))])
        .with("find", [says("found it")])
        .with("again", [says("this time")])
        .with("sum up", [says("all in all")])
        .start()
        .await;
    define(&app, ["a", "b", "c"].map(|name| sub(name, &[])).into());
    let mut turn = app.send("go").await;
    gate.reached().await;
    let stuck = app.frames("chat").await.remove(0);
    assert_eq!(app.chat(stuck.chat.as_str()).stop().await.status, 200);
    turn.end().await;
    assert_eq!(heard(&app, "find").await, [from("general", "go")], "what was stopped sends nothing");
    assert_eq!(heard(&app, "again").await, [from("general", "go")], "and received nothing meanwhile");
    assert_eq!(heard(&app, "sum up").await, [from("b", "found it"), from("a", "this time")]);
}
