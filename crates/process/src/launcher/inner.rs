//! The inner process: enters the sandbox and starts the command.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{ffi::OsStringExt, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use nix::{
    sched::{CloneFlags, unshare},
    sys::signal::SigSet,
};
use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions};

use super::{
    files::{self, Extra},
    mounts, namespaces, privileges,
    syscalls::{self, Reach},
};
use crate::{
    probe::{self, Targets},
    report::{FileProtection, NetworkProtection, ProcessCount, ProcessProtection, SandboxReport},
    roots::{self, Grant, Root, RootAccess},
    spec::SandboxLevel,
    wire::{self, Ended, Event, Failure, LaunchRequest},
};

/// Runs the inner process and returns its exit code, which nobody reads.
pub(super) fn run() -> i32 {
    // The supervisor's end is this one's end, and with it the end of the process namespace.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).ok();
    // The supervisor blocks signals, and a blocked signal stays blocked in every program started from here.
    SigSet::empty().thread_set_mask().ok();
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned() else { return 1 };
    let Ok((request, fds)) = wire::receive_fds(&socket) else { return 1 };
    match launch(&socket, &request, fds) {
        Ok(()) => 0,
        Err(failure) => {
            wire::send(&socket, &Event::Failed(failure)).ok();
            1
        }
    }
}

fn launch(socket: &OwnedFd, request: &LaunchRequest, fds: Vec<OwnedFd>) -> Result<(), Failure> {
    let terminal =
        own_session(request, &fds).map_err(|error| Failure::Sandbox(format!("no terminal: {error}")))?;
    let mut report = SandboxReport::default();
    if request.namespaces {
        enter_namespaces(request, terminal.as_deref()).map_err(Failure::Namespaces)?;
        report.files.mounts = true;
        report.processes = ProcessProtection::Namespace;
    }
    report.process_count = process_count(request);
    if request.namespaces {
        mounts::protect_kernel_settings().map_err(Failure::Namespaces)?;
    }
    report.limits = privileges::set_limits(&request.limits, report.process_count).is_ok();
    if request.level == SandboxLevel::Off {
        report.missing = vec!["the sandbox is switched off".to_owned()];
    } else {
        restrict(request, terminal, &mut report)?;
    }
    if let Some(targets) = &request.probe {
        return try_all(socket, targets, fds, report);
    }
    let command = command(request, fds).map_err(|error| Failure::Sandbox(error.to_string()))?;
    if request.namespaces { spawn(socket, command, report) } else { replace(socket, command, report) }
}

/// Starts a session and takes the terminal, if there is one; returns its path.
fn own_session(request: &LaunchRequest, fds: &[OwnedFd]) -> io::Result<Option<PathBuf>> {
    rustix::process::setsid()?;
    let Some(terminal) = fds.first().filter(|_| request.tty) else { return Ok(None) };
    rustix::process::ioctl_tiocsctty(terminal)?;
    let name = rustix::termios::ttyname(terminal, Vec::new())?;
    Ok(Some(PathBuf::from(std::ffi::OsString::from_vec(name.into_bytes()))))
}

fn enter_namespaces(request: &LaunchRequest, terminal: Option<&Path>) -> Result<(), String> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(|error| format!("no mount namespace ({error})"))?;
    if !request.network {
        namespaces::loopback_up().map_err(|error| format!("no loopback ({error})"))?;
    }
    mounts::enter(request, terminal)
}

/// Bounds the number of processes as well as this machine can.
fn process_count(request: &LaunchRequest) -> ProcessCount {
    if !request.namespaces {
        // The resource limit would count every process of the user.
        return ProcessCount::Watched;
    }
    match privileges::bound_process_ids(request.limits.processes) {
        Ok(()) => ProcessCount::Namespace,
        Err(_) if rustix::process::getuid().is_root() => ProcessCount::Watched,
        Err(_) => ProcessCount::ResourceLimit,
    }
}

/// Gives up everything the command must not have, and says what was given up.
fn restrict(
    request: &LaunchRequest,
    terminal: Option<PathBuf>,
    report: &mut SandboxReport,
) -> Result<(), Failure> {
    let grants = grants(request)?;
    let mut extra = Extra { devices: terminal.into_iter().collect(), ..Extra::default() };
    if request.namespaces {
        extra.write = vec![mounts::TEMPORARY.into(), "/dev/shm".into()];
        extra.list = vec!["/".into()];
    } else {
        extra.write = vec![request.private.join("tmp")];
        extra.list = vec!["/etc".into()];
    }
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    let mut problems = Vec::new();
    report.no_capabilities = noted(&mut problems, "capabilities", privileges::drop_capabilities()).is_some();
    report.no_new_privileges =
        noted(&mut problems, "no new privileges", rustix::thread::set_no_new_privs(true)).is_some();
    let enforced = noted(&mut problems, "Landlock", files::restrict(&grants, &extra)).unwrap_or_default();
    report.files = FileProtection { landlock: enforced.version, mounts: report.files.mounts };
    if !request.namespaces && enforced.signals {
        report.processes = ProcessProtection::Landlock;
    }
    let reach = Reach {
        internet: request.network || request.namespaces,
        unix: request.namespaces,
        processes: request.namespaces,
        metadata: request.namespaces || !request.read_only,
    };
    report.syscalls = noted(&mut problems, "seccomp", syscalls::refuse(reach)).is_some();
    report.network = match (request.network, request.namespaces, report.syscalls) {
        (true, ..) => NetworkProtection::Open,
        (false, true, _) => NetworkProtection::Namespace,
        (false, false, true) => NetworkProtection::Seccomp,
        (false, false, false) => NetworkProtection::None,
    };
    if request.namespaces {
        report.kept = request.kept.iter().map(|path| name_below(&request.roots, path)).collect();
    }
    report.judge(request.network, request.no_namespaces.as_deref());
    if report.kept.len() < request.kept.len() {
        report.weaker.push("files: the repository's settings and hooks can be changed".to_owned());
    }
    report.weaker.extend(problems);
    if request.level == SandboxLevel::Required && !report.missing.is_empty() {
        return Err(Failure::Incomplete(report.missing.clone()));
    }
    Ok(())
}

