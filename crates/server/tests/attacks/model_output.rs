//! A model that says anything at all: any call, any argument, any prompt, through the whole server with every agent and
//! every tool. The process must not die, nothing may panic, every run must end once and every call have one result.
//!
//! `HOSTILE_SECONDS` and `HOSTILE_SEED` make it longer and different; `cargo xtask soak hostile` does. A failure names
//! its seed.

#[path = "model_output/checks.rs"]
mod checks;
#[path = "model_output/mouth.rs"]
mod mouth;
#[path = "model_output/speech.rs"]
mod speech;

use std::{
    sync::{
        Once,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use testkit::{
    Rng, TestApp,
    protocol::{ToolState, UiMessage},
    tools,
};

use mouth::{Mouth, PLAIN, Wire};

/// No case takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often questions are answered before the chat is stopped.
const ROUNDS: usize = 6;
const MAIN_AGENTS: [&str; 3] = ["general", "debugger", "requirement_analyzer"];

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts every panic of the program itself, also those that something catches.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let of_a_test = |file: &str| file.contains("tests/") || file.contains("testkit");
            if !panic.location().is_some_and(|place| of_a_test(place.file())) {
                PANICS.fetch_add(1, Ordering::Relaxed);
            }
            before(panic);
        }));
    });
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_says_anything_ends_neither_the_process_nor_a_chat_badly() {
    count_panics();
    let (mouth, wired) = (Mouth::new(), Mouth::new());
    let wire = Wire::start(&wired).await;
    let limits = tools::Limits { time: Duration::from_secs(5), ..tools::Limits::default() };
    let direct = TestApp::builder().tool_limits(limits).model(mouth.clone()).start().await;
    let remote = TestApp::builder().tool_limits(limits).catalog(wire.catalog()).start().await;

    let (seconds, first) = (number("HOSTILE_SECONDS", 0), number("HOSTILE_SEED", 1));
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seed = first;
    let mut asked = 0;
    while seed < first + 40 || Instant::now() < end {
        let (app, mouth) = if seed % 3 == 0 { (&remote, &wired) } else { (&direct, &mouth) };
        if seconds > 0 {
            println!("hostile: seed {seed}");
        }
        mouth.begin(seed);
        match tokio::time::timeout(PATIENCE, case(app, seed)).await {
            Ok(questions) => asked += questions,
            Err(_) => panic!("the chat of seed {seed} never ends"),
        }
        assert_eq!(PANICS.load(Ordering::Relaxed), 0, "something panicked at seed {seed}");
        seed += 1;
    }
    println!("hostile: {} chats from seed {first}, {asked} questions answered", seed - first);
}

/// One chat with a person who does anything; returns how many questions were answered.
async fn case(app: &TestApp, seed: u64) -> usize {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let name = format!("case-{seed}");
    let chat = app.chat(&name);
    let agent = MAIN_AGENTS[rng.below(3)];
    let mut asked = 0;
    let mut turn = chat.send_with("Go.", json!({ "agentId": agent })).await;
    if rng.below(6) == 0 {
        for _ in 0..rng.below(30) {
            if turn.next_chunk().await.is_none() {
                break;
            }
        }
        assert_eq!(chat.stop().await.status, 200, "seed {seed}");
    }
    turn.end().await;
    for round in 0.. {
        // A run that continues after an answer is followed to its pause or end.
        while let Some(mut next) = app.chat(&name).resume().await {
            next.end().await;
        }
        let status = chat.info().await["status"].clone();
        if status == "idle" {
            break;
        }
        let message = chat.history().await.pop().unwrap();
        let questions = questions(&message);
        if round >= ROUNDS || questions.is_empty() || rng.below(8) == 0 {
            let stopped = chat.stop().await;
            assert_eq!(stopped.status, 200, "seed {seed}: {stopped:?}");
            continue;
        }
        for question in questions {
            let mut answer = json!({ "approved": rng.below(3) > 0 });
            if rng.below(4) == 0 {
                answer["reason"] = json!(speech::text(&mut rng).chars().take(500).collect::<String>());
            }
            let path = format!("/api/approvals/{question}");
            let answered = app.caller.post_json(&path, &answer).await;
            // While one answer is worked on, the next question may be gone.
            assert!([200, 404, 409].contains(&answered.status), "seed {seed}: {answered:?}");
            asked += 1;
        }
    }
    let problems = checks::problems(app, &name).await;
    assert!(problems.is_empty(), "seed {seed}: {problems:#?}");

    let plain = app.chat(&format!("plain-{seed}"));
    assert_eq!(plain.send(PLAIN).await.text().await, "fine.", "after seed {seed}");
    for id in [name, format!("plain-{seed}")] {
        let gone = app.caller.delete(&format!("/api/sessions/{id}")).await;
        assert!(gone.status < 300, "seed {seed}: {gone:?}");
    }
    asked
}

fn questions(message: &UiMessage) -> Vec<String> {
    let open = message.tool_parts().filter_map(|part| match &part.state {
        ToolState::ApprovalRequested { approval, .. } => Some(approval.to_string()),
        _ => None,
    });
    open.collect()
}
