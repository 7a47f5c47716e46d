//! A run that ends the process is ended itself: the server starts by the third attempt, and no other chat suffers.
//!
//! The real binary aborts at a crash point (`protocol::crash_point!`) when a text holds a mark, which only the guilty
//! chat's does. Crash points are in builds with debug assertions only.

#![cfg(debug_assertions)]

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::{Value, json};
use testkit::upstream::{Act, Script, Upstream};
use tokio::{task::block_in_place, time::sleep};

const MARK: &str = "the-mark-of-the-guilty";
const PATIENCE: Duration = Duration::from_secs(40);

struct Server {
    folder: tempfile::TempDir,
    address: String,
    upstream: String,
    child: Option<Child>,
    http: Client,
}

impl Server {
    fn new(upstream: &Upstream) -> Self {
        testkit::models::install_tls();
        let http = Client::builder().no_proxy().tls_certs_only([]).pool_max_idle_per_host(0).build().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self {
            folder: tempfile::tempdir().unwrap(),
            address,
            upstream: upstream.base_url(),
            child: None,
            http,
        }
    }

    /// Starts, with this crash point; waits until it listens, or for its end.
    fn start(&mut self, crash_point: Option<&str>) {
        let complaints: File =
            OpenOptions::new().create(true).append(true).open(self.folder.path().join("stderr")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_concertino"));
        command
            .arg("serve")
            .current_dir(self.folder.path())
            .env("CONCERTINO_DATA_DIR", self.folder.path().join("data"))
            .env("CONCERTINO_LISTEN", &self.address)
            .env("CONCERTINO_AUTH", "off")
            .env("CONCERTINO_ENABLE", "conformance")
            .env("CONCERTINO_AUTO_TITLE", "off")
            .env("OPENAI_BASE_URL", &self.upstream)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(complaints);
        for name in ["CONCERTINO_MODEL", "CONCERTINO_TOKEN", "OPENAI_API_KEY", "OPENAI_MODEL", "MODEL"] {
            command.env_remove(name);
        }
        if let Some(point) = crash_point {
            command.env("CONCERTINO_CRASH_POINT", format!("{point}:{MARK}"));
        }
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        self.child = Some(child);
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || output.lines().map_while(Result::ok).for_each(|line| drop(tell.send(line))));
        let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no start: {}", self.complaints()));
        assert!(line.contains(&self.address), "{line}");
    }

    fn complaints(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Waits for the process to abort.
    async fn dies(&mut self) {
        let began = Instant::now();
        while self.child.as_mut().unwrap().try_wait().unwrap().is_none() {
            assert!(began.elapsed() < PATIENCE, "it does not crash: {}", self.complaints());
            sleep(Duration::from_millis(20)).await;
        }
        self.child = None;
    }

    fn is_alive(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_none())
    }

    /// Sends a message and lets it be answered without reading. The server may crash meanwhile.
    async fn send(&self, chat: &str, script: &Script, fields: Value) {
        let id = format!("u-{chat}-{}", fields["n"].as_u64().unwrap_or(0));
        let parts = json!([{ "type": "text", "text": script.text() }]);
        let mut body = json!({ "id": chat, "messages": [{ "id": id, "role": "user", "parts": parts }] });
        for (name, value) in fields.as_object().into_iter().flatten().filter(|(name, _)| *name != "n") {
            body[name] = value.clone();
        }
        let request = self.http.post(format!("http://{}/api/chat", self.address));
        let sent = request.header("content-type", "application/json").body(body.to_string()).send().await;
        if let Ok(response) = sent {
            assert_eq!(response.status().as_u16(), 200, "{chat}");
        }
    }

    async fn get(&self, path: &str) -> Value {
        let got = self.http.get(format!("http://{}{path}", self.address)).send().await.unwrap();
        serde_json::from_str(&got.text().await.unwrap()).unwrap_or_default()
    }

    /// The newest message of a chat, once nothing is active in it.
    async fn newest(&self, chat: &str) -> Value {
        let began = Instant::now();
        while self.get(&format!("/api/sessions/{chat}")).await["status"] != "idle" {
            assert!(began.elapsed() < PATIENCE, "{chat} does not come to rest: {}", self.complaints());
            sleep(Duration::from_millis(20)).await;
        }
        let history = self.get(&format!("/api/chat/{chat}/messages")).await;
        history.as_array().and_then(|all| all.last().cloned()).unwrap_or_default()
    }

