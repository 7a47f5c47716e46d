//! `concertino chat` as a person uses it: the real binary against a real server on a loopback port.

#![expect(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdout, Command, Output, Stdio},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");

/// A server with its own data folder; ends with the test.
struct Server {
    process: Child,
    folder: tempfile::TempDir,
    address: String,
    /// Kept open: it prints more than the first line.
    _lines: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = free_address();
        let mut process = concertino(&folder, &address).arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        // It prints this once it listens.
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.contains(&address), "{line}");
        Self { process, folder, address, _lines: lines }
    }

    fn chat(&self, arguments: &[&str]) -> Output {
        self.chat_with_input(arguments, "")
    }

    fn chat_with_input(&self, arguments: &[&str], input: &str) -> Output {
        let mut process = concertino(&self.folder, &self.address)
            .arg("chat")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A process that does not read its input has ended already.
        if let Err(error) = process.stdin.take().unwrap().write_all(input.as_bytes()) {
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        }
        process.wait_with_output().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn concertino(folder: &tempfile::TempDir, address: &str) -> Command {
    let mut command = Command::new(BINARY);
    command
        .current_dir(folder.path())
        .env("CONCERTINO_DATA_DIR", folder.path().join("data"))
        .env("CONCERTINO_LISTEN", address)
        .env("CONCERTINO_MODEL", "demo/rules")
        .env("TZ", "Asia/Shanghai")
        .env_remove("CONCERTINO_TOKEN")
        .env_remove("CONCERTINO_AUTH");
    command
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[track_caller]
fn ended(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}\n{}", stdout(output), stderr(output));
}

#[test]
fn an_answer_goes_to_stdout_and_everything_else_to_stderr() {
    let server = Server::start();
    let said = server.chat(&["what can you do?"]);
    ended(&said, 0);
    assert!(stdout(&said).contains("time-now") && stdout(&said).ends_with('\n'), "{}", stdout(&said));
    assert!(!stdout(&said).contains('\u{1b}'), "no colour in a pipe");

    let said = server.chat(&["现在几点了"]);
    ended(&said, 0);
    assert!(stdout(&said).contains("Asia/Shanghai"), "the zone of the terminal counts: {}", stdout(&said));
    assert!(!stdout(&said).contains('●') && stderr(&said).contains("✓ time-now"), "{}", stderr(&said));
}

#[test]
fn a_pipe_is_the_message_when_there_is_no_other() {
    let server = Server::start();
    let said = server.chat_with_input(&[], "what time is it in Tokyo?\n");
    ended(&said, 0);
    assert!(stdout(&said).contains("Tokyo"), "{}", stdout(&said));
    let said = server.chat_with_input(&[], "  \n");
    ended(&said, 1);
    assert!(stderr(&said).contains("nothing to send"), "{}", stderr(&said));
}

#[test]
fn json_prints_the_chunks_as_they_come() {
    let server = Server::start();
    let said = server.chat(&["--json", "what time is it?"]);
    ended(&said, 0);
    let kinds: Vec<String> = stdout(&said)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.first().unwrap(), "start");
    assert_eq!(kinds.last().unwrap(), "finish");
    assert!(kinds.iter().any(|kind| kind == "tool-output-available"), "{kinds:?}");
    assert_eq!(stderr(&said), "");
}

#[test]
fn a_question_nobody_can_answer_is_left_open_with_code_3() {
    let server = Server::start();
    let said = server.chat(&["--id", "report/1", "ask me before you send the report"]);
    ended(&said, 3);
    assert!(stderr(&said).contains("concertino chat --id report/1"), "{}", stderr(&said));
    let answer = stderr(&said).lines().find_map(|line| line.split_once("/api/approvals/")).unwrap().1;
    assert!(answer.starts_with("apr_"), "{answer}");
    let said = server.chat(&["--json", "ask me before you send the report"]);
    ended(&said, 3);
    assert!(stdout(&said).lines().last().unwrap().contains("\"finish\""), "{}", stdout(&said));
}

#[test]
fn the_last_chat_is_continued() {
    let server = Server::start();
    let said = server.chat(&["--continue", "hello"]);
    ended(&said, 1);
    assert!(stderr(&said).contains("no chat yet"), "{}", stderr(&said));
    ended(&server.chat(&["--id", "one", "what time is it?"]), 0);
    ended(&server.chat(&["-c", "what time is it in Tokyo?"]), 0);
    let both = server.chat(&["-c", "--id", "one", "x"]);
    ended(&both, 2);
}

#[test]
fn a_wrong_token_and_no_server_are_reported_in_a_sentence() {
    let server = Server::start();
    let said = server.chat(&["--token", "wrong", "hello"]);
    ended(&said, 1);
    assert_eq!(stdout(&said), "");
    assert!(stderr(&said).contains("--token or CONCERTINO_TOKEN"), "{}", stderr(&said));

    let nowhere = format!("http://{}", free_address());
    let said = server.chat(&["--url", &nowhere, "hello"]);
    ended(&said, 1);
    assert_eq!(stderr(&said), format!("✗ no server at {nowhere}; start one with `concertino`\n"));
    let said = server.chat(&["--url", "localhost:1", "hello"]);
    ended(&said, 1);
    assert!(stderr(&said).contains("http://HOST:PORT"), "{}", stderr(&said));
}

/// Passes connections on to the server, but cuts the first answer in which the words occur, right before them.
fn cutting_proxy(server: &str, before: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = server.to_owned();
    thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            let upstream = TcpStream::connect(&server).unwrap();
            let (mut requests, mut to_server) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut requests, &mut to_server));
            thread::spawn(move || pass_on(upstream, client, (number == 0).then_some(before)));
        }
    });
    address
}

