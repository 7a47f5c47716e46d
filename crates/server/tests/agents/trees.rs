//! Whole trees: forty agents that speak, that share one slot, and that are stopped at any moment.
//!
//! `AGENT_STOPS` says how often, `AGENT_WORDS` how much each of them speaks; `cargo xtask soak agents` does more of both.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use engine::SubAgentLimits;
use serde_json::{Value, json};
use testkit::{
    Gate, Reply, Rng, TestApp, calls,
    models::Scripted,
    protocol::{Part, ToolState, UiMessage},
    says, says_in_pieces,
    store::{FrameRecord, FrameStatus},
    waits,
};

use super::{
    cast::{Cast, define, hands, nested, sub},
    left_over::{Left, number},
};

const WORD: &str = "twenty bytes of text ";
/// How long a stop may take, to the last of what it ends.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Depth 4 with fan-out 3. Each agent speaks so many words and uses two tools.
fn forty(words: usize, last: Option<&Gate>) -> Cast {
    let mut cast = Cast::new().with("and now", [says("still here")]);
    let mut level = vec!["go".to_owned()];
    for depth in 0..4 {
        let mut next = Vec::new();
        for task in &level {
            let echo = |call: &str| calls(call, "conf_echo", json!({ "text": task }));
            let mut first: Reply = echo("x").then(calls("y", "time-now", json!({ "actionName": "look" })));
            if depth < 3 {
                for child in 0..3 {
                    let below = format!("{task}.{child}");
                    first = first.then(hands(&format!("c{child}"), &format!("a{}", depth + 1), &below));
                    next.push(below);
                }
            }
            let said = says(&format!("{task}: ")).then(says_in_pieces(&vec![WORD; words]));
            let said = match last.filter(|_| depth == 3) {
                Some(gate) => said.then(waits(gate)),
                None => said,
            };
            cast = cast.with(task, [first, said]);
        }
        level = next;
    }
    cast
}

async fn start(model: Scripted, running: usize) -> TestApp {
    let limits = SubAgentLimits { running, ..SubAgentLimits::default() };
    let app = TestApp::builder().script(model).sub_agents(limits).start().await;
    define(&app, vec![sub("a1", &["a2"]), sub("a2", &["a3"]), sub("a3", &[])]);
    app
}

/// What one agent's message must be, at any position; returns the ids of it and of all below it.
fn check(
    message: &UiMessage,
    task: &str,
    above: Option<(&UiMessage, &str)>,
    words: usize,
) -> BTreeSet<String> {
    let depth = task.matches('.').count();
    assert_eq!(message.text(), format!("{task}: {}", WORD.repeat(words)));
    let metadata = message.metadata.as_ref().unwrap();
    let path: Vec<String> = (0..=depth).map(name_at).collect();
    let agent = json!({ "kind": if depth == 0 { "main" } else { "sub" }, "name": name_at(depth), "depth": depth,
                        "path": path });
    for (field, value) in agent.as_object().unwrap() {
        assert_eq!(&metadata["agent"][field], value, "{task}");
    }
    if let Some((parent, call)) = above {
        assert_eq!(metadata["agentName"], json!(name_at(depth)));
        assert_eq!(metadata["parentToolCallId"], call);
        assert_eq!(metadata["parentMessageId"], json!(parent.id));
        assert_eq!(metadata["agentId"], metadata["chatId"]);
    }
    let below = if depth < 3 { 3 } else { 0 };
    let calls: Vec<&str> = message.tool_parts().map(|part| part.call.as_str()).collect();
    assert_eq!(calls, ["x", "y", "c0", "c1", "c2"][..2 + below]);
    let settled = |state: &ToolState| matches!(state, ToolState::OutputAvailable { preliminary: false, .. });
    assert!(message.tool_parts().all(|part| settled(&part.state)), "{task}");
    let mut ids = BTreeSet::from([message.id.to_string()]);
    for child in 0..below {
        let call = format!("c{child}");
        let inner = nested(message, &call);
        ids.extend(check(&inner, &format!("{task}.{child}"), Some((message, &call)), words));
    }
    ids
}

fn name_at(depth: usize) -> String {
    if depth == 0 { "general".to_owned() } else { format!("a{depth}") }
}

/// A stored message alone, without those below it.
fn own_text(frame: &FrameRecord) -> String {
    let message: UiMessage = serde_json::from_str(frame.body.as_deref().unwrap()).unwrap();
    let text = |part: &Part| match part {
        Part::Text { text, .. } => Some(text.clone()),
        _ => None,
    };
    message.parts.iter().filter_map(text).collect()
}

