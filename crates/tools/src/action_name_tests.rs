//! `actionName`: every host tool asks for it, no call needs it, contract tools and tools with a bare string have none.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Executor, Family, Group, Registry, Tool, ToolCtx, ToolError, erase, read_arguments, schema::ACTION_NAME,
    testing,
};

/// Run a script.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct Script(String);

struct Repl;

impl Tool for Repl {
    const NAME: &'static str = "repl";
    type Input = Script;
    type Output = String;

    async fn run(&self, _: ToolCtx, input: Script) -> Result<String, ToolError> {
        Ok(input.0)
    }
}

#[test]
fn every_host_tool_asks_for_it_first_and_contract_tools_do_not_have_it() {
    let registry = Registry::builtin(&Group::ALL).unwrap();
    let mut hosts = 0;
    for tool in registry.all() {
        let spec = tool.spec();
        let first =
            spec.input_schema["properties"].as_object().and_then(|fields| fields.keys().next().cloned());
        let required = spec.input_schema["required"].as_array().cloned().unwrap_or_default();
        if tool.family() == Family::Host {
            hosts += 1;
            assert_eq!(first.as_deref(), Some(ACTION_NAME), "{}", spec.name);
            assert_eq!(required.first(), Some(&json!(ACTION_NAME)), "{}", spec.name);
        } else {
            assert!(!spec.input_schema.to_string().contains(ACTION_NAME), "{}", spec.name);
        }
    }
    assert!(hosts >= 10, "{hosts}");
}

#[test]
fn no_call_fails_for_want_of_it_or_because_of_it() {
    let registry = Registry::builtin(&[]).unwrap();
    let input = |name: &str| match name {
        "read-file" | "list-dir" => json!({ "path": "a" }),
        "grep-files" | "glob-files" => json!({ "pattern": "a" }),
        "write-file" => json!({ "path": "a", "content": "" }),
        "edit-file" => json!({ "path": "a", "edits": [{ "oldText": "a", "newText": "b" }] }),
        "apply-patch" => json!({ "patch": "" }),
        "update-plan" => json!({ "plan": [{ "step": "a", "status": "pending" }] }),
        "shell" => json!({ "command": ["ls"] }),
        "shell-command" => json!({ "command": "ls" }),
        "exec-command" => json!({ "cmd": "ls" }),
        "write-stdin" => json!({ "sessionId": "job_1" }),
        "request-user-input" => json!({ "question": "a" }),
        _ => json!({}),
    };
    for tool in
        registry.all().filter(|tool| tool.family() == Family::Host && tool.executor() == Executor::Server)
    {
        let name = tool.spec().name.clone();
        let mut input = input(&name);
        tool.clone().prepare(&input).map(|_| ()).unwrap_or_else(|error| panic!("{name}: {error}"));
        input[ACTION_NAME] = json!("look around");
        tool.clone().prepare(&input).map(|_| ()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[tokio::test]
async fn a_tool_whose_input_is_a_string_takes_the_string_itself() {
    let tool = erase(Repl, Family::Host);
    assert_eq!(tool.spec().input_schema, json!({ "type": "string" }));
    let read = read_arguments(&*tool, r#""1 + 1""#).unwrap();
    assert_eq!(read, json!("1 + 1"));
    let done = testing::call_in(testing::ctx(&Default::default()), tool.clone(), read).await;
    assert_eq!(done, Ok(Value::from("1 + 1")));
    let wrapped = tool.prepare(&json!({ "actionName": "add", "input": "1 + 1" })).map(|_| ());
    assert!(wrapped.is_err(), "an object is not the string");
}
