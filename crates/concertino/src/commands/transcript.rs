//! `concertino export` and `concertino import`: a chat as a folder, and back. A server may run meanwhile.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context, Result};
use clap::Args;
use engine::{
    RandomIds, SystemClock,
    transcript::{self, Import, Summary},
};
use protocol::{SessionId, WorkspaceId};
use store::Store;

use crate::{config::Config, data_dir::DataDir};

#[derive(Args)]
pub(crate) struct ExportArguments {
    /// The chat's id.
    session: String,
    /// A folder that is not there yet, or empty.
    folder: PathBuf,
    #[arg(long, default_value = "default", value_name = "NAME")]
    workspace: String,
}

#[derive(Args)]
pub(crate) struct ImportArguments {
    /// A folder that `export` made.
    folder: PathBuf,
    #[arg(long, default_value = "default", value_name = "NAME")]
    workspace: String,
    /// Give the chat, its agents, questions and files other ids, so that it can be there twice.
    #[arg(long)]
    new_ids: bool,
}

pub(crate) async fn export(config: &Config, arguments: ExportArguments) -> Result<ExitCode> {
    let store = open(config)?;
    let session = SessionId::from_outside(&arguments.session).context("the chat's id")?;
    let workspace = WorkspaceId::from_outside(&arguments.workspace).context("the workspace")?;
    let summary = transcript::export(&store, &workspace, &session, &arguments.folder).await?;
    println!("{} is in {}.", tell(&summary), arguments.folder.display());
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn import(config: &Config, arguments: ImportArguments) -> Result<ExitCode> {
    let store = open(config)?;
    let workspace = WorkspaceId::from_outside(&arguments.workspace).context("the workspace")?;
    let place = Import {
        store: &store,
        workspace: &workspace,
        clock: &SystemClock,
        ids: &RandomIds,
        new_ids: arguments.new_ids,
    };
    let summary = transcript::import(&place, &arguments.folder).await?;
    println!("{} was imported.", tell(&summary));
    Ok(ExitCode::SUCCESS)
}

fn open(config: &Config) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(DataDir::open(config)?.store(config)?))
}

fn tell(summary: &Summary) -> String {
    let Summary { session, messages, agents, files } = summary;
    format!("The chat {session:?} ({messages} messages, {agents} sub-agents, {files} files)")
}
