//! A running command: its output, input and end.

use std::{
    io,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use rustix::{fs::OFlags, io::Errno, net::SendFlags, pipe::PipeFlags, pty::OpenptFlags, termios::Winsize};
use serde::Serialize;
use tokio::net::{UnixDatagram, unix::pipe};

use crate::{
    report::SandboxReport,
    spec::{CommandSpec, TtySize},
    start::Supervisor,
    wire::{Event, PACKET_BYTES, Request},
};

/// The wanted capacity of the output pipe: fewer changes between writer and reader.
const PIPE_BYTES: usize = 1 << 20;
/// The largest chunk.
const CHUNK_BYTES: usize = 128 * 1024;
/// Longest time between the end of all processes and the end of their output.
const DRAIN_TIME: Duration = Duration::from_millis(500);
/// How much longer than the grace period an end may take before the server gives up waiting.
const END_TIME: Duration = Duration::from_secs(10);

/// A piece of the output: what standard output and standard error received, in the order it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub bytes: Bytes,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub timed_out: bool,
    /// Ended by the supervisor because it had too many processes.
    pub too_many_processes: bool,
    /// Processes that the command left behind and the supervisor ended.
    pub left_behind: u32,
    pub duration: Duration,
    pub report: SandboxReport,
}

/// The descriptors of the command's side.
pub(crate) struct Pipes {
    pub fds: Vec<OwnedFd>,
}

/// Both sides of the command's input and output.
pub(crate) struct Streams {
    pub ours: Ours,
    pub theirs: Pipes,
}

/// The server's side of the input and output.
pub(crate) struct Ours {
    /// A pipe or the terminal.
    output: pipe::Receiver,
    /// A pipe or the terminal again; `None` after it was closed.
    input: Option<pipe::Sender>,
    tty: bool,
}

impl Streams {
    pub fn open(tty: Option<TtySize>) -> io::Result<Self> {
        let Some(size) = tty else { return Self::pipes() };
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = rustix::pty::openpt(flags)?;
        rustix::pty::grantpt(&terminal)?;
        rustix::pty::unlockpt(&terminal)?;
        let theirs = rustix::pty::ioctl_tiocgptpeer(&terminal, flags)?;
        rustix::termios::tcsetwinsize(&terminal, window(size))?;
        rustix::fs::fcntl_setfl(&terminal, OFlags::RDWR | OFlags::NONBLOCK)?;
        let input = Some(pipe::Sender::from_owned_fd_unchecked(terminal.try_clone()?)?);
        let ours = Ours { output: pipe::Receiver::from_owned_fd_unchecked(terminal)?, input, tty: true };
        Ok(Self { ours, theirs: Pipes { fds: vec![theirs] } })
    }

    fn pipes() -> io::Result<Self> {
        let (output, their_output) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let (their_input, input) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES).ok();
        let input = Some(pipe::Sender::from_owned_fd(input)?);
        let ours = Ours { output: pipe::Receiver::from_owned_fd(output)?, input, tty: false };
        Ok(Self { ours, theirs: Pipes { fds: vec![their_input, their_output] } })
    }
}

fn window(size: TtySize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Receives the next event of a supervisor; `None` when it is gone.
pub(crate) async fn next_event(socket: &UnixDatagram) -> io::Result<Option<Event>> {
    let mut bytes = vec![0; PACKET_BYTES];
    match socket.recv(&mut bytes).await {
        Ok(0) => Ok(None),
        Ok(count) => Ok(Some(serde_json::from_slice(bytes.get(..count).unwrap_or_default())?)),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
        Err(error) => Err(error),
    }
}

/// A command that was started. Dropping it ends the command and everything it started at once.
///
/// The output is read only by [`Running::next_output`] and [`Running::wait`]: a command that writes more waits, and the
/// memory of the server stays bounded. The time limit holds in any case; the supervisor watches it.
pub struct Running {
    handle: Handle,
    // Reaped by the runtime after it ended.
    _child: tokio::process::Child,
    /// The command's folder; the supervisor removes it unless it was killed.
    private: PathBuf,
    report: SandboxReport,
    buffer: Box<[u8]>,
    output_open: bool,
    exit: Option<Exit>,
    /// When the output must be over, after the processes are.
    drained_by: Option<Instant>,
    started: Instant,
}

/// Input and signals for a [`Running`] command, from any task.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    socket: UnixDatagram,
    input: tokio::sync::Mutex<Option<pipe::Sender>>,
    output: pipe::Receiver,
    tty: bool,
    grace: Duration,
}

impl Running {
    pub(crate) fn new(supervisor: Supervisor, ours: Ours, report: SandboxReport, spec: &CommandSpec) -> Self {
        let shared = Shared {
            socket: supervisor.socket,
            input: tokio::sync::Mutex::new(ours.input),
            output: ours.output,
            tty: ours.tty,
            grace: spec.limits.grace,
        };
        Self {
            handle: Handle { shared: Arc::new(shared) },
            _child: supervisor.child,
            private: supervisor.private,
            report,
            buffer: vec![0; CHUNK_BYTES].into_boxed_slice(),
            output_open: true,
            exit: None,
            drained_by: None,
            started: Instant::now(),
        }
    }

    /// The protections that are active for this command.
    pub fn report(&self) -> &SandboxReport {
        &self.report
    }

