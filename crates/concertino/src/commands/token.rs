//! `concertino token`: adds, lists, removes and rotates the tokens that give access to a workspace.

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
    output,
};

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Add a token. It is printed once and cannot be shown again.
    Add {
        /// Workspace that the token gives access to.
        #[arg(long, default_value = "default")]
        workspace: String,
        /// Name of the person or program that gets the token.
        #[arg(long, default_value = "somebody")]
        name: String,
    },
    /// List the tokens.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token. It stops working at once, and its browsers are signed out.
    Remove {
        /// The token's number in the list.
        number: i64,
    },
    /// Replace the owner's token. The old one stops working at once.
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
                Ok(false) => bail!("there is no token {number}; `concertino token list` shows all tokens"),
                Err(StoreError::Conflict) => bail!(
                    "token {number} is the owner's and cannot be removed; replace it with `concertino token rotate`"
                ),
                Err(error) => return Err(error.into()),
            }
            output::note(format_args!("Token {number} was revoked, and its browsers are signed out."));
        }
        TokenCommand::Rotate => {
            let token = owner::rotate(&data, config, &store).await?;
            output::note(
                "The owner's token was replaced. The old one was revoked, and its browsers are signed out. New link:",
            );
            output::line(owner::link(config, &token))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(store: &SqliteStore, workspace: &str, name: &str) -> Result<()> {
    if name == "owner" {
        bail!("the name owner is reserved for the token that the server creates; choose another name");
    }
    let token = new_token()?;
    let added = store
        .add_token(NewToken {
            sha256: digest(&token),
            principal: PrincipalId::from_outside(name).context("--name is not valid")?,
            workspace: WorkspaceId::from_outside(workspace).context("--workspace is not valid")?,
            created_at: SystemClock.now(),
        })
        .await?;
    output::note(format_args!(
        "Token {} for {name} in workspace {workspace}. Save it now, it is not shown again:",
        added.id
    ));
    output::line(token)
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
        Column::flexible("workspace"),
        Column::flexible("name"),
        Column::left("created"),
        Column::right("browsers"),
    ];
    print(&table(&columns, &rows.collect::<Vec<_>>()))
}
