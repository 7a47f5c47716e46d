//! A data folder, a work directory and an address of their own, and the real binary as a person calls it there.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, ChildStdout, Command, Stdio},
};

const BINARY: &str = env!("CARGO_BIN_EXE_concertino");

pub struct Home {
    pub folder: tempfile::TempDir,
    pub address: String,
}

/// What a command printed, and how it ended.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A server that is killed when it is dropped.
pub struct Server {
    process: Child,
    _lines: BufReader<ChildStdout>,
    /// The work directory that it announced.
    pub workdir: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Home {
    pub fn new() -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self { folder: tempfile::tempdir().unwrap(), address }
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(BINARY);
        command
            .env_clear()
            .env("CONCERTINO_DATA_DIR", self.folder.path().join("data"))
            .env("CONCERTINO_LISTEN", &self.address)
            .env("CONCERTINO_DISCOVER", "off")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, command: &str, arguments: &[&str]) -> Said {
        let output = self.command().arg(command).args(arguments).output().unwrap();
        Said {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn serve(&self) -> Server {
        let mut process = self.command().arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.contains(&self.address), "{line}");
        let workdir = loop {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the server announces its work directory");
            if let Some(workdir) = line.trim_end().strip_prefix("  files: ") {
                break workdir.to_owned();
            }
        };
        Server { process, _lines: lines, workdir }
    }
}
