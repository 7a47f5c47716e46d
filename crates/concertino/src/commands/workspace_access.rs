//! Access to a workspace: through the REST routes of a running server, or with an engine of this process on the data
//! folder. Both give the same answers.

use std::{fs::File, sync::Arc};

use anyhow::{Context, Result, bail};
use clap::Args;
use engine::Engine;
use protocol::{WorkspaceId, wire::agents::AgentList};
use reqwest::Method;

use crate::{
    agent_loader::AgentLoader,
    build_engine::build_engine,
    commands::chat::{
        client::{Client, ClientError},
        token,
    },
    config::Config,
    data_dir::DataDir,
    model_choice,
};

/// The flags that name a workspace.
#[derive(Args)]
pub(super) struct WorkspaceFlags {
    /// URL of the server [default: the server on this machine].
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// Access token [default: CONCERTINO_TOKEN, else the one in the data folder].
    #[arg(long, global = true, value_name = "TOKEN")]
    token: Option<String>,
    /// Workspace, when no server is running; a running server knows it from the token.
    #[arg(long, global = true, default_value = "default", value_name = "NAME")]
    workspace: String,
}

pub(super) enum WorkspaceAccess {
    /// A server runs: call its API.
    Server(Client),
    /// No server uses the data folder: work on it directly.
    Local {
        engine: Engine,
        workspace: WorkspaceId,
        /// Keeps a server from starting on the same folder meanwhile.
        _lock: File,
    },
}

impl WorkspaceAccess {
    pub(super) async fn open(config: &Config, flags: WorkspaceFlags) -> Result<Self> {
        let has_url = flags.url.is_some();
        let url = flags.url.unwrap_or_else(|| config.url());
        if !has_url {
            let data = DataDir::open(config)?;
            if let Some(lock) = data.try_lock()? {
                let workspace =
                    WorkspaceId::from_outside(&flags.workspace).context("--workspace is not valid")?;
                let store = data.store_locked(config)?;
                let catalog = model_choice::catalog(&config.model, &data.providers())?;
                let engine = build_engine(config, Arc::new(store), Arc::new(catalog), None).await?;
                AgentLoader::new(config, &data).load(&engine).await.print();
                return Ok(Self::Local { engine, workspace, _lock: lock });
            }
        }
        let client = Client::new(&url, token(config, flags.token, &url)?)?;
        // Fails here, before any work, when there is no server or it does not accept the token.
        match client.call::<AgentList>(Method::GET, &["agents"], None, None).await {
            Err(ClientError::NoServer(url)) if !has_url => bail!(
                "another concertino uses {}, but no server answers at {url}; name its address with --url",
                config.data_dir.display()
            ),
            answer => answer.map(|_| Self::Server(client)).map_err(Into::into),
        }
    }
}
