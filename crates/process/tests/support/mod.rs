//! What the tests of this crate share: a sandbox in a throw-away folder.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use process::{
    Access, CommandSpec, Exit, OutputWindow, Program, Running, Sandbox, SandboxLevel, clean_environment,
    start, start_without_namespaces,
};

/// A work directory, a hidden folder with secrets and a folder that nobody was granted.
pub struct Place {
    _folder: tempfile::TempDir,
    pub root: PathBuf,
    pub sandbox: Sandbox,
    pub namespaces: bool,
}

pub const SECRET: &str = "s3cret-token-of-the-server";

impl Place {
    pub fn new(level: SandboxLevel) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["work", "data", "outside"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("data/token"), SECRET).unwrap();
        std::fs::write(root.join("data/chats.sqlite3"), SECRET).unwrap();
        std::fs::write(root.join("outside/note"), SECRET).unwrap();
        std::fs::write(root.join("work/hello.txt"), "hello\n").unwrap();
        let sandbox = Sandbox {
            level,
            workdir: root.join("work"),
            read: vec![],
            write: vec![],
            hidden: vec![root.join("data")],
            launcher: env!("CARGO_BIN_EXE_process-test-launcher").into(),
        };
        Self { _folder: folder, root, sandbox, namespaces: true }
    }

    pub fn env(&self) -> Vec<(String, String)> {
        clean_environment(|name| std::env::var(name).ok(), &[], &self.sandbox.workdir)
    }

    pub fn argv(&self, access: Access, argv: &[&str]) -> CommandSpec {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        CommandSpec::new(Program::Argv(argv), self.sandbox.workdir.clone(), access, self.env())
    }

    pub fn line(&self, access: Access, line: &str) -> CommandSpec {
        CommandSpec::new(Program::Line(line.to_owned()), self.sandbox.workdir.clone(), access, self.env())
    }

    pub async fn start(&self, spec: CommandSpec) -> Running {
        let started = if self.namespaces {
            start(&self.sandbox, spec).await
        } else {
            start_without_namespaces(&self.sandbox, spec).await
        };
        started.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same place on a machine without namespaces.
    pub fn without_namespaces(mut self) -> Self {
        self.namespaces = false;
        self
    }

    /// Runs a command without input and returns its output and end.
    pub async fn run(&self, spec: CommandSpec) -> (String, Exit) {
        let mut running = self.start(spec).await;
        running.close_stdin().await.unwrap();
        let output = collect(&mut running).await;
        (output, running.wait().await)
    }

    pub async fn run_line(&self, line: &str) -> (String, Exit) {
        self.run(self.line(Access::Workspace, line)).await
    }
}

pub async fn collect(running: &mut Running) -> String {
    let mut window = OutputWindow::new(1 << 20);
    while let Some(chunk) = running.next_output().await {
        window.push(&chunk.bytes);
    }
    window.text().joined()
}

/// Reads output until it contains `text`, at most ten seconds.
pub async fn read_until(running: &mut Running, text: &str) -> String {
    let mut seen = String::new();
    let reading = async {
        while !seen.contains(text) {
            let Some(chunk) = running.next_output().await else { break };
            seen.push_str(&String::from_utf8_lossy(&chunk.bytes));
        }
    };
    tokio::time::timeout(Duration::from_secs(10), reading).await.ok();
    assert!(seen.contains(text), "{text:?} did not come, only {seen:?}");
    seen
}

/// A number from the environment, for tests that can run longer.
pub fn count(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Processes whose command line contains `mark`, without zombies.
pub fn marked(mark: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if pid != std::process::id() as i32
            && String::from_utf8_lossy(&line).replace('\0', " ").contains(mark)
        {
            found.push(pid);
        }
    }
    found
}

/// Waits until no process carries the mark any more; returns those that still do.
pub fn remaining(mark: &str, within: Duration) -> Vec<i32> {
    let deadline = std::time::Instant::now() + within;
    loop {
        let left = marked(mark);
        if left.is_empty() || std::time::Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
