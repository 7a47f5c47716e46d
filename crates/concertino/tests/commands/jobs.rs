//! Commands that run on: sessions with a terminal, the list of jobs, watching, typing, stopping.

use serde_json::{Value, json};

use crate::server::{Server, gone};

const YOLO: (&str, &str) = ("CONCERTINO_APPROVALS", "yolo");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_typed_into_until_it_ends() {
    let server = Server::start(121, &[YOLO]).await;
    let started = json!({ "cmd": "read name; echo hello $name; tty", "yieldTimeMs": 300 });
    let report = server.output("talk", "exec-command", started).await;
    let id = report["sessionId"].as_str().unwrap().to_owned();
    assert!(report.get("exitCode").is_none(), "{report}");
    // Waiting changes nothing and never asks.
    let report = server.output("talk", "write-stdin", json!({ "sessionId": id, "yieldTimeMs": 50 })).await;
    assert_eq!((&report["output"], &report["sessionId"]), (&json!(""), &json!(id)));
    let typed = json!({ "sessionId": id, "chars": "world\n", "yieldTimeMs": 5000 });
    let report = server.output("talk", "write-stdin", typed).await;
    assert_eq!(report["exitCode"], 0, "{report}");
    let output = report["output"].as_str().unwrap();
    assert!(output.contains("hello world\n") && output.contains("/dev/pts/"), "{output}");
    // Another chat does not find it.
    let parts = server.call("other", &[("write-stdin", json!({ "sessionId": id }))]).await;
    assert!(parts[0]["errorText"].as_str().unwrap().starts_with("not_found: "), "{parts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_asks_and_waiting_does_not() {
    let server = Server::start(122, &[]).await;
    let started = json!({ "cmd": "cat", "yieldTimeMs": 50 });
    server.begin("ask", &[("exec-command", started)]).await;
    server.idle("ask").await;
    let id = server.tools("ask").await[0]["output"]["sessionId"].as_str().unwrap().to_owned();
    server.output("ask", "write-stdin", json!({ "sessionId": id, "yieldTimeMs": 10 })).await;
    server.begin("ask", &[("write-stdin", json!({ "sessionId": id, "chars": "x\n" }))]).await;
    let asked = server.answer("ask", &json!({ "approved": true })).await;
    assert_eq!(asked["question"]["why"], "It types \"x\\n\" into a running command.");
    server.idle("ask").await;
    // Ctrl-C ends it without a question.
    let report = server
        .output("ask", "write-stdin", json!({ "sessionId": id, "chars": "\u{3}", "yieldTimeMs": 5000 }))
        .await;
    assert_eq!(report["signal"], "SIGINT", "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_watches_types_and_stops() {
    let server = Server::start(123, &[YOLO]).await;
    let started =
        json!({ "cmd": "while read line; do echo \"got $line\"; done", "tty": false, "yieldTimeMs": 50 });
    server.call("watch", &[("exec-command", started)]).await;
    let jobs = server.jobs().await;
    let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
    assert_eq!(
        (&job["state"], &job["chatId"], &job["tty"]),
        (&json!("running"), &json!("watch"), &json!(false))
    );
    let id = job["id"].as_str().unwrap();
    let client = reqwest::Client::new();
    let url = |rest: &str| format!("{}/api/jobs/{id}{rest}", server.process.url());
    let type_in = async |text: &str| {
        let sent = client.post(url("/input")).json(&json!({ "chars": text })).send().await.unwrap();
        assert_eq!(sent.status(), 204);
    };
    type_in("one\n").await;
    let mut stream = client.get(url("/output?offset=0")).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut seen = String::new();
    let mut typed = false;
    let mut stopped = None;
    while let Some(piece) = stream.chunk().await.unwrap() {
        seen.push_str(&String::from_utf8_lossy(&piece));
        if !typed && seen.contains("got one") {
            typed = true;
            type_in("two\n").await;
        }
        if stopped.is_none() && seen.contains("got two") {
            let answer = client.delete(url("")).send().await.unwrap();
            stopped = Some(answer.json::<Value>().await.unwrap());
        }
    }
    assert_eq!(stopped.unwrap()["state"], "ended");
    let events: Vec<Value> = seen
        .lines()
        .filter_map(|line| Some(serde_json::from_str(line.strip_prefix("data: ")?).unwrap()))
        .collect();
    assert_eq!(events[0], json!({ "type": "output", "offset": 0, "text": "got one\n" }));
    assert_eq!(events[1], json!({ "type": "output", "offset": 8, "text": "got two\n" }));
    assert_eq!((&events[2]["type"], &events[2]["job"]["state"]), (&json!("ended"), &json!("ended")));
    gone("got $line").await;
    let (status, problem) = server.try_get("/api/jobs/job_none").await;
    assert_eq!((status, &problem["code"]), (404, &json!("job_not_found")));
    let late = client.post(url("/input")).json(&json!({ "chars": "x" })).send().await.unwrap();
    assert_eq!(late.status(), 409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_is_shown_while_the_command_runs() {
    let server = Server::start(124, &[YOLO]).await;
    let input = json!({ "command": "echo first; sleep 1; echo second" });
    server.begin("live", &[("shell-command", input)]).await;
    let mut stream = reqwest::get(format!("{}/api/chat/live/stream", server.process.url())).await.unwrap();
    let mut seen = String::new();
    while let Some(piece) = stream.chunk().await.unwrap() {
        seen.push_str(&String::from_utf8_lossy(&piece));
    }
    let first = seen.find("\"preliminary\":true").unwrap_or_else(|| panic!("{seen}"));
    assert!(seen[first.saturating_sub(600)..first + 100].contains("first\\n"), "{seen}");
}
