//! Formats lists for a terminal, at most 80 columns wide; long texts are cut.

use anyhow::Result;
use protocol::Timestamp;

use super::chat::text;
use crate::output;

const COLUMNS: usize = 80;

pub(super) struct Column {
    title: &'static str,
    layout: Layout,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Left,
    Right,
    /// To the left, and cut when the line is too long.
    Flexible,
}

impl Column {
    pub(super) fn left(title: &'static str) -> Self {
        Self { title, layout: Layout::Left }
    }

    pub(super) fn right(title: &'static str) -> Self {
        Self { title, layout: Layout::Right }
    }

    pub(super) fn flexible(title: &'static str) -> Self {
        Self { title, layout: Layout::Flexible }
    }
}

/// Formats the titles and one line for each row.
pub(super) fn table(columns: &[Column], rows: &[Vec<String>]) -> String {
    let titles: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(&titles)
        .chain(rows)
        .map(|row| row.iter().map(|cell| text::one_line(cell)).collect())
        .collect();
    let widest = |at: usize| rows.iter().map(|row| text::width(&row[at])).max().unwrap_or_default();
    let mut widths: Vec<usize> = (0..columns.len()).map(widest).collect();
    let gaps = 2 * columns.len().saturating_sub(1);
    // The widest flexible column shrinks first.
    while widths.iter().sum::<usize>() + gaps > COLUMNS {
        let flexible = (0..columns.len()).filter(|at| columns[*at].layout == Layout::Flexible);
        let Some(at) = flexible.max_by_key(|at| widths[*at]).filter(|at| widths[*at] > 8) else { break };
        widths[at] -= 1;
    }
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let cell = text::cut(cell, widths[at]);
            let room = " ".repeat(widths[at].saturating_sub(text::width(&cell)));
            let (before, after) = if columns[at].layout == Layout::Right {
                (room, String::new())
            } else {
                (String::new(), room)
            };
            let gap = if at == 0 { "" } else { "  " };
            line.push_str(&format!("{gap}{before}{cell}{after}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Formats how long ago a time was.
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

/// Prints a list to standard output.
pub(super) fn print(text: &str) -> Result<()> {
    output::line(text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_so_that_the_line_fits_eighty_columns() {
        let columns = [Column::right("no."), Column::flexible("name"), Column::left("made")];
        let rows = [
            vec!["7".to_owned(), "x".repeat(200), "just now".to_owned()],
            vec!["1234".to_owned(), "界".to_owned(), "3 days ago".to_owned()],
        ];
        let table = table(&columns, &rows);
        assert!(table.lines().all(|line| text::width(line) <= 80), "{table}");
        assert!(table.starts_with(" no.  name") && table.contains("\n1234  界"), "{table}");
    }

    #[test]
    fn times_are_formatted_in_their_largest_unit() {
        let ago = |minutes: i64| ago(Timestamp(minutes * 60_000), Timestamp(0));
        assert_eq!(
            [ago(0), ago(1), ago(59), ago(120), ago(3_000)],
            ["just now", "1 minute ago", "59 minutes ago", "2 hours ago", "2 days ago"]
        );
    }
}
