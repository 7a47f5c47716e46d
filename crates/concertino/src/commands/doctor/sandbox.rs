//! Tries a forbidden read, write and connection in the sandbox of commands, and says what happened.

use anyhow::Result;
use process::{ProbeReport, Sandbox, SandboxLevel};

use crate::{config::Config, output};

/// Prints the protections that are active. Returns whether commands can run as the settings say.
pub(super) async fn check(config: &Config) -> Result<bool> {
    let settings = &config.commands;
    if settings.sandbox == SandboxLevel::Off {
        output::line("sandbox: switched off; commands of agents can do what this user can do")?;
        output::line("  To switch it on, remove `sandbox = \"off\"` from the settings.")?;
        return Ok(true);
    }
    if !config.files.workdir.is_dir() {
        output::line("sandbox: not tried, because the work directory does not exist yet")?;
        return Ok(true);
    }
    let hidden = std::iter::once(&config.files.data_dir).chain(&config.files.protected).cloned().collect();
    let report = process::probe(&Sandbox {
        level: settings.sandbox,
        workdir: config.files.workdir.clone(),
        read: settings.read.clone(),
        write: settings.write.clone(),
        hidden,
        launcher: settings.launcher.clone(),
    })
    .await;
    for line in lines(&report) {
        output::line(line)?;
    }
    Ok(report.error.is_none() && report.all_blocked())
}

fn lines(probe: &ProbeReport) -> Vec<String> {
    let mut lines = Vec::new();
    match (&probe.error, &probe.report) {
        (Some(error), _) => {
            lines.push("sandbox: commands cannot run".to_owned());
            lines.push(format!("  {error}"));
        }
        (None, report) => {
            let state = if probe.all_blocked() { "works" } else { "does not protect everything" };
            lines.push(format!("sandbox: {state}"));
            if let Some(report) = report {
                lines.extend(report.short().split("; ").map(|part| format!("  {part}")));
                lines.extend(report.weaker.iter().map(|weaker| format!("  weaker: {weaker}")));
            }
        }
    }
    for attempt in &probe.attempts {
        let mark = if attempt.blocked { "refused" } else { "NOT REFUSED" };
        lines.push(format!("  {}: {mark} ({})", attempt.what, attempt.result));
    }
    lines
}

#[cfg(test)]
mod tests {
    use process::{Attempt, SandboxReport};

    use super::*;

    #[test]
    fn what_was_not_refused_is_named() {
        let attempt =
            |what: &str, blocked| Attempt { what: what.to_owned(), blocked, result: "r".to_owned() };
        let probe = ProbeReport {
            report: Some(SandboxReport::default()),
            attempts: vec![attempt("reading a secret", true), attempt("a connection", false)],
            error: None,
        };
        let lines = lines(&probe);
        assert_eq!(lines[0], "sandbox: does not protect everything");
        assert!(lines.contains(&"  a connection: NOT REFUSED (r)".to_owned()), "{lines:?}");
    }
}
