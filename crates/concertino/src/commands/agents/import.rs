//! Checks agent files and imports them into the database. All files are read and checked before the first agent is stored;
//! importing the same files again changes nothing.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use engine::agents::draft;
use protocol::{
    AgentSource,
    wire::agents::{AgentFields, AgentInfo, FieldProblem},
};
use serde_json::Value;

use super::{CommandOutput, agent_client::StoreResult};
use crate::{
    agent_files::{self, AgentFile, FileProblem, FoundAgent},
    commands::{chat::text, workspace_access::WorkspaceAccess},
};

const NO_AGENTS: &str = "These files contain no agent.";

/// Agent files and what could not be read.
struct ReadFiles {
    files: Vec<FileAgents>,
    problems: Vec<FileProblem>,
}

/// A file and its agents.
struct FileAgents {
    file: AgentFile,
    agents: Vec<FoundAgent>,
}

fn read(paths: &[PathBuf]) -> Result<ReadFiles> {
    let mut read = ReadFiles { files: Vec::new(), problems: Vec::new() };
    for path in paths {
        for file in agent_files::find(path)? {
            match file.agents() {
                Ok(agents) => read.files.push(FileAgents { file, agents }),
                Err(problem) => read.problems.push(problem),
            }
        }
    }
    Ok(read)
}

pub(super) async fn check(client: &WorkspaceAccess, paths: &[PathBuf]) -> Result<CommandOutput> {
    let ReadFiles { files, mut problems } = read(paths)?;
    let mut warnings = Vec::new();
    let mut count = problems.len();
    let present = client.list().await?.agents;
    let names: Vec<&str> = files
        .iter()
        .flat_map(|file| &file.agents)
        .filter_map(|agent| agent.body.get("name").and_then(Value::as_str))
        .collect();
    for FileAgents { file, agents } in &files {
        for agent in agents {
            count += 1;
            let checked = client.check(&agent.body).await?;
            let name = agent.body.get("name").and_then(Value::as_str).unwrap_or_default();
            // The name of a file that is already loaded is taken by that file itself.
            let is_loaded = |info: &AgentInfo| info.source == AgentSource::File && info.fields.name == name;
            let is_itself =
                |problem: &&FieldProblem| problem.code == "name_taken" && present.iter().any(is_loaded);
            let found = checked.problems.iter().filter(|problem| !is_itself(problem));
            problems.extend(found.map(|problem| file.locate(agent, problem)));
            let found = checked.warnings.iter().filter(|warning| !is_resolved_by(&names, warning));
            warnings.extend(found.map(|warning| file.locate(agent, warning)));
        }
    }
    let summary = match (count, problems.len()) {
        (0, _) => NO_AGENTS.to_owned(),
        (1, 0) => "The agent is valid.".to_owned(),
        (count, 0) => format!("All {count} agents are valid."),
        (_, 1) => "1 problem found.".to_owned(),
        (_, problems) => format!("{problems} problems found."),
    };
    let text = format!("{}{}{summary}\n", format_problems(&problems, "✗"), format_problems(&warnings, "!"));
    Ok(CommandOutput { text, code: exit_code(&problems) })
}

/// Returns whether the warning is about a missing agent that is defined in the same files.
fn is_resolved_by(names: &[&str], warning: &FieldProblem) -> bool {
    let is_named = |name: &&str| warning.message.contains(&format!("\"{name}\""));
    warning.code == "unknown_agent" && names.iter().any(is_named)
}

/// An agent that is not stored yet.
struct PendingAgent<'a> {
    file: &'a AgentFile,
    agent: &'a FoundAgent,
    fields: AgentFields,
}

/// What importing an agent does to the database.
enum ImportAction<'a> {
    Add,
    Replace(&'a AgentInfo),
    Keep,
}

