//! Much output through the whole server: all of it becomes a file of the chat, and the server's memory stays bounded.

use std::time::Instant;

use serde_json::json;

use crate::{
    memory::{Peak, mib, resident},
    server::Server,
};

/// What a server may hold more while output passes through it, however long that is.
const MOST_MORE: u64 = 48 << 20;

/// `COMMAND_FLOOD_MB=100` is the large one, `COMMAND_FLOODS` how often. The speed is printed, from the call to its result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_output_becomes_a_file_with_bounded_memory() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let bytes = number("COMMAND_FLOOD_MB", 20) * 1_000_000;
    let server = Server::start(141, &[]).await;
    server.output("warm", "shell-command", json!({ "command": "yes | head -c 1000000" })).await;
    let (pid, before) = (server.process.pid(), resident(server.process.pid()));
    for round in 0..number("COMMAND_FLOODS", 1) {
        let chat = format!("flood{round}");
        let peak = Peak::watch(pid);
        let began = Instant::now();
        let input = json!({ "command": format!("yes 0123456789abcdef | head -c {bytes}") });
        let report = server.output(&chat, "shell-command", input).await;
        let took = began.elapsed();
        let more = peak.bytes().saturating_sub(before);
        assert_eq!(
            (&report["exitCode"], &report["artifact"]["bytes"]),
            (&json!(0), &json!(bytes)),
            "{report}"
        );
        assert!(report["output"].as_str().unwrap().len() < 40_000);
        let speed = |milliseconds: f64| bytes as f64 / 1000.0 / milliseconds;
        println!(
            "{} MB: {:.0} MB/s while it ran, {:.0} MB/s from the message to the stored answer; memory +{:.1} MiB",
            bytes / 1_000_000,
            speed(report["durationMs"].as_f64().unwrap()),
            speed(took.as_secs_f64() * 1000.0),
            mib(more)
        );
        assert!(more < MOST_MORE, "the server held {:.1} MiB more", mib(more));
        if round == 0 {
            let url = format!("{}{}", server.process.url(), report["artifact"]["url"].as_str().unwrap());
            let kept = reqwest::get(url).await.unwrap().bytes().await.unwrap();
            assert_eq!(kept.len() as u64, bytes);
            assert!(kept.chunks(17).all(|line| b"0123456789abcdef\n".starts_with(line)));
        }
    }
}
