//! A definition is used from the next message on, as a sub-agent and as the main agent, and never with more rights than it
//! may have.

use serde_json::{Value, json};
use testkit::{
    Scripted, TestApp, calls,
    models::ModelRequest,
    protocol::{AgentId, ErrorCode, WorkspaceId},
    says,
    store::Definitions,
    test_tools::TestTool,
};

use super::cast::{Cast, hands, nested, told_json};

async fn define(app: &TestApp, definition: Value) -> Value {
    let answer = app.caller.post_json("/api/agents", &definition).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()
}

fn names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// Whom the `sub-agent` tool of this request offers.
fn offered(request: &ModelRequest) -> Vec<String> {
    let spec = request.tools.iter().find(|tool| tool.name == "sub-agent");
    let names = spec.map(|spec| spec.input_schema["properties"]["name"]["enum"].clone()).unwrap_or_default();
    names.as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn helper(tools: &[&str]) -> Value {
    json!({ "name": "helper", "description": "Helps.", "systemPrompt": "You help {{ caller }}.", "toolKeys": tools })
}

#[tokio::test]
async fn item_098_a_new_definition_is_valid_for_sub_agent_in_the_next_message() {
    let app = Cast::new()
        .with("before", [hands("c", "helper", "x"), says("not yet")])
        .with("now", [hands("d", "helper", "task"), says("helped")])
        .with("task", [says("I helped.")])
        .with("after", [hands("e", "helper", "y"), says("no more")])
        .start()
        .await;
    app.send("before").await.end().await;
    assert_eq!(told_json(&app, "c")["error"]["code"], "not_found");
    assert!(!offered(&app.model.requests()[0]).contains(&"helper".to_owned()));

    let made = define(&app, helper(&["time-now"])).await;
    let message = app.send("now").await.message().await;
    assert_eq!(nested(&message, "d").text(), "I helped.");
    let requests = app.model.requests();
    let child = requests.iter().find(|request| &*request.system == "You help general.").unwrap();
    assert_eq!(names(child), ["time-now"]);
    assert!(requests.iter().any(|request| offered(request).contains(&"helper".to_owned())));

    let path = format!("/api/agents/{}", made["id"].as_str().unwrap());
    let off = app.caller.patch_json(&path, &json!({ "version": 1, "enabled": false })).await;
    assert_eq!(off.status, 200);
    app.send("after").await.end().await;
    assert_eq!(told_json(&app, "e")["error"]["code"], "disabled");
}

#[tokio::test]
async fn a_definition_can_be_talked_to_with_its_prompt_tools_and_steps() {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("Hello."))).start().await;
    define(&app, json!({
        "name": "tutor", "aliases": ["teacher"], "systemPrompt": "You teach {{ project|default('nothing') }} with {{ tools|join('+') }}.",
        "toolKeys": ["time-now"], "modes": ["project"], "pageIds": ["school"],
    }))
    .await;
    let fields = json!({ "agentId": "teacher", "projectId": "maths", "pageId": "school" });
    let message = app.main.send_with("hi", fields).await.message().await;
    assert_eq!(message.metadata.unwrap()["agent"]["name"], "tutor");
    let request = app.model.requests().pop().unwrap();
    assert!(request.system.starts_with("You teach maths with time-now."), "{}", request.system);
    assert_eq!(names(&request), ["time-now"]);
    for fields in [json!({ "pageId": "kitchen" }), json!({ "mode": "settings" })] {
        let mut fields = fields;
        fields["agentId"] = json!("tutor");
        let body = app.chat("other").body_of("hi", fields);
        let refused = app.chat("other").post(&body).await;
        refused.assert_sentence(ErrorCode::InvalidMessage);
        assert!(refused.body.contains("in this mode or on this page"), "{}", refused.body);
    }
}

#[tokio::test]
async fn a_main_agent_of_the_database_takes_the_place_of_the_programs() {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("Hello."))).start().await;
    define(&app, json!({ "name": "general", "kind": "main", "systemPrompt": "You are ours." })).await;
    app.send("hi").await.end().await;
    let request = app.model.requests().pop().unwrap();
    assert!(request.system.starts_with("You are ours.\n\n"));
    assert_eq!(request.tools.len(), 0);
    let shown = app.get("/api/agents/general").await.json();
    assert_eq!((&shown["source"], &shown["kind"]), (&json!("database"), &json!("main")));
}

