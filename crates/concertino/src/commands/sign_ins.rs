//! `concertino sign-ins`: lists the browsers that are signed in, and signs them out.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Subcommand;
use engine::{SystemClock, sign_in_info};
use protocol::{Clock, wire::access::SignInList};
use store::{SignIns, SqliteStore};

use super::listing::{Column, ago, print, table};
use crate::{config::Config, data_dir::DataDir, output};

#[derive(Subcommand)]
pub(crate) enum SignInsCommand {
    /// List the browsers that are signed in.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Sign out one browser, or all of them.
    Revoke {
        /// The browser's number in the list.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        number: Option<i64>,
        /// Sign out every browser of every token.
        #[arg(long)]
        all: bool,
    },
}

pub(crate) async fn sign_ins(config: &Config, command: SignInsCommand) -> Result<ExitCode> {
    let store = DataDir::open(config)?.store(config)?;
    match command {
        SignInsCommand::List { json } => list(&store, json).await?,
        SignInsCommand::Revoke { number: Some(number), .. } => {
            if !store.revoke_sign_in(number).await? {
                bail!("there is no sign-in {number}; `concertino sign-ins list` shows all sign-ins");
            }
            output::note(format_args!("Sign-in {number} was revoked; its browser is signed out."));
        }
        SignInsCommand::Revoke { number: None, .. } => {
            let mut count = 0;
            for sign_in in store.sign_ins(SystemClock.now()).await? {
                count += usize::from(store.revoke_sign_in(sign_in.id).await?);
            }
            output::note(format_args!("Revoked sign-ins: {count}."));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(store: &SqliteStore, json: bool) -> Result<()> {
    let now = SystemClock.now();
    let sign_ins = store.sign_ins(now).await?;
    if json {
        let sign_ins = sign_ins.into_iter().map(|sign_in| sign_in_info(sign_in, None)).collect();
        return print(&serde_json::to_string_pretty(&SignInList { sign_ins })?);
    }
    if sign_ins.is_empty() {
        return print("No browser is signed in.");
    }
    let rows = sign_ins.iter().map(|sign_in| {
        vec![
            sign_in.id.to_string(),
            sign_in.workspace.to_string(),
            format!("{} ({})", sign_in.principal, sign_in.token),
            ago(now, sign_in.last_used_at),
            sign_in.user_agent.clone(),
        ]
    });
    let columns = [
        Column::right("no."),
        Column::flexible("workspace"),
        Column::flexible("token"),
        Column::left("last used"),
        Column::flexible("browser"),
    ];
    print(&table(&columns, &rows.collect::<Vec<_>>()))
}
