//! Services of the agent loop: hooks in order, structured answers, tool groups.

use std::sync::{Arc, Mutex};

use engine::{
    agents::{AgentDefinition, ToolGroup},
    hooks::{Hook, HookPoint, Hooks},
};
use serde_json::{Value, json};
use testkit::{
    Reply, TestApp, calls,
    models::ModelRequest,
    protocol::{ToolCall, ToolOutcome},
    says,
};

use super::cast::{Cast, define, hands, nested, sub, told, told_json};

#[derive(Default)]
struct Counting(Mutex<Vec<String>>);

impl Counting {
    fn add(&self, phase: &str, at: &HookPoint) {
        self.0.lock().unwrap().push(format!("{phase} {}", at.agent));
    }
}

impl Hook for Counting {
    fn pre_reply(&self, at: &HookPoint) {
        self.add("pre_reply", at);
    }

    fn pre_reasoning(&self, at: &HookPoint) -> Option<String> {
        self.add("pre_reasoning", at);
        (at.agent == "a").then(|| "hint for a".to_owned())
    }

    fn post_reasoning(&self, at: &HookPoint) {
        self.add("post_reasoning", at);
    }

    fn post_acting(&self, at: &HookPoint, call: &ToolCall, _: &ToolOutcome) -> Option<Value> {
        self.add(&format!("post_acting {}", call.name), at);
        (call.name == "conf_echo").then(|| json!({ "tidied": true }))
    }
}

#[tokio::test]
async fn hooks_run_in_order_once_for_each_phase_and_may_change_an_output() {
    let counting = Arc::new(Counting::default());
    let cast = Cast::new()
        .with("go", [hands("c", "a", "task"), says("done")])
        .with("task", [calls("x", "conf_echo", json!({ "text": "e" })), says("ok")]);
    let hooks = Hooks(vec![Arc::clone(&counting) as _]);
    let app = TestApp::builder().script(cast.model()).engine(|settings| settings.hooks = hooks).start().await;
    define(&app, vec![sub("a", &[])]);
    app.send("go").await.end().await;
    assert_eq!(
        *counting.0.lock().unwrap(),
        [
            "pre_reply general",
            "pre_reasoning general",
            "post_reasoning general",
            "pre_reply a",
            "pre_reasoning a",
            "post_reasoning a",
            "post_acting conf_echo a",
            "pre_reasoning a",
            "post_reasoning a",
            "post_acting sub-agent general",
            "pre_reasoning general",
            "post_reasoning general",
        ]
    );
    assert_eq!(told(&app, "x"), "{\"tidied\":true}");
    let requests = app.model.requests();
    let hinted = |request: &ModelRequest| format!("{:?}", request.messages.last()).contains("hint for a");
    assert_eq!(requests.iter().filter(|request| hinted(request)).count(), 2, "used and forgotten");
}

fn structured(call: &str, task: &str) -> Reply {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    calls(call, "sub-agent", json!({ "name": "a", "task": task, "options": { "outputSchema": schema } }))
}

#[tokio::test]
async fn item_114_a_structured_answer_is_checked_and_an_invalid_one_is_fed_back() {
    let app = Cast::new()
        .with("go", [structured("c", "count"), hands("d", "a", "free"), says("done")])
        .with(
            "count",
            [
                calls("x", "generate_response", json!({ "n": "many" })),
                calls("y", "generate_response", json!({ "n": 7 })),
            ],
        )
        .with("free", [says("as I like")])
        .start()
        .await;
    define(&app, vec![sub("a", &[])]);
    let message = app.send("go").await.message().await;
    let result = told_json(&app, "c");
    assert_eq!(result["response_metadata"]["structured_output"], json!({ "n": 7 }));
    assert_eq!(
        serde_json::from_str::<Value>(result["summary"].as_str().unwrap()).unwrap(),
        json!({ "n": 7 })
    );
    assert!(told(&app, "x").contains("the answer.n: must be integer, is string"), "{}", told(&app, "x"));
    assert_eq!(nested(&message, "c").metadata.unwrap()["structuredOutput"], json!({ "n": 7 }));
    let offered = |request: &ModelRequest| request.tools.iter().any(|tool| tool.name == "generate_response");
    let count = app.model.requests().iter().filter(|request| offered(request)).count();
    assert_eq!(count, 2, "without a schema the tool is not offered");
}

