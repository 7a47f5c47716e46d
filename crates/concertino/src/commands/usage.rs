//! `concertino usage`: prints the tokens and costs of model calls, as a table or as JSON.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use engine::UsageRequest;
use protocol::{
    SessionId, WorkspaceId,
    wire::usage::{GroupBy, Spent, SpentGroup, UsageReport},
};

use super::chat::{text, timezone};
use crate::{config::Config, data_dir::DataDir, output};

#[derive(Args)]
pub(crate) struct UsageArguments {
    /// Group by day, model, agent, session, run or message.
    #[arg(long, default_value = "day", value_name = "GROUP")]
    by: GroupBy,
    /// First day, for example 2026-01-05.
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// Last day, included.
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    /// Only this chat.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The workspace of the chats.
    #[arg(long, default_value = "default", value_name = "NAME")]
    workspace: String,
    /// Time zone of the days, for example Europe/Berlin [default: the time zone of this machine].
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Print JSON, as returned by GET /api/usage.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn usage(config: &Config, arguments: UsageArguments) -> Result<ExitCode> {
    let store = DataDir::open(config)?.store(config)?;
    let workspace = WorkspaceId::from_outside(&arguments.workspace).context("--workspace is not valid")?;
    let session = arguments.session.as_deref().map(SessionId::from_outside).transpose();
    let request = UsageRequest {
        by: arguments.by,
        session: session.context("--session is not valid")?,
        from: arguments.from,
        to: arguments.to,
        timezone: arguments.timezone.or_else(timezone::of_system),
        ..UsageRequest::default()
    };
    let report = engine::report_usage(&store, &workspace, request).await?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&report)?)?;
    } else {
        output::text(&table(&report))?;
    }
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: usize = 80;
const TITLES: [&str; 6] = ["calls", "input", "cached", "output", "time", "cost"];

/// Formats the report, at most 80 columns wide. Long names in the first column are cut.
fn table(report: &UsageReport) -> String {
    if report.total.calls == 0 {
        return "There were no model calls in this period.\n".to_owned();
    }
    let total = SpentGroup { key: "total".to_owned(), spent: report.total.clone() };
    let mut groups: Vec<&SpentGroup> = report.groups.iter().collect();
    if report.by == GroupBy::Day {
        // The newest day comes last, next to the shell prompt.
        groups.reverse();
    }
    let figures: Vec<[String; 6]> =
        groups.iter().copied().chain([&total]).map(|group| figures(&group.spent)).collect();
    let widest = |column: usize| {
        let cells = figures.iter().map(|row| text::width(&row[column]));
        cells.chain([TITLES[column].len()]).max().unwrap_or_default()
    };
    let widths: [usize; 6] = std::array::from_fn(widest);
    let room = COLUMNS.saturating_sub(widths.iter().map(|width| width + 2).sum::<usize>()).max(10);
    let keys = groups.iter().map(|group| name(&group.key)).chain(["total".to_owned()]);
    let keys: Vec<String> = keys.map(|key| text::cut(&key, room)).collect();
    let title = report.by.name();
    let first = keys.iter().map(|key| text::width(key)).chain([title.len()]).max().unwrap_or_default();

    let line = |key: &str, cells: &[String; 6]| {
        let mut line = format!("{key}{}", " ".repeat(first - text::width(key)));
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str(&format!("  {}{cell}", " ".repeat(width - text::width(cell))));
        }
        line.push('\n');
        line
    };
    let rule = format!("{}\n", "─".repeat(first + widths.iter().map(|width| width + 2).sum::<usize>()));
    let mut out = line(title, &TITLES.map(str::to_owned)) + &rule;
    let (last, rows) = match figures.split_last() {
        Some((last, rows)) => (last, rows),
        None => return out,
    };
    for (key, cells) in keys.iter().zip(rows) {
        out.push_str(&line(key, cells));
    }
    out = out + &rule + &line("total", last);
    if report.truncated {
        out.push_str("The list is incomplete; choose a shorter period with --from and --to.\n");
    }
    if report.total.unpriced_calls > 0 {
        out.push_str(&format!("* without {} calls whose price is unknown\n", report.total.unpriced_calls));
    }
    out
}

