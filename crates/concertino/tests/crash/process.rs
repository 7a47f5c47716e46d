//! The real binary on one port and one data folder, started and killed repeatedly.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use testkit::Rng;

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");
/// How long a start may take, recovery included.
const START: Duration = Duration::from_secs(30);

pub struct Process {
    folder: tempfile::TempDir,
    address: String,
    upstream: String,
    settings: Vec<(String, String)>,
    child: Option<Child>,
}

impl Process {
    pub fn new(upstream: String, rng: &mut Rng) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            address: free_address(rng),
            upstream,
            settings: Vec::new(),
            child: None,
        }
    }

    /// A setting of the processes to come.
    pub fn set(&mut self, variable: &str, value: &str) {
        self.settings.push((variable.to_owned(), value.to_owned()));
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Of the process that runs.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("data/concertino.db")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Everything the processes complained about so far.
    pub fn complaints(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    /// Begins a start without waiting for anything; returns what it prints.
    pub fn launch(&mut self) -> mpsc::Receiver<String> {
        assert!(self.child.is_none(), "one at a time");
        let complaints: File =
            OpenOptions::new().create(true).append(true).open(self.folder.path().join("stderr")).unwrap();
        let mut command = Command::new(BINARY);
        command
            .arg("serve")
            .current_dir(self.folder.path())
            .env("CONCERTINO_DATA_DIR", self.folder.path().join("data"))
            .env("CONCERTINO_LISTEN", &self.address)
            .env("CONCERTINO_AUTH", "off")
            .env("CONCERTINO_ENABLE", "conformance")
            .env("CONCERTINO_LOG", "warn")
            .env("CONCERTINO_AUTO_TITLE", "off")
            .env("OPENAI_BASE_URL", &self.upstream)
            .envs(self.settings.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(complaints);
        for name in ["CONCERTINO_MODEL", "CONCERTINO_TOKEN", "OPENAI_API_KEY", "OPENAI_MODEL", "MODEL"] {
            command.env_remove(name);
        }
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        self.child = Some(child);
        let (tell, lines) = mpsc::channel();
        // Ends with the process, whose output it reads.
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // The receiver may be gone.
                drop(tell.send(line));
            }
        });
        lines
    }

    /// Starts and waits until it listens.
    pub fn start(&mut self) {
        let lines = self.launch();
        match lines.recv_timeout(START) {
            Ok(line) => assert!(line.contains(&self.address), "{line}"),
            Err(error) => panic!("the server does not start ({error}): {}", self.complaints()),
        }
    }

    /// SIGKILL: no handler runs, nothing is flushed.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Below the range from which the system takes ports for outgoing connections, so that the port is still free after
/// each restart.
fn free_address(rng: &mut Rng) -> String {
    for _ in 0..200 {
        let address = format!("127.0.0.1:{}", rng.between(20_000, 31_000));
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
    panic!("no port is free");
}
