//! Shows how a command of an agent ended, and the end of its output. Pure.

use protocol::{CommandReport, ToolPart, ToolState};

use super::{
    output_settings::{OutputSettings, TextStyle},
    text::{cut, visible},
};

/// How many lines of output are shown; the last ones say how it ended.
const MOST_LINES: usize = 10;
/// The tools whose output is a report.
const TOOLS: [&str; 4] = ["shell", "shell-command", "exec-command", "write-stdin"];

/// The report of a call, if it ran a command.
pub(super) fn of(tool: &ToolPart) -> Option<CommandReport> {
    match &tool.state {
        ToolState::OutputAvailable { output, .. } if TOOLS.contains(&tool.tool.as_str()) => {
            serde_json::from_value(output.clone()).ok()
        }
        _ => None,
    }
}

/// Whether the command ended without an error, or still runs.
pub(super) fn is_fine(report: &CommandReport) -> bool {
    report.session_id.is_some() || report.exit_code == Some(0)
}

/// How it ended, in a few words.
pub(super) fn end(report: &CommandReport) -> String {
    if report.session_id.is_some() {
        "still running".to_owned()
    } else if report.timed_out {
        "stopped, its time was over".to_owned()
    } else if let Some(signal) = &report.signal {
        format!("ended by {signal}")
    } else {
        report.exit_code.map_or_else(String::new, |code| format!("exit code {code}"))
    }
}

/// The newest line of the output, for the line of a running call.
pub(super) fn newest_line(report: &CommandReport) -> String {
    let last = report.output.lines().rev().find(|line| !line.trim().is_empty());
    visible(last.unwrap_or_default().trim_end())
}

/// The last lines of the output, two columns indented, and a note where the sandbox is not whole.
pub(super) fn lines(settings: &OutputSettings, report: &CommandReport) -> Vec<String> {
    let width = if settings.terminal { settings.columns.saturating_sub(3) } else { usize::MAX };
    let dim = |text: &str| format!("  {}", settings.styled(TextStyle::Dim, text));
    let all: Vec<&str> = report.output.trim_end().lines().collect();
    let left_out = all.len().saturating_sub(MOST_LINES);
    let mut lines = Vec::new();
    if left_out > 0 || report.left_out_bytes > 0 {
        lines.push(dim(&format!("… {left_out} lines before")));
    }
    lines.extend(
        all.iter().skip(left_out).map(|line| dim(&cut(&visible(&line.replace('\t', "    ")), width))),
    );
    if report.sandbox.contains("missing") || report.sandbox.starts_with("no sandbox") {
        let text = cut(&format!("sandbox: {}", report.sandbox), width);
        lines.push(format!("  {}", settings.styled(TextStyle::Yellow, &text)));
    }
    if let Some(note) = &report.note {
        lines.push(dim(&cut(&visible(note), width)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(fields: serde_json::Value) -> CommandReport {
        let mut all = json!({ "durationMs": 12, "output": "", "sandbox": "files: landlock 7" });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn the_end_is_said_in_a_few_words() {
        assert_eq!(end(&report(json!({ "exitCode": 2 }))), "exit code 2");
        assert_eq!(end(&report(json!({ "signal": "SIGKILL" }))), "ended by SIGKILL");
        assert_eq!(
            end(&report(json!({ "signal": "SIGKILL", "timedOut": true }))),
            "stopped, its time was over"
        );
        assert_eq!(end(&report(json!({ "sessionId": "job_1" }))), "still running");
        assert!(is_fine(&report(json!({ "exitCode": 0 }))) && !is_fine(&report(json!({ "exitCode": 1 }))));
    }

    #[test]
    fn the_last_lines_of_the_output_are_shown_without_control_characters() {
        let output: String = (1..=14).map(|line| format!("line {line}\u{1b}[2J\n")).collect();
        let settings = OutputSettings { color: false, terminal: true, columns: 80 };
        let shown =
            lines(&settings, &report(json!({ "exitCode": 0, "output": output, "sandbox": "no sandbox" })));
        assert_eq!(shown.len(), 12, "{shown:?}");
        assert_eq!(shown[0].trim(), "… 4 lines before");
        assert!(shown[10].contains("line 14") && !shown.concat().contains('\u{1b}'), "{shown:?}");
        assert_eq!(shown[11].trim(), "sandbox: no sandbox");
    }
}