fn pass_on(mut answers: TcpStream, mut client: TcpStream, before: Option<&str>) -> std::io::Result<()> {
    let mut seen = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let read = answers.read(&mut bytes)?;
        let sent = seen.len();
        seen.extend_from_slice(&bytes[..read]);
        let found =
            before.and_then(|before| seen.windows(before.len()).position(|words| words == before.as_bytes()));
        client.write_all(&seen[sent..found.unwrap_or(seen.len()).max(sent)])?;
        if read == 0 || found.is_some() {
            return client.shutdown(std::net::Shutdown::Both);
        }
    }
}

#[test]
fn a_lost_connection_is_resumed_and_nothing_is_printed_twice() {
    let server = Server::start();
    let whole = server.chat(&["what can you do?"]);
    for before in ["\"start-step\"", "offline", "\"text-end\"", "\"finish\""] {
        let url = format!("http://{}", cutting_proxy(&server.address, before));
        let said = server.chat(&["--url", &url, "what can you do?"]);
        ended(&said, 0);
        assert_eq!(stdout(&said), stdout(&whole), "cut before {before}");
        assert_eq!(stderr(&said), "connection lost, reconnecting (1 of 5)\n");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_run_and_keeps_what_was_said() {
    let server = Server::start();
    let mut process = concertino(&server.folder, &server.address)
        .args(["chat", "--id", "stopped", "what can you do?"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // After the first words the run is active.
    let mut out = process.stdout.take().unwrap();
    let mut first = [0; 1];
    out.read_exact(&mut first).unwrap();
    let interrupted = Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let mut info = String::new();
    process.stderr.take().unwrap().read_to_string(&mut info).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(130), "{info}");
    assert!(info.ends_with("stopped\n"), "{info}");
    assert!(!rest.contains("say what I can do"), "{rest}");
    // The chat can be used again at once.
    ended(&server.chat(&["--id", "stopped", "what time is it?"]), 0);
}

#[test]
fn what_was_used_is_shown_as_a_table_and_as_json() {
    let server = Server::start();
    ended(&server.chat(&["what time is it?"]), 0);
    let usage = |arguments: &[&str]| {
        let command = &mut concertino(&server.folder, &server.address);
        command.arg("usage").args(arguments).output().unwrap()
    };
    let table = usage(&["--by", "model"]);
    ended(&table, 0);
    assert!(stdout(&table).lines().any(|line| line.starts_with("demo/rules ")), "{}", stdout(&table));
    assert!(stdout(&table).lines().all(|line| line.chars().count() <= 80), "{}", stdout(&table));
    // Two calls for the answer; the one for the title comes a moment later.
    let read = || serde_json::from_str::<Value>(stdout(&usage(&["--json"]))).unwrap();
    let began = Instant::now();
    let mut json = read();
    while json["total"]["calls"] == 2 && began.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(50));
        json = read();
    }
    assert_eq!(
        (&json["timezone"], &json["total"]["calls"]),
        (&Value::from("Asia/Shanghai"), &Value::from(3))
    );
    let wrong = usage(&["--by", "colour"]);
    ended(&wrong, 2);
    assert!(stderr(&wrong).contains("day, model, agent, session"), "{}", stderr(&wrong));
}

#[test]
fn a_command_ends_quietly_when_its_reader_has_left() {
    let server = Server::start();
    for arguments in [
        &["doctor"][..],
        &["models"],
        &["models", "--json"],
        &["usage"],
        &["link"],
        &["token", "list"],
        &["agents"],
    ] {
        let mut process = concertino(&server.folder, &server.address)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closed before the first line: whatever the command prints, nobody reads it.
        drop(process.stdout.take().unwrap());
        let output = process.wait_with_output().unwrap();
        assert!(!stderr(&output).contains("panicked"), "{arguments:?}: {}", stderr(&output));
        ended(&output, 0);
    }
}

#[cfg(unix)]
#[test]
fn the_chat_command_that_the_server_prints_reaches_it_from_another_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("my data");
    let address = free_address();
    let mut command = Command::new(BINARY);
    command.env_clear().env("HOME", folder.path()).env("CONCERTINO_MODEL", "demo/rules").current_dir(&folder);
    let flags = ["--listen", &address, "--data-dir", data.to_str().unwrap()];
    let mut process = command.args(flags).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let chat = lines.take(5).find_map(|line| line.trim().strip_prefix("chat:").map(str::to_owned)).unwrap();
    let output = Command::new("/bin/sh")
        .args(["-c", &chat])
        .env_clear()
        .env("HOME", folder.path())
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(chat.contains(&format!("--listen {address}")) && chat.contains("/my data'"), "{chat}");
    ended(&output, 0);
    assert!(stdout(&output).contains("time-now"), "{}", stdout(&output));
}

#[test]
fn help_texts_and_start_lines_fit_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        &[][..],
        &["serve"],
        &["chat"],
        &["agents"],
        &["agents", "import"],
        &["models"],
        &["models", "test"],
        &["doctor"],
        &["link"],
        &["sign-ins", "revoke"],
        &["token", "add"],
        &["export"],
        &["import"],
        &["backup"],
        &["restore"],
        &["usage"],
    ] {
        let output = concertino(&folder, "127.0.0.1:1").args(command).arg("--help").output().unwrap();
        ended(&output, 0);
        for line in stdout(&output).lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
    }
}