#[tokio::test]
async fn rule_7_1_a_definition_can_only_name_tools_of_the_registry() {
    let app = TestApp::scripted([]).await;
    let refused = app.caller.post_json("/api/agents", &helper(&["time-now", "time-nwo"])).await;
    refused.assert_problem(ErrorCode::InvalidAgent);
    let problem = refused.json()["problems"][0].clone();
    assert_eq!(problem["path"], "toolKeys[1]");
    assert_eq!(problem["message"], "There is no tool named \"time-nwo\".");
    assert!(problem["fix"].as_str().unwrap().starts_with("Did you mean time-now?"), "{problem}");
}

#[tokio::test]
async fn a_tool_that_the_workspace_may_not_use_is_refused_and_never_offered() {
    let app = TestApp::builder()
        .script(Scripted::choosing(|_| says("Hello.")))
        .engine(|settings| {
            settings.workspace_tools.limit(WorkspaceId::default_workspace(), ["time-now".to_owned()]);
        })
        .start()
        .await;
    let refused = app.caller.post_json("/api/agents", &helper(&["update-plan"])).await;
    assert_eq!(refused.json()["problems"][0]["code"], "tool_not_allowed");
    app.send("hi").await.end().await;
    assert_eq!(names(&app.model.requests()[0]), ["time-now", "sub-agent"], "not even to what has every tool");
    let shown = app.get("/api/agents/test-approval").await.json();
    assert_eq!(shown["reason"], "this workspace may not use the tool test-approval");
}

#[tokio::test]
async fn more_than_its_parent_has_is_refused_when_it_is_defined() {
    let app = TestApp::scripted([]).await;
    let made = define(&app, helper(&["time-now"])).await;
    let lead = json!({ "name": "lead", "systemPrompt": "p", "allowedSubAgents": ["helper"] });
    let refused = app.caller.post_json("/api/agents", &lead).await;
    let problem = refused.json()["problems"][0].clone();
    assert_eq!(
        (&problem["path"], &problem["code"]),
        (&json!("allowedSubAgents[0]"), &json!("more_than_parent"))
    );
    let mut lead = lead;
    lead["toolKeys"] = json!(["time-now"]);
    define(&app, lead).await;
    let path = format!("/api/agents/{}", made["id"].as_str().unwrap());
    let more = json!({ "version": 1, "toolKeys": ["time-now", "update-plan"] });
    let refused = app.caller.patch_json(&path, &more).await;
    let problem = refused.json()["problems"][0].clone();
    assert_eq!((&problem["path"], &problem["code"]), (&json!("toolKeys[1]"), &json!("more_than_parent")));
    assert_eq!(problem["message"], "\"lead\" may call this agent and does not have update-plan itself.");
}

#[tokio::test]
async fn more_than_its_caller_has_is_refused_at_the_gate() {
    let app = Cast::new()
        .with("go", [hands("c", "lead", "lead it"), says("ok")])
        .with("lead it", [hands("d", "helper", "x"), says("not allowed")])
        .start()
        .await;
    // The caller is named before it exists, so that nothing could be compared when the helper was defined.
    let stored = |name: &str, tools: &[&str], calls: &[&str]| {
        let mut agent = super::cast::sub(name, calls);
        agent.tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        agent
    };
    super::cast::define(
        &app,
        vec![stored("lead", &[], &["helper", "dynamic"]), stored("helper", &["time-now"], &[])],
    );
    app.send("go").await.end().await;
    let refusal = told_json(&app, "d")["error"].clone();
    assert_eq!(refusal["code"], "not_allowed");
    assert!(
        refusal["message"].as_str().unwrap().contains("has tools that you do not have (time-now)"),
        "{refusal}"
    );
    let lead = app
        .model
        .requests()
        .into_iter()
        .find(|request| format!("{:?}", request.messages).contains("lead it"));
    assert_eq!(offered(&lead.unwrap()), ["dynamic"], "nor is it offered");
}

