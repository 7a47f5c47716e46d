//! Whole trees: forty agents, stopped and resumed; random ones against a simple reference.

use serde_json::json;
use testkit::{Gate, Reply, TestApp, calls, protocol::UiMessage, says, says_in_pieces, waits};

use super::cast::{Cast, define, hands, nested, sub};

const WORD: &str = "twenty bytes of text ";

/// Depth 4 with fan-out 3: each agent speaks 20 kB and uses two tools.
fn forty(words: usize, last: Option<&Gate>) -> Cast {
    let mut cast = Cast::new();
    let mut level = vec!["go".to_owned()];
    for depth in 0..4 {
        let mut next = Vec::new();
        for task in &level {
            let echo = |call: &str| calls(call, "conf_echo", json!({ "text": task }));
            let mut first: Reply = echo("x").then(echo("y"));
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

fn define_levels(app: &TestApp) {
    define(app, vec![sub("a1", &["a2"]), sub("a2", &["a3"]), sub("a3", &[])]);
}

fn check(message: &UiMessage, task: &str, depth: usize, words: usize) -> usize {
    assert_eq!(message.text(), format!("{task}: {}", WORD.repeat(words)));
    assert_eq!(message.metadata.as_ref().unwrap()["agent"]["depth"], json!(depth));
    let below = if depth < 3 { 3 } else { 0 };
    1 + (0..below)
        .map(|child| {
            check(&nested(message, &format!("c{child}")), &format!("{task}.{child}"), depth + 1, words)
        })
        .sum::<usize>()
}

#[tokio::test]
async fn forty_agents_speak_and_every_message_is_attributed_and_stored_once() {
    let words = 100;
    let app = forty(words, None).start().await;
    define_levels(&app);
    let mut turn = app.main.send_with("go", json!({ "subAgentStream": "text" })).await;
    let message = turn.message().await;
    assert_eq!(check(&message, "go", 0, words), 40);
    let rows = app.rows().await;
    assert_eq!((rows["frames"], rows["messages"]), (39, 2));
    assert_eq!(app.main.history().await.pop().unwrap(), message);
}

#[tokio::test]
async fn a_tree_that_is_stopped_ends_within_two_seconds_and_leaves_nobody_at_work() {
    let gate = Gate::new();
    let app = forty(20, Some(&gate)).start().await;
    define_levels(&app);
    let mut turn = app.send("go").await;
    gate.reached().await;
    let before = std::time::Instant::now();
    assert_eq!(app.main.stop().await.status, 200);
    assert!(before.elapsed().as_secs() < 2, "{:?}", before.elapsed());
    app.model.idle().await;
    turn.end().await;
    let frames = app.frames("chat").await;
    assert!(!frames.is_empty());
    for frame in frames {
        let status = format!("{:?}", frame.status);
        assert!(status != "Running" && status != "Parked" && frame.body.is_some(), "{frame:?}");
    }
}

#[tokio::test]
async fn a_tree_can_be_stopped_at_any_moment() {
    let count: usize = std::env::var("AGENT_STOPS").ok().and_then(|count| count.parse().ok()).unwrap_or(6);
    let mut slowest = std::time::Duration::ZERO;
    for round in 0..count {
        let app = forty(20, None).start().await;
        define_levels(&app);
        let mut turn = app.main.send_with("go", json!({ "subAgentStream": "chunks" })).await;
        for _ in 0..(round * 37) % 400 {
            if turn.next_chunk().await.is_none() {
                break;
            }
        }
        let before = std::time::Instant::now();
        assert_eq!(app.main.stop().await.status, 200);
        slowest = slowest.max(before.elapsed());
        app.model.idle().await;
        let message = turn.message().await;
        assert_eq!(app.main.history().await.pop().unwrap(), message);
        assert_eq!(app.main.info().await["status"], "idle");
        for frame in app.frames("chat").await {
            let status = format!("{:?}", frame.status);
            assert!(status != "Running" && status != "Parked" && frame.body.is_some(), "{frame:?}");
        }
    }
    println!("{count} stops, the slowest took {slowest:?}");
    assert!(slowest.as_secs() < 2, "{slowest:?}");
}