    /// A message in this chat is answered, now.
    async fn answers(&self, chat: &str, number: u64) {
        let words = format!("Here I am, {chat}.");
        let script = Script::new(vec![vec![Act::Text { text: words.clone() }]]);
        self.send(chat, &script, json!({ "n": number })).await;
        let answer = self.newest(chat).await;
        assert!(answer.to_string().contains(&words), "{answer}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn in_one_piece(steps: Vec<Vec<Act>>) -> Script {
    Script { piece: 100_000, ..Script::new(steps) }
}

fn call(tool: &str, input: Value) -> Act {
    Act::Call { tool: tool.to_owned(), input }
}

fn says(text: &str) -> Act {
    Act::Text { text: text.to_owned() }
}

/// An innocent chat whose answer takes a while.
fn long() -> Script {
    let mut script =
        Script::new(vec![vec![Act::Stall { ms: 3_000 }, says("The innocent come to their end.")]]);
    script.pace_ms = 1;
    script
}

/// The reason is in the message, for the person and for programs.
fn is_ended(answer: &Value) {
    let facts = &answer["metadata"];
    assert_eq!((&facts["status"], &facts["errorCode"]), (&json!("failed"), &json!("internal")), "{answer}");
    let error = facts["error"].as_str().unwrap();
    assert!(
        error.starts_with("The server ended unexpectedly 3 times while this answer was being written"),
        "{error}"
    );
    assert!(error.ends_with("Send your message again to retry."), "{error}");
}

/// The guilty chat crashes the server at its first run and at two starts; the third start stays, everybody else is
/// answered, and the guilty chat is told why it is not.
async fn third_start_stays(point: &str, guilty: Script) {
    let upstream = Upstream::start().await;
    let mut server = Server::new(&upstream);
    block_in_place(|| server.start(Some(point)));
    server.send("innocent", &long(), json!({})).await;
    server.send("guilty", &guilty, json!({})).await;
    server.dies().await;
    for _ in 0..2 {
        block_in_place(|| server.start(Some(point)));
        server.dies().await;
    }
    block_in_place(|| server.start(Some(point)));
    server.answers("bystander", 0).await;
    is_ended(&server.newest("guilty").await);
    let innocent = server.newest("innocent").await;
    assert!(innocent.to_string().contains("The innocent come to their end."), "{point}: {innocent}");
    server.answers("guilty", 1).await;
    assert!(server.is_alive(), "{point}: {}", server.complaints());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_a_template_ends_its_run_and_not_the_server() {
    let order =
        json!({ "name": "dynamic", "task": "t", "options": { "prompt": format!("{MARK} {{{{ - }}}}") } });
    third_start_stays("template", in_one_piece(vec![vec![call("sub-agent", order)], vec![says("Done.")]]))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_a_tool_ends_its_run_and_not_the_server() {
    let guilty = vec![vec![call("conf_echo", json!({ "text": MARK }))], vec![says("Done.")]];
    third_start_stays("tool", in_one_piece(guilty)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_a_model_reader_ends_its_run_and_not_the_server() {
    third_start_stays("reader", in_one_piece(vec![vec![says(MARK)]])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_the_store_ends_its_run_and_not_the_server() {
    let guilty = vec![vec![call("conf_echo", json!({ "text": MARK }))], vec![says("Done.")]];
    third_start_stays("store", in_one_piece(guilty)).await;
}

/// Here the log itself cannot be folded: what was said is stored before the fold goes wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_folded_is_ended_without_folding_it() {
    let upstream = Upstream::start().await;
    let mut server = Server::new(&upstream);
    block_in_place(|| server.start(None));
    server.send("innocent", &long(), json!({})).await;
    let words = vec![says(&format!("{MARK} and more.")), Act::Stall { ms: 600_000 }];
    server.send("guilty", &in_one_piece(vec![words]), json!({})).await;
    sleep(Duration::from_millis(500)).await; // deltas are stored within a tenth of a second
    server.kill();
    for _ in 0..2 {
        block_in_place(|| server.start(Some("fold")));
        server.dies().await;
    }
    block_in_place(|| server.start(Some("fold")));
    server.answers("bystander", 0).await;
    is_ended(&server.newest("guilty").await);
    let innocent = server.newest("innocent").await;
    assert!(innocent.to_string().contains("The innocent come to their end."), "{innocent}");
    server.answers("guilty", 1).await;
    assert!(server.is_alive(), "{}", server.complaints());
}

/// A queued message that crashes the server before its run is stored.
#[tokio::test(flavor = "multi_thread")]
async fn a_queued_message_that_crashes_the_server_is_answered_with_the_reason() {
    let upstream = Upstream::start().await;
    let mut server = Server::new(&upstream);
    block_in_place(|| server.start(None));
    let agent = json!({ "name": "guilty-agent", "description": "Crashes.", "systemPrompt": format!("{MARK} Be brief.") });
    let request = server.http.post(format!("http://{}/api/agents", server.address));
    let made =
        request.header("content-type", "application/json").body(agent.to_string()).send().await.unwrap();
    assert!(made.status().is_success(), "{}", made.text().await.unwrap());
    server
        .send("guilty", &in_one_piece(vec![vec![Act::Stall { ms: 1_500 }, says("First.")]]), json!({}))
        .await;
    let second = in_one_piece(vec![vec![says("Second.")]]);
    server.send("guilty", &second, json!({ "n": 1, "whenBusy": "queue", "agentId": "guilty-agent" })).await;
    server.kill();
    // The first message is resumed and ends; then the second begins, and ends the process, again and again.
    for _ in 0..3 {
        block_in_place(|| server.start(Some("template")));
        server.dies().await;
    }
    block_in_place(|| server.start(Some("template")));
    server.answers("bystander", 0).await;
    is_ended(&server.newest("guilty").await);
    assert!(server.is_alive(), "{}", server.complaints());
}

/// Ends that were asked for are no crashes, however many there are.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_after_any_number_of_restarts_that_were_asked_for() {
    let upstream = Upstream::recording().await;
    let mut server = Server::new(&upstream);
    block_in_place(|| server.start(None));
    let script = in_one_piece(vec![vec![Act::Stall { ms: 5_000 }, says("At last.")]]);
    server.send("patient", &script, json!({})).await;
    for restart in 0..3 {
        // The run is active in each of these processes.
        let began = Instant::now();
        while upstream.bodies().len() <= restart {
            assert!(began.elapsed() < PATIENCE, "it is not resumed: {}", server.complaints());
            sleep(Duration::from_millis(20)).await;
        }
        let pid = server.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        server.dies().await;
        block_in_place(|| server.start(None));
    }
    let answer = server.newest("patient").await;
    assert!(answer.to_string().contains("At last."), "{answer}");
}
