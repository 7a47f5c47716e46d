//! `concertino agents`: the agents there are, what one is made of, whether files are right, and bringing them into the
//! database. Works through the running server where there is one, else on the data folder.

mod door;
mod import;
mod show;
mod table;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use self::door::Door;
use crate::config::Config;

#[derive(Args)]
pub(crate) struct AgentsArguments {
    #[command(subcommand)]
    command: Option<AgentsCommand>,
    /// Another server than the one of this machine's settings.
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// The access token [default: CONCERTINO_TOKEN, or the one in the data folder].
    #[arg(long, global = true, value_name = "TOKEN")]
    token: Option<String>,
    /// Whose agents, when no server runs; a server knows it by the token.
    #[arg(long, global = true, default_value = "default", value_name = "NAME")]
    workspace: String,
    /// As JSON, in the shape of GET /api/agents.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum AgentsCommand {
    /// Show every agent and whether it can be used (the default).
    List,
    /// Show what one agent is made of.
    Show {
        /// Its name, an alias, or the id of its definition.
        name: String,
    },
    /// Say what is wrong with agent files, with file and line.
    Check {
        /// Files or folders [default: agents/ in the data folder].
        paths: Vec<PathBuf>,
    },
    /// Bring agent files into the database; what is there already is brought up to date.
    Import {
        /// Files or folders.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Say what would be done, and do nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

pub(crate) async fn agents(config: &Config, arguments: AgentsArguments) -> Result<ExitCode> {
    let door = Door::open(config, arguments.url, arguments.token, &arguments.workspace).await?;
    let json = arguments.json;
    let (text, code) = match arguments.command.unwrap_or(AgentsCommand::List) {
        AgentsCommand::List => {
            let list = door.list().await?;
            let text = if json { serde_json::to_string_pretty(&list)? + "\n" } else { table::table(&list) };
            (text, ExitCode::SUCCESS)
        }
        AgentsCommand::Show { name } => {
            let agent = door.show(&name).await?;
            let text = if json { serde_json::to_string_pretty(&agent)? + "\n" } else { show::show(&agent) };
            (text, ExitCode::SUCCESS)
        }
        AgentsCommand::Check { paths } => {
            let paths = if paths.is_empty() { vec![config.data_dir.join("agents")] } else { paths };
            import::check(&door, &paths).await?
        }
        AgentsCommand::Import { paths, dry_run } => import::import(&door, &paths, dry_run).await?,
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever looked has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(code),
        written => written.map(|()| code).context("cannot print"),
    }
}
