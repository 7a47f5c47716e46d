//! The supervisor: outside of the sandbox, between the server and the command. Its end is the command's end.

use std::{
    fs, io,
    os::fd::{AsFd, OwnedFd},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nix::sys::{
    signal::{SigSet, Signal as NixSignal},
    signalfd::{SfdFlags, SignalFd},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    process::{DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group},
};

use super::{
    descendants,
    namespaces::{self, Refused},
};
use crate::{
    report::{ProcessCount, SandboxReport},
    wire::{self, Ended, Event, Failure, INNER_ARGUMENT, LAUNCH_ARGUMENT, LaunchRequest, Request},
};

/// How often the processes are counted where nothing else bounds them.
const COUNT_EVERY: Duration = Duration::from_millis(100);
/// Signals that end the supervisor, after everything else.
const ENDING: [NixSignal; 3] = [NixSignal::SIGTERM, NixSignal::SIGINT, NixSignal::SIGHUP];

/// Runs the supervisor and returns its exit code.
pub(super) fn run() -> i32 {
    let Ok(server) = io::stdin().as_fd().try_clone_to_owned() else { return 1 };
    let Ok((request, fds)) = wire::receive_fds(&server) else { return 1 };
    let private = request.private.clone();
    let (event, told) = match Supervisor::start(server.as_fd(), request, fds) {
        Ok(mut supervisor) => (supervisor.watch(), supervisor.told),
        Err(failure) => (Event::Failed(failure), false),
    };
    let left_behind = descendants::end_all();
    let event = match event {
        Event::Ended(ended) => {
            Event::Ended(Ended { left_behind: ended.left_behind.max(left_behind), ..ended })
        }
        other => other,
    };
    if !told {
        wire::send(&server, &event).ok();
    }
    fs::remove_dir_all(private).ok();
    0
}

struct Supervisor<'a> {
    server: std::os::fd::BorrowedFd<'a>,
    inner: OwnedFd,
    inner_open: bool,
    pid: Pid,
    signals: SignalFd,
    request: LaunchRequest,
    started: Instant,
    /// When SIGKILL follows SIGTERM.
    kill_at: Option<Instant>,
    killed: bool,
    /// The report of an inner process that is about to become the command.
    pending: Option<SandboxReport>,
    /// Whether the processes must be counted.
    count: bool,
    timed_out: bool,
    too_many: bool,
    ended: Option<Ended>,
    /// Whether the server knows already that the command ended.
    told: bool,
    failed: Option<Failure>,
}

