//! `concertino token`: who may use this server, and in which workspace.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use engine::SystemClock;
use protocol::{Clock, PrincipalId, WorkspaceId};
use store::{NewToken, Tokens};

use crate::{
    config::Config,
    data_dir::{DataDir, digest, new_token},
};

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; it is shown once.
    Add {
        /// The workspace whose chats it opens.
        #[arg(long, default_value = "default")]
        workspace: String,
        /// Whom it is for.
        #[arg(long, default_value = "somebody")]
        name: String,
    },
    /// Show who has a token.
    List,
    /// Take a token back, by its number in the list.
    Remove { number: i64 },
}

pub(crate) async fn token(config: &Config, command: TokenCommand) -> Result<ExitCode> {
    let store = DataDir::open(config)?.store(config)?;
    match command {
        TokenCommand::Add { workspace, name } => {
            let token = new_token()?;
            let added = store
                .add_token(NewToken {
                    sha256: digest(&token),
                    principal: PrincipalId::from_outside(&name).context("the name")?,
                    workspace: WorkspaceId::from_outside(&workspace).context("the workspace")?,
                    created_at: SystemClock.now(),
                })
                .await?;
            eprintln!("Token {} for {name} in workspace {workspace}; it is not shown again:", added.id);
            println!("{token}");
        }
        TokenCommand::List => {
            for token in store.tokens().await? {
                println!("{:>4}  {:<24} {}", token.id, token.workspace.as_str(), token.principal);
            }
        }
        TokenCommand::Remove { number } => {
            if !store.remove_token(number).await? {
                bail!("there is no token {number}; `concertino token list` shows them");
            }
            eprintln!("Token {number} is taken back.");
        }
    }
    Ok(ExitCode::SUCCESS)
}
