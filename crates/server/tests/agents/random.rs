//! Random trees against a simple reference: the same messages, in the same order, with the same results.
//!
//! A tree is a [`Plan`]. The cast plays it, the server runs it, and [`Plan::expect`] says in a few lines what must come
//! out, for every frame. `AGENT_TREES` sets how many; the everyday run takes a few.

use std::collections::{BTreeMap, HashMap};

use engine::agents::AgentDefinition;
use serde_json::{Value, json};
use testkit::{
    Rng, TestApp, join_all,
    models::{ModelMessage, UserContent},
    protocol::{AgentKind, Part, ToolState, UiMessage},
};

use super::{
    cast::{Cast, define_with, here, sub},
    left_over::number,
    plan::{Expected, Plan, Told},
};

fn agents(app: &TestApp) {
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.tools = vec!["*".to_owned()];
    main.groups = vec!["agent".to_owned()];
    main.allowed_sub_agents = vec!["a1".to_owned(), "l1".to_owned()];
    main.workspace = Some(here());
    let mut subs = Vec::new();
    for depth in 1..=3 {
        let next = [format!("a{}", depth + 1), format!("l{}", depth + 1)];
        let next: Vec<&str> = if depth < 3 { next.iter().map(String::as_str).collect() } else { Vec::new() };
        let mut agent = sub(&format!("a{depth}"), &next);
        agent.groups = vec!["agent".to_owned()];
        subs.push(AgentDefinition { name: format!("l{depth}"), max_steps: 1, ..agent.clone() });
        subs.push(agent);
    }
    define_with(app, main, subs);
}

/// Runs the tree, with a person who stops whom the plan stops and says yes to every question.
async fn play(plan: &Plan) -> (TestApp, UiMessage) {
    let mut gates = BTreeMap::new();
    let app = plan.cast(Cast::new(), &mut gates).start().await;
    agents(&app);
    let mut turn = app.send(&plan.task).await;
    let stops = gates.iter().map(|(task, gate)| {
        let app = &app;
        async move {
            gate.reached().await;
            let frames = app.frames("chat").await;
            let frame = frames.iter().find(|frame| frame.task == *task).unwrap();
            assert_eq!(app.chat(frame.chat.as_str()).stop().await.status, 200);
        }
    });
    join_all(stops).await;
    turn.end().await;
    loop {
        while let Some(mut next) = app.chat("chat").resume().await {
            next.end().await;
        }
        let message = app.main.history().await.pop().unwrap();
        let asked = message.tool_parts().filter_map(|part| match &part.state {
            ToolState::ApprovalRequested { approval, .. } => Some(approval.to_string()),
            _ => None,
        });
        let asked: Vec<String> = asked.collect();
        if asked.is_empty() {
            return (app, message);
        }
        for approval in asked {
            let path = format!("/api/approvals/{approval}");
            let answer = app.caller.post_json(&path, &json!({ "approved": true })).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
}

/// What the models were sent of each call: by the task of the frame and the id of the call.
fn told(app: &TestApp) -> HashMap<(String, String), Told> {
    let mut told = HashMap::new();
    for request in app.model.requests() {
        let Some(ModelMessage::User { content }) = request.messages.first().map(|first| &**first) else {
            continue;
        };
        let Some(task) = content.iter().rev().find_map(|content| match content {
            UserContent::Text(text) if text.starts_with("go") => Some(text.clone()),
            _ => None,
        }) else {
            continue;
        };
        for message in &request.messages {
            if let ModelMessage::Tool { call, text, is_error, .. } = &**message {
                let before = told.insert((task.clone(), call.to_string()), read(text, *is_error));
                assert!(
                    before.is_none_or(|before| before == read(text, *is_error)),
                    "{task} was told two things"
                );
            }
        }
    }
    told
}

fn read(text: &str, is_error: bool) -> Told {
    if is_error {
        return match text {
            text if text.starts_with("unavailable (model_unavailable)") => Told::Failed,
            text if text.starts_with("cancelled: ") => Told::Cancelled,
            text => panic!("{text}"),
        };
    }
    let value: Value = serde_json::from_str(text).unwrap();
    let word = |name: &str| value[name].as_str().map(str::to_owned);
    match (word("summary"), word("status"), word("echoed")) {
        (Some(summary), ..) => Told::Report(summary, value["limit"].as_str().map(|_| "steps")),
        (_, Some(_), _) => Told::Running,
        (_, _, Some(echoed)) => Told::Echo(echoed),
        _ => panic!("{text}"),
    }
}

/// A message as the reference describes it.
fn seen(message: &UiMessage, told: &HashMap<(String, String), Told>, task: &str) -> Expected {
    let metadata = message.metadata.as_ref().unwrap();
    let raised = |call: &str| metadata.get("raisedCalls").is_some_and(|raised| raised.get(call).is_some());
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(format!("text {text}")),
        Part::Tool(tool) if raised(tool.call.as_str()) => None,
        Part::Tool(tool) => {
            assert!(tool.state.is_settled(), "{task}: {tool:?}");
            Some(format!("call {}", tool.call))
        }
        Part::Data { name, .. } => Some(format!("data {name}")),
        _ => None,
    });
    let status = match metadata["status"].as_str() {
        Some("failed") => "failed",
        Some("cancelled") => "cancelled",
        Some("finished") => "finished",
        other => panic!("{task}: {other:?}, {message:#?}"),
    };
    let results = told.iter().filter(|((of, _), _)| of == task);
    Expected {
        status,
        limit: metadata.get("limit").map(|_| "steps"),
        parts: parts.collect(),
        results: results.map(|((_, call), told)| (call.clone(), told.clone())).collect(),
    }
}

