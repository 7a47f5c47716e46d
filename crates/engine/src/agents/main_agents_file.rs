//! The main agents that a person defines in `main-agents.toml`, which is the format of Snow CLI: one table
//! `[agents.<id>]` per agent with a nested `[agents.<id>.basicInfo]`.
//!
//! An agent with a mistake in it never hides the others: it is left out, and a notice says where and why.

mod agent;
mod notices;
#[cfg(test)]
mod tests;
mod tool_aliases;

use toml::de::{DeTable, DeValue};

pub use self::notices::{Notice, Position, Severity};
use self::notices::{Notices, quoted};
use super::{AgentDefinition, AgentRegistry};

/// How large the file may be.
pub const MAX_FILE_BYTES: usize = 1 << 20;
/// How many agents the file may have.
pub const MAX_AGENTS: usize = 200;

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MainAgents {
    /// In the order of the list: oldest first, those without a time before all others.
    pub agents: Vec<AgentDefinition>,
    pub notices: Vec<Notice>,
    /// Whether the file has no key at all. Such a file counts as absent.
    pub is_empty: bool,
}

/// A file that cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unusable {
    pub position: Position,
    pub message: String,
}

/// Reads the text of a file. Tools and sub-agents are looked up in `registry`.
pub fn parse(text: &str, registry: &AgentRegistry) -> Result<MainAgents, Unusable> {
    let unusable =
        |offset: usize, message: String| Unusable { position: Position::at(text, offset), message };
    if text.len() > MAX_FILE_BYTES {
        return Err(unusable(0, format!("the file is larger than {MAX_FILE_BYTES} bytes")));
    }
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        unusable(offset, error.message().trim_end().replace('\n', ", "))
    })?;
    let document = document.get_ref();
    let mut notices = Notices::of(text);
    let mut tables = Vec::new();
    for (key, value) in document.iter() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("agents", DeValue::Table(agents)) => tables.extend(agents.iter()),
            ("agents", _) => {
                let message = "agents must hold a table for each agent, such as [agents.reviewer]";
                return Err(unusable(key.span().start, message.to_owned()));
            }
            (name, _) => notices.warn(key.span().start, || {
                format!("the key {} is not known; agents are tables such as [agents.reviewer]", quoted(name))
            }),
        }
    }
    tables.sort_by_key(|(key, _)| key.span().start);
    if let Some((key, _)) = tables.get(MAX_AGENTS) {
        let message = format!("the file has {} agents; {MAX_AGENTS} are allowed", tables.len());
        return Err(unusable(key.span().start, message));
    }
    let mut agents = Vec::new();
    for (key, table) in tables {
        let count = notices.count();
        match agent::read(key, table, registry, &mut notices) {
            Ok(agent) => agents.push(agent),
            Err(dropped) => notices.dropped(count, dropped.offset, dropped.text),
        }
    }
    // Stable, so that agents of the same time stay in the order of the file. No time sorts first.
    agents.sort_by_key(|agent| agent.created_at);
    Ok(MainAgents {
        agents: agents.into_iter().map(|agent| agent.definition).collect(),
        notices: notices.finish(),
        is_empty: document.is_empty(),
    })
}
