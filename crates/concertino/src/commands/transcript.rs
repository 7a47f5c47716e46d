//! `concertino export` and `concertino import`: write a chat to a folder and read it back. A server may be running.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context, Result};
use clap::Args;
use engine::{
    RandomIds, SystemClock,
    transcript::{self, Import, Summary},
};
use protocol::{SessionId, WorkspaceId};
use store::Store;

use crate::{config::Config, data_dir::DataDir, output};

#[derive(Args)]
pub(crate) struct ExportArguments {
    /// The id of the chat.
    session: String,
    /// A new or empty folder.
    folder: PathBuf,
    /// The workspace of the chat.
    #[arg(long, default_value = "default", value_name = "NAME")]
    workspace: String,
}

#[derive(Args)]
pub(crate) struct ImportArguments {
    /// A folder written by `concertino export`.
    folder: PathBuf,
    /// The workspace to import the chat into.
    #[arg(long, default_value = "default", value_name = "NAME")]
    workspace: String,
    /// Give the chat, its agents, questions and files new ids, so that the same chat can be imported twice.
    #[arg(long)]
    new_ids: bool,
}

pub(crate) async fn export(config: &Config, arguments: ExportArguments) -> Result<ExitCode> {
    let store = open(config)?;
    let session = SessionId::from_outside(&arguments.session).context("the chat id is not valid")?;
    let workspace = WorkspaceId::from_outside(&arguments.workspace).context("--workspace is not valid")?;
    let summary = transcript::export(&store, &workspace, &session, &arguments.folder).await?;
    output::line(format_args!("{} was exported to {}.", describe(&summary), arguments.folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn import(config: &Config, arguments: ImportArguments) -> Result<ExitCode> {
    let store = open(config)?;
    let workspace = WorkspaceId::from_outside(&arguments.workspace).context("--workspace is not valid")?;
    let place = Import {
        store: &store,
        workspace: &workspace,
        clock: &SystemClock,
        ids: &RandomIds,
        new_ids: arguments.new_ids,
    };
    let summary = transcript::import(&place, &arguments.folder).await?;
    output::line(format_args!("{} was imported.", describe(&summary)))?;
    Ok(ExitCode::SUCCESS)
}

fn open(config: &Config) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(DataDir::open(config)?.store(config)?))
}

fn describe(summary: &Summary) -> String {
    let Summary { session, messages, agents, files } = summary;
    format!("The chat {session:?} ({messages} messages, {agents} sub-agents, {files} files)")
}
