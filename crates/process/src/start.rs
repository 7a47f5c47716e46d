//! Starts a command.

use std::{
    fs::DirBuilder,
    io,
    os::{fd::AsFd, unix::fs::DirBuilderExt},
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
    time::Duration,
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::{net::UnixDatagram, process::Command};

use crate::{
    error::StartError,
    probe::Targets,
    report::SandboxReport,
    roots::{RootAccess, Roots, real_folder},
    running::{self, Pipes, Running, Streams},
    spec::{Access, CommandSpec, Program, Sandbox, SandboxLevel},
    wire::{self, Event, Failure, LAUNCH_ARGUMENT, LaunchRequest},
};

/// How long the launcher may take until the command runs.
const START_TIME: Duration = Duration::from_secs(20);
/// Shells for a line, the first that exists.
const SHELLS: [&str; 4] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh"];

/// Why namespaces cannot be used, once an attempt failed halfway and none had succeeded before.
static NO_NAMESPACES: OnceLock<String> = OnceLock::new();
/// Set when namespaces worked: a later failure is about that one command and is not remembered.
static NAMESPACES_WORK: OnceLock<()> = OnceLock::new();

/// Starts a command in the sandbox. It is running when this returns, and ends at the latest when [`Running`] is dropped.
pub async fn start(sandbox: &Sandbox, spec: CommandSpec) -> Result<Running, StartError> {
    let request = request(sandbox, &spec, NO_NAMESPACES.get().cloned())?;
    launch(sandbox, spec, request).await
}

/// Starts a command as a machine without namespaces would; for tests of the weaker protections.
#[doc(hidden)]
pub async fn start_without_namespaces(sandbox: &Sandbox, spec: CommandSpec) -> Result<Running, StartError> {
    let request = request(sandbox, &spec, Some("not tried".to_owned()))?;
    launch(sandbox, spec, request).await
}

/// Starts the attempts of [`crate::probe()`] instead of a program.
pub(crate) async fn start_probe(
    sandbox: &Sandbox,
    spec: CommandSpec,
    targets: Targets,
) -> Result<Running, StartError> {
    let mut request = request(sandbox, &spec, NO_NAMESPACES.get().cloned())?;
    request.probe = Some(targets);
    launch(sandbox, spec, request).await
}

async fn launch(
    sandbox: &Sandbox,
    spec: CommandSpec,
    mut request: LaunchRequest,
) -> Result<Running, StartError> {
    let streams = Streams::open(spec.tty)?;
    match attempt(sandbox, &request, &streams.theirs).await {
        Err(Failed::Reported(Failure::Namespaces(reason))) => {
            if NAMESPACES_WORK.get().is_none() {
                NO_NAMESPACES.get_or_init(|| reason.clone());
            }
            request.no_namespaces = Some(reason);
            request.namespaces = false;
            attempt(sandbox, &request, &streams.theirs).await
        }
        other => other,
    }
    .map(|(supervisor, report)| Running::new(supervisor, streams.ours, report, &spec))
    .map_err(|failed| failed.into_error(sandbox, &request))
}

/// A supervisor that started the command.
pub(crate) struct Supervisor {
    pub child: tokio::process::Child,
    /// Packets in order, and an empty one when the other side is closed.
    pub socket: UnixDatagram,
    /// The folder that it removes at the end.
    pub private: PathBuf,
}

enum Failed {
    Reported(Failure),
    Launcher(String),
    Resources(io::Error),
}

impl Failed {
    fn into_error(self, sandbox: &Sandbox, request: &LaunchRequest) -> StartError {
        match self {
            Self::Resources(error) => StartError::Resources(error),
            Self::Launcher(reason) => StartError::Launcher { path: sandbox.launcher.clone(), reason },
            Self::Reported(Failure::Incomplete(missing)) => StartError::SandboxIncomplete { missing },
            Self::Reported(Failure::HiddenInside(hidden, root)) => StartError::HiddenInside { hidden, root },
            Self::Reported(Failure::Program(reason)) => {
                StartError::Program { program: request.argv.first().cloned().unwrap_or_default(), reason }
            }
            Self::Reported(Failure::Sandbox(reason) | Failure::Namespaces(reason)) => {
                StartError::Sandbox(reason)
            }
        }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Resources(error)
    }
}

fn request(
    sandbox: &Sandbox,
    spec: &CommandSpec,
    no_namespaces: Option<String>,
) -> Result<LaunchRequest, StartError> {
    let argv = argv(&spec.program)?;
    let nul = argv
        .iter()
        .chain(spec.env.iter().flat_map(|(name, value)| [name, value]))
        .any(|text| text.contains('\0'));
    if nul {
        return Err(StartError::Nul);
    }
    let cwd = real_folder(&spec.cwd)?;
    let roots = if sandbox.level == SandboxLevel::Off {
        Roots::default()
    } else {
        let roots = Roots::collect(sandbox, spec.access, &spec.env)?;
        if !roots.contains(&cwd) {
            return Err(StartError::OutsideCwd { path: cwd });
        }
        refuse_deep_hidden(&roots)?;
        roots
    };
    Ok(LaunchRequest {
        level: sandbox.level,
        namespaces: sandbox.level != SandboxLevel::Off && no_namespaces.is_none(),
        no_namespaces,
        argv,
        cwd,
        env: spec.env.clone(),
        network: spec.network && spec.access != Access::ReadOnly,
        read_only: spec.access == Access::ReadOnly,
        limits: spec.limits,
        tty: spec.tty.is_some(),
        private: PathBuf::new(),
        roots: roots.roots,
        hidden: roots.hidden,
        secrets: roots.secrets,
        kept: roots.kept,
        probe: None,
    })
}

/// A hidden folder can be covered only directly below a writable one: its parent could be renamed otherwise.
fn refuse_deep_hidden(roots: &Roots) -> Result<(), StartError> {
    let writable = roots.roots.iter().filter(|root| root.access == RootAccess::Write);
    for root in writable {
        let deep = |hidden: &&PathBuf| hidden.starts_with(&root.path) && hidden.parent() != Some(&root.path);
        if let Some(hidden) = roots.hidden.iter().find(deep) {
            return Err(StartError::HiddenInside { hidden: hidden.clone(), root: root.path.clone() });
        }
    }
    Ok(())
}

fn argv(program: &Program) -> Result<Vec<String>, StartError> {
    match program {
        Program::Argv(argv) if argv.first().is_none_or(String::is_empty) => Err(StartError::Empty),
        Program::Argv(argv) => Ok(argv.clone()),
        Program::Line(line) if line.trim().is_empty() => Err(StartError::Empty),
        Program::Line(line) => {
            let shell = SHELLS.iter().find(|shell| Path::new(shell).exists()).unwrap_or(&"/bin/sh");
            Ok(vec![(*shell).to_owned(), "-c".to_owned(), line.clone()])
        }
    }
}

/// Starts a supervisor and waits until the command runs.
async fn attempt(
    sandbox: &Sandbox,
    request: &LaunchRequest,
    theirs: &Pipes,
) -> Result<(Supervisor, SandboxReport), Failed> {
    let private = PrivateFolder::create()?;
    let request = LaunchRequest { private: private.path.clone(), ..request.clone() };
    let (ours, socket) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(io::Error::from)?;
    let fds: Vec<_> = theirs.fds.iter().map(AsFd::as_fd).collect();
    wire::send_request(&ours, &request, &fds)?;
    rustix::fs::fcntl_setfl(&ours, rustix::fs::OFlags::NONBLOCK).map_err(io::Error::from)?;
    let mut command = Command::new(&sandbox.launcher);
    command.arg(LAUNCH_ARGUMENT).env_clear().current_dir("/").process_group(0);
    command.stdin(socket).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().map_err(|error| Failed::Launcher(error.to_string()))?;
    drop(command);
    let socket = UnixDatagram::from_std(ours.into())?;
    let event = tokio::time::timeout(START_TIME, running::next_event(&socket)).await;
    match event {
        Ok(Ok(Some(Event::Started(report)))) => {
            let private = private.leave();
            if report.files.mounts {
                NAMESPACES_WORK.get_or_init(|| ());
            }
            Ok((Supervisor { child, socket, private }, report))
        }
        Ok(Ok(Some(Event::Failed(failure)))) => Err(Failed::Reported(failure)),
        Ok(Ok(Some(Event::Ended(_)) | None)) => Err(Failed::Launcher("it ended".to_owned())),
        Ok(Err(error)) => Err(Failed::Launcher(error.to_string())),
        Err(_) => Err(Failed::Launcher(format!("no answer within {} s", START_TIME.as_secs()))),
    }
}

/// The folder of one command: `tmp` is its temporary folder, `root` the place its new root is built on.
pub(crate) struct PrivateFolder {
    path: PathBuf,
    owned: bool,
}

impl PrivateFolder {
    pub fn create() -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let temporary = std::env::temp_dir().canonicalize()?;
        let path = temporary.join(format!("concertino-command-{:016x}", u64::from_ne_bytes(random)));
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder.create(&path)?;
        let folder = Self { path, owned: true };
        for name in ["tmp", "root"] {
            builder.create(folder.path.join(name))?;
        }
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The supervisor removes it.
    fn leave(mut self) -> PathBuf {
        self.owned = false;
        std::mem::take(&mut self.path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if self.owned {
            std::fs::remove_dir_all(&self.path).ok();
        }
    }
}
