//! How the commands reach the agents: over the REST routes of a running server, or with an engine of their own on the
//! data folder. Both answer alike.

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
    commands::chat::{
        client::{Client, ClientError},
        token,
    },
    config::Config,
    data_dir::DataDir,
    model_choice, parts,
};

pub(super) enum Door {
    Server(Client),
    Here {
        engine: Engine,
        workspace: WorkspaceId,
        /// Keeps a server from starting on the same folder meanwhile.
        _lock: File,
    },
}

/// What came of a definition.
pub(super) enum Said {
    Done,
    Wrong(Vec<FieldProblem>),
}

impl Door {
    pub(super) async fn open(
        config: &Config,
        url: Option<String>,
        given: Option<String>,
        workspace: &str,
    ) -> Result<Self> {
        let named = url.is_some();
        let url = url.unwrap_or_else(|| config.url());
        if !named {
            let data = DataDir::open(config)?;
            if let Some(lock) = data.try_lock()? {
                let workspace = WorkspaceId::from_outside(workspace).context("the workspace")?;
                let store = data.store_locked(config)?;
                let catalog = model_choice::catalog(&config.model, &data.providers())?;
                let engine = parts::engine(config, &data, Arc::new(store), Arc::new(catalog), None).await?;
                return Ok(Self::Here { engine, workspace, _lock: lock });
            }
        }
        let client = Client::new(&url, token(config, given, &url)?)?;
        // Tells at once whether there is a server and whether it knows us.
        match client.call::<AgentList>(Method::GET, &["agents"], None, None).await {
            Err(ClientError::NoServer(url)) if !named => bail!(
                "a concertino uses {}, but none answers at {url}; name its address with --url",
                config.data_dir.display()
            ),
            answer => answer.map(|_| Self::Server(client)).map_err(Into::into),
        }
    }

    pub(super) async fn list(&self) -> Result<AgentList> {
        match self {
            Self::Server(client) => Ok(client.call(Method::GET, &["agents"], None, None).await?),
            Self::Here { engine, workspace, .. } => Ok(engine.list_agents(workspace)),
        }
    }

    pub(super) async fn show(&self, name: &str) -> Result<AgentInfo> {
        let found = match self {
            Self::Server(client) => match client.call(Method::GET, &["agents", name], None, None).await {
                Err(ClientError::Refused { status: StatusCode::NOT_FOUND, .. }) => None,
                answer => Some(answer?),
            },
            Self::Here { engine, workspace, .. } => engine.show_one_agent(workspace, name).ok(),
        };
        found.with_context(|| {
            format!("there is no agent named \"{name}\"; `concertino agents list` shows them")
        })
    }

    /// What would be said to a definition.
    pub(super) async fn check(&self, body: &Map<String, Value>) -> Result<AgentCheck> {
        match self {
            Self::Server(client) => {
                let body = Value::Object(body.clone());
                Ok(client.call(Method::POST, &["agents"], Some("check=true"), Some(&body)).await?)
            }
            Self::Here { engine, workspace, .. } => {
                Ok(engine.check_agent(workspace, AgentSource::Database, body).1)
            }
        }
    }

    pub(super) async fn define(&self, body: &Map<String, Value>) -> Result<Said> {
        match self {
            Self::Server(client) => {
                let body = Value::Object(body.clone());
                said(client.call::<AgentInfo>(Method::POST, &["agents"], None, Some(&body)).await)
            }
            Self::Here { engine, workspace, .. } => match engine.define_agent(workspace, None, body).await {
                Ok(Defined::New(_) | Defined::Known(_)) => Ok(Said::Done),
                Err(EngineError::InvalidAgent(problems)) => Ok(Said::Wrong(problems)),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Puts the definition in the place of the one that was seen.
    pub(super) async fn replace(&self, seen: &AgentInfo, body: &Map<String, Value>) -> Result<Said> {
        let id = seen.id.as_ref().context("only definitions of the database can be replaced")?;
        match self {
            Self::Server(client) => {
                let mut body = body.clone();
                body.insert("version".to_owned(), seen.version.into());
                let body = Value::Object(body);
                said(client.call::<AgentInfo>(Method::PUT, &["agents", id.as_str()], None, Some(&body)).await)
            }
            Self::Here { engine, workspace, .. } => {
                let how = AgentChange::Replace;
                match engine.change_agent(workspace, id.as_str(), seen.version, how, body).await {
                    Ok(_) => Ok(Said::Done),
                    Err(EngineError::InvalidAgent(problems)) => Ok(Said::Wrong(problems)),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }
}

fn said(answer: Result<AgentInfo, ClientError>) -> Result<Said> {
    match answer {
        Ok(_) => Ok(Said::Done),
        Err(ClientError::Refused { problems, .. }) if !problems.is_empty() => Ok(Said::Wrong(problems)),
        Err(error) => Err(error.into()),
    }
}