#[tokio::test]
async fn item_115_with_a_schema_the_limit_gives_a_valid_object_or_an_explicit_failure() {
    let echo = || calls("", "conf_echo", json!({ "text": "e" }));
    let app = Cast::new()
        .with("go", [structured("c", "valid"), structured("d", "never"), says("done")])
        .with("valid", [echo(), calls("y", "generate_response", json!({ "n": 1 }))])
        .with("never", [echo(), says("I would rather talk"), says("and talk"), says("and talk")])
        .start()
        .await;
    define(&app, vec![AgentDefinition { max_steps: 1, ..sub("a", &[]) }]);
    app.send("go").await.end().await;
    assert_eq!(told_json(&app, "c")["limit"], "steps");
    assert!(told(&app, "d").contains("no_structured_output"), "{}", told(&app, "d"));
}

#[tokio::test]
async fn item_117_only_active_tool_groups_are_offered_and_a_wrong_change_changes_nothing() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "equip"), says("done")])
        .with(
            "equip",
            [
                calls("x", "reset_equipped_tools", json!({ "clock": true, "nonsense": true })),
                calls("y", "reset_equipped_tools", json!({ "clock": "yes" })),
                calls("z", "reset_equipped_tools", json!({ "clock": true })),
                says("equipped"),
            ],
        )
        .start()
        .await;
    let group = |name: &str, tool: &str, active| ToolGroup {
        name: name.to_owned(),
        description: String::new(),
        tools: vec![tool.to_owned()],
        active,
    };
    let mut agent = sub("a", &[]);
    agent.tools = vec!["conf_fail".to_owned()];
    agent.tool_groups = vec![group("talk", "conf_echo", true), group("clock", "time-now", false)];
    define(&app, vec![agent]);
    app.send("go").await.end().await;
    let requests = app.model.requests();
    let kits: Vec<Vec<&str>> = requests
        .iter()
        .filter(|request| request.system.contains("one of a test's agents"))
        .map(|request| request.tools.iter().map(|tool| tool.name.as_str()).collect())
        .collect();
    let first = vec!["conf_echo", "conf_fail", "reset_equipped_tools"];
    assert_eq!(kits[..3], [first.clone(), first.clone(), first]);
    assert_eq!(kits[3], ["time-now", "conf_fail", "reset_equipped_tools"]);
    assert!(told(&app, "x").contains("no tool group named `nonsense`"));
    assert!(told(&app, "y").contains("must be true or false"));
    assert!(
        !requests[0].tools.iter().any(|tool| tool.name == "reset_equipped_tools"),
        "only where it is enabled"
    );
}

#[tokio::test]
async fn item_011_a_tool_of_an_inactive_group_is_refused_as_such_and_an_unknown_one_as_unknown() {
    let app = Cast::new()
        .with("go", [hands("c", "a", "equip"), says("done")])
        .with("equip", [calls("x", "time-now", json!({})), calls("y", "made-up", json!({})), says("tried")])
        .start()
        .await;
    let mut agent = sub("a", &[]);
    agent.tool_groups = vec![ToolGroup {
        name: "clock".to_owned(),
        description: String::new(),
        tools: vec!["time-now".to_owned()],
        active: false,
    }];
    define(&app, vec![agent]);
    app.send("go").await.end().await;
    assert!(told(&app, "x").contains("inactive group \"clock\""), "{}", told(&app, "x"));
    assert!(told(&app, "y").contains("There is no tool named \"made-up\""), "{}", told(&app, "y"));
}
