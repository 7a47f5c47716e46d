//! Access to the agents of a workspace: through the REST routes of a running server, or with an engine of this process on
//! the data folder. Both give the same answers.

use std::{fs::File, sync::Arc};

use anyhow::{Context, Result, bail};
use engine::{AgentChange, Defined, Engine, EngineError, agents::AgentSource};
use protocol::{
    WorkspaceId,
    wire::agents::{AgentCheck, AgentInfo, AgentList, FieldProblem},
};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value};

use crate::{
    build_engine::build_engine,
    commands::chat::{
        client::{Client, ClientError},
        token,
    },
    config::Config,
    data_dir::DataDir,
    model_choice,
};

pub(super) enum AgentClient {
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

/// The result of storing a definition.
pub(super) enum StoreResult {
    Stored,
    Invalid(Vec<FieldProblem>),
}

impl AgentClient {
    pub(super) async fn open(
        config: &Config,
        url: Option<String>,
        token_flag: Option<String>,
        workspace: &str,
    ) -> Result<Self> {
        let has_url = url.is_some();
        let url = url.unwrap_or_else(|| config.url());
        if !has_url {
            let data = DataDir::open(config)?;
            if let Some(lock) = data.try_lock()? {
                let workspace = WorkspaceId::from_outside(workspace).context("--workspace is not valid")?;
                let store = data.store_locked(config)?;
                let catalog = model_choice::catalog(&config.model, &data.providers())?;
                let engine = build_engine(config, &data, Arc::new(store), Arc::new(catalog), None).await?;
                return Ok(Self::Local { engine, workspace, _lock: lock });
            }
        }
        let client = Client::new(&url, token(config, token_flag, &url)?)?;
        // Fails here, before any work, when there is no server or it does not accept the token.
        match client.call::<AgentList>(Method::GET, &["agents"], None, None).await {
            Err(ClientError::NoServer(url)) if !has_url => bail!(
                "another concertino uses {}, but no server answers at {url}; name its address with --url",
                config.data_dir.display()
            ),
            answer => answer.map(|_| Self::Server(client)).map_err(Into::into),
        }
    }

    pub(super) async fn list(&self) -> Result<AgentList> {
        match self {
            Self::Server(client) => Ok(client.call(Method::GET, &["agents"], None, None).await?),
            Self::Local { engine, workspace, .. } => Ok(engine.list_agents(workspace)),
        }
    }

    pub(super) async fn show(&self, name: &str) -> Result<AgentInfo> {
        let found = match self {
            Self::Server(client) => match client.call(Method::GET, &["agents", name], None, None).await {
                Err(ClientError::Refused { status: StatusCode::NOT_FOUND, .. }) => None,
                answer => Some(answer?),
            },
            Self::Local { engine, workspace, .. } => engine.show_one_agent(workspace, name).ok(),
        };
        found.with_context(|| {
            format!("there is no agent named \"{name}\"; `concertino agents list` shows all agents")
        })
    }

    /// Checks a definition without storing it.
    pub(super) async fn check(&self, body: &Map<String, Value>) -> Result<AgentCheck> {
        match self {
            Self::Server(client) => {
                let body = Value::Object(body.clone());
                Ok(client.call(Method::POST, &["agents"], Some("check=true"), Some(&body)).await?)
            }
            Self::Local { engine, workspace, .. } => {
                let (_, checked) = engine.check_agent(workspace, AgentSource::Database, body).await;
                Ok(checked)
            }
        }
    }

    /// Stores a new definition.
    pub(super) async fn define(&self, body: &Map<String, Value>) -> Result<StoreResult> {
        match self {
            Self::Server(client) => {
                let body = Value::Object(body.clone());
                store_result(client.call::<AgentInfo>(Method::POST, &["agents"], None, Some(&body)).await)
            }
            Self::Local { engine, workspace, .. } => match engine.define_agent(workspace, None, body).await {
                Ok(Defined::New(_) | Defined::Known(_)) => Ok(StoreResult::Stored),
                Err(EngineError::InvalidAgent(problems)) => Ok(StoreResult::Invalid(problems)),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Replaces the definition `current`, unless it has changed since it was read.
    pub(super) async fn replace(
        &self,
        current: &AgentInfo,
        body: &Map<String, Value>,
    ) -> Result<StoreResult> {
        let id = current.id.as_ref().context("only definitions in the database can be replaced")?;
        match self {
            Self::Server(client) => {
                let mut body = body.clone();
                body.insert("version".to_owned(), current.version.into());
                let body = Value::Object(body);
                store_result(
                    client.call::<AgentInfo>(Method::PUT, &["agents", id.as_str()], None, Some(&body)).await,
                )
            }
            Self::Local { engine, workspace, .. } => {
                let how = AgentChange::Replace;
                match engine.change_agent(workspace, id.as_str(), current.version, how, body).await {
                    Ok(_) => Ok(StoreResult::Stored),
                    Err(EngineError::InvalidAgent(problems)) => Ok(StoreResult::Invalid(problems)),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }
}

fn store_result(answer: Result<AgentInfo, ClientError>) -> Result<StoreResult> {
    match answer {
        Ok(_) => Ok(StoreResult::Stored),
        Err(ClientError::Refused { problems, .. }) if !problems.is_empty() => {
            Ok(StoreResult::Invalid(problems))
        }
        Err(error) => Err(error.into()),
    }
}