impl<'a> ImportAction<'a> {
    fn for_agent(fields: &AgentFields, present: &'a [AgentInfo]) -> Self {
        let mut stored = present.iter().filter(|info| info.source == AgentSource::Database);
        match stored.find(|info| info.fields.name == fields.name) {
            None => Self::Add,
            Some(stored) if stored.fields == *fields => Self::Keep,
            Some(stored) => Self::Replace(stored),
        }
    }

    /// Carries the action out, or only checks it.
    async fn run(&self, client: &WorkspaceAccess, agent: &FoundAgent, dry_run: bool) -> Result<StoreResult> {
        match self {
            Self::Keep => Ok(StoreResult::Stored),
            Self::Add | Self::Replace(_) if dry_run => {
                let problems = client.check(&agent.body).await?.problems;
                Ok(if problems.is_empty() { StoreResult::Stored } else { StoreResult::Invalid(problems) })
            }
            Self::Add => client.define(&agent.body).await,
            Self::Replace(stored) => client.replace(stored, &agent.body).await,
        }
    }

    fn result_text(&self, dry_run: bool) -> &'static str {
        match (self, dry_run) {
            (Self::Keep, _) => "unchanged",
            (Self::Add, false) => "added",
            (Self::Add, true) => "would be added",
            (Self::Replace(_), false) => "changed",
            (Self::Replace(_), true) => "would be changed",
        }
    }
}

pub(super) async fn import(
    client: &WorkspaceAccess,
    paths: &[PathBuf],
    dry_run: bool,
) -> Result<CommandOutput> {
    let ReadFiles { files, mut problems } = read(paths)?;
    let mut pending = Vec::new();
    for FileAgents { file, agents } in &files {
        for agent in agents {
            let read = draft::whole(&agent.body);
            problems.extend(read.problems.iter().map(|problem| file.locate(agent, problem)));
            pending.push(PendingAgent { file, agent, fields: read.fields });
        }
    }
    let present = client.list().await?.agents;
    let mut out = String::new();
    // An agent may be valid only after another one of the same files is stored. Rounds repeat while one succeeds.
    while problems.is_empty() && !pending.is_empty() {
        let count = pending.len();
        let mut refused = Vec::new();
        let mut refusals = Vec::new();
        for agent in pending {
            let action = ImportAction::for_agent(&agent.fields, &present);
            match action.run(client, agent.agent, dry_run).await? {
                StoreResult::Stored => {
                    let name = text::one_line(&agent.fields.name);
                    out.push_str(&format!("{}: {name}\n", action.result_text(dry_run)));
                }
                StoreResult::Invalid(found) => {
                    refusals.extend(found.iter().map(|problem| agent.file.locate(agent.agent, problem)));
                    refused.push(agent);
                }
            }
        }
        if refused.len() == count {
            problems = refusals;
        }
        pending = refused;
    }
    if files.is_empty() && problems.is_empty() {
        out.push_str(&format!("{NO_AGENTS}\n"));
    }
    out.push_str(&format_problems(&problems, "✗"));
    if !problems.is_empty() {
        out.push_str("Agents marked ✗ were not imported. Fix the problems and run the command again.\n");
    }
    Ok(CommandOutput { text: out, code: exit_code(&problems) })
}

fn exit_code(problems: &[FileProblem]) -> ExitCode {
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const COLUMNS: usize = 80;

/// Formats problems for a terminal: file and line first, so that editors find them, then how to fix them.
fn format_problems(problems: &[FileProblem], mark: &str) -> String {
    let mut out = String::new();
    for problem in problems {
        // Not wrapped: terminals and editors open the path by a click.
        out.push_str(&format!("{mark} {}\n", text::one_line(&problem.to_string())));
        for line in wrap_words(&text::one_line(&problem.fix), COLUMNS - 4) {
            out.push_str(&format!("    {line}\n"));
        }
    }
    out
}

/// Wraps text between words; a word that is longer than a line is split.
pub(super) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if text::width(line) + 1 + text::width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(text::folded(word, columns)),
        }
    }
    lines
}