#[tokio::test]
async fn rule_10_the_settings_mode_has_no_open_url() {
    let open_url = TestTool::new("open-url", |_, _| async { Ok(json!("opened")) });
    let app =
        TestApp::builder().script(Scripted::choosing(|_| says("Hello."))).tool(open_url.any()).start().await;
    define(&app, json!({ "name": "surfer", "systemPrompt": "p", "toolKeys": ["time-now", "open-url"] }))
        .await;
    for (mode, expected) in [("project", vec!["time-now", "open-url"]), ("settings", vec!["time-now"])] {
        app.chat(mode).send_with("hi", json!({ "agentId": "surfer", "mode": mode })).await.end().await;
        assert_eq!(names(app.model.requests().last().unwrap()), expected, "{mode}");
        app.chat(&format!("{mode} main")).send_with("hi", json!({ "mode": mode })).await.end().await;
        let has = names(app.model.requests().last().unwrap()).contains(&"open-url");
        assert_eq!(has, mode == "project");
    }
}

#[tokio::test]
async fn rule_7_2_an_agent_is_offered_on_its_pages_only() {
    let app = Cast::new()
        .with("go", [hands("c", "helper", "x"), says("ok")])
        .with("here", [says("ok")])
        .start()
        .await;
    let mut definition = helper(&[]);
    definition["pageIds"] = json!(["editor"]);
    define(&app, definition).await;
    app.main.send_with("go", json!({ "pageId": "inbox" })).await.end().await;
    assert_eq!(told_json(&app, "c")["error"]["code"], "unavailable");
    assert!(!offered(&app.model.requests()[0]).contains(&"helper".to_owned()));
    app.chat("b").send_with("here", json!({ "pageId": "editor" })).await.end().await;
    assert!(offered(app.model.requests().last().unwrap()).contains(&"helper".to_owned()));
}

#[tokio::test]
async fn a_run_whose_definition_is_gone_ends_with_the_reason() {
    let app = TestApp::scripted([calls("c", "test-approval", json!({ "actionName": "try" }))]).await;
    let made =
        define(&app, json!({ "name": "asker", "systemPrompt": "p", "toolKeys": ["test-approval"] })).await;
    let mut turn = app.main.send_with("ask", json!({ "agentId": "asker" })).await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    let path = format!("/api/agents/{}", made["id"].as_str().unwrap());
    assert_eq!(app.caller.delete(&path).await.status, 204);
    let path = format!("/api/approvals/{approval}");
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": true })).await.status, 200);
    let message = match app.main.resume().await {
        Some(mut turn) => turn.message().await,
        None => app.main.history().await.pop().unwrap(),
    };
    let metadata = message.metadata.unwrap();
    assert_eq!(metadata["status"], "failed");
    assert!(metadata["error"].as_str().unwrap().contains("Invalid agent ID: asker"), "{metadata:?}");
}

#[tokio::test]
async fn a_sub_agent_whose_definition_is_gone_fails_and_its_caller_goes_on() {
    let app = Cast::new()
        .with("go", [hands("c", "asker", "ask"), says("without it then")])
        .with("ask", [calls("s", "test-approval", json!({ "actionName": "try" }))])
        .start()
        .await;
    let made =
        define(&app, json!({ "name": "asker", "systemPrompt": "p", "toolKeys": ["test-approval"] })).await;
    let mut turn = app.send("go").await;
    let approval = turn.next_approval().await.approval.clone();
    turn.end().await;
    let path = format!("/api/agents/{}", made["id"].as_str().unwrap());
    assert_eq!(app.caller.delete(&path).await.status, 204);
    let path = format!("/api/approvals/{approval}");
    assert_eq!(app.caller.post_json(&path, &json!({ "approved": true })).await.status, 200);
    let message = match app.main.resume().await {
        Some(mut turn) => turn.message().await,
        None => app.main.history().await.pop().unwrap(),
    };
    assert!(message.text().ends_with("without it then"), "{}", message.text());
    let frames = app.frames("chat").await;
    assert!(frames.iter().all(|frame| format!("{:?}", frame.status) == "Failed"), "{frames:?}");
}