impl<'a> Supervisor<'a> {
    fn start(
        server: std::os::fd::BorrowedFd<'a>,
        mut request: LaunchRequest,
        fds: Vec<OwnedFd>,
    ) -> Result<Self, Failure> {
        let sandbox = |error: io::Error| Failure::Sandbox(error.to_string());
        let signals = signal_descriptor().map_err(sandbox)?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|error| sandbox(error.into()))?;
        if request.namespaces {
            match namespaces::enter(request.network) {
                Ok(()) => {}
                Err(Refused::Unchanged(reason)) => {
                    (request.namespaces, request.no_namespaces) = (false, Some(reason));
                }
                Err(Refused::Changed(reason)) => return Err(Failure::Namespaces(reason)),
            }
        }
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
        let (inner, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|error| sandbox(error.into()))?;
        // The path stays right when the binary was replaced by a newer one in the meantime.
        let child = Command::new("/proc/self/exe")
            .args([LAUNCH_ARGUMENT, INNER_ARGUMENT])
            .env_clear()
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(sandbox)?;
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        wire::send_request(&inner, &request, &borrowed).map_err(sandbox)?;
        Ok(Self {
            server,
            inner,
            inner_open: true,
            pid: Pid::from_child(&child),
            signals,
            request,
            started: Instant::now(),
            kill_at: None,
            killed: false,
            pending: None,
            count: false,
            timed_out: false,
            too_many: false,
            ended: None,
            told: false,
            failed: None,
        })
    }

    /// Watches until the inner process is gone.
    fn watch(&mut self) -> Event {
        loop {
            let ready = self.poll();
            if ready.signals {
                self.take_signals();
            }
            if ready.inner {
                self.take_event();
            }
            if ready.server {
                self.take_request();
            }
            self.check_time();
            if let Some(event) = self.reap() {
                return event;
            }
        }
    }

    fn poll(&self) -> Ready {
        let mut fds = vec![
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::new(&self.server, PollFlags::IN),
            PollFd::new(&self.inner, PollFlags::IN),
        ];
        if self.killed {
            // Nobody can ask for more, and a closed socket would be ready all the time.
            fds.truncate(1);
        } else if !self.inner_open {
            fds.truncate(2);
        }
        let now = Instant::now();
        let next = self.kill_at.or(self.deadline());
        let mut wait = next.map_or(Duration::MAX, |next| next.saturating_duration_since(now));
        if self.count || self.killed {
            wait = wait.min(COUNT_EVERY);
        }
        let seconds = i64::try_from(wait.as_secs()).unwrap_or(i64::MAX).min(3600);
        let timeout = Timespec { tv_sec: seconds, tv_nsec: i64::from(wait.subsec_nanos()) };
        poll(&mut fds, Some(&timeout)).ok();
        let ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        Ready { signals: ready(0), server: ready(1), inner: ready(2) }
    }

    fn take_signals(&mut self) {
        while let Ok(Some(signal)) = self.signals.read_signal() {
            if ENDING.iter().any(|ending| *ending as u32 == signal.ssi_signo) {
                self.kill();
            }
        }
    }

    fn take_event(&mut self) {
        match wire::receive::<Event>(&self.inner) {
            Ok(Some(Event::Started(report))) => {
                self.count = report.process_count == ProcessCount::Watched;
                self.started = Instant::now();
                if self.request.namespaces {
                    wire::send(self.server, &Event::Started(report)).ok();
                } else {
                    self.pending = Some(report);
                }
            }
            Ok(Some(Event::Ended(ended))) => {
                // Nobody is left but process 1: the server need not wait until the kernel took the namespaces apart.
                if ended.left_behind == 0 {
                    self.told = wire::send(self.server, &Event::Ended(self.completed(ended))).is_ok();
                }
                self.ended = Some(ended);
            }
            Ok(Some(Event::Failed(failure))) => {
                (self.failed, self.pending) = (Some(failure), None);
            }
            Ok(None) | Err(_) => {
                self.inner_open = false;
                // It became the command.
                if let Some(report) = self.pending.take() {
                    wire::send(self.server, &Event::Started(report)).ok();
                }
            }
        }
    }

    fn take_request(&mut self) {
        match wire::receive::<Request>(self.server) {
            Ok(Some(Request::Interrupt)) => {
                kill_process_group(self.pid, Signal::INT).ok();
            }
            Ok(Some(Request::End)) => self.end(),
            Ok(Some(Request::Kill)) | Ok(None) | Err(_) => self.kill(),
        }
    }

    /// Asks the command to end; SIGKILL follows after the grace period.
    fn end(&mut self) {
        if self.kill_at.is_some() {
            return;
        }
        let now = Instant::now();
        self.kill_at = Some(now.checked_add(self.request.limits.grace).unwrap_or(now));
        // All of them: an interactive shell is in a process group of its own, and so are its jobs.
        let mut all = descendants::descendants(self.pid);
        if !self.request.namespaces {
            all.insert(self.pid.as_raw_nonzero().get());
        }
        for pid in all {
            if self.request.tty {
                descendants::signal(pid, Signal::HUP);
            }
            descendants::signal(pid, Signal::TERM);
            descendants::signal(pid, Signal::CONT);
        }
    }

    /// Ends the inner process, and with it the process namespace. Without one, [`descendants::end_all`] does the rest.
    fn kill(&mut self) {
        self.killed = true;
        kill_process(self.pid, Signal::KILL).ok();
    }

    fn check_time(&mut self) {
        let now = Instant::now();
        if self.kill_at.is_some_and(|at| now >= at) {
            self.kill();
        } else if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.timed_out = true;
            self.end();
        }
        if self.count && !self.killed {
            let alive = descendants::descendants(rustix::process::getpid()).len();
            if alive > self.request.limits.processes as usize {
                self.too_many = true;
                self.kill();
            }
        }
    }

    /// Takes the status of ended children; returns the last event when the inner process is one of them.
    fn reap(&mut self) -> Option<Event> {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == self.pid {
                return Some(self.finish(status));
            }
        }
        None
    }

    fn finish(&mut self, status: WaitStatus) -> Event {
        while self.inner_open {
            self.take_event();
        }
        if let Some(failure) = self.failed.take() {
            return Event::Failed(failure);
        }
        // Without a process namespace the inner process is the command; with one, it was killed if it said nothing.
        let ended = self.ended.unwrap_or(Ended {
            code: status.exit_status(),
            signal: status.terminating_signal(),
            ..Ended::default()
        });
        Event::Ended(self.completed(ended))
    }

    /// When the time is up; `None` when that is beyond all clocks.
    fn deadline(&self) -> Option<Instant> {
        self.started.checked_add(self.request.limits.time)
    }

    /// With what only the supervisor knows.
    fn completed(&self, ended: Ended) -> Ended {
        Ended {
            timed_out: self.timed_out,
            too_many_processes: self.too_many,
            duration: self.started.elapsed(),
            ..ended
        }
    }
}

struct Ready {
    signals: bool,
    server: bool,
    inner: bool,
}

/// A descriptor that is readable when a child ended or the supervisor shall end.
fn signal_descriptor() -> io::Result<SignalFd> {
    let mut set = SigSet::empty();
    set.add(NixSignal::SIGCHLD);
    for signal in ENDING {
        set.add(signal);
    }
    set.thread_block()?;
    Ok(SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}
