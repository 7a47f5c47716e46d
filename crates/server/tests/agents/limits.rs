//! Budgets of an agent tree: reserved before each call; at the limit the agent gets one turn without tools, marked as such.

use engine::agents::{AgentDefinition, BudgetLimits};
use serde_json::json;
use testkit::{Gate, calls, protocol::Usage, says, waits};

use super::cast::{Cast, define, hands, nested, sub, told_json};

fn echo(call: &str) -> testkit::Reply {
    calls(call, "conf_echo", json!({ "text": "e" }))
}

fn limited(budget: BudgetLimits) -> AgentDefinition {
    AgentDefinition { budget, ..sub("a", &[]) }
}

#[tokio::test]
async fn item_115_at_the_step_limit_a_sub_agent_summarises_without_tools_and_says_so() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "long"), says("done")])
        .with("long", [echo("x"), echo("y"), says("this far")])
        .start()
        .await;
    define(&app, vec![AgentDefinition { max_steps: 2, ..sub("a", &[]) }]);
    let message = app.send("go").await.message().await;
    let long = nested(&message, "c");
    assert_eq!(long.text(), "this far");
    assert_eq!(long.metadata.unwrap()["limit"], "steps");
    let result = told_json(&app, "c");
    assert_eq!((&result["summary"], &result["limit"]), (&json!("this far"), &json!("steps")));
    let told = |request: &testkit::models::ModelRequest| {
        format!("{:?}", request.messages).contains("reached the limit")
    };
    assert_eq!(
        app.model.requests().iter().filter(|request| told(request)).count(),
        1,
        "one turn, and it is told why"
    );
}

#[tokio::test]
async fn tokens_of_the_whole_tree_count() {
    let usage = Usage { total_tokens: 900, ..Usage::default() };
    let app = Cast::new()
        .with("go", [hands("c", "a", "hungry"), says("done")])
        .with("hungry", [echo("x").uses(usage), echo("y").uses(usage), says("full")])
        .start()
        .await;
    define(&app, vec![limited(BudgetLimits { tokens: Some(1_500), ..BudgetLimits::default() })]);
    let message = app.send("go").await.message().await;
    let hungry = nested(&message, "c");
    assert_eq!((hungry.text().as_str(), &hungry.metadata.unwrap()["limit"]), ("full", &json!("tokens")));
}

#[tokio::test]
async fn when_its_time_is_up_a_sub_agent_is_interrupted_and_says_what_it_has() {
    let never = Gate::new();
    let app = Cast::new()
        .with("go", [hands("c", "a", "slow"), says("done")])
        .with("slow", [says("half ").then(waits(&never))])
        .start()
        .await;
    define(&app, vec![limited(BudgetLimits { wall_time_ms: Some(60), ..BudgetLimits::default() })]);
    let message = app.send("go").await.message().await;
    let slow = nested(&message, "c");
    assert_eq!(slow.metadata.unwrap()["limit"], "time");
    assert!(told_json(&app, "c")["summary"].as_str().unwrap().contains("half"));
}