fn name(key: &str) -> String {
    if key.is_empty() { "(unknown)".to_owned() } else { text::one_line(key) }
}

fn figures(spent: &Spent) -> [String; 6] {
    let usage = &spent.usage;
    let cached = match usage.input_tokens {
        0 => "-".to_owned(),
        input => format!("{}%", usage.cached_input_tokens.saturating_mul(100) / input),
    };
    [
        thousands(spent.calls),
        thousands(usage.input_tokens),
        cached,
        thousands(usage.output_tokens),
        time(spent.duration_ms),
        cost(spent),
    ]
}

fn thousands(number: u64) -> String {
    if number >= 1_000_000_000 {
        return format!("{:.1}G", number as f64 / 1e9);
    }
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        0 => format!("{milliseconds}ms"),
        1..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

fn cost(spent: &Spent) -> String {
    let mark = if spent.unpriced_calls > 0 { "*" } else { "" };
    match spent.cost {
        _ if spent.unpriced_calls == spent.calls => "-".to_owned(),
        cost if cost >= 100.0 => format!("${cost:.0}{mark}"),
        cost if cost >= 0.1 => format!("${cost:.2}{mark}"),
        cost => format!("${cost:.4}{mark}"),
    }
}

#[cfg(test)]
mod tests {
    use protocol::Usage;

    use super::*;

    fn spent(calls: u64, input: u64, cached: u64, cost: f64, unpriced: u64) -> Spent {
        let usage = Usage {
            input_tokens: input,
            cached_input_tokens: cached,
            output_tokens: input / 10,
            ..Usage::default()
        };
        Spent { calls, usage, cost, unpriced_calls: unpriced, duration_ms: input, ..Spent::default() }
    }

    fn group(key: &str, spent: Spent) -> SpentGroup {
        SpentGroup { key: key.to_owned(), spent }
    }

    #[test]
    fn days_are_listed_with_the_newest_last_and_the_total_below() {
        let report = UsageReport {
            by: GroupBy::Day,
            timezone: "UTC".to_owned(),
            total: spent(14, 1_334_567, 933_333, 1.5, 3),
            groups: vec![
                group("2026-01-05", spent(11, 1_234_567, 933_333, 1.5, 0)),
                group("2026-01-04", spent(3, 100_000, 0, 0.0, 3)),
            ],
            truncated: false,
        };
        insta::assert_snapshot!(table(&report), @"
        day         calls      input  cached   output    time    cost
        ─────────────────────────────────────────────────────────────
        2026-01-04      3    100,000      0%   10,000   1m40s       -
        2026-01-05     11  1,234,567     75%  123,456  20m34s   $1.50
        ─────────────────────────────────────────────────────────────
        total          14  1,334,567     69%  133,456  22m14s  $1.50*
        * without 3 calls whose price is unknown
        ");
    }

    #[test]
    fn no_line_is_wider_than_eighty_columns() {
        let huge = spent(123_456_789, 987_654_321_012, 1, 98_765.432, 1);
        let report = UsageReport {
            by: GroupBy::Session,
            timezone: "UTC".to_owned(),
            total: huge.clone(),
            groups: vec![group(&"a very long name of a chat 很长的名字 ".repeat(9), huge)],
            truncated: true,
        };
        for line in table(&report).lines() {
            assert!(text::width(line) <= COLUMNS, "{line}");
        }
    }

    #[test]
    fn a_period_without_calls_is_a_sentence() {
        let report = UsageReport {
            by: GroupBy::Model,
            timezone: "UTC".to_owned(),
            total: Spent::default(),
            groups: Vec::new(),
            truncated: false,
        };
        assert_eq!(table(&report), "There were no model calls in this period.\n");
    }
}
