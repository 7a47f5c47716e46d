//! One agent of `main-agents.toml`: reads its table field by field.

use std::collections::HashSet;

use jiff::{civil, tz::TimeZone};
use protocol::{AgentKind, AgentSource, Timestamp};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use tools::EditLimit;

use super::{
    notices::{Notices, quoted},
    tool_aliases::host_name,
};
use crate::agents::{
    AgentDefinition, AgentRegistry, Prompt,
    definition::{DYNAMIC, EVERYTHING},
    registry::{is_name, is_selectable},
    workspace_tools::is_delegation,
};

const LONGEST_NAME: usize = 100;
const LONGEST_DESCRIPTION: usize = 2000;
const LONGEST_ROLE: usize = 256 << 10;
const MOST_SUB_AGENTS: usize = 128;
/// The values of `basicInfo.type`, which has no effect.
const TYPES: [&str; 3] = ["general", "requirement_analyzer", "debugger"];

/// Why an agent is left out, and where.
pub(super) struct Dropped {
    pub(super) offset: usize,
    pub(super) text: String,
}

/// An agent of the file, with the time by which the list is ordered.
pub(super) struct ReadAgent {
    pub(super) definition: AgentDefinition,
    pub(super) created_at: Option<jiff::Timestamp>,
}

/// Reads the agent whose table has the key `id`.
pub(super) fn read(
    id: &Spanned<std::borrow::Cow<'_, str>>,
    table: &Spanned<DeValue<'_>>,
    registry: &AgentRegistry,
    notices: &mut Notices<'_>,
) -> Result<ReadAgent, Dropped> {
    let (offset, name) = (id.span().start, id.get_ref().as_ref());
    if !is_selectable(name) {
        let text = format!(
            "the agent {} is left out: its id must have 1 to 64 of the characters a-z, 0-9, _ and -",
            quoted(name)
        );
        return Err(Dropped { offset, text });
    }
    let mut reader = AgentReader { id: name, offset, registry, notices };
    let whole = reader.table("", table)?;
    reader.unknown_keys(
        whole,
        "",
        &["basicInfo", "mainAgentRole", "tools", "availableSubAgents", "editableFileSuffixes"],
    );
    let empty = DeTable::new();
    let info = match find(whole, "basicInfo") {
        Some((_, info)) => reader.table("basicInfo", info)?,
        None => &empty,
    };
    let known = ["id", "name", "description", "type", "builtin", "createdAt", "updatedAt"];
    reader.unknown_keys(info, "basicInfo.", &known);
    reader.same_id(info)?;
    reader.kind_of_agent(info)?;
    reader.builtin(info)?;
    let created_at = reader.time(info, "createdAt")?;
    let updated_at = reader.time(info, "updatedAt")?;
    let stored = |time: jiff::Timestamp| Timestamp(time.as_millisecond());
    let mut definition = AgentDefinition::bare(AgentKind::Main, name, "");
    definition.display_name = reader.display_name(info)?;
    definition.description = reader.description(info)?;
    definition.prompt = reader.role(whole)?;
    definition.tools = reader.tools(whole)?;
    definition.allowed_sub_agents = reader.sub_agents(whole)?;
    definition.editable_suffixes = reader.suffixes(whole)?;
    definition.tools_optional = true;
    definition.source = AgentSource::File;
    definition.created_at = created_at.map(stored);
    definition.updated_at = updated_at.map(stored);
    Ok(ReadAgent { definition, created_at })
}

struct AgentReader<'a, 't> {
    id: &'a str,
    /// Where the agent's key is.
    offset: usize,
    registry: &'a AgentRegistry,
    notices: &'a mut Notices<'t>,
}

impl AgentReader<'_, '_> {
    fn warn(&mut self, offset: usize, text: impl FnOnce() -> String) {
        let id = self.id;
        self.notices.warn(offset, || format!("agent \"{id}\": {}", text()));
    }

