//! The prompt a model writes for a sub-agent once killed the server, and again at every start.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use testkit::upstream::{Act, Script, Upstream};

#[path = "../scale/client.rs"]
#[allow(dead_code, reason = "this test needs a part of it")]
mod client;

use client::Timed;

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");

/// A running server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn serve(folder: &std::path::Path, address: &str, upstream: &str) -> Server {
    let mut child = Command::new(BINARY)
        .arg("serve")
        .env_clear()
        .current_dir(folder)
        .env("CONCERTINO_DATA_DIR", folder.join("data"))
        .env("CONCERTINO_LISTEN", address)
        .env("CONCERTINO_AUTH", "off")
        .env("CONCERTINO_AUTO_TITLE", "off")
        .env("CONCERTINO_DISCOVER", "off")
        .env("OPENAI_BASE_URL", upstream)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(address), "{line}");
    Server(child)
}

/// The system prompt of every request that was made for this task.
fn prompts_for(bodies: &[String], task: &str) -> Vec<String> {
    let bodies = bodies.iter().map(|body| serde_json::from_str::<Value>(body).unwrap());
    let asked = bodies.filter(|body| body["messages"][1]["content"].to_string().contains(task));
    asked.map(|body| body["messages"][0]["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_written_by_a_model_reaches_the_sub_agent_as_it_is_and_the_server_lives() {
    let upstream = Upstream::recording().await;
    let folder = tempfile::tempdir().unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut server = serve(folder.path(), &address, &upstream.base_url());
    let http = Timed::new(&format!("http://{address}"));
    let attacks = [
        "{{ ".to_owned() + &"-".repeat(6000) + "1 }}",
        "{{ 1".to_owned() + &"~1".repeat(7000) + " }}",
        "{{ name".to_owned() + &".a".repeat(9000) + " }}",
        "{{ name".to_owned() + &"|trim".repeat(9000) + " }}",
        "{{ 'a' * 4000000000 }}".to_owned(),
        "You are {{ name }}.".to_owned(),
    ];
    for (number, prompt) in attacks.iter().enumerate() {
        let task = Script::new(vec![vec![Act::Text { text: format!("sub-agent {number} is done") }]]).text();
        let input = json!({ "name": "dynamic", "task": task, "options": { "prompt": prompt } });
        let call = Act::Call { tool: "sub-agent".to_owned(), input };
        let script = Script::new(vec![vec![call], vec![Act::Text { text: "done".to_owned() }]]);
        let message = json!({ "id": format!("m{number}"), "role": "user", "parts": [{ "type": "text", "text": script.text() }] });
        http.chat(&json!({ "id": format!("chat-{number}"), "messages": [message] })).await;
        assert!(server.0.try_wait().unwrap().is_none(), "the server ended after attack {number}");
        let mark = format!("sub-agent {number} is done");
        let seen = prompts_for(&upstream.bodies(), &mark);
        assert!(
            seen.contains(prompt),
            "attack {number}: the sub-agent did not get the prompt as it was written"
        );
    }
    drop(server);
    let _again = serve(folder.path(), &address, &upstream.base_url());
    assert_eq!(http.get("/api/sessions").await.1["sessions"].as_array().unwrap().len(), attacks.len());
}
