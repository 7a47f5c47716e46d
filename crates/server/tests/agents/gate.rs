//! The checks of a delegation: each refusal has its code, in a fixed order, for the model and for the person.

use engine::{
    SubAgentLimits,
    agents::{AgentDefinition, BudgetLimits},
};
use serde_json::{Value, json};
use testkit::{
    Gate, TestApp,
    protocol::{AgentKind, ToolState, UiMessage},
    says, waits,
};

use super::cast::{Cast, define, define_with, hands, here, nested, output, sub, told, told_json};

/// The refusal of a call: the model was sent it, and the person has it in the stream, in the same words.
async fn refused(app: &TestApp, call: &str) -> (String, String) {
    let mut turn = app.send("go").await;
    let message = turn.message().await;
    let result = told_json(app, call);
    assert_eq!(result["ok"], json!(false), "{result}");
    let shown = find(&message, call).unwrap_or_else(|| panic!("{call} is nowhere in {message:#?}"));
    assert_eq!(shown, result, "the history");
    let chunks = turn.chunks.iter().map(|chunk| serde_json::to_string(chunk).unwrap());
    let words = result["error"]["message"].to_string();
    let told = chunks.filter(|chunk| chunk.contains("tool-output-available") && chunk.contains(&words));
    assert!(told.count() > 0, "the stream never said {words}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&result["error"]["code"]), text(&result["error"]["message"]))
}

/// The output of a call, in this message or in those of the agents below it.
fn find(message: &UiMessage, call: &str) -> Option<Value> {
    if message.tool_parts().any(|part| part.call.as_str() == call) {
        return Some(output(message, call));
    }
    message.tool_parts().find_map(|part| match &part.state {
        ToolState::OutputAvailable { output, .. } => {
            find(&serde_json::from_value(output.clone()).ok()?, call)
        }
        _ => None,
    })
}

#[tokio::test]
async fn an_unknown_name_is_answered_with_the_names_there_are() {
    let app = Cast::new().with("go", [hands("c", "b", "x"), says("ok")]).start().await;
    define(&app, vec![sub("a", &[])]);
    let (code, message) = refused(&app, "c").await;
    assert_eq!(code, "not_found");
    assert!(message.contains("research") && message.contains("dynamic"), "{message}");
}

#[tokio::test]
async fn rule_5_2_allow_list_only_named_agents_can_be_called() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("ok")])
        .with("outer", [hands("d", "b", "x"), says("not allowed")])
        .start()
        .await;
    define(&app, vec![sub("a", &["c"]), sub("b", &[]), sub("c", &[])]);
    let (code, message) = refused(&app, "d").await;
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("not_allowed", "You may not call \"b\". You may call: c.")
    );
}

#[tokio::test]
async fn rule_5_2_cycle_an_agent_already_in_the_path_is_refused() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("ok")])
        .with("outer", [hands("d", "b", "inner"), says("x")])
        .with("inner", [hands("e", "a", "again"), says("y")])
        .start()
        .await;
    define(&app, vec![sub("a", &["b"]), sub("b", &["a"])]);
    let (code, message) = refused(&app, "e").await;
    assert_eq!(code, "recursion");
    assert!(message.contains("general > a > b"), "{message}");
}

#[tokio::test]
async fn rule_5_2_maximum_depth_is_the_smallest_on_the_path() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("ok")])
        .with("outer", [hands("d", "b", "inner"), says("x")])
        .with("inner", [hands("e", "c", "deepest"), says("y")])
        .start()
        .await;
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.max_depth = 2;
    main.allowed_sub_agents = vec!["a".to_owned()];
    main.tools = vec!["*".to_owned()];
    main.workspace = Some(here());
    define_with(&app, main, vec![sub("a", &["b"]), sub("b", &["c"]), sub("c", &[])]);
    let (code, message) = refused(&app, "e").await;
    assert_eq!(code, "max_depth");
    assert!(message.contains("2 levels"), "{message}");
}

#[tokio::test]
async fn rule_5_2_allow_list_an_empty_list_means_that_there_is_no_tool_to_delegate_with() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("ok")])
        .with("outer", [hands("d", "b", "x"), hands("d2", "b", "x"), says("alone then")])
        .start()
        .await;
    define(&app, vec![sub("a", &[]), sub("b", &[])]);
    let message = app.send("go").await.message().await;
    let requests = app.model.requests();
    let outer = requests.iter().find(|request| request.system.contains("one of a test's agents")).unwrap();
    assert!(!outer.tools.iter().any(|tool| tool.name == "sub-agent"), "{:?}", outer.tools);
    assert!(told(&app, "d").contains("sub-agent"), "{}", told(&app, "d"));
    assert_eq!(app.rows().await["frames"], 1, "nobody else was at work");
    assert_eq!(message.text(), "ok");
}

#[tokio::test]
async fn rule_5_2_cycle_an_agent_cannot_call_itself_not_even_under_another_name() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("ok")])
        .with("outer", [hands("d", "me", "again"), says("x")])
        .start()
        .await;
    let me = AgentDefinition { aliases: vec!["me".to_owned()], ..sub("a", &["a", "b"]) };
    define(&app, vec![me, sub("b", &[])]);
    assert_eq!(refused(&app, "d").await.0, "recursion");
}

