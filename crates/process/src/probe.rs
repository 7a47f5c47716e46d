//! Tries what the sandbox must refuse and reports what happened, for `doctor`.

use std::{
    io,
    net::TcpListener,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    environment::clean_environment,
    report::SandboxReport,
    running::Running,
    spec::{Access, CommandSpec, Program, Sandbox},
    start,
};

/// The content of the file that must not be read.
const SECRET: &str = "if a command prints this, files are not protected";
/// How long the attempts may take.
const TIME: Duration = Duration::from_secs(20);

/// What a process in the sandbox shall try.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Targets {
    pub read: PathBuf,
    pub write: PathBuf,
    pub port: u16,
}

/// The result of one attempt, as the process in the sandbox saw it: the error, or `None` when it succeeded.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Results {
    pub read: Option<String>,
    pub write: Option<String>,
    pub connect: Option<String>,
}

/// One forbidden thing that was tried in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// What was tried, for a person.
    pub what: String,
    pub blocked: bool,
    /// The error, or what was reached.
    pub result: String,
}

/// What happened when forbidden things were tried in the sandbox.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeReport {
    /// The active protections; `None` when nothing could be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<SandboxReport>,
    pub attempts: Vec<Attempt>,
    /// Why nothing could be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ProbeReport {
    /// Whether everything that was tried was refused.
    pub fn all_blocked(&self) -> bool {
        self.error.is_none()
            && !self.attempts.is_empty()
            && self.attempts.iter().all(|attempt| attempt.blocked)
    }
}

/// Tries a forbidden read, write and connection in the sandbox.
pub async fn probe(sandbox: &Sandbox) -> ProbeReport {
    match attempts(sandbox).await {
        Ok((report, attempts)) => ProbeReport { report: Some(report), attempts, error: None },
        Err(error) => ProbeReport { report: None, attempts: Vec::new(), error: Some(error) },
    }
}

async fn attempts(sandbox: &Sandbox) -> Result<(SandboxReport, Vec<Attempt>), String> {
    let text = |error: io::Error| format!("the attempt could not be prepared: {error}");
    let folder = start::PrivateFolder::create().map_err(text)?;
    let targets = prepare(folder.path()).map_err(text)?;
    let listener = TcpListener::bind("127.0.0.1:0").map_err(text)?;
    listener.set_nonblocking(true).map_err(text)?;
    let port = listener.local_addr().map_err(text)?.port();
    let targets = Targets { port, ..targets };
    let mut sandbox = sandbox.clone();
    sandbox.hidden.push(folder.path().to_owned());
    let env = clean_environment(|name| std::env::var(name).ok(), &[], &sandbox.workdir);
    let program = Program::Argv(vec!["probe".to_owned()]);
    let mut spec = CommandSpec::new(program, sandbox.workdir.clone(), Access::Workspace, env);
    spec.limits.time = TIME;
    let mut running =
        start::start_probe(&sandbox, spec, targets.clone()).await.map_err(|error| error.to_string())?;
    let results = read_results(&mut running).await?;
    let exit = running.wait().await;
    Ok((exit.report, judge(&targets, &results, &listener)))
}

fn prepare(folder: &Path) -> io::Result<Targets> {
    let targets = Targets { read: folder.join("secret"), write: folder.join("written"), port: 0 };
    std::fs::write(&targets.read, SECRET)?;
    Ok(targets)
}

async fn read_results(running: &mut Running) -> Result<Results, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = running.next_output().await {
        if bytes.len() < 64 * 1024 {
            bytes.extend_from_slice(&chunk.bytes);
        }
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("the attempts gave no result: {error}"))
}

/// Believes the process in the sandbox only where the outside agrees.
fn judge(targets: &Targets, results: &Results, listener: &TcpListener) -> Vec<Attempt> {
    let attempt = |what: &str, error: &Option<String>, reached: bool| Attempt {
        what: what.to_owned(),
        blocked: error.is_some() && !reached,
        result: error.clone().unwrap_or_else(|| "it succeeded".to_owned()),
    };
    vec![
        attempt("read a file outside of the allowed folders", &results.read, false),
        attempt("write a file outside of the allowed folders", &results.write, targets.write.exists()),
        attempt("connect to a server on this machine", &results.connect, listener.accept().is_ok()),
    ]
}

/// Makes the attempts. Runs in the inner process, after it entered the sandbox.
pub(crate) fn try_all(targets: &Targets) -> Results {
    let read = std::fs::read(&targets.read).err();
    let write = std::fs::write(&targets.write, b"written").err();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], targets.port));
    let connect = std::net::TcpStream::connect_timeout(&address, Duration::from_secs(2)).err();
    let [read, write, connect] = [read, write, connect].map(|error| error.map(|error| error.to_string()));
    Results { read, write, connect }
}
