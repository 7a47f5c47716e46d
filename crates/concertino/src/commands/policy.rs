//! `concertino policy check`: shows what happens to a command before any agent runs it, and the rule that says so.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use commands::{CommandEffect, Judgement};
use files::FileDomain;
use policy::{Need, RuleSet};
use protocol::{Verdict, policy::ListedRule};
use serde_json::{Value, json};
use tools::Invocation;

use super::{
    listing::print,
    workspace_access::{WorkspaceAccess, WorkspaceFlags},
};
use crate::config::Config;

/// The tool whose rules count.
const TOOL: &str = "shell-command";

#[derive(Args)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    command: PolicyCommand,
    #[command(flatten)]
    workspace: WorkspaceFlags,
}

#[derive(Subcommand)]
enum PolicyCommand {
    /// Show whether a command would run, ask or be refused, and why.
    Check {
        /// The shell line. Several words are taken as a program and its arguments.
        #[arg(required = true, trailing_var_arg = true, value_name = "LINE")]
        line: Vec<String>,
        /// The folder that it would run in, relative to the work directory.
        #[arg(long, value_name = "FOLDER")]
        folder: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(crate) async fn policy(config: &Config, arguments: PolicyArguments) -> Result<ExitCode> {
    let PolicyArguments { command: PolicyCommand::Check { line, folder, json }, workspace } = arguments;
    let invocation = match <[String; 1]>::try_from(line) {
        Ok([line]) => Invocation::Line(line),
        Err(words) => Invocation::Argv(words),
    };
    let access = WorkspaceAccess::open(config, workspace).await?;
    let list = access.rules(None).await?;
    let rules =
        RuleSet::new(list.mode, list.rules.into_iter().map(|ListedRule { rule, layer, .. }| (layer, rule)));
    let protected = [config.data_dir.clone()];
    let files = FileDomain::open(&config.files.workdir, &protected, config.files.hard_links)
        .context("the work directory cannot be opened")?;
    let judgement = tools::judge_command(&config.commands.table, &invocation, folder.as_deref(), &files)
        .map_err(anyhow::Error::msg)?;
    let verdict = rules.judge(TOOL, &Need::Command(judgement.clone()));
    if json {
        print(&serde_json::to_string_pretty(&as_json(&judgement, &verdict))?)?;
    } else {
        print(&in_words(&judgement, &verdict))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(judgement: &Judgement, verdict: &Verdict) -> Value {
    let (name, why, always) = match verdict {
        Verdict::Run => ("run", judgement.why.as_str(), None),
        Verdict::Ask { why, grant, .. } => ("ask", why.as_str(), grant.as_ref()),
        Verdict::Refuse { why } => ("refuse", why.as_str(), None),
    };
    let commands = judgement.commands.iter().map(|command| {
        json!({ "words": command.words, "effect": command.effect, "why": command.why, "rule": command.rule })
    });
    json!({
        "verdict": name,
        "sensitive": matches!(verdict, Verdict::Ask { sensitive: true, .. }),
        "why": why,
        "always": always,
        "effect": judgement.effect,
        "rule": judgement.rule,
        "network": judgement.network,
        "reads": judgement.reads,
        "writes": judgement.writes,
        "commands": commands.collect::<Vec<_>>(),
    })
}

fn in_words(judgement: &Judgement, verdict: &Verdict) -> String {
    let mut lines = vec![match verdict {
        Verdict::Run => format!("runs without asking: {}", judgement.why),
        Verdict::Ask { why, sensitive: true, .. } => format!("asks every time: {why}"),
        Verdict::Ask { why, .. } => format!("asks: {why}"),
        Verdict::Refuse { why } => format!("is refused: {why}"),
    }];
    lines.push(format!("  rule: {}", judgement.rule));
    if let Verdict::Ask { grant: Some(grant), .. } = verdict
        && let Some(command) = &grant.command
    {
        lines.push(format!("  \"always\" would allow commands that begin with: {command}"));
    }
    if judgement.network {
        lines.push("  network: yes".to_owned());
    }
    for (title, paths) in [("reads", &judgement.reads), ("writes", &judgement.writes)] {
        if !paths.is_empty() {
            let paths: Vec<&str> =
                paths.iter().map(|path| if path.is_empty() { "." } else { path.as_str() }).collect();
            lines.push(format!("  {title}: {}", paths.join(", ")));
        }
    }
    if judgement.commands.len() > 1 {
        lines.push("  each command:".to_owned());
        for command in &judgement.commands {
            let words: Vec<&str> = command.words.iter().map(|word| word.as_deref().unwrap_or("…")).collect();
            let shown = if words.is_empty() { "(the line)".to_owned() } else { words.join(" ") };
            lines.push(format!("    {:9}  {shown}  [{}]", effect_name(command.effect), command.rule));
        }
    }
    lines.join("\n")
}

fn effect_name(effect: CommandEffect) -> &'static str {
    match effect {
        CommandEffect::ReadOnly => "reads",
        CommandEffect::Asks => "asks",
        CommandEffect::Sensitive => "sensitive",
        CommandEffect::Refused => "refused",
    }
}