/// A path relative to the root that contains it.
fn name_below(roots: &[Root], path: &Path) -> String {
    let below = roots.iter().rev().find_map(|root| path.strip_prefix(&root.path).ok());
    below.unwrap_or(path).display().to_string()
}

fn noted<T, E: std::fmt::Display>(problems: &mut Vec<String>, what: &str, result: Result<T, E>) -> Option<T> {
    result.map_err(|error| problems.push(format!("{what}: {error}"))).ok()
}

fn grants(request: &LaunchRequest) -> Result<Vec<Grant>, Failure> {
    let mut grants = Vec::new();
    let all_hidden: Vec<PathBuf> = request.hidden.iter().chain(&request.secrets).cloned().collect();
    for root in request.roots.iter().filter(|root| !root.covered) {
        // Mounts cover what is hidden; without them, the entries beside it are allowed one by one.
        if root.access == RootAccess::Read && !request.namespaces {
            grants.extend(roots::grants(root, &all_hidden));
            continue;
        }
        // New entries of a writable folder could not be named in advance: only a mount can hide something in it.
        let inside = request.hidden.iter().find(|hidden| hidden.starts_with(&root.path));
        if let Some(hidden) = inside.filter(|_| !request.namespaces) {
            return Err(Failure::HiddenInside(hidden.clone(), root.path.clone()));
        }
        grants.push(Grant { path: root.path.clone(), access: root.access, listing: false });
    }
    Ok(grants)
}

fn command(request: &LaunchRequest, fds: Vec<OwnedFd>) -> io::Result<Command> {
    let temporary =
        if request.namespaces { PathBuf::from(mounts::TEMPORARY) } else { request.private.join("tmp") };
    std::env::set_current_dir(&request.cwd)?;
    let mut argv = request.argv.iter();
    let program = argv.next().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(argv).env_clear().envs(request.env.iter().map(|(name, value)| (name, value)));
    command.env("TMPDIR", temporary).env("PWD", &request.cwd);
    let mut fds = fds.into_iter();
    let input = fds.next().ok_or(io::ErrorKind::InvalidInput)?;
    // A terminal is input and output in one.
    let output = fds.next().map_or_else(|| input.try_clone(), Ok)?;
    command.stdout(output.try_clone()?).stderr(output).stdin(Stdio::from(input));
    Ok(command)
}

fn not_started(command: &Command, error: &io::Error) -> Failure {
    let program = command.get_program().to_string_lossy();
    Failure::Program(match error.kind() {
        io::ErrorKind::NotFound => format!("there is no program `{program}`"),
        io::ErrorKind::PermissionDenied => format!("`{program}` may not be executed"),
        _ => error.to_string(),
    })
}

/// Becomes the command. The supervisor learns of the success when the socket closes.
fn replace(socket: &OwnedFd, mut command: Command, report: SandboxReport) -> Result<(), Failure> {
    wire::send(socket, &Event::Started(report)).map_err(|error| Failure::Sandbox(error.to_string()))?;
    let error = command.exec();
    Err(not_started(&command, &error))
}

/// Starts the command and stays as process 1 until it ends.
fn spawn(socket: &OwnedFd, mut command: Command, report: SandboxReport) -> Result<(), Failure> {
    let started = Instant::now();
    let child = command.spawn().map_err(|error| not_started(&command, &error))?;
    let child = Pid::from_child(&child);
    // The descriptors of the command's output must not stay open here.
    drop(command);
    wire::send(socket, &Event::Started(report)).map_err(|error| Failure::Sandbox(error.to_string()))?;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => {
                let ended = Ended {
                    code: status.exit_status(),
                    signal: status.terminating_signal(),
                    left_behind: others(),
                    duration: started.elapsed(),
                    ..Ended::default()
                };
                wire::send(socket, &Event::Ended(ended)).ok();
                return Ok(());
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Failure::Sandbox(error.to_string())),
        }
    }
}

/// Tries what must be refused and writes the results to the output.
fn try_all(
    socket: &OwnedFd,
    targets: &Targets,
    mut fds: Vec<OwnedFd>,
    report: SandboxReport,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Sandbox(error.to_string());
    wire::send(socket, &Event::Started(report)).map_err(failed)?;
    let results = serde_json::to_vec(&probe::try_all(targets)).map_err(|error| failed(error.into()))?;
    if let Some(output) = fds.pop() {
        File::from(output).write_all(&results).map_err(failed)?;
    }
    Ok(())
}

/// How many processes of the namespace are left besides this one.
fn others() -> u32 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name != "1" && name.bytes().all(|byte| byte.is_ascii_digit()))
    });
    u32::try_from(pids.count()).unwrap_or(u32::MAX)
}