    /// For input and signals while another task reads the output.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Returns the next piece of output; `None` when the command ended and all of its output was returned.
    ///
    /// Cancelling this loses nothing.
    pub async fn next_output(&mut self) -> Option<Chunk> {
        loop {
            if !self.output_open && self.exit.is_some() {
                return None;
            }
            let deadline = self.drained_by;
            let shared = Arc::clone(&self.handle.shared);
            tokio::select! {
                biased;
                chunk = read(&shared.output, &mut self.buffer), if self.output_open => match chunk {
                    Ok(bytes) if !bytes.is_empty() => return Some(Chunk { bytes }),
                    Ok(_) | Err(_) => self.output_open = false,
                },
                event = next_event(&shared.socket), if self.exit.is_none() => self.take(event.ok().flatten()),
                () = until(deadline), if self.output_open && deadline.is_some() => self.output_open = false,
            }
        }
    }

    /// Waits for the end; output that was not read is thrown away.
    pub async fn wait(&mut self) -> Exit {
        while self.next_output().await.is_some() {}
        self.exit.clone().unwrap_or_else(|| self.lost())
    }

    /// Asks the command to end (SIGTERM), ends it after the grace period (SIGKILL) with everything it started, and waits.
    pub async fn end(&mut self) -> Exit {
        self.handle.request(Request::End);
        let limit = self.handle.shared.grace.saturating_add(END_TIME);
        if let Ok(exit) = tokio::time::timeout(limit, self.wait()).await {
            return exit;
        }
        self.handle.request(Request::Kill);
        self.exit.clone().unwrap_or_else(|| self.lost())
    }

    /// Writes to the input of the command.
    pub async fn write_stdin(&self, bytes: &[u8]) -> io::Result<()> {
        self.handle.write_stdin(bytes).await
    }

    /// Closes the input of the command; a terminal receives Ctrl-D.
    pub async fn close_stdin(&self) -> io::Result<()> {
        self.handle.close_stdin().await
    }

    /// Interrupts the command as Ctrl-C does.
    pub async fn interrupt(&self) -> io::Result<()> {
        self.handle.interrupt().await
    }

    /// Changes the size of the terminal; without one, does nothing.
    pub fn resize(&self, size: TtySize) -> io::Result<()> {
        self.handle.resize(size)
    }

    fn take(&mut self, event: Option<Event>) {
        match event {
            Some(Event::Ended(ended)) => {
                self.exit = Some(Exit {
                    code: ended.code,
                    signal: ended.signal,
                    timed_out: ended.timed_out,
                    too_many_processes: ended.too_many_processes,
                    left_behind: ended.left_behind,
                    duration: ended.duration,
                    report: self.report.clone(),
                });
                self.drained_by = Some(Instant::now() + DRAIN_TIME);
            }
            Some(Event::Started(_)) => {}
            Some(Event::Failed(_)) | None => {
                std::fs::remove_dir_all(&self.private).ok();
                self.exit = Some(self.lost());
                self.drained_by = Some(Instant::now() + DRAIN_TIME);
            }
        }
    }

    /// The exit of a command whose supervisor was killed: the kernel ended both.
    fn lost(&self) -> Exit {
        Exit {
            code: None,
            signal: Some(9),
            timed_out: false,
            too_many_processes: false,
            left_behind: 0,
            duration: self.started.elapsed(),
            report: self.report.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.handle.request(Request::Kill);
        }
    }
}

impl Handle {
    /// Asks the command to end, as [`Running::end`] does, without waiting.
    pub fn end(&self) {
        self.request(Request::End);
    }

    /// Interrupts the command as Ctrl-C does.
    pub async fn interrupt(&self) -> io::Result<()> {
        if self.shared.tty {
            return self.write_stdin(b"\x03").await;
        }
        self.request(Request::Interrupt);
        Ok(())
    }

    /// Writes to the input of the command.
    pub async fn write_stdin(&self, bytes: &[u8]) -> io::Result<()> {
        // One writer at a time, so that two inputs are not mixed.
        let input = self.shared.input.lock().await;
        let input = input.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            input.writable().await?;
            match input.try_write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Closes the input of the command; a terminal receives Ctrl-D.
    pub async fn close_stdin(&self) -> io::Result<()> {
        if self.shared.tty {
            return self.write_stdin(b"\x04").await;
        }
        self.shared.input.lock().await.take();
        Ok(())
    }

    /// Changes the size of the terminal; without one, does nothing.
    pub fn resize(&self, size: TtySize) -> io::Result<()> {
        if self.shared.tty {
            rustix::termios::tcsetwinsize(&self.shared.output, window(size))?;
        }
        Ok(())
    }

    fn request(&self, request: Request) {
        // The supervisor may have ended already, which is what is wanted in the end.
        if let Ok(bytes) = serde_json::to_vec(&request) {
            rustix::net::send(&self.shared.socket, &bytes, SendFlags::NOSIGNAL).ok();
        }
    }
}

/// Reads a chunk; an empty one is the end of the output.
async fn read(output: &pipe::Receiver, buffer: &mut [u8]) -> io::Result<Bytes> {
    loop {
        output.readable().await?;
        match output.try_read(buffer) {
            Ok(count) => return Ok(Bytes::copy_from_slice(buffer.get(..count).unwrap_or_default())),
            // The terminal's other side is closed.
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Ok(Bytes::new()),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
