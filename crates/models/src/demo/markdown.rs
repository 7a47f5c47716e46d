//! Code in answers: a line, or a block of lines, whatever back-ticks the text contains.

/// Lines in a block of code, at most `most` of them. The fence is longer than any in the text.
pub(super) fn block(lines: &[String], most: usize) -> String {
    let shown = lines.get(..most.min(lines.len())).unwrap_or_default();
    let longest = shown.iter().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", shown.join("\n"))
}

/// A line as code.
pub(super) fn code(line: &str) -> String {
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}