/// Every frame against the reference, and the message the person sees against the frames.
async fn compare(app: &TestApp, plan: &Plan, message: &UiMessage) -> usize {
    let told = told(app);
    let mut frames = BTreeMap::new();
    for frame in app.frames("chat").await {
        let body: UiMessage = serde_json::from_str(frame.body.as_deref().unwrap()).unwrap();
        assert_eq!(body.id, frame.message);
        assert!(frames.insert(frame.task.clone(), body).is_none(), "{} ran twice", frame.task);
    }
    let mut plans = Vec::new();
    plan.visit(&mut |plan| plans.push(plan));
    assert_eq!(frames.len() + 1, plans.len());
    for plan in &plans {
        let body = if plan.depth() == 0 { message } else { &frames[&plan.task] };
        assert_eq!(seen(body, &told, &plan.task), plan.expect(), "{}: {body:#?}", plan.task);
        assert_eq!(body.metadata.as_ref().unwrap()["agent"]["depth"], json!(plan.depth()));
    }
    nests(plan, message, &frames);
    plans.len()
}

/// The message holds those below it under the calls that asked for them.
fn nests(plan: &Plan, message: &UiMessage, frames: &BTreeMap<String, UiMessage>) {
    for (place, below) in plan.below.iter().enumerate() {
        let part = message.tool_parts().find(|part| part.call.as_str() == format!("c{place}")).unwrap();
        match &part.state {
            ToolState::OutputAvailable { output, preliminary: false, .. } => {
                let inner: UiMessage = serde_json::from_value(output.clone()).unwrap();
                assert_eq!(inner.id, frames[&below.task].id);
                assert_eq!(inner.text(), frames[&below.task].text());
                nests(below, &inner, frames);
            }
            ToolState::OutputError { .. } if !below.background => {
                assert_ne!(below.expect().status, "finished", "{}", below.task);
            }
            state => panic!("{}: {state:?}", below.task),
        }
    }
}

#[tokio::test]
async fn random_trees_come_out_as_a_simple_reference_says() {
    let count = number("AGENT_TREES", 16);
    let mut mix: BTreeMap<&str, usize> = BTreeMap::new();
    let mut agents = 0;
    for seed in 1..=count {
        let plan = Plan::grow(&mut Rng::new(seed as u64), "go".to_owned(), 0);
        plan.kinds().into_iter().for_each(|kind| *mix.entry(kind).or_default() += 1);
        let played = tokio::time::timeout(std::time::Duration::from_secs(60), play(&plan)).await;
        let Ok((app, message)) = played else { panic!("tree {seed} never ended: {plan:#?}") };
        agents += compare(&app, &plan, &message).await;
    }
    println!("{count} trees with {agents} agents, all as the reference says; trees with: {mix:?}");
    if count >= 100 {
        let wanted = ["approvals", "errors", "cancels", "budgets", "background"];
        assert!(wanted.iter().all(|kind| mix[kind] * 10 >= count), "{mix:?}");
    }
}
