//! One delegation and several: the result, the message, and who sees what.

use engine::agents::{AgentDefinition, ModelChoice};
use serde_json::{Map, json};
use testkit::{
    Gate, Reply,
    models::{ModelError, ModelMessage},
    protocol::{Chunk, ToolState, UiMessage},
    says, waits,
};

use super::cast::{Cast, define, hands, nested, output, sub, told, told_json};

#[tokio::test]
async fn item_098_a_defined_name_becomes_valid_for_the_sub_agent_tool() {
    let app = Cast::new().with("hi", [says("ok")]).start().await;
    define(&app, vec![sub("luthier", &[])]);
    app.send("hi").await.end().await;
    let request = app.model.requests().pop().unwrap();
    let tool = request.tools.iter().find(|tool| tool.name == "sub-agent").unwrap();
    assert_eq!(tool.input_schema["properties"]["name"]["enum"], json!(["luthier", "dynamic"]));
    assert_eq!(tool.input_schema["required"], json!(["name", "task"]));
}

#[tokio::test]
async fn item_099_an_agent_that_cannot_work_is_not_offered_and_says_why() {
    let app = Cast::new().with("hi", [hands("c", "email", "write"), says("then not")]).start().await;
    app.send("hi").await.end().await;
    let request = app.model.requests().remove(0);
    let tool = request.tools.iter().find(|tool| tool.name == "sub-agent").unwrap();
    assert!(!tool.input_schema.to_string().contains("email"), "{}", tool.input_schema);
    let error = &told_json(&app, "c")["error"];
    assert_eq!(error["code"], "unavailable");
    assert!(error["message"].as_str().unwrap().contains("email-query"), "{error}");
}

#[tokio::test]
async fn item_100_an_invalid_delegation_is_refused_before_anything_runs() {
    let bad = testkit::calls("c", "sub-agent", json!({ "name": "a" }));
    let empty = hands("d", "a", "  ");
    let app = Cast::new().with("go", [bad.clone(), bad, empty, says("sorry")]).start().await;
    define(&app, vec![sub("a", &[])]);
    app.send("go").await.end().await;
    let text = told(&app, "c");
    assert!(text.contains("validation_failed, unavailable") && text.contains("task"), "{text}");
    let result = told_json(&app, "d");
    assert_eq!(
        (&result["unavailable"], &result["error"]["code"]),
        (&json!(true), &json!("validation_failed"))
    );
    assert_eq!(app.rows().await["frames"], 0);
}

#[tokio::test]
async fn item_101_two_calls_use_two_instances_and_the_second_sees_nothing_of_the_first() {
    let app = Cast::new()
        .with("go", [hands("c1", "a", "first"), hands("c2", "a", "second"), says("done")])
        .with("first", [says("alpha secret")])
        .with("second", [says("beta")])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let message = app.send("go").await.message().await;
    let (first, second) = (nested(&message, "c1"), nested(&message, "c2"));
    assert_ne!(first.id, second.id);
    let requests = app.model.requests();
    let second =
        requests.iter().find(|request| format!("{:?}", request.messages[0]).contains("second")).unwrap();
    assert_eq!(second.messages.len(), 1);
    assert!(!format!("{second:?}").contains("alpha secret"), "{second:?}");
}

#[tokio::test]
async fn item_102_the_callers_memory_holds_only_the_call_and_its_result() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "look"), says("done")])
        .with(
            "look",
            [
                says("hidden work ").then(testkit::calls("x", "conf_echo", json!({"text": "deep"}))),
                says("found"),
            ],
        )
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    app.send("go").await.end().await;
    let requests = app.model.requests();
    let (first, last) = (&requests[0], requests.last().unwrap());
    assert_eq!(last.messages[..first.messages.len()], first.messages[..]);
    let added = &last.messages[first.messages.len()..];
    assert_eq!(added.len(), 2, "{added:?}");
    assert!(!format!("{added:?}").contains("hidden work"), "{added:?}");
}

