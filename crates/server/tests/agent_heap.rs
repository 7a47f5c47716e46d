//! What agents cost in memory, as the allocator counts it: one that has ended nothing, one at work less than a megabyte.
//!
//! A binary of its own, because every byte of its process counts; so the model keeps nothing of what it is asked, and the
//! reader nothing of what it reads.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

#[path = "agents/cast.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod cast;

use std::{
    alloc::System,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use cap::Cap;
use cast::{define_with, here, sub};
use engine::{SubAgentLimits, agents::AgentDefinition};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use testkit::{
    TestApp,
    models::{Model, ModelEvent, ModelMessage, ModelRequest, ModelStream, UserContent},
    protocol::{AgentKind, FinishReason},
};
use tokio::{sync::watch, task::JoinSet};

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// What every sub-agent says: 20 kB, in pieces.
const WORD: &str = "twenty bytes of text";
const WORDS: usize = 1_000;

/// Calls that come before the measured ones: they fill what the log keeps at hand.
const FIRST: usize = 30;

/// How many agents; `cargo xtask soak agents` takes 200.
fn agents() -> usize {
    std::env::var("AGENT_HEAP").ok().and_then(|count| count.parse().ok()).unwrap_or(40)
}

/// A main agent that does what its task says, and sub-agents that talk.
#[derive(Clone, Default)]
struct Talkative {
    /// The heap whenever the main agent was asked, by how many of its calls had a result.
    stairs: Arc<Mutex<Vec<(usize, usize)>>>,
    /// How many sub-agents have talked, and whether they may continue.
    arrived: Arc<AtomicUsize>,
    open: Arc<watch::Sender<bool>>,
}

impl Model for Talkative {
    fn name(&self) -> &str {
        "test/talkative"
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let (task, done) = (task(&request), results(&request));
        drop(request);
        match task.split_once(' ') {
            // One after the other.
            Some(("again", tool)) => {
                self.stairs.lock().unwrap().push((done, HEAP.allocated()));
                play(match done {
                    done if done < FIRST => call("talk", done),
                    done if done < FIRST + agents() => call(tool, done),
                    _ => says("enough"),
                })
            }
            // All at once.
            Some(("all", _)) if done > 0 => play(says("all are back")),
            Some(("all", count)) => {
                play((0..count.parse().unwrap()).flat_map(|place| call("talk", place)).collect())
            }
            _ if done > 0 => play(says("done")),
            Some(("whisper", _)) => play(call("conf_echo", 0)),
            _ => self.talk(),
        }
    }
}

impl Talkative {
    /// Talks at length, waits where it is to wait, and uses a tool.
    fn talk(&self) -> ModelStream {
        let words = (0..WORDS).map(|_| ModelEvent::Text(WORD.to_owned()));
        let this = self.clone();
        let wait = stream::once(async move {
            this.arrived.fetch_add(1, Ordering::Relaxed);
            let mut open = this.open.subscribe();
            open.wait_for(|open| *open).await.unwrap();
        });
        let rest = wait.flat_map(|()| play(call("conf_echo", 0)));
        play(words.collect()).chain(rest).boxed()
    }
}

fn play(events: Vec<ModelEvent>) -> ModelStream {
    let is_call = events.iter().any(|event| matches!(event, ModelEvent::ToolStarted { .. }));
    let is_whole = events.len() < WORDS;
    let reason = if is_call { FinishReason::ToolCalls } else { FinishReason::Stop };
    let end = is_whole.then_some(ModelEvent::Finished(reason));
    stream::iter(events.into_iter().chain(end).map(Ok))
        .then(|event| async move {
            tokio::task::yield_now().await;
            event
        })
        .boxed()
}

fn says(text: &str) -> Vec<ModelEvent> {
    vec![ModelEvent::Text(text.to_owned())]
}

fn call(tool: &str, number: usize) -> Vec<ModelEvent> {
    let (tool, input) = match tool {
        "conf_echo" => (tool, json!({ "text": "x".repeat(220) })),
        how => ("sub-agent", json!({ "name": "a", "task": format!("{how} {number}") })),
    };
    let index = u32::try_from(number).unwrap();
    let (id, name) = (Some(format!("c{number}")), tool.to_owned());
    vec![
        ModelEvent::ToolStarted { index, id, name },
        ModelEvent::ToolDelta { index, delta: input.to_string() },
    ]
}

/// What this agent was asked.
fn task(request: &ModelRequest) -> String {
    let mut texts = request.messages.iter().filter_map(|message| match &**message {
        ModelMessage::User { content } => content.iter().find_map(|content| match content {
            UserContent::Text(text) => Some(text.clone()),
            _ => None,
        }),
        _ => None,
    });
    texts.next_back().unwrap_or_default()
}

/// How many of its calls have a result.
fn results(request: &ModelRequest) -> usize {
    request.messages.iter().filter(|message| matches!(&***message, ModelMessage::Tool { .. })).count()
}

async fn start(model: &Talkative) -> TestApp {
    let limits = SubAgentLimits { running: agents(), queued: 0 };
    let app = TestApp::builder().model(model.clone()).sub_agents(limits).start().await;
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.tools = vec!["*".to_owned()];
    main.allowed_sub_agents = vec!["a".to_owned()];
    main.max_steps = 1_000;
    main.workspace = Some(here());
    define_with(&app, main, vec![sub("a", &[])]);
    app
}

/// Sends, and reads to the end without keeping anything.
async fn read(app: &TestApp, chat: &str, text: &str, readers: &mut JoinSet<()>) {
    let chat = app.chat(chat);
    let body: Value = chat.body_of(text, json!({ "subAgentStream": "chunks" }));
    let response = chat.open(&body).await;
    assert_eq!(response.status(), 200);
    let mut pieces = response.into_body().into_data_stream();
    readers.spawn(async move { while pieces.next().await.is_some() {} });
}

/// Bytes of heap that each call of one run adds: the median over stretches of ten calls, since buffers that come and go in
/// between are nobody's.
async fn slope(app: &TestApp, model: &Talkative, chat: &str, tool: &str) -> f64 {
    const STRETCH: usize = 10;
    model.stairs.lock().unwrap().clear();
    let mut readers = JoinSet::new();
    read(app, chat, &format!("again {tool}"), &mut readers).await;
    readers.join_next().await.unwrap().unwrap();
    let stairs = model.stairs.lock().unwrap().clone();
    let heap: Vec<f64> = stairs.into_iter().map(|(_, bytes)| bytes as f64).skip(FIRST + 1).collect();
    let mut more: Vec<f64> = heap.windows(STRETCH + 1).map(|part| (part[STRETCH] - part[0]) / 10.0).collect();
    more.sort_by(f64::total_cmp);
    more[more.len() / 2]
}

async fn finished_agents_cost_nothing() {
    let model = Talkative::default();
    model.open.send_replace(true);
    let app = start(&model).await;
    // What caches and buffers take once is nobody's.
    slope(&app, &model, "warm up", "talk").await;
    let talk = slope(&app, &model, "agents that talk", "talk").await;
    println!(
        "heap that a run keeps for each of {} finished sub-agents that said 20 kB: {talk:.0} bytes",
        agents()
    );
    // The call and the report are the caller's own.
    assert!(talk < 4_096.0, "a finished sub-agent keeps {talk:.0} bytes");
    if agents() < 200 {
        return;
    }
    let tool = slope(&app, &model, "tools", "conf_echo").await;
    let whisper = slope(&app, &model, "agents that say nothing", "whisper").await;
    println!(
        "the same for a tool with as long a result: {tool:.0}; for a sub-agent that only reports: {whisper:.0}; so for what \
         it said {:+.0}, for having been an agent {:+.0}",
        talk - whisper,
        whisper - tool,
    );
    assert!(
        talk - whisper < 256.0,
        "of what a finished sub-agent said, {:.0} bytes are kept",
        talk - whisper
    );
    assert!(whisper - tool < 512.0, "a finished sub-agent keeps {:.0} bytes", whisper - tool);
}

async fn running_agents_cost_less_than_a_megabyte() {
    let model = Talkative::default();
    let app = start(&model).await;
    let mut stairs = Vec::new();
    let quarter = agents() / 4;
    for (round, stair) in [1, 1, 2, 3, 4].into_iter().enumerate() {
        let count = quarter * stair;
        model.open.send_replace(false);
        model.arrived.store(0, Ordering::Relaxed);
        let before = HEAP.allocated();
        let mut readers = JoinSet::new();
        read(&app, &format!("chat-{round}"), &format!("all {count}"), &mut readers).await;
        while model.arrived.load(Ordering::Relaxed) < count {
            tokio::task::yield_now().await;
        }
        let held = HEAP.allocated().saturating_sub(before);
        model.open.send_replace(true);
        readers.join_next().await.unwrap().unwrap();
        // The first warms up.
        if round > 0 {
            stairs.push((count, held));
            println!(
                "heap of {count} sub-agents at work that have spoken 20 kB: {} KiB each",
                held / count / 1024
            );
        }
    }
    let ((few, less), (many, more)) = (stairs[0], stairs[stairs.len() - 1]);
    let each = (more as f64 - less as f64) / (many - few) as f64;
    println!("each one more: {:.0} KiB", each / 1024.0);
    assert!(stairs.iter().all(|(count, held)| held / count < 1 << 20), "{stairs:?}");
    assert!(each < f64::from(1 << 20), "{each}");
}

/// One test: two at once would count each other's bytes.
#[tokio::test]
async fn a_finished_sub_agent_costs_nothing_and_one_at_work_less_than_a_megabyte() {
    finished_agents_cost_nothing().await;
    running_agents_cost_less_than_a_megabyte().await;
}
