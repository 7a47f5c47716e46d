//! Signals, shutdown with half-sent requests, a closed terminal, and a second process on the same data folder.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");
/// How long a start, a request or an end may take at most.
const PATIENCE: Duration = Duration::from_secs(30);

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts on this folder and waits until it listens; its output goes nowhere afterwards.
    fn start(folder: &Path) -> Self {
        let address = free_address();
        let mut child =
            command(folder, address).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains(&address.to_string()), "{line}");
        Self { child, address }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn send(&self, bytes: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        self.send(&request).read_to_string(&mut answer).unwrap();
        answer
    }

    fn assert_serves(&self) {
        let answer = self.get("/health");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }

    /// How many connections are open, this one not counted.
    fn open_connections(&self) -> u64 {
        let answer = self.get("/api/diagnostics");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let diagnostics: serde_json::Value = serde_json::from_str(body).unwrap();
        diagnostics["limits"]["connections"]["used"].as_u64().unwrap() - 1
    }

    /// Waits until it has ended.
    fn ended(mut self) -> (ExitStatus, Duration) {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, began.elapsed());
            }
            assert!(began.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

fn command(folder: &Path, address: SocketAddr) -> Command {
    let mut command = Command::new(BINARY);
    command
        .arg("serve")
        .current_dir(folder)
        .env("CONCERTINO_DATA_DIR", folder.join("data"))
        .env("CONCERTINO_LISTEN", address.to_string())
        .env("CONCERTINO_AUTH", "off")
        .env("CONCERTINO_MODEL", "demo/rules")
        .env("CONCERTINO_DISCOVER", "off")
        .env("CONCERTINO_LOG", "debug")
        .env_remove("CONCERTINO_TOKEN")
        .stdin(Stdio::null());
    command
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_hangup_does_not_end_the_server_and_a_request_to_end_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for _ in 0..3 {
        server.signal("HUP");
        server.assert_serves();
    }
    server.signal("TERM");
    let (status, _) = server.ended();
    assert!(status.success(), "{status}");
}

#[test]
fn a_request_to_end_that_comes_while_the_server_starts_is_no_crash() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        // It listens, but has not looked yet at what the last process left behind.
        let server = Server::start(folder.path());
        server.signal("TERM");
        let (status, _) = server.ended();
        assert!(status.success(), "{status}");
    }
}

/// A terminal that closes sends SIGHUP, and every write to it fails from then on.
#[test]
fn a_server_whose_terminal_has_gone_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path());
    // With the log at `debug` every request writes to it.
    drop(server.child.stderr.take());
    server.signal("HUP");
    let body =
        r#"{"id":"c","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"Hello."}]}]}"#;
    let request = format!(
        "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..3 {
        let mut answer = String::new();
        server.send(&request).read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("[DONE]"), "{answer}");
        // A connection that ends early is worth a line in the log.
        drop(server.send("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{"));
    }
    server.assert_serves();
    server.signal("TERM");
    let (status, _) = server.ended();
    assert!(status.success(), "{status}");
}

#[test]
fn half_sent_requests_do_not_delay_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let mut held = Vec::new();
    for _ in 0..5 {
        held.push(server.send("POST /api/chat HTTP/1.1\r\nhost: loc"));
        held.push(server.send(
            "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
        ));
        held.push(server.send(
            "PATCH /api/sessions/x HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: 99\r\n\r\n{",
        ));
    }
    while server.open_connections() < held.len() as u64 {
        thread::sleep(Duration::from_millis(5));
    }
    server.signal("TERM");
    let (status, took) = server.ended();
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_millis(1500), "the end took {took:?}");
}

#[test]
fn deleting_files_of_the_data_folder_does_not_let_a_second_server_in() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let data = folder.path().join("data");
    let second = || {
        let output =
            command(folder.path(), free_address()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = output.unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        // A line means that it listens.
        let _ended = child.kill();
        let output = child.wait_with_output().unwrap();
        (line, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let refused = |(line, complaint): (String, String)| {
        assert!(line.is_empty(), "a second server is listening: {line}");
        assert!(complaint.contains("another concertino uses"), "{complaint}");
    };
    refused(second());
    if data.join("lock").exists() {
        std::fs::remove_file(data.join("lock")).unwrap();
    }
    refused(second());
    // Put in its place, it changes nothing either.
    std::fs::write(data.join("lock"), "").unwrap();
    refused(second());
    server.assert_serves();
    server.signal("KILL");
    server.ended();
    Server::start(folder.path()).assert_serves();
}