#[tokio::test]
async fn item_103_the_context_of_a_delegation_is_kept_in_the_log_and_bounded() {
    let long = format!("{} end", "wort ".repeat(100));
    let app = Cast::new()
        .with(&long, [hands("c1", "a", "search"), hands("c2", "b", "read"), says("done")])
        .with("search", [says(&format!("found it: {}", "x".repeat(500)))])
        .with("read", [says("read it")])
        .start()
        .await;
    define(&app, vec![sub("a", &[]), sub("b", &[])]);
    // Both take part from the beginning: the second hears what the first found.
    let mut turn = app.send(&long).await;
    turn.end().await;
    let log = app.log("chat").await;
    let contexts: Vec<_> = log
        .iter()
        .filter_map(|entry| match &entry.event {
            testkit::protocol::SessionEvent::FrameOpened { parent: Some(parent), .. } => {
                Some(parent.context.clone())
            }
            _ => None,
        })
        .collect();
    assert_eq!(contexts.len(), 2, "item 104: built once for each call");
    for context in &contexts {
        for field in [
            "input_payload",
            "recent_events",
            "long_term_refs",
            "workspace_pointers",
            "safety_flags",
            "input_preview",
        ] {
            assert!(context.get(field).is_some(), "{field} is missing: {context}");
        }
        let events = context["recent_events"].as_array().unwrap();
        assert!(!events.is_empty() && events.len() <= 4);
        assert!(events.iter().all(|event| event["preview"].as_str().unwrap().chars().count() <= 200));
        assert!(context["input_preview"].as_str().unwrap().chars().count() <= 200);
        assert_eq!(context["supervisor"], "general");
    }
}

#[tokio::test]
async fn item_108_a_failing_sub_agent_is_told_and_the_run_goes_on() {
    let failing: Reply = testkit::fails(ModelError::Unauthorized);
    let app = Cast::new()
        .with("go", [hands("c", "a", "try"), says("I go on without it")])
        .with("try", [failing])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let message = app.send("go").await.message().await;
    let text = told(&app, "c");
    assert!(text.starts_with("unavailable (model_unavailable): The sub-agent \"a\" failed."), "{text}");
    assert!(message.text().ends_with("I go on without it"));
    let part = message.tool_parts().next().unwrap();
    assert!(matches!(&part.state, ToolState::OutputError { error_text, .. } if error_text == &text));
}

