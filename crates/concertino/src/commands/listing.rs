//! Lists for a terminal: at most 80 columns, long words cut.

use std::io::{self, Write};

use anyhow::{Context, Result};
use protocol::Timestamp;

use super::chat::text;

const COLUMNS: usize = 80;

pub(super) struct Column {
    title: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Left,
    Right,
    /// As wide as there is room, and cut.
    Wide,
}

impl Column {
    pub(super) fn left(title: &'static str) -> Self {
        Self { title, kind: Kind::Left }
    }

    pub(super) fn right(title: &'static str) -> Self {
        Self { title, kind: Kind::Right }
    }

    pub(super) fn wide(title: &'static str) -> Self {
        Self { title, kind: Kind::Wide }
    }
}

/// One line for each row under the titles.
pub(super) fn table(columns: &[Column], rows: &[Vec<String>]) -> String {
    let titles: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(&titles)
        .chain(rows)
        .map(|row| row.iter().map(|cell| text::one_line(cell)).collect())
        .collect();
    let widest = |at: usize| rows.iter().map(|row| text::width(&row[at])).max().unwrap_or_default();
    let mut widths: Vec<usize> = (0..columns.len()).map(widest).collect();
    let gaps = 2 * columns.len().saturating_sub(1);
    // The widest gives way first.
    while widths.iter().sum::<usize>() + gaps > COLUMNS {
        let wide = (0..columns.len()).filter(|at| columns[*at].kind == Kind::Wide);
        let Some(at) = wide.max_by_key(|at| widths[*at]).filter(|at| widths[*at] > 8) else { break };
        widths[at] -= 1;
    }
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let cell = text::cut(cell, widths[at]);
            let room = " ".repeat(widths[at].saturating_sub(text::width(&cell)));
            let (before, after) =
                if columns[at].kind == Kind::Right { (room, String::new()) } else { (String::new(), room) };
            let gap = if at == 0 { "" } else { "  " };
            line.push_str(&format!("{gap}{before}{cell}{after}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// How long ago, in words.
pub(super) fn ago(now: Timestamp, then: Timestamp) -> String {
    let minutes = now.0.saturating_sub(then.0) / 60_000;
    let (count, unit) = match minutes {
        ..1 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// To standard output; a reader that has seen enough is no failure.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot print"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_gives_way_and_the_line_stays_within_eighty_columns() {
        let columns = [Column::right("no."), Column::wide("name"), Column::left("made")];
        let rows = [
            vec!["7".to_owned(), "x".repeat(200), "just now".to_owned()],
            vec!["1234".to_owned(), "界".to_owned(), "3 days ago".to_owned()],
        ];
        let table = table(&columns, &rows);
        assert!(table.lines().all(|line| text::width(line) <= 80), "{table}");
        assert!(table.starts_with(" no.  name") && table.contains("\n1234  界"), "{table}");
    }

    #[test]
    fn times_are_told_by_their_largest_unit() {
        let ago = |minutes: i64| ago(Timestamp(minutes * 60_000), Timestamp(0));
        assert_eq!(
            [ago(0), ago(1), ago(59), ago(120), ago(3_000)],
            ["just now", "1 minute ago", "59 minutes ago", "2 hours ago", "2 days ago"]
        );
    }
}