async fn forty_speak(running: usize, words: usize) {
    let app = start(forty(words, None).model(), running).await;
    let mut turn = app.main.send_with("go", json!({ "subAgentStream": "text" })).await;
    let message = turn.message().await;
    let ids = check(&message, "go", None, words);
    assert_eq!(ids.len(), 40, "forty agents, forty messages");
    let rows = app.rows().await;
    assert_eq!((rows["frames"], rows["messages"]), (39, 2));
    let frames = app.frames("chat").await;
    let mut stored: BTreeSet<String> = frames.iter().map(|frame| frame.message.to_string()).collect();
    stored.insert(message.id.to_string());
    assert_eq!(stored, ids, "stored under the ids the client saw");
    for frame in &frames {
        assert_eq!(
            own_text(frame),
            format!("{}: {}", frame.task, WORD.repeat(words)),
            "the text is stored once"
        );
    }
    assert_eq!(app.main.history().await.pop().unwrap(), message);
}

#[tokio::test]
async fn forty_agents_speak_and_every_message_is_attributed_and_stored_once() {
    // 20 kB each.
    forty_speak(4, 1000).await;
}

#[tokio::test]
async fn forty_agents_need_no_more_than_one_slot() {
    forty_speak(1, 20).await;
}

/// Everything below the newest answer of a chat has ended and is stored.
async fn ended(app: &TestApp, chat: &str) {
    for frame in app.frames(chat).await {
        assert!(!matches!(frame.status, FrameStatus::Running | FrameStatus::Parked), "{frame:?}");
        let message: UiMessage = serde_json::from_str(frame.body.as_deref().unwrap()).unwrap();
        assert!(message.tool_parts().all(|part| part.state.is_settled()), "{message:?}");
    }
}

#[tokio::test]
async fn a_tree_that_is_stopped_ends_within_two_seconds_and_leaves_nobody_at_work() {
    let gate = Gate::new();
    let app = start(forty(20, Some(&gate)).model(), 4).await;
    let mut turn = app.send("go").await;
    gate.reached().await;
    let before = Instant::now();
    assert_eq!(app.main.stop().await.status, 200);
    app.model.idle().await;
    turn.end().await;
    assert!(before.elapsed() < AT_ONCE, "{:?}", before.elapsed());
    assert!(!app.frames("chat").await.is_empty());
    ended(&app, "chat").await;
}

#[tokio::test]
async fn a_tree_can_be_stopped_at_any_moment_and_nothing_is_left_of_it() {
    let count = number("AGENT_STOPS", 6);
    let words = number("AGENT_WORDS", 20);
    let app = start(forty(words, None).model_by_request(), 4).await;
    app.chat("warm up").send("and now").await.end().await;
    let left = Left::look().await;
    let mut rng = Rng::new(2_026);
    let (mut slowest, mut moments, mut cut) = (Duration::ZERO, BTreeSet::new(), 0);
    for round in 0..count {
        let name = format!("chat-{round}");
        let chat = app.chat(&name);
        let mut turn = chat.send_with("go", json!({ "subAgentStream": "chunks" })).await;
        let moment = rng.below(900);
        moments.insert(moment);
        for _ in 0..moment {
            if turn.next_chunk().await.is_none() {
                break;
            }
        }
        let before = Instant::now();
        let stopped = chat.stop().await;
        app.model.idle().await;
        let message = turn.message().await;
        slowest = slowest.max(before.elapsed());
        assert_eq!(stopped.status, 200);
        cut += usize::from(stopped.json()["stopped"] == Value::Bool(true));
        assert_eq!(chat.history().await.pop().unwrap(), message);
        assert_eq!(chat.info().await["status"], "idle");
        ended(&app, &name).await;
        // No lock is left: the same chat continues, and the database takes writes from elsewhere.
        assert_eq!(chat.send("and now").await.message().await.text(), "still here");
        drop(app.hold_writes());
        left.nothing_more(AT_ONCE).await;
        assert_eq!(app.get("/api/diagnostics").await.json()["engine"]["liveSessions"], 0);
    }
    println!(
        "{count} stops at {} moments, {cut} of them in the middle of a run; the slowest took {slowest:?}; tasks left: 0, \
         processes left: 0",
        moments.len()
    );
    assert!(slowest < AT_ONCE, "{slowest:?}");
    assert!(cut * 2 >= count, "too few stops met a run: {cut}");
}
