//! Tells the result of a command: how it ended, and the lines of its output that matter. It shows only what the command
//! printed.

use protocol::CommandReport;

use super::super::{
    markdown::{block, code},
    utterance::Language,
};

/// Longer output is shortened to its beginning and end, or to the lines that speak of errors.
const MOST_LINES: usize = 40;
const MOST_ERRORS: usize = 12;
const AT_THE_END: usize = 14;
const WIDEST: usize = 240;

/// The answer to the result of a command. `stopped`: Ctrl-C was pressed, so its end is no failure. A result in an unknown
/// form is shown as it is.
pub(in super::super) fn told(line: &str, result: &str, stopped: bool, language: Language) -> String {
    let Ok(report) = serde_json::from_str::<CommandReport>(result) else {
        let opening = language.pick(
            format!("I ran {}. The tool answered:", code(line)),
            format!("我运行了 {}。工具的回答是：", code(line)),
        );
        let shown = block(&shortened(result, false), usize::MAX);
        return format!("{opening}\n\n{shown}").trim_end().to_owned();
    };
    let failed = has_failed(&report) && !stopped;
    let lines = shortened(&report.output, failed);
    let ending = match stopped && report.session_id.is_none() {
        true => ending_after_stop(line, &report, language),
        false => ending(line, &report, language),
    };
    let mut text = format!("{ending}{}", output(&report, &lines, language));
    for remark in remarks(&report, language) {
        text.push_str(&format!("\n{remark}\n"));
    }
    text.trim_end().to_owned()
}

fn has_failed(report: &CommandReport) -> bool {
    report.timed_out || report.signal.is_some() || report.exit_code.is_some_and(|code| code != 0)
}

/// How the command ended, or that it runs.
fn ending(line: &str, report: &CommandReport, language: Language) -> String {
    let line = code(line);
    if report.session_id.is_some() {
        return language.pick(format!("{line} is running."), format!("{line} 正在运行。"));
    }
    if report.timed_out {
        return language.pick(
            format!("{line} was stopped because its time was over."),
            format!("{line} 超过了时限，已被停止。"),
        );
    }
    match (report.exit_code, &report.signal) {
        (Some(0), _) => {
            language.pick(format!("{line} ended with exit code 0."), format!("{line} 已结束，退出码为 0。"))
        }
        (Some(code), _) => language.pick(
            format!("{line} failed with exit code {code}."),
            format!("{line} 失败了，退出码为 {code}。"),
        ),
        (None, Some(signal)) => language.pick(
            format!("{line} was ended by the signal {signal}."),
            format!("{line} 被信号 {signal} 终止了。"),
        ),
        (None, None) => language
            .pick(format!("{line} ended without an exit code."), format!("{line} 已结束，没有退出码。")),
    }
}

fn ending_after_stop(line: &str, report: &CommandReport, language: Language) -> String {
    let line = code(line);
    match (report.exit_code, &report.signal) {
        (Some(code), _) => language.pick(
            format!("{line} ended with exit code {code}."),
            format!("{line} 已结束，退出码为 {code}。"),
        ),
        (None, Some(signal)) => language.pick(
            format!("{line} ended by the signal {signal}."),
            format!("{line} 被信号 {signal} 结束了。"),
        ),
        (None, None) => language.pick(format!("{line} ended."), format!("{line} 已结束。")),
    }
}

fn output(report: &CommandReport, lines: &[String], language: Language) -> String {
    let running = report.session_id.is_some();
    match (lines.is_empty(), running) {
        (true, true) => language.pick(" It has printed nothing new.\n", "目前没有新的输出。\n").to_owned(),
        (true, false) => language.pick(" It printed nothing.\n", "没有任何输出。\n").to_owned(),
        (false, true) => {
            let title = language.pick(" Its newest output:", "最新的输出：");
            format!("{title}\n\n{}", block(lines, usize::MAX))
        }
        (false, false) => {
            let title = language.pick(" Its output:", "输出：");
            format!("{title}\n\n{}", block(lines, usize::MAX))
        }
    }
}

/// What the reader should know besides the output.
fn remarks(report: &CommandReport, language: Language) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(file) = &report.artifact {
        remarks.push(language.pick(
            format!("The whole output is kept: [{}]({}).", file.name, file.url),
            format!("完整的输出已保存：[{}]({})。", file.name, file.url),
        ));
    } else if report.left_out_bytes > 0 {
        let bytes = report.left_out_bytes;
        remarks.push(language.pick(
            format!("{bytes} bytes in the middle of the output are left out."),
            format!("输出中间有 {bytes} 字节没有显示。"),
        ));
    }
    // The tool's note repeats what the ending says when the time was over.
    remarks.extend(report.note.clone().filter(|_| !report.timed_out));
    if report.session_id.is_some() {
        remarks.push(
            language
                .pick(
                    "It runs on. Say \"stop it\" to end it, or \"what does it say now?\" to see more.",
                    "它会继续运行。说“停掉它”可以结束它，说“看看它的输出”可以看到更多。",
                )
                .to_owned(),
        );
    }
    remarks
}

