//! The one gate: each refusal has its code, in a fixed order, for the model and for the person.

use engine::agents::{AgentDefinition, BudgetLimits};
use serde_json::{Value, json};
use testkit::{TestApp, protocol::AgentKind, says};

use super::cast::{Cast, define, define_with, hands, here, output, sub, told_json};

async fn refused(app: &TestApp, call: &str) -> (String, String) {
    let message = app.send("go").await.message().await;
    let result = told_json(app, call);
    assert_eq!(result["ok"], json!(false), "{result}");
    // The person sees the same in the stream.
    if let Some(part) = message.tool_parts().find(|part| part.call.as_str() == call) {
        assert_eq!(output(&message, part.call.as_str()), result);
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&result["error"]["code"]), text(&result["error"]["message"]))
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
