//! `concertino token`: who may use this server, and in which workspace.

pub(crate) mod owner;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use engine::{SystemClock, token_info};
use protocol::{Clock, PrincipalId, WorkspaceId, wire::access::TokenList};
use store::{NewToken, SignIns, SqliteStore, StoreError, Tokens};

use super::listing::{Column, ago, print, table};
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
    List {
        /// For programs.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token, by its number in the list: it stops working at once.
    Remove { number: i64 },
    /// Replace the owner's token: the old one stops working at once.
    Rotate,
}

pub(crate) async fn token(config: &Config, command: TokenCommand) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    let store = data.store(config)?;
    match command {
        TokenCommand::Add { workspace, name } => add(&store, &workspace, &name).await?,
        TokenCommand::List { json } => list(&store, json).await?,
        TokenCommand::Remove { number } => {
            match store.revoke_token(number, SystemClock.now()).await {
                Ok(true) => {}
                Ok(false) => bail!("there is no token {number}; `concertino token list` shows them"),
                Err(StoreError::Conflict) => bail!(
                    "token {number} is the owner's; it can be replaced with `concertino token rotate`, not removed"
                ),
                Err(error) => return Err(error.into()),
            }
            eprintln!("Token {number} is revoked, and its browsers are signed out.");
        }
        TokenCommand::Rotate => {
            let token = owner::rotate(&data, config, &store).await?;
            eprintln!(
                "The owner's token is replaced; the old one is revoked, and its browsers are signed out."
            );
            println!("{}", owner::link(config, &token));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(store: &SqliteStore, workspace: &str, name: &str) -> Result<()> {
    if name == "owner" {
        bail!("the owner's token is made by the server; choose another name");
    }
    let token = new_token()?;
    let added = store
        .add_token(NewToken {
            sha256: digest(&token),
            principal: PrincipalId::from_outside(name).context("the name")?,
            workspace: WorkspaceId::from_outside(workspace).context("the workspace")?,
            created_at: SystemClock.now(),
        })
        .await?;
    eprintln!("Token {} for {name} in workspace {workspace}; it is not shown again:", added.id);
    println!("{token}");
    Ok(())
}

async fn list(store: &SqliteStore, json: bool) -> Result<()> {
    let now = SystemClock.now();
    let sign_ins = store.sign_ins(now).await?;
    let tokens = store.tokens().await?;
    let tokens: Vec<_> = tokens.into_iter().map(|token| token_info(token, None, &sign_ins)).collect();
    if json {
        return print(&serde_json::to_string_pretty(&TokenList { tokens })?);
    }
    let rows = tokens.iter().map(|token| {
        let owner = if token.owner { " (owner)" } else { "" };
        vec![
            token.id.to_string(),
            token.workspace.to_string(),
            format!("{}{owner}", token.principal),
            ago(now, token.created_at),
            token.sign_ins.to_string(),
        ]
    });
    let columns = [
        Column::right("no."),
        Column::wide("workspace"),
        Column::wide("name"),
        Column::left("made"),
        Column::right("browsers"),
    ];
    print(&table(&columns, &rows.collect::<Vec<_>>()))
}