/// The lines that matter. Of long output: the lines that speak of errors and the end if the command failed, else the
/// beginning and the end. Gaps are marked.
fn shortened(output: &str, failed: bool) -> Vec<String> {
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(first, |last| last + 1);
    let lines = lines.get(first..last).unwrap_or_default();
    if lines.len() <= MOST_LINES {
        return lines.iter().map(|line| narrow(line)).collect();
    }
    let mut kept: Vec<usize> = if failed {
        (0..lines.len())
            .filter(|at| lines.get(*at).is_some_and(|line| is_error(line)))
            .take(MOST_ERRORS)
            .collect()
    } else {
        (0..MOST_LINES - AT_THE_END).collect()
    };
    kept.extend(lines.len() - AT_THE_END..lines.len());
    kept.sort_unstable();
    kept.dedup();
    let mut shown = Vec::new();
    let mut next = 0;
    for at in kept {
        if at > next {
            shown.push(format!("[… {} …]", at - next));
        }
        shown.extend(lines.get(at).map(|line| narrow(line)));
        next = at + 1;
    }
    shown
}

fn is_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["error", "fail", "panic", "fatal", "denied", "not found", "cannot", "exception", "错误", "失败"]
        .iter()
        .any(|word| line.contains(word))
}

fn narrow(line: &str) -> String {
    match line.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(fields: serde_json::Value) -> String {
        let mut report = json!({ "durationMs": 3, "output": "", "sandbox": "landlock" });
        let (Some(report), Some(fields)) = (report.as_object_mut(), fields.as_object()) else {
            return String::new();
        };
        report.extend(fields.clone());
        json!(report).to_string()
    }

    #[test]
    fn the_exit_code_and_the_output_are_told() {
        let done = report(json!({ "exitCode": 0, "output": "a\nb\n" }));
        assert_eq!(
            told("ls", &done, false, Language::English),
            "`ls` ended with exit code 0. Its output:\n\n```\na\nb\n```"
        );
        let silent = report(json!({ "exitCode": 0 }));
        assert_eq!(
            told("true", &silent, false, Language::Chinese),
            "`true` 已结束，退出码为 0。没有任何输出。"
        );
        let failed = report(json!({ "exitCode": 2, "output": "no" }));
        assert_eq!(
            told("ls x", &failed, false, Language::English),
            "`ls x` failed with exit code 2. Its output:\n\n```\nno\n```"
        );
        let killed = report(json!({ "signal": "SIGKILL", "note": "It had too many processes." }));
        assert_eq!(
            told("x", &killed, false, Language::English),
            "`x` was ended by the signal SIGKILL. It printed nothing.\n\nIt had too many processes."
        );
        let late = report(json!({ "timedOut": true, "signal": "SIGTERM", "note": "Its time was over." }));
        assert_eq!(
            told("x", &late, false, Language::English),
            "`x` was stopped because its time was over. It printed nothing."
        );
    }

    #[test]
    fn long_output_is_shortened_to_the_lines_that_matter() {
        let output: String = (0..100)
            .map(|n| if n == 50 { "error: broken\n".to_owned() } else { format!("line {n}\n") })
            .collect();
        let failed = shortened(&output, true);
        assert_eq!(failed.first().map(String::as_str), Some("[… 50 …]"));
        assert_eq!(failed.get(1).map(String::as_str), Some("error: broken"));
        assert_eq!(failed.last().map(String::as_str), Some("line 99"));
        let done = shortened(&output, false);
        assert_eq!(done.first().map(String::as_str), Some("line 0"));
        assert_eq!(done.len(), MOST_LINES + 1);
        assert_eq!(shortened("\n\n a\n\nb\n\n", false), [" a", "", "b"]);
    }

    #[test]
    fn fences_and_code_survive_back_ticks() {
        let done = report(json!({ "exitCode": 0, "output": "```\nx\n```" }));
        assert_eq!(
            told("echo `x`", &done, false, Language::English),
            "`` echo `x` `` ended with exit code 0. Its output:\n\n````\n```\nx\n```\n````"
        );
    }

    #[test]
    fn a_result_in_another_form_is_shown_as_it_is() {
        assert_eq!(
            told("ls", "hello", false, Language::English),
            "I ran `ls`. The tool answered:\n\n```\nhello\n```"
        );
    }
}
