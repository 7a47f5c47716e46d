//! No process outlives what it was started for.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{task::block_in_place, time::Instant};

use crate::{
    client::number,
    server::{Server, gone, there},
};

const YOLO: (&str, &str) = ("CONCERTINO_APPROVALS", "yolo");

/// A command with children that ignore signals, left the group or both.
fn stubborn(mark: &str) -> Value {
    let line = format!(
        "trap '' TERM INT HUP; (setsid sleep {mark}1 &) ; (trap '' TERM; nohup sleep {mark}2 &) ; sleep {mark}3"
    );
    json!({ "command": line, "timeoutMs": 60_000 })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_a_run_ends_its_commands_within_two_seconds() {
    let server = Server::start(111, &[YOLO]).await;
    let mut slowest = Duration::ZERO;
    for round in 0..number("COMMAND_STOPS", 3) {
        let mark = format!("5{round:04}.");
        let chat = format!("stop-{round}");
        server.begin(&chat, &[("shell-command", stubborn(&mark))]).await;
        there(&format!("sleep {mark}3")).await;
        let began = Instant::now();
        server.http.post(&format!("/api/chat/{chat}/stop"), &json!({})).await;
        gone(&format!("sleep {mark}")).await;
        let took = began.elapsed();
        slowest = slowest.max(took);
        assert!(took < Duration::from_secs(2), "round {round}: {took:?}");
        server.idle(&chat).await;
    }
    println!("the slowest stop took {slowest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_leaves_no_command() {
    let mut server = Server::start(112, &[YOLO]).await;
    for round in 0..number("COMMAND_KILLS", 2) {
        let mark = format!("6{round:04}.");
        let chat = format!("kill-{round}");
        let session = json!({ "cmd": format!("sleep {mark}4"), "yieldTimeMs": 50 });
        server.begin(&chat, &[("exec-command", session), ("shell-command", stubborn(&mark))]).await;
        there(&format!("sleep {mark}3")).await;
        there(&format!("sleep {mark}4")).await;
        block_in_place(|| server.process.kill());
        gone(&format!("sleep {mark}")).await;
        block_in_place(|| server.process.start());
        server.idle(&chat).await;
        let parts = server.tools(&chat).await;
        assert!(parts[1].to_string().contains("outcome of this call is unknown"), "{parts:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_a_chat_ends_its_commands() {
    let server = Server::start(113, &[YOLO]).await;
    let session = json!({ "cmd": "sleep 70001.5", "yieldTimeMs": 50 });
    server.call("gone", &[("exec-command", session)]).await;
    there("sleep 70001.5").await;
    let url = format!("{}/api/sessions/gone", server.process.url());
    assert!(reqwest::Client::new().delete(url).send().await.unwrap().status().is_success());
    gone("sleep 70001.5").await;
    assert_eq!(server.jobs().await, Vec::<Value>::new());
}
