//! Shows the changes to files that a call would make, coloured and bounded.

use protocol::{FileDiff, file_change::ChangeKind};

use super::{
    output_settings::{OutputSettings, TextStyle},
    text::{cut, one_line, visible},
};

/// How many lines of diffs one question shows.
const MOST_LINES: usize = 60;

/// Formats the diffs, two columns indented, each line within the width of the terminal.
pub(super) fn shown(settings: &OutputSettings, files: &[FileDiff]) -> String {
    let mut out = String::new();
    let mut room = MOST_LINES;
    let width = settings.columns.saturating_sub(3);
    for file in files {
        out.push_str(&format!("  {}\n", settings.styled(TextStyle::Bold, &cut(&title(file), width))));
        if file.diff.is_empty() {
            out.push_str(&format!("  {}\n", settings.styled(TextStyle::Dim, "no lines to show")));
        }
        let lines: Vec<&str> = file.diff.lines().collect();
        let shown = lines.len().min(room);
        for line in lines.iter().take(shown) {
            let text = cut(&visible(&line.replace('\t', "    ")), width);
            let text = match line.chars().next() {
                Some('+') => settings.styled(TextStyle::Green, &text),
                Some('-') => settings.styled(TextStyle::Red, &text),
                Some('@') => settings.styled(TextStyle::Cyan, &text),
                _ => text,
            };
            out.push_str(&format!("  {text}\n"));
        }
        room -= shown;
        let left = lines.len() - shown;
        if left > 0 || file.cut {
            let note =
                if left > 0 { format!("… {left} more lines") } else { "… the diff is longer".to_owned() };
            out.push_str(&format!("  {}\n", settings.styled(TextStyle::Dim, &note)));
        }
    }
    out
}

fn title(file: &FileDiff) -> String {
    let path = visible(&one_line(&file.path));
    let counts = format!("+{} -{}", file.added, file.removed);
    match (file.kind, &file.from) {
        (_, Some(from)) => format!("{} → {path}  {counts}", visible(&one_line(from))),
        (ChangeKind::Created, None) => format!("{path}  new  {counts}"),
        (ChangeKind::Deleted, None) => format!("{path}  deleted  {counts}"),
        (_, None) => format!("{path}  {counts}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::chat::text::width;

    fn file(path: &str, diff: &str) -> FileDiff {
        FileDiff {
            path: path.to_owned(),
            from: None,
            kind: ChangeKind::Modified,
            added: 1,
            removed: 1,
            diff: diff.to_owned(),
            cut: false,
        }
    }

    #[test]
    fn a_diff_is_coloured_by_line() {
        let settings = OutputSettings { terminal: true, color: true, columns: 80 };
        let text = shown(&settings, &[file("a.txt", "@@ -1 +1 @@\n same\n-old\n+new\n")]);
        let plain = OutputSettings { color: false, ..settings };
        let without = shown(&plain, &[file("a.txt", "@@ -1 +1 @@\n same\n-old\n+new\n")]);
        assert_eq!(without, "  a.txt  +1 -1\n  @@ -1 +1 @@\n   same\n  -old\n  +new\n");
        assert!(text.contains(&settings.styled(TextStyle::Green, "+new")), "{text}");
        assert!(text.contains(&settings.styled(TextStyle::Red, "-old")), "{text}");
    }

    #[test]
    fn long_lines_and_long_diffs_are_cut_and_nothing_is_hidden_in_them() {
        let settings = OutputSettings { terminal: true, color: false, columns: 80 };
        let long = format!("+{}\u{1b}[2J\n", "界".repeat(200)).repeat(100);
        let text = shown(&settings, &[file("a.txt", &long), file("b.txt", "+x\n")]);
        assert!(text.lines().all(|line| width(line) < 80), "{text}");
        assert!(
            !text.contains('\u{1b}') && text.contains("… 40 more lines") && text.contains("b.txt"),
            "{text}"
        );
        assert!(text.lines().count() < MOST_LINES + 8);
    }
}
