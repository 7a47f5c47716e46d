//! Sub-agents compact their own context, and an agent still knows what it is waiting for afterwards.

use engine::agents::AgentDefinition;
use serde_json::json;
use testkit::{
    Reply, Scripted, TestApp, calls, engine,
    models::{ModelMessage, ModelRequest, Purpose, UserContent},
    protocol::{AgentKind, ToolState, UiMessage, Usage, WorkspaceId},
    says,
};

use super::compactions;

const WINDOW: u64 = 20_000;

fn define(app: &TestApp) {
    let here = WorkspaceId::default_workspace();
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "You are the main agent of a test.");
    main.tools = vec!["*".to_owned()];
    main.groups = vec!["agent".to_owned()];
    main.allowed_sub_agents = vec!["reader".to_owned()];
    main.workspace = Some(here.clone());
    let mut sub = AgentDefinition::bare(AgentKind::Sub, "reader", "You read.");
    sub.tools = vec!["conf_echo".to_owned(), "conf_approve".to_owned()];
    sub.workspace = Some(here.clone());
    app.engine.agents().set_workspace(&here, vec![main, sub]);
}

fn says_task(request: &ModelRequest, task: &str) -> bool {
    request.messages.iter().any(|message| match &**message {
        ModelMessage::User { content } => {
            content.iter().any(|content| matches!(content, UserContent::Text(text) if text == task))
        }
        _ => false,
    })
}

fn results(request: &ModelRequest) -> usize {
    request.messages.iter().filter(|message| matches!(***message, ModelMessage::Tool { .. })).count()
}

fn counted(request: &ModelRequest) -> Usage {
    let letters = format!("{:?}", request.messages).len() as u64;
    Usage { input_tokens: letters, output_tokens: 10, ..Usage::default() }
}

fn reads(number: usize) -> Reply {
    calls(&format!("r{number}"), "conf_echo", json!({ "text": format!("{number} {}", "page ".repeat(500)) }))
}

fn nested(message: &UiMessage) -> UiMessage {
    let output = message.tool_parts().find_map(|part| match &part.state {
        ToolState::OutputAvailable { output, .. } if output.get("parts").is_some() => Some(output.clone()),
        _ => None,
    });
    serde_json::from_value(output.unwrap()).unwrap()
}

#[tokio::test]
async fn a_sub_agent_with_a_long_task_compacts_its_own_steps_and_keeps_its_task() {
    const STEPS: usize = 15;
    let mut made = 0;
    let script = Scripted::choosing(move |request| match request.purpose {
        Purpose::Summary => says("Pages were read."),
        _ if says_task(request, "go") && results(request) == 0 => {
            calls("d", "sub-agent", json!({ "name": "reader", "task": "read it all" }))
        }
        _ if says_task(request, "go") => says("Done."),
        _ => {
            made += 1;
            let reply = if made <= STEPS { reads(made) } else { says("All read.") };
            reply.uses(counted(request))
        }
    })
    .with_window(WINDOW);
    let app = TestApp::builder().script(script).start().await;
    define(&app);
    let message = app.send("go").await.message().await;
    assert_eq!(message.text(), "Done.");
    assert!(compactions(&message).is_empty(), "the main agent had no need to");
    let inner = nested(&message);
    let done = compactions(&inner);
    assert!(!done.is_empty() && done.iter().all(|one| one["status"] == "done"), "{done:?}");
    assert_eq!(inner.tool_parts().count(), STEPS, "the person sees every call");
    let requests = app.model.requests();
    let of_reader: Vec<_> = requests
        .iter()
        .filter(|request| request.purpose == Purpose::Answer && !says_task(request, "go"))
        .collect();
    assert_eq!(of_reader.len(), STEPS + 1);
    for request in &of_reader {
        assert!(says_task(request, "read it all"), "the task stays word for word");
        assert!(counted(request).input_tokens < WINDOW * 95 / 100, "{}", counted(request).input_tokens);
        assert_eq!(calls_of(request), results(request), "each call has its result");
    }
    assert!(format!("{:?}", of_reader.last().unwrap().messages).contains("Pages were read."));
}

fn calls_of(request: &ModelRequest) -> usize {
    format!("{:?}", request.messages).matches("ToolCall {").count() / 2
}

#[tokio::test]
async fn a_question_of_an_agent_in_the_background_stays_open_over_a_compaction() {
    const STEPS: usize = 15;
    let mut made = 0;
    let script = Scripted::choosing(move |request| match request.purpose {
        Purpose::Summary => says("The main agent read pages."),
        _ if says_task(request, "ask first") && results(request) == 0 => {
            calls("q", "conf_approve", json!({ "text": "open the gate" }))
        }
        _ if says_task(request, "ask first") => says("The gate is open."),
        _ => {
            made += 1;
            let reply = match made {
                1 => calls("s", "spawn-agent", json!({ "name": "reader", "task": "ask first" })),
                made if made <= STEPS => reads(made),
                _ => says("Read, and heard."),
            };
            reply.uses(counted(request))
        }
    })
    .with_window(WINDOW);
    let app = TestApp::builder().script(script).start().await;
    define(&app);
    let mut turn = app.send("go").await;
    let asked = turn.approvals().await;
    assert_eq!(asked.len(), 1, "the question is still asked");
    let parked = turn.shown();
    let done = compactions(&parked);
    assert!(!done.is_empty(), "the main agent's window was full");
    let open = done.last().unwrap()["open"].to_string();
    assert!(open.contains("reader") && open.contains("ask first") && open.contains("agentId sub_"), "{open}");
    assert!(open.contains("approve conf_approve"), "{open}");
    turn.respond(&asked[0], true, None).await;
    let message = turn.message().await;
    assert!(message.text().ends_with("Read, and heard."), "{}", message.text());
    let last = app.model.requests().pop().unwrap();
    assert!(
        format!("{:?}", last.messages).contains("The gate is open."),
        "its report reached the main agent"
    );
}