#[tokio::test]
async fn item_110_delegations_of_a_step_run_together_and_settle_in_call_order() {
    let (slow, quick) = (Gate::new(), Gate::new());
    let both = hands("c1", "a", "slow").then(hands("c2", "b", "quick")).then(hands("c3", "b", "bad"));
    let app = Cast::new()
        .with("go", [both, says("all back")])
        .with("slow", [says("tor").then(waits(&slow)).then(says("toise"))])
        .with("quick", [waits(&quick).then(says("hare"))])
        .with("bad", [testkit::fails(ModelError::Cut)])
        .start()
        .await;
    define(&app, vec![sub("a", &[]), sub("b", &[])]);
    let mut turn = app.send("go").await;
    slow.reached().await;
    quick.reached().await;
    quick.open();
    slow.open();
    let message = turn.message().await;
    let settled: Vec<String> = turn
        .chunks
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::ToolOutputAvailable { tool_call_id, preliminary: false, .. } => {
                Some(tool_call_id.to_string())
            }
            Chunk::ToolOutputError { tool_call_id, .. } => Some(tool_call_id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(settled, ["c1", "c2", "c3"]);
    assert_eq!(
        (nested(&message, "c1").text(), nested(&message, "c2").text()),
        ("tortoise".into(), "hare".into())
    );
}

#[tokio::test]
async fn item_119_nested_progress_is_shown_under_its_call_and_never_reaches_the_callers_model() {
    let gate = Gate::new();
    let app = Cast::new()
        .with("go", [hands("c", "a", "dig"), says("done")])
        .with("dig", [says("digging ").then(waits(&gate)).then(says("gold"))])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let mut turn = app.send("go").await;
    let shown = turn
        .until(|chunk| matches!(chunk, Chunk::ToolOutputAvailable { preliminary: true, output, .. } if output.to_string().contains("digging")))
        .await;
    let Chunk::ToolOutputAvailable { tool_call_id, output, .. } = shown else { unreachable!() };
    assert_eq!((tool_call_id.as_ref(), &output["metadata"]["agentName"]), ("c", &json!("a")));
    gate.open();
    turn.end().await;
    for request in app.model.requests() {
        let for_main = format!("{:?}", request.messages[0]).contains("\"go\"");
        assert!(!for_main || !format!("{:?}", request.messages).contains("preliminary"), "{request:?}");
    }
    let results: Vec<_> = app.model.requests().pop().unwrap().messages;
    assert!(results.iter().any(
        |message| matches!(&**message, ModelMessage::Tool { text, .. } if text.contains("digging gold"))
    ));
}

#[tokio::test]
async fn the_nested_message_is_one_object_in_stream_history_and_its_own_chat() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("done")])
        .with("outer", [hands("d", "b", "inner"), says("outer said")])
        .with("inner", [says("inner said")])
        .start()
        .await;
    define(&app, vec![sub("a", &["b"]), sub("b", &[])]);
    let message = app.send("go").await.message().await;
    let outer = nested(&message, "c");
    let inner = nested(&outer, "d");
    assert_eq!(inner.text(), "inner said");
    let agent = &inner.metadata.as_ref().unwrap()["agent"];
    assert_eq!(
        *agent,
        json!({"kind": "sub", "name": "b", "displayName": "b", "depth": 2, "path": ["general", "a", "b"]})
    );
    assert_eq!(app.main.history().await.pop().unwrap(), message);
    let chat = inner.metadata.as_ref().unwrap()["chatId"].as_str().unwrap().to_owned();
    let own = app.chat(&chat).history().await;
    assert_eq!((own.len(), own[0].text(), &own[1]), (2, "inner".to_owned(), &inner));
    let rows = app.rows().await;
    assert_eq!((rows["frames"], rows["messages"]), (2, 2), "each message is stored once");
    let result = told_json(&app, "c");
    assert_eq!((&result["ok"], &result["summary"]), (&json!(true), &json!("outer said")));
    assert_eq!(result["messageId"], json!(outer.id));
    assert_eq!(output(&message, "c")["id"], json!(outer.id));
}

#[tokio::test]
async fn an_agent_that_ends_on_a_tool_result_or_says_nothing_gets_one_more_chance() {
    let echo = || testkit::calls("x", "conf_echo", json!({"text": "e"}));
    let app = Cast::new()
        .with(
            "go",
            [
                hands("c1", "a", "mute").then(hands("c2", "a", "shy")).then(hands("c3", "a", "dumb")),
                says("done"),
            ],
        )
        .with("mute", [echo(), Reply::default(), says("summed up")])
        .with("shy", [Reply::default(), says("well")])
        .with("dumb", [Reply::default(), Reply::default(), Reply::default()])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let message = app.send("go").await.message().await;
    assert_eq!(nested(&message, "c1").text(), "summed up");
    let failed = told(&app, "c3");
    assert!(failed.contains("empty_result"), "{failed}");
}

#[tokio::test]
async fn item_105_a_sub_agent_uses_its_callers_model_unless_it_names_another_and_the_caller_keeps_its_own() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "plain"), hands("d", "b", "special"), says("done")])
        .with("plain", [says("as usual")])
        .start()
        .await;
    let model = ModelChoice { provider: "nowhere".to_owned(), model_id: "x1".to_owned(), params: Map::new() };
    define(&app, vec![sub("a", &[]), AgentDefinition { model: Some(model), ..sub("b", &[]) }]);
    let message = app.send("go").await.message().await;
    let own = |message: &UiMessage| message.metadata.as_ref().unwrap()["model"].clone();
    assert_eq!(own(&nested(&message, "c")), own(&message));
    // Nothing else is asked in its place, and the caller continues with its own model.
    let refused = told_json(&app, "d");
    assert_eq!(refused["error"]["code"], "model_unavailable", "{refused}");
    assert!(message.text().ends_with("done"));
}