#[tokio::test]
async fn the_parameters_of_its_model_are_sent_with_every_call_and_to_no_other_model() {
    let app = Cast::new()
        .with("go", [hands("c", "precise", "count"), says("done")])
        .with("count", [calls("t", "time-now", json!({})), says("three")])
        .start()
        .await;
    let name = app.get("/api/about").await.json()["model"].as_str().unwrap().to_owned();
    let (provider, model) = name.split_once('/').unwrap();
    let mut definition = json!({
        "name": "precise", "systemPrompt": "You count.", "toolKeys": ["time-now"],
        "model": { "provider": provider, "modelId": model, "params": { "temperature": 0.2, "colour": "red" } },
    });
    let refused = app.caller.post_json("/api/agents", &definition).await.json();
    assert_eq!(refused["problems"][0]["path"], "model.params.colour");
    assert!(refused["problems"][0]["fix"].as_str().unwrap().contains("temperature"), "{refused}");
    definition["model"]["params"] = json!({ "temperature": 0.2 });
    define(&app, definition).await;
    app.send("go").await.end().await;
    for request in app.model.requests() {
        let expected =
            if &*request.system == "You count." { json!({ "temperature": 0.2 }) } else { json!({}) };
        assert_eq!(json!(*request.params), expected, "{}", request.system);
    }
    assert_eq!(app.model.requests().iter().filter(|request| !request.params.is_empty()).count(), 2);
    // Who chooses another model for the chat does not get parameters that were meant for this one.
    let fields = json!({ "agentId": "precise", "chatModelId": name });
    app.chat("other").send_with("hello", fields).await.end().await;
    assert!(app.model.requests().pop().unwrap().params.is_empty());
}

#[tokio::test]
async fn rule_5_2_definitions_of_the_database_pass_the_same_gate() {
    let app = Cast::new()
        .with("go", [hands("c", "first", "one"), says("ok")])
        .with("one", [hands("d", "second", "two"), hands("e", "helper", "x"), says("x")])
        .with("two", [hands("f", "first", "again"), hands("g", "third", "deeper"), says("y")])
        .start()
        .await;
    let chain = [("third", json!([])), ("second", json!(["first", "third"])), ("first", json!(["second"]))];
    for (name, calls) in chain {
        let prompt = format!("You are {name}.");
        let max_depth = if name == "first" { 1 } else { 4 };
        define(
            &app,
            json!({ "name": name, "systemPrompt": prompt, "allowedSubAgents": calls, "maxDepth": max_depth }),
        )
        .await;
    }
    define(&app, helper(&[])).await;
    app.send("go").await.end().await;
    let code = |call: &str| told_json(&app, call)["error"]["code"].as_str().unwrap().to_owned();
    assert_eq!(
        (code("e"), code("f"), code("g")),
        ("not_allowed".into(), "recursion".into(), "max_depth".into())
    );
    let paths: Vec<Value> = app
        .frames("chat")
        .await
        .iter()
        .filter_map(|frame| frame.body.clone())
        .map(|body| serde_json::from_str::<Value>(&body).unwrap()["metadata"]["agent"]["path"].clone())
        .collect();
    assert_eq!(paths, [json!(["general", "first"]), json!(["general", "first", "second"])]);
}

#[tokio::test]
async fn rule_7_3_an_agent_of_the_program_stands_before_a_definition() {
    let app = TestApp::scripted([]).await;
    for name in ["research", "agent_search", "BROWSER"] {
        let refused =
            app.caller.post_json("/api/agents", &json!({ "name": name, "systemPrompt": "p" })).await;
        assert_eq!(refused.json()["problems"][0]["code"], "name_taken", "{name}");
    }
}

#[tokio::test]
async fn rule_7_1_a_definition_whose_tools_are_gone_is_listed_with_the_reason_and_cannot_be_called() {
    let app = Cast::new().with("go", [hands("c", "helper", "x"), says("ok")]).start().await;
    let made = define(&app, helper(&["time-now"])).await;
    let id = AgentId::new(made["id"].as_str().unwrap());
    let mut stored = app.store.definition(&super::cast::here(), &id).await.unwrap().unwrap();
    stored.fields.tool_keys.push("telegraph".to_owned());
    stored.version = 2;
    app.store.change_definition(stored, 1).await.unwrap();
    let app = app.restart([hands("c", "helper", "x"), says("ok")]).await;
    let shown = app.get("/api/agents/helper").await.json();
    assert_eq!(
        (&shown["available"], &shown["reason"]),
        (&json!(false), &json!("the tool telegraph does not exist"))
    );
    assert_eq!(shown["effectiveTools"], json!(["time-now"]));
    app.send("go").await.end().await;
    assert_eq!(told_json(&app, "c")["error"]["code"], "unavailable");
}
