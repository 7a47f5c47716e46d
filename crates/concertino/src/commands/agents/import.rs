//! Files into the database: read all, check all, and only then store; the same files again change nothing.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use engine::agents::draft;
use protocol::{
    AgentSource,
    wire::agents::{AgentInfo, FieldProblem},
};
use serde_json::Value;

use super::door::{Door, Said};
use crate::{
    agent_files::{self, AgentFile, FoundAgent, Mistake},
    commands::chat::text,
};

/// A file with its agents.
type Read = (AgentFile, Vec<FoundAgent>);

/// Everything that stands in these files; what cannot be read is told.
fn read(paths: &[PathBuf]) -> Result<(Vec<Read>, Vec<Mistake>)> {
    let (mut files, mut mistakes) = (Vec::new(), Vec::new());
    for path in paths {
        for file in agent_files::find(path)? {
            match file.agents() {
                Ok(agents) => files.push((file, agents)),
                Err(mistake) => mistakes.push(mistake),
            }
        }
    }
    Ok((files, mistakes))
}

pub(super) async fn check(door: &Door, paths: &[PathBuf]) -> Result<(String, ExitCode)> {
    let (files, mut mistakes) = read(paths)?;
    let mut hints = Vec::new();
    let mut count = mistakes.len();
    let present = door.list().await?.agents;
    let names: Vec<&str> = files
        .iter()
        .flat_map(|(_, agents)| agents)
        .filter_map(|agent| agent.body.get("name").and_then(Value::as_str))
        .collect();
    for (file, agents) in &files {
        for agent in agents {
            count += 1;
            let checked = door.check(&agent.body).await?;
            let name = agent.body.get("name").and_then(Value::as_str).unwrap_or_default();
            // A file that is in use already meets itself.
            let in_use = |info: &AgentInfo| info.source == AgentSource::File && info.fields.name == name;
            let itself = |problem: &&FieldProblem| problem.code == "name_taken" && present.iter().any(in_use);
            let problems = checked.problems.iter().filter(|problem| !itself(problem));
            mistakes.extend(problems.map(|problem| file.mistake(agent, problem)));
            let warnings = checked.warnings.iter().filter(|warning| !is_among(&names, warning));
            hints.extend(warnings.map(|warning| file.mistake(agent, warning)));
        }
    }
    let mut out = told(&mistakes, "✗") + &told(&hints, "!");
    let said = match (count, mistakes.len()) {
        (0, _) => "There is no agent in these files.".to_owned(),
        (1, 0) => "The agent is right.".to_owned(),
        (count, 0) => format!("All {count} agents are right."),
        (_, 1) => "There is one mistake.".to_owned(),
        (_, mistakes) => format!("There are {mistakes} mistakes."),
    };
    out.push_str(&said);
    out.push('\n');
    Ok((out, if mistakes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
}

/// Whether it says that an agent is missing which stands in the same files.
fn is_among(names: &[&str], warning: &FieldProblem) -> bool {
    let named = |name: &&str| warning.message.contains(&format!("\"{name}\""));
    warning.code == "unknown_agent" && names.iter().any(named)
}

/// What an agent of a file means for the database.
enum Plan {
    Add,
    Replace(Box<AgentInfo>),
    Keep,
}

pub(super) async fn import(door: &Door, paths: &[PathBuf], dry_run: bool) -> Result<(String, ExitCode)> {
    let (files, mut mistakes) = read(paths)?;
    let mut waiting = Vec::new();
    for (file, agents) in &files {
        for agent in agents {
            let read = draft::whole(&agent.body);
            mistakes.extend(read.problems.iter().map(|problem| file.mistake(agent, problem)));
            waiting.push((file, agent, read.fields));
        }
    }
    let present = door.list().await?.agents;
    let mut out = String::new();
    // An agent may only fit once another of the same files is there: as long as one gets in, the rest is tried again.
    while mistakes.is_empty() && !waiting.is_empty() {
        let mut refused = Vec::new();
        let before = waiting.len();
        for (file, agent, fields) in waiting {
            let own = |info: &&AgentInfo| info.source == AgentSource::Database;
            let stored = present.iter().filter(own).find(|info| info.fields.name == fields.name);
            let plan = match stored {
                None => Plan::Add,
                Some(stored) if stored.fields == fields => Plan::Keep,
                Some(stored) => Plan::Replace(Box::new(stored.clone())),
            };
            let (done, word) = match &plan {
                Plan::Keep => (Said::Done, "unchanged"),
                Plan::Add | Plan::Replace(_) if dry_run => {
                    let problems = door.check(&agent.body).await?.problems;
                    let said = if problems.is_empty() { Said::Done } else { Said::Wrong(problems) };
                    (said, if matches!(plan, Plan::Add) { "would be added" } else { "would be changed" })
                }
                Plan::Add => (door.define(&agent.body).await?, "added"),
                Plan::Replace(stored) => (door.replace(stored, &agent.body).await?, "changed"),
            };
            match done {
                Said::Done => out.push_str(&format!("{word}: {}\n", text::one_line(&fields.name))),
                Said::Wrong(problems) => refused.push(((file, agent, fields), problems)),
            }
        }
        if refused.len() == before {
            for ((file, agent, _), problems) in &refused {
                mistakes.extend(problems.iter().map(|problem| file.mistake(agent, problem)));
            }
        }
        waiting = refused.into_iter().map(|(one, _)| one).collect();
    }
    if files.is_empty() && mistakes.is_empty() {
        out.push_str("There is no agent in these files.\n");
    }
    out.push_str(&told(&mistakes, "✗"));
    if !mistakes.is_empty() {
        out.push_str("What is marked ✗ was not brought in.\n");
    }
    Ok((out, if mistakes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
}

const COLUMNS: usize = 80;

/// Each with its place first, so that editors find it, and what to do on the lines below.
fn told(mistakes: &[Mistake], mark: &str) -> String {
    let mut out = String::new();
    for mistake in mistakes {
        // A path is never broken: it is there to be clicked on.
        out.push_str(&format!("{mark} {}\n", text::one_line(&mistake.to_string())));
        for line in wrapped(&text::one_line(&mistake.fix), COLUMNS - 4) {
            out.push_str(&format!("    {line}\n"));
        }
    }
    out
}

/// Broken between words, where there are any.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
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
