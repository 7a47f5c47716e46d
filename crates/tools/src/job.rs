//! A command that runs or has run: its output so far, how it ended, and the way to its input.
//!
//! One task per job takes the output from the process (`pump`), so that a command is never held up by a reader. Output is
//! kept three times, each bounded: what the next report shows (head and tail), the newest megabyte for people who watch,
//! and a file with everything once a report would leave something out.

mod spool;
mod watch;

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use files::Snapshot;
use parking_lot::Mutex;
use process::{Exit, Handle, OutputWindow, Running, TtySize, WindowText};
use protocol::{ArtifactId, Job as JobInfo, JobId, JobState, SessionId, Timestamp, ToolCallId};
use tokio_util::sync::CancellationToken;

use self::spool::Spool;
pub use self::watch::JobWatch;
use crate::Artifacts;

/// A report shows at most so many bytes of output.
pub const MOST_SHOWN: usize = 160_000;
/// So many of the newest bytes are kept for people who watch.
const KEPT: usize = 1 << 20;

/// What is known of a job when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStart {
    pub id: JobId,
    pub chat: SessionId,
    pub call: ToolCallId,
    /// The line, or the words, for people.
    pub command: String,
    /// The folder, as agents write it.
    pub workdir: String,
    pub tty: bool,
    pub started_at: Timestamp,
}

/// A command that runs or has run.
pub struct Job {
    start: JobStart,
    began: Instant,
    handle: Handle,
    state: Mutex<State>,
    /// Cancelled when the command has ended and everything that it wrote was taken.
    ended: CancellationToken,
    /// Counts the pieces of output, for those who wait for more.
    pieces: tokio::sync::watch::Sender<u64>,
}

struct State {
    /// What the next report shows.
    unread: OutputWindow,
    newest: watch::Newest,
    exit: Option<Exit>,
    sandbox: String,
    spooled: Option<SpooledOutput>,
    /// The files of the work directory when what the command changes was last recorded.
    files: Option<Snapshot>,
}

/// A file with the whole output that belongs to nobody yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpooledOutput {
    pub id: ArtifactId,
    pub bytes: u64,
    /// Some of the output is not in it, because it would be too large.
    pub cut: bool,
}

impl Job {
    pub fn new(start: JobStart, running: &Running) -> Arc<Self> {
        Arc::new(Self {
            start,
            began: Instant::now(),
            handle: running.handle(),
            state: Mutex::new(State {
                unread: OutputWindow::new(MOST_SHOWN),
                newest: watch::Newest::new(KEPT),
                exit: None,
                sandbox: running.report().short(),
                spooled: None,
                files: None,
            }),
            ended: CancellationToken::new(),
            pieces: tokio::sync::watch::Sender::new(0),
        })
    }

    /// Takes the output until the command has ended. `stop` ends the command.
    pub async fn pump(
        self: Arc<Self>,
        mut running: Running,
        artifacts: Arc<dyn Artifacts>,
        stop: CancellationToken,
    ) {
        let mut spool = Spool::new(artifacts, MOST_SHOWN);
        let mut is_stopped = false;
        loop {
            let piece = tokio::select! {
                biased;
                () = stop.cancelled(), if !is_stopped => {
                    is_stopped = true;
                    self.handle.end();
                    continue;
                }
                piece = running.next_output() => piece,
            };
            let Some(piece) = piece else { break };
            self.push(&piece.bytes);
            spool.push(piece.bytes).await;
        }
        let exit = running.wait().await;
        let spooled = spool.finish().await;
        {
            let mut state = self.state.lock();
            state.spooled = spooled;
            state.sandbox = exit.report.short();
            state.exit = Some(exit);
        }
        self.ended.cancel();
        self.pieces.send_modify(|pieces| *pieces += 1);
    }

    fn push(&self, bytes: &[u8]) {
        {
            let mut state = self.state.lock();
            state.unread.push(bytes);
            state.newest.push(bytes);
        }
        self.pieces.send_modify(|pieces| *pieces += 1);
    }

    pub fn id(&self) -> &JobId {
        &self.start.id
    }

    pub fn start(&self) -> &JobStart {
        &self.start
    }

    pub fn is_running(&self) -> bool {
        self.state.lock().exit.is_none()
    }

    /// Waits until the command has ended and its output was taken.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Waits for more output or for the end.
    pub fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.pieces.subscribe()
    }

    /// How the command ended; `None` while it runs.
    pub fn exit(&self) -> Option<Exit> {
        self.state.lock().exit.clone()
    }

    pub fn sandbox(&self) -> String {
        self.state.lock().sandbox.clone()
    }

    pub fn spooled(&self) -> Option<SpooledOutput> {
        self.state.lock().spooled.clone()
    }

    /// How long it runs, or ran.
    pub fn duration(&self) -> Duration {
        self.state.lock().exit.as_ref().map_or_else(|| self.began.elapsed(), |exit| exit.duration)
    }

    /// What came since the last report; the next one shows what comes from now on.
    pub fn take_output(&self) -> WindowText {
        let mut state = self.state.lock();
        std::mem::replace(&mut state.unread, OutputWindow::new(MOST_SHOWN)).text()
    }

    /// What came since the last report.
    pub fn output(&self) -> WindowText {
        self.state.lock().unread.text()
    }

    /// Remembers the files as they were, for the next time that changes are recorded.
    pub fn remember_files(&self, files: Option<Snapshot>) {
        self.state.lock().files = files;
    }

    pub fn take_files(&self) -> Option<Snapshot> {
        self.state.lock().files.take()
    }

    /// Writes to the command's input.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.handle.write_stdin(bytes).await
    }

    /// Ctrl-C.
    pub async fn interrupt(&self) -> io::Result<()> {
        self.handle.interrupt().await
    }

    pub async fn close_input(&self) -> io::Result<()> {
        self.handle.close_stdin().await
    }

    pub fn resize(&self, size: TtySize) -> io::Result<()> {
        self.handle.resize(size)
    }

    /// Asks the command to end; everything that it started ends with it, soon.
    pub fn stop(&self) {
        self.handle.end();
    }

    /// The job as clients see it.
    pub fn info(&self) -> JobInfo {
        let duration = self.duration();
        let state = self.state.lock();
        let start = self.start.clone();
        let exit = state.exit.as_ref();
        JobInfo {
            id: start.id,
            chat_id: start.chat,
            tool_call_id: start.call,
            command: start.command,
            workdir: start.workdir,
            tty: start.tty,
            state: if exit.is_some() { JobState::Ended } else { JobState::Running },
            started_at: start.started_at,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            exit_code: exit.and_then(|exit| exit.code),
            signal: exit.and_then(|exit| exit.signal).map(signal_name),
            timed_out: exit.is_some_and(|exit| exit.timed_out),
            output_bytes: state.newest.total(),
            sandbox: state.sandbox.clone(),
        }
    }

    pub fn watch(self: &Arc<Self>, offset: u64) -> JobWatch {
        JobWatch::new(Arc::clone(self), offset)
    }
}

/// The name of a signal: `SIGKILL`.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
