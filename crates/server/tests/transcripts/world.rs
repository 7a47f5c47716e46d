//! A server whose model does what the words of a task say, a person who takes part, and folders.
//!
//! A task is a list of words: `echo fail ask long think zh err`, `nest(…)` for a sub-agent with words of its own, `spawn(…)`
//! for one in the background. An agent does all of them in one step and then says that it is done.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use engine::{
    agents::{AgentDefinition, Prompt},
    transcript::{Import, Summary, TranscriptFault, export, import},
};
use serde_json::json;
use testkit::{
    CountingIds, Reply, Scripted, TestApp, calls, fails,
    models::{ModelError, ModelMessage, ModelRequest, UserContent},
    protocol::{AgentKind, IdSource, SessionId, ToolState, WorkspaceId},
    reasons, says,
    store::Store,
};

use crate::cast::{define_with, here, sub};

/// The words of a task, each with what stands in its brackets.
fn words(task: &str) -> Vec<(&str, &str)> {
    let mut words = Vec::new();
    let mut rest = task.trim();
    while !rest.is_empty() {
        let end = rest.find([' ', '(']).unwrap_or(rest.len());
        let (word, mut after) = rest.split_at(end);
        let mut inside = "";
        if let Some(open) = after.strip_prefix('(') {
            let mut depth = 1;
            let close = open.find(|letter| {
                depth += i32::from(letter == '(') - i32::from(letter == ')');
                depth == 0
            });
            (inside, after) = (&open[..close.unwrap()], &open[close.unwrap() + 1..]);
        }
        words.push((word, inside));
        rest = after.trim_start();
    }
    words
}

const DO: &str = "do: ";

fn reply(request: &ModelRequest) -> Reply {
    let task = |message: &ModelMessage| match message {
        ModelMessage::User { content } => content.iter().find_map(|content| match content {
            UserContent::Text(text) => text.strip_prefix(DO).map(str::to_owned),
            _ => None,
        }),
        _ => None,
    };
    let Some(asked) = request.messages.iter().rposition(|message| task(message).is_some()) else {
        return says("没有任务");
    };
    let given = task(&request.messages[asked]).unwrap();
    let after = &request.messages[asked + 1..];
    let steps = after.iter().filter(|message| matches!(&***message, ModelMessage::Assistant { .. })).count();
    let words = words(&given);
    if steps > 0 {
        return match words.iter().any(|(word, _)| *word == "err") {
            true => says("half of it, ").then(fails(ModelError::Cut)),
            false => says(&format!("完成了 {steps}: {given}")),
        };
    }
    let depth = request.system.strip_prefix("level ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    let depth: usize = depth.unwrap_or(0);
    let mut reply = Reply::default();
    for (place, (word, inside)) in words.iter().enumerate() {
        let call = format!("c{place}");
        let agent = json!({ "name": format!("level{}", depth + 1), "task": format!("{DO}{inside}"),
                            "context": { "why": "因为" } });
        reply = reply.then(match *word {
            "think" => reasons("让我想想…"),
            "zh" => says("你好，世界 🌏 "),
            "fail" => calls(&call, "conf_fail", json!({ "text": "不行" })),
            "ask" => calls(&call, "conf_approve", json!({ "text": format!("may I {place}") })),
            "long" => calls(&call, "conf_echo", json!({ "text": "长".repeat(60_000) })),
            "nest" => calls(&call, "sub-agent", agent),
            "spawn" => calls(&call, "spawn-agent", agent),
            _ => calls(&call, "conf_echo", json!({ "text": "回声" })),
        });
    }
    reply
}

pub async fn start() -> TestApp {
    let app = TestApp::builder().script(Scripted::choosing(reply)).start().await;
    let tools = |agent: &mut AgentDefinition| {
        agent.groups = vec!["agent".to_owned()];
        agent.workspace = Some(here());
    };
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "level 0 ");
    main.tools = vec!["*".to_owned()];
    main.allowed_sub_agents = vec!["level1".to_owned()];
    tools(&mut main);
    let subs = (1..=4).map(|depth| {
        let mut agent = sub(&format!("level{depth}"), &[&format!("level{}", depth + 1)]);
        agent.prompt = Prompt::literal(&format!("level {depth} "));
        tools(&mut agent);
        agent
    });
    define_with(&app, main, subs.collect());
    app
}

/// Sends, answers whatever is asked with `yes`, or leaves it open.
pub async fn turn(app: &TestApp, text: &str, answer: Option<bool>) {
    reload(app).await;
    app.send(&format!("{DO}{text}")).await.end().await;
    settle(app, answer).await;
}

/// The tab shows what the server keeps, if there is anything.
pub async fn reload(app: &TestApp) {
    if app.get("/api/sessions/chat").await.status == 200 {
        app.main.reload().await;
    }
}

/// The same for what is going on already.
pub async fn settle(app: &TestApp, answer: Option<bool>) {
    for _ in 0..50 {
        while let Some(mut next) = app.chat("chat").resume().await {
            next.end().await;
        }
        let Some(last) = app.main.history().await.pop() else { return };
        let asked = last.tool_parts().filter_map(|part| match &part.state {
            ToolState::ApprovalRequested { approval, .. } => Some(approval.to_string()),
            _ => None,
        });
        let (asked, Some(yes)) = (asked.collect::<Vec<_>>(), answer) else { return };
        if asked.is_empty() {
            return;
        }
        for approval in asked {
            let body = json!({ "approved": yes, "reason": "因为如此" });
            let answer = app.caller.post_json(&format!("/api/approvals/{approval}"), &body).await;
            assert!(answer.status == 200 || answer.status == 409, "{answer:?}");
        }
    }
    panic!("it asks for ever");
}

pub fn store(app: &TestApp) -> Arc<dyn Store> {
    Arc::clone(&app.store) as _
}

pub async fn export_to(app: &TestApp, folder: &Path) -> Result<Summary, TranscriptFault> {
    export_session(app, "chat", folder).await
}

pub async fn export_session(app: &TestApp, session: &str, folder: &Path) -> Result<Summary, TranscriptFault> {
    let workspace = WorkspaceId::default_workspace();
    export(&store(app), &workspace, &SessionId::new(session), folder).await
}

pub async fn import_from(app: &TestApp, folder: &Path, new_ids: bool) -> Result<Summary, TranscriptFault> {
    let ids = CountingIds::default();
    // Not those that the server itself makes.
    for _ in 0..1_000 {
        drop((ids.time_ordered(), ids.approval(), ids.run()));
    }
    let (store, workspace) = (store(app), WorkspaceId::default_workspace());
    let place = Import { store: &store, workspace: &workspace, clock: &*app.clock, ids: &ids, new_ids };
    import(&place, folder).await
}

/// Every file of a folder, by its path in it.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found);
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}
