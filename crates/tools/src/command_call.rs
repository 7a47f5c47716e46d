//! Runs a command for a call: starts it, shows its output while it runs, and reports how it ended.

use std::{sync::Arc, time::Duration};

use commands::{CommandEffect, CommandTable};
use process::{Access, TtySize, WindowText};
use protocol::{CommandReport, FailureCode, OutputFile};
use tokio::time::{Instant, sleep, sleep_until};

use crate::{
    ToolCtx, ToolError,
    command_need::{Invocation, folder, judge},
    commands_access::NewCommand,
    job::{Job, signal_name},
    terminal_text::terminal_text,
};

/// How long a command of a session may run.
pub(crate) const SESSION_TIME: Duration = Duration::from_secs(12 * 3600);
/// A report shows so many bytes of output when the call does not say: about 10,000 tokens.
pub(crate) const SHOWN: usize = 36_000;
/// Output is shown this often while a command runs.
const SHOW_EVERY: Duration = Duration::from_millis(200);
/// While a command runs, the end of its output is shown, at most so many bytes.
const SHOWN_LIVE: usize = 8_000;

/// What a call wants to run.
pub(crate) struct Wanted<'a> {
    pub command: Invocation,
    pub workdir: Option<&'a str>,
    pub network: bool,
    pub time: Duration,
    pub tty: Option<TtySize>,
}

/// The time limit of a call that may take this long.
pub(crate) fn within(milliseconds: Option<u64>, default: Duration, longest: Duration) -> Duration {
    milliseconds.map_or(default, Duration::from_millis).clamp(Duration::from_millis(1), longest)
}

/// Starts a command. One that only reads gets no write access and no network, whatever it turns out to be. Before one that
/// may write, the files are remembered as they are.
pub(crate) async fn start(
    ctx: &ToolCtx,
    table: &CommandTable,
    wanted: Wanted<'_>,
) -> Result<Arc<Job>, ToolError> {
    let Wanted { command, workdir, network, time, tty } = wanted;
    let files = &ctx.files.domain;
    let cwd = folder(files, workdir)
        .map_err(|message| ToolError::Failed { code: FailureCode::InvalidPath, message })?;
    let judgement = judge(table, &command, &cwd, files);
    let network = network || judgement.network;
    let access = match judgement.effect {
        CommandEffect::ReadOnly if !network => Access::ReadOnly,
        _ if judgement.is_git() => Access::Repository,
        _ => Access::Workspace,
    };
    let before = match access {
        Access::ReadOnly => None,
        Access::Workspace | Access::Repository => Some(ctx.files.record.snapshot().await?),
    };
    let job = ctx.commands.start(NewCommand { command, cwd, access, network, time, tty }).await?;
    job.remember_files(before);
    Ok(job)
}

/// Records what the command changed in the work directory since it was started or since the last time.
pub(crate) async fn record_changes(ctx: &ToolCtx, job: &Job) {
    let Some(before) = job.take_files() else { return };
    let is_running = job.is_running();
    if let Err(error) = ctx.files.record.record_changes(before).await {
        tracing::warn!(%error, "what a command changed could not be recorded");
    }
    if is_running {
        job.remember_files(ctx.files.record.snapshot().await.ok());
    }
}

/// Why the wait for a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Ended,
    /// It still runs.
    TimePassed,
}

/// Waits until the command has ended or the time has passed, and shows its output meanwhile. A cancelled call ends it.
pub(crate) async fn wait(ctx: &ToolCtx, job: &Arc<Job>, time: Option<Duration>) -> Result<Waited, ToolError> {
    let until = time.map(|time| Instant::now() + time);
    let mut changes = job.changes();
    loop {
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => {
                job.stop();
                job.ended().await;
                return Err(ToolError::Cancelled);
            }
            () = job.ended() => return Ok(Waited::Ended),
            () = passed(until) => return Ok(Waited::TimePassed),
            changed = changes.changed() => if changed.is_err() { return Ok(Waited::Ended) },
        }
        let report = report_of(job, cut(job.output(), SHOWN_LIVE, Part::End));
        if let Ok(report) = serde_json::to_value(report) {
            ctx.emit.progress(report).await;
        }
        tokio::select! {
            () = sleep(SHOW_EVERY) => {}
            () = job.ended() => {}
            () = ctx.cancel.cancelled() => {}
            () = passed(until) => {}
        }
    }
}