    fn dropped(&self, offset: usize, text: &str) -> Dropped {
        Dropped { offset, text: format!("the agent \"{}\" is left out: {text}", self.id) }
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> Dropped {
        let key = if key.is_empty() { "the agent" } else { key };
        let found = value.get_ref().type_str();
        self.dropped(value.span().start, &format!("{key} must be {wanted}, not {found}"))
    }

    fn table<'v, 'i>(&self, key: &str, value: &'v Spanned<DeValue<'i>>) -> Result<&'v DeTable<'i>, Dropped> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong_type(key, value, "a table")),
        }
    }

    fn unknown_keys(&mut self, table: &DeTable<'_>, prefix: &str, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name = quoted(&format!("{prefix}{}", key.get_ref()));
            let fix = known.join(", ");
            self.warn(key.span().start, || format!("the key {name} is not known; the keys are: {fix}"));
        }
    }

    /// A text of the table, with its place.
    fn text<'v>(
        &self,
        table: &'v DeTable<'_>,
        key: &str,
        shown: &str,
    ) -> Result<Option<(usize, &'v str)>, Dropped> {
        match find(table, key) {
            None => Ok(None),
            Some((offset, value)) => match value.get_ref() {
                DeValue::String(text) => Ok(Some((offset, text.as_ref()))),
                _ => Err(self.wrong_type(shown, value, "a string")),
            },
        }
    }

    /// A list of texts, each with its place.
    fn texts<'v>(&self, table: &'v DeTable<'_>, key: &str) -> Result<Vec<(usize, &'v str)>, Dropped> {
        let Some((_, value)) = find(table, key) else { return Ok(Vec::new()) };
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.wrong_type(key, value, "a list of strings"));
        };
        let text = |entry: &'v Spanned<DeValue<'_>>| match entry.get_ref() {
            DeValue::String(text) => Ok((entry.span().start, text.as_ref())),
            _ => Err(self.wrong_type(&format!("an entry of {key}"), entry, "a string")),
        };
        list.iter().map(text).collect()
    }

    fn same_id(&self, info: &DeTable<'_>) -> Result<(), Dropped> {
        match self.text(info, "id", "basicInfo.id")? {
            Some((offset, id)) if id != self.id => {
                let text = format!("basicInfo.id is {}, which differs from the table's key", quoted(id));
                Err(self.dropped(offset, &text))
            }
            _ => Ok(()),
        }
    }

    fn kind_of_agent(&mut self, info: &DeTable<'_>) -> Result<(), Dropped> {
        if let Some((offset, kind)) = self.text(info, "type", "basicInfo.type")?
            && !TYPES.contains(&kind)
        {
            let known = TYPES.join(", ");
            self.warn(offset, || {
                format!("basicInfo.type {} is treated as general; the types are: {known}", quoted(kind))
            });
        }
        Ok(())
    }

    /// Only the three agents of the program are built in, whatever the file says.
    fn builtin(&self, info: &DeTable<'_>) -> Result<(), Dropped> {
        match find(info, "builtin") {
            Some((_, value)) if !matches!(value.get_ref(), DeValue::Boolean(_)) => {
                Err(self.wrong_type("basicInfo.builtin", value, "true or false"))
            }
            _ => Ok(()),
        }
    }

    fn time(&mut self, info: &DeTable<'_>, key: &str) -> Result<Option<jiff::Timestamp>, Dropped> {
        let Some((offset, value)) = find(info, key) else { return Ok(None) };
        let time = match value.get_ref() {
            DeValue::String(text) => text.trim().parse().ok(),
            DeValue::Datetime(written) => time_of(&written.to_string()),
            _ => {
                let shown = format!("basicInfo.{key}");
                return Err(self.wrong_type(&shown, value, "a date and time"));
            }
        };
        if time.is_none() {
            self.warn(offset, || {
                format!("basicInfo.{key} is ignored: it is not a time such as 2026-01-31T12:00:00Z")
            });
        }
        Ok(time)
    }

    fn display_name(&mut self, info: &DeTable<'_>) -> Result<String, Dropped> {
        let found = self.text(info, "name", "basicInfo.name")?;
        let (offset, problem) = match found {
            None => (self.offset, "has no basicInfo.name"),
            Some((offset, name)) => match name.trim() {
                "" => (offset, "basicInfo.name is empty"),
                name if name.chars().count() > LONGEST_NAME => {
                    (offset, "basicInfo.name has more than 100 characters")
                }
                name if name.chars().any(char::is_control) => {
                    (offset, "basicInfo.name has line breaks or control characters")
                }
                name => return Ok(name.to_owned()),
            },
        };
        self.warn(offset, || format!("{problem}; the id is shown instead"));
        Ok(self.id.to_owned())
    }

    fn description(&mut self, info: &DeTable<'_>) -> Result<String, Dropped> {
        let Some((offset, text)) = self.text(info, "description", "basicInfo.description")? else {
            return Ok(String::new());
        };
        if text.chars().count() > LONGEST_DESCRIPTION {
            self.warn(offset, || {
                format!("basicInfo.description is cut after {LONGEST_DESCRIPTION} characters")
            });
        }
        Ok(text.chars().take(LONGEST_DESCRIPTION).collect())
    }

    /// The role is literal text: braces reach the model as they are.
    fn role(&mut self, table: &DeTable<'_>) -> Result<Prompt, Dropped> {
        let (offset, text) = self.text(table, "mainAgentRole", "mainAgentRole")?.unwrap_or((self.offset, ""));
        if text.len() > LONGEST_ROLE {
            let text = format!("mainAgentRole has {} bytes; {LONGEST_ROLE} are allowed", text.len());
            return Err(self.dropped(offset, &text));
        }
        if text.trim().is_empty() {
            self.warn(offset, || "it has no mainAgentRole and gets the role of general".to_owned());
            return Ok(self.registry.builtin_role());
        }
        Ok(Prompt::literal(text))
    }

    /// The tools of the allow-list that exist, each once.
    fn tools(&mut self, table: &DeTable<'_>) -> Result<Vec<String>, Dropped> {
        let mut tools: Vec<String> = Vec::new();
        for (offset, written) in self.texts(table, "tools")? {
            let host = host_name(written);
            if is_delegation(host) {
                self.warn(offset, || {
                    format!(
                        "{} is not given as a tool; name the agents in availableSubAgents",
                        quoted(written)
                    )
                });
            } else if !self.registry.exists(host) {
                let also = if host == written { String::new() } else { format!(" (here: {host})") };
                self.warn(offset, || format!("there is no tool {}{also}", quoted(written)));
            } else if !tools.iter().any(|tool| tool == host) {
                tools.push(host.to_owned());
            }
        }
        Ok(tools)
    }

    /// The names of the sub-agents. One that does not exist now may be defined in a workspace later.
    fn sub_agents(&mut self, table: &DeTable<'_>) -> Result<Vec<String>, Dropped> {
        let mut names: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for (offset, name) in self.texts(table, "availableSubAgents")? {
            if !seen.insert(name) {
                continue;
            }
            if name == EVERYTHING || !is_name(name) {
                self.warn(offset, || format!("{} cannot be the name of a sub-agent", quoted(name)));
                continue;
            }
            if name != DYNAMIC && !self.registry.has_sub_agent(name) {
                self.warn(offset, || format!("there is no sub-agent {}", quoted(name)));
            }
            if names.len() < MOST_SUB_AGENTS {
                names.push(name.to_owned());
            } else {
                self.warn(offset, || format!("only the first {MOST_SUB_AGENTS} sub-agents are used"));
            }
        }
        Ok(names)
    }

    /// A suffix that cannot be used drops the agent: without it the agent could edit more files than was meant.
    fn suffixes(&self, table: &DeTable<'_>) -> Result<Vec<String>, Dropped> {
        let mut suffixes: Vec<String> = Vec::new();
        for (offset, suffix) in self.texts(table, "editableFileSuffixes")? {
            if !EditLimit::is_suffix(suffix) {
                let text = format!(
                    "{} in editableFileSuffixes is no suffix; one begins with a dot, such as \".md\"",
                    quoted(suffix)
                );
                return Err(self.dropped(offset, &text));
            }
            if suffixes.len() == EditLimit::MOST_SUFFIXES {
                let text = format!("it has more than {} suffixes", EditLimit::MOST_SUFFIXES);
                return Err(self.dropped(offset, &text));
            }
            suffixes.push(suffix.to_owned());
        }
        Ok(suffixes)
    }
}

/// A field of a table: where its value is, and the value.
fn find<'v, 'i>(table: &'v DeTable<'i>, key: &str) -> Option<(usize, &'v Spanned<DeValue<'i>>)> {
    let (_, value) = table.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
    Some((value.span().start, value))
}

/// The instant of a TOML date and time; without an offset it is UTC.
fn time_of(written: &str) -> Option<jiff::Timestamp> {
    let with_offset = written.parse::<jiff::Timestamp>();
    let local = || written.parse::<civil::DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    with_offset.ok().or_else(|| local().map(|time| time.timestamp()))
}
