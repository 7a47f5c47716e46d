//! The agents of a workspace.

use anyhow::{Context, Result};
use engine::{AgentChange, Defined, EngineError, agents::AgentSource};
use protocol::wire::agents::{AgentCheck, AgentInfo, AgentList, FieldProblem};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value};

use crate::commands::{chat::client::ClientError, workspace_access::WorkspaceAccess};

/// The result of storing a definition.
pub(super) enum StoreResult {
    Stored,
    Invalid(Vec<FieldProblem>),
}

impl WorkspaceAccess {
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
