//! Formats the list of agents for a terminal, at most 80 columns wide.

use protocol::{AgentKind, AgentSource, wire::agents::AgentList};

use crate::commands::chat::text;

const COLUMNS: usize = 80;
const TITLES: [&str; 4] = ["name", "kind", "source", "description, or ✗ why it is not available"];

pub(super) fn table(list: &AgentList) -> String {
    let rows: Vec<[String; 4]> = list
        .agents
        .iter()
        .map(|agent| {
            let about = match &agent.reason {
                Some(reason) => format!("✗ {}", text::one_line(reason)),
                None => text::one_line(&agent.fields.description),
            };
            let name = text::cut(&text::one_line(&agent.fields.name), 24);
            [name, kind(agent.fields.kind).to_owned(), source(agent.source).to_owned(), about]
        })
        .collect();
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| text::width(&row[column]));
        cells.chain([text::width(TITLES[column])]).max().unwrap_or_default()
    };
    let widths: [usize; 3] = std::array::from_fn(widest);
    let room = COLUMNS.saturating_sub(widths.iter().map(|width| width + 2).sum::<usize>());
    let line = |cells: &[String; 4]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str(&format!("{cell}{}  ", " ".repeat(width - text::width(cell))));
        }
        line.push_str(&text::cut(&cells[3], room));
        format!("{}\n", line.trim_end())
    };
    let mut out = line(&TITLES.map(str::to_owned));
    out.push_str(&format!("{}\n", "─".repeat(COLUMNS)));
    out.extend(rows.iter().map(line));
    out
}

pub(super) fn kind(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Main => "main",
        AgentKind::Sub => "sub",
    }
}

pub(super) fn source(source: AgentSource) -> &'static str {
    match source {
        AgentSource::System => "built-in",
        AgentSource::File => "file",
        AgentSource::Database => "database",
    }
}