async fn passed(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Reports what came since the last report, and how the command ended if it has.
pub(crate) async fn report(ctx: &ToolCtx, job: &Arc<Job>, shown: usize) -> CommandReport {
    let output = cut(job.take_output(), shown, Part::BothEnds);
    let left_out = output.omitted;
    let mut report = report_of(job, output);
    let exit = job.exit();
    if exit.is_none() {
        report.session_id = Some(job.id().clone());
    }
    if let (Some(spooled), true) = (job.spooled(), left_out > 0) {
        let name = format!("{}-output.txt", ctx.tool);
        match ctx.artifacts.keep_begun(&spooled.id, &name, "text/plain; charset=utf-8").await {
            Ok(kept) => {
                let url = format!("/api/artifacts/{}", kept.id);
                report.artifact = Some(OutputFile { id: kept.id, name, bytes: kept.bytes, url });
            }
            Err(error) => tracing::warn!(%error, "the output of a command could not be kept"),
        }
        if spooled.cut {
            add_note(&mut report, "The output was so long that only its beginning is in the file.");
        }
    }
    if let Some(exit) = exit {
        if exit.timed_out {
            add_note(&mut report, "The command was stopped because its time was over.");
        }
        if exit.too_many_processes {
            add_note(&mut report, "The command was stopped because it had too many processes.");
        }
        if exit.left_behind > 0 {
            let text = format!("{} processes that it left behind were ended.", exit.left_behind);
            add_note(&mut report, &text);
        }
    }
    report
}

fn add_note(report: &mut CommandReport, more: &str) {
    match &mut report.note {
        Some(note) => {
            note.push(' ');
            note.push_str(more);
        }
        None => report.note = Some(more.to_owned()),
    }
}

fn report_of(job: &Job, output: WindowText) -> CommandReport {
    let exit = job.exit();
    let text = if job.start().tty { terminal_text(&output.joined()) } else { output.joined() };
    CommandReport {
        exit_code: exit.as_ref().and_then(|exit| exit.code),
        signal: exit.as_ref().and_then(|exit| exit.signal).map(signal_name),
        timed_out: exit.as_ref().is_some_and(|exit| exit.timed_out),
        duration_ms: u64::try_from(job.duration().as_millis()).unwrap_or(u64::MAX),
        output: text,
        left_out_bytes: output.omitted,
        artifact: None,
        sandbox: job.sandbox(),
        session_id: None,
        note: None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    BothEnds,
    End,
}

/// The output within a number of bytes.
fn cut(text: WindowText, limit: usize, part: Part) -> WindowText {
    let WindowText { head, tail, total, .. } = text;
    if head.len() + tail.len() <= limit {
        let omitted = total.saturating_sub((head.len() + tail.len()) as u64);
        // Bytes that are no text become longer when they are shown.
        return WindowText { omitted: if tail.is_empty() { 0 } else { omitted }, head, tail, total };
    }
    let head_limit = if part == Part::End { 0 } else { limit / 2 };
    let rest = if tail.is_empty() { head.as_str() } else { tail.as_str() };
    let rest = rest
        .get(rest.ceil_char_boundary(rest.len().saturating_sub(limit - head_limit))..)
        .unwrap_or_default();
    let first = head.get(..head.floor_char_boundary(head_limit)).unwrap_or_default();
    let omitted = total.saturating_sub((first.len() + rest.len()) as u64).max(1);
    WindowText { omitted, head: first.to_owned(), tail: rest.to_owned(), total }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(head: &str, tail: &str, omitted: u64) -> WindowText {
        let total = (head.len() + tail.len()) as u64 + omitted;
        WindowText { head: head.to_owned(), tail: tail.to_owned(), omitted, total }
    }

    #[test]
    fn output_is_cut_in_the_middle_or_at_the_beginning() {
        let both = |shown: WindowText| cut(shown, 6, Part::BothEnds);
        assert_eq!(both(text("abcdef", "", 0)), text("abcdef", "", 0));
        assert_eq!(both(text("abcdefgh", "", 0)), text("abc", "fgh", 2));
        assert_eq!(both(text("abcdef", "uvwxyz", 10)), text("abc", "xyz", 16));
        assert_eq!(both(text("ab", "yz", 10)), text("ab", "yz", 10));
        assert_eq!(cut(text("abcdefgh", "", 0), 3, Part::End), text("", "fgh", 5));
        assert_eq!(cut(text("漢字漢字", "", 0), 7, Part::End), text("", "漢字", 6));
    }
}
