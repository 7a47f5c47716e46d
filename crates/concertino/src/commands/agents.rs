//! `concertino agents`: lists and shows agents, checks agent files and imports them into the database. Uses the running
//! server when there is one, else the data folder.

mod agent_client;
mod import;
mod show;
mod table;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Args, Subcommand};

use super::workspace_access::{WorkspaceAccess, WorkspaceFlags};
use crate::{config::Config, output};

#[derive(Args)]
pub(crate) struct AgentsArguments {
    #[command(subcommand)]
    command: Option<AgentsCommand>,
    #[command(flatten)]
    workspace: WorkspaceFlags,
    /// Print JSON, as returned by GET /api/agents.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum AgentsCommand {
    /// List all agents and whether they can be used (default).
    List,
    /// Show one agent: its model, tools, limits and prompt.
    Show {
        /// The agent's name, an alias, or the id of its definition.
        name: String,
    },
    /// Check agent files and print every problem with file and line.
    Check {
        /// Files or folders [default: agents/ in the data folder].
        paths: Vec<PathBuf>,
    },
    /// Import agent files into the database; agents that exist there are updated.
    Import {
        /// Files or folders.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Show what would change, without changing anything.
        #[arg(long)]
        dry_run: bool,
    },
}

/// What a subcommand prints, and its exit code.
struct CommandOutput {
    text: String,
    code: ExitCode,
}

pub(crate) async fn agents(config: &Config, arguments: AgentsArguments) -> Result<ExitCode> {
    let client = WorkspaceAccess::open(config, arguments.workspace).await?;
    let json = arguments.json;
    let printed = match arguments.command.unwrap_or(AgentsCommand::List) {
        AgentsCommand::List => {
            let list = client.list().await?;
            let text = if json { serde_json::to_string_pretty(&list)? + "\n" } else { table::table(&list) };
            CommandOutput { text, code: ExitCode::SUCCESS }
        }
        AgentsCommand::Show { name } => {
            let agent = client.show(&name).await?;
            let text = if json { serde_json::to_string_pretty(&agent)? + "\n" } else { show::show(&agent) };
            CommandOutput { text, code: ExitCode::SUCCESS }
        }
        AgentsCommand::Check { paths } => {
            let paths = if paths.is_empty() { vec![config.data_dir.join("agents")] } else { paths };
            import::check(&client, &paths).await?
        }
        AgentsCommand::Import { paths, dry_run } => import::import(&client, &paths, dry_run).await?,
    };
    output::text(&printed.text)?;
    Ok(printed.code)
}