#[tokio::test]
async fn rule_5_2_cycle_the_same_agent_side_by_side_is_no_cycle() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "one").then(hands("d", "a", "two")), says("ok")])
        .with("one", [says("1")])
        .with("two", [says("2")])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let message = app.send("go").await.message().await;
    assert_eq!((nested(&message, "c").text(), nested(&message, "d").text()), ("1".into(), "2".into()));
}

#[tokio::test]
async fn rule_5_2_maximum_depth_the_last_level_still_works() {
    let names = ["a", "b", "c", "d", "e"];
    let mut cast = Cast::new().with("go", [hands("go", "a", "a"), says("ok")]);
    for (place, name) in names.iter().enumerate().take(4) {
        let next = names[place + 1];
        cast = cast.with(name, [hands(name, next, next), says(name)]);
    }
    let app = cast.start().await;
    let subs = (0..5).map(|place| sub(names[place], names.get(place + 1..place + 2).unwrap_or_default()));
    define(&app, subs.collect());
    let (code, message) = refused(&app, "d").await;
    assert_eq!(code, "max_depth");
    assert!(message.contains("4 levels") && message.contains("level 4"), "{message}");
    assert_eq!(app.rows().await["frames"], 4);
}

#[tokio::test]
async fn rule_5_2_refusals_come_in_a_fixed_order() {
    // Unknown before not allowed; not allowed before a cycle; a cycle before depth.
    let app = Cast::new()
        .with("go", [hands("c", "a", "outer"), says("ok")])
        .with(
            "outer",
            [
                hands("d1", "nobody", "x").then(hands("d2", "b", "x")).then(hands("d3", "a", "x")),
                says("three times no"),
            ],
        )
        .start()
        .await;
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.max_depth = 1;
    main.allowed_sub_agents = vec!["a".to_owned()];
    main.tools = vec!["*".to_owned()];
    main.workspace = Some(here());
    define_with(&app, main, vec![sub("a", &["a", "c"]), sub("b", &[]), sub("c", &[])]);
    app.send("go").await.end().await;
    let codes = ["d1", "d2", "d3"].map(|call| told_json(&app, call)["error"]["code"].clone());
    assert_eq!(codes, ["not_found", "not_allowed", "recursion"].map(Value::from));
}

#[tokio::test]
async fn a_full_queue_is_refused_with_a_text_the_model_can_act_on() {
    let gate = Gate::new();
    let both = hands("c1", "a", "hold").then(hands("c2", "a", "hold"));
    let cast =
        Cast::new().with("go", [both, says("ok")]).with("hold", [waits(&gate).then(says("held")), says("x")]);
    let limits = SubAgentLimits { running: 1, queued: 0 };
    let app = TestApp::builder().script(cast.model()).sub_agents(limits).start().await;
    define(&app, vec![sub("a", &[])]);
    let mut turn = app.send("go").await;
    gate.reached().await;
    gate.open();
    let message = turn.message().await;
    let refused = ["c1", "c2"].map(|call| told_json(&app, call)).into_iter().find(|told| told["ok"] == false);
    let refused = refused.unwrap();
    assert_eq!((&refused["error"]["code"], &refused["unavailable"]), (&json!("queue_full"), &json!(true)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("Wait for results"), "{refused}");
    let shown = ["c1", "c2"].map(|call| output(&message, call));
    assert!(shown.contains(&refused), "the person sees it too: {shown:?}");
}

#[tokio::test]
async fn a_disabled_agent_and_an_empty_budget_are_refused_with_a_text_the_model_can_act_on() {
    let app = Cast::new().with("go", [hands("c", "a", "x"), says("ok")]).start().await;
    define(&app, vec![AgentDefinition { enabled: false, ..sub("a", &[]) }]);
    assert_eq!(refused(&app, "c").await.0, "disabled");

    let app = Cast::new().with("go", [hands("c", "a", "x"), says("ok")]).start().await;
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.allowed_sub_agents = vec!["a".to_owned()];
    main.tools = vec!["*".to_owned()];
    main.budget = BudgetLimits { steps: Some(1), ..BudgetLimits::default() };
    main.workspace = Some(here());
    define_with(&app, main, vec![sub("a", &[])]);
    let (code, message) = refused(&app, "c").await;
    assert_eq!(code, "over_budget");
    assert!(message.contains("model calls"), "{message}");
}

#[tokio::test]
async fn a_dynamic_agent_never_gets_more_tools_than_its_caller() {
    let dynamic = |call: &str, tool: &str| {
        let options = json!({"prompt": "You tell the time.", "tools": [tool]});
        testkit::calls(call, "sub-agent", json!({"name": "dynamic", "task": "time", "options": options}))
    };
    let app = Cast::new()
        .with("go", [dynamic("c", "time-now"), dynamic("d", "launch-rocket"), says("ok")])
        .with("time", [says("late")])
        .start()
        .await;
    define(&app, vec![]);
    let (code, message) = refused(&app, "d").await;
    assert_eq!(code, "validation_failed");
    assert!(message.contains("launch-rocket") && message.contains("time-now"), "{message}");
    let requests = app.model.requests();
    let child = requests.iter().find(|request| request.system.contains("You tell the time.")).unwrap();
    assert_eq!(child.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["time-now"]);
    assert_eq!(told_json(&app, "c")["summary"], "late");
}
