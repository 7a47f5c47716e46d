//! The agents of a workspace as people see and change them. A change takes effect with the next message: the registry is
//! updated before the response is sent.

use std::sync::Arc;

use protocol::{
    AgentId, AgentSource, WorkspaceId,
    wire::agents::{AgentCheck, AgentFields, AgentInfo, AgentList, CapabilityGroup, FieldProblem},
};
use serde_json::{Map, Value};
use store::{DefinitionRecord, StoreError};

use crate::{
    Engine, EngineError,
    agents::{
        AgentDefinition, AgentRegistry, Listed,
        check::{self, Checker, MOST_DEFINITIONS},
        draft::{self, Draft},
        groups, prompt,
    },
};

/// How a stored definition is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentChange {
    /// Absent fields get their default value.
    Replace,
    /// Absent fields stay as they are.
    Amend,
}

/// The result of sending a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Defined {
    New(Box<AgentInfo>),
    /// The same definition was stored before.
    Known(Box<AgentInfo>),
}

impl Engine {
    /// Loads the definitions of all workspaces; must be called before the first message.
    pub async fn load_agents(&self) -> Result<(), EngineError> {
        for workspace in self.services.store.workspaces_with_definitions().await? {
            self.read_agents(&workspace).await?;
        }
        Ok(())
    }

    /// All agents of a workspace, whatever their source.
    pub fn list_agents(&self, workspace: &WorkspaceId) -> AgentList {
        let agents = self.services.agents.registry.list(workspace);
        let nameable = |tool: &str| {
            self.services.tools.registry.get(tool).is_some()
                && self.services.settings.workspace_tools.allow(workspace, tool)
        };
        let groups = groups::GROUPS.iter().map(|(name, tools)| CapabilityGroup {
            name: (*name).to_owned(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            available: tools.iter().all(|tool| nameable(tool)),
        });
        AgentList {
            agents: agents.iter().map(|one| self.show_agent(workspace, &agents, one)).collect(),
            groups: groups.collect(),
            variables: prompt::variables(),
        }
    }

    /// One agent, by the id of its definition or by its name.
    pub fn show_one_agent(&self, workspace: &WorkspaceId, named: &str) -> Result<AgentInfo, EngineError> {
        let listed = self.services.agents.registry.list(workspace);
        let by_id = |one: &&Listed| one.agent.id.as_ref().is_some_and(|id| id.as_str() == named);
        let found = listed.iter().find(by_id).or_else(|| {
            let exact = listed.iter().find(|one| one.agent.name == named);
            exact.or_else(|| listed.iter().find(|one| one.agent.is_called(named)))
        });
        found.map(|one| self.show_agent(workspace, &listed, one)).ok_or(EngineError::AgentNotFound)
    }

    /// What a definition says and what would be said to it, without storing it.
    pub async fn check_agent(
        &self,
        workspace: &WorkspaceId,
        source: AgentSource,
        body: &Map<String, Value>,
    ) -> (AgentFields, AgentCheck) {
        self.check_agent_in(&self.services.agents.registry, workspace, source, body).await
    }

    /// As [`check_agent`](Self::check_agent), against the names of another registry than the one in force.
    pub async fn check_agent_in(
        &self,
        registry: &Arc<AgentRegistry>,
        workspace: &WorkspaceId,
        source: AgentSource,
        body: &Map<String, Value>,
    ) -> (AgentFields, AgentCheck) {
        let Draft { fields, problems } = draft::whole(body);
        let known = |own: &&Arc<AgentDefinition>| own.name == fields.name;
        let own = registry.own(workspace);
        let id = own.iter().find(known).and_then(|own| own.id.clone());
        let checked = self.checked_in(registry, workspace, source, id.as_ref(), &fields, problems).await;
        (fields, checked)
    }

    /// What is wrong with the files of agents, without names and paths, so that anybody may read it.
    pub fn agent_warnings(&self) -> Vec<String> {
        self.services.agents.registry.file_warnings()
    }

    pub async fn define_agent(
        &self,
        workspace: &WorkspaceId,
        id: Option<AgentId>,
        body: &Map<String, Value>,
    ) -> Result<Defined, EngineError> {
        let draft = draft::whole(body);
        if let Some(id) = &id
            && let Some(stored) = self.services.store.definition(workspace, id).await?
        {
            // The same request again: its answer was lost.
            self.read_agents(workspace).await?;
            return if draft.problems.is_empty() && stored.fields == draft.fields {
                Ok(Defined::Known(Box::new(self.show_record(workspace, stored))))
            } else {
                Err(EngineError::AgentChanged(Box::new(self.show_record(workspace, stored))))
            };
        }
        let fields = self.accept(workspace, None, draft).await?;
        let now = self.services.clock.now();
        let record = DefinitionRecord {
            workspace: workspace.clone(),
            id: id.unwrap_or_else(|| self.services.ids.agent()),
            version: 1,
            created_at: now,
            updated_at: now,
            fields,
        };
        let written = self.services.store.add_definition(record.clone()).await;
        self.settle(workspace, &record, written).await?;
        Ok(Defined::New(Box::new(self.show_record(workspace, record))))
    }

    /// `version` is the one the change is made from.
    pub async fn change_agent(
        &self,
        workspace: &WorkspaceId,
        named: &str,
        version: u32,
        how: AgentChange,
        body: &Map<String, Value>,
    ) -> Result<AgentInfo, EngineError> {
        let stored = self.stored(workspace, named).await?;
        let draft = match how {
            AgentChange::Replace => draft::whole(body),
            AgentChange::Amend => draft::change(body, &stored.fields),
        };
        if draft.problems.is_empty() && stored.fields == draft.fields {
            // Nothing to change, or the answer to the same change was lost.
            self.read_agents(workspace).await?;
            return Ok(self.show_record(workspace, stored));
        }
        if stored.version != version {
            return Err(EngineError::AgentChanged(Box::new(self.show_record(workspace, stored))));
        }
        let fields = self.accept(workspace, Some(&stored.id), draft).await?;
        let record = DefinitionRecord {
            version: version.saturating_add(1),
            updated_at: self.services.clock.now(),
            fields,
            ..stored
        };
        let written = self.services.store.change_definition(record.clone(), version).await;
        self.settle(workspace, &record, written).await?;
        Ok(self.show_record(workspace, record))
    }

    /// Without a version, whatever is stored goes.
    pub async fn remove_agent(
        &self,
        workspace: &WorkspaceId,
        named: &str,
        version: Option<u32>,
    ) -> Result<(), EngineError> {
        let stored = self.stored(workspace, named).await?;
        if version.is_some_and(|version| version != stored.version) {
            return Err(EngineError::AgentChanged(Box::new(self.show_record(workspace, stored))));
        }
        let written = self.services.store.remove_definition(workspace, &stored.id, stored.version).await;
        self.settle(workspace, &stored, written).await
    }

    /// Brings the registry up to date with what was written, or says who was first.
    async fn settle(
        &self,
        workspace: &WorkspaceId,
        record: &DefinitionRecord,
        written: Result<(), StoreError>,
    ) -> Result<(), EngineError> {
        match written {
            Ok(()) => self.read_agents(workspace).await,
            Err(StoreError::Conflict) => Err(self.overtaken(workspace, record).await?),
            Err(error) => {
                // The store may hold the change all the same.
                if let Err(unread) = self.read_agents(workspace).await {
                    tracing::warn!(%unread, "the agents of a workspace could not be read again");
                }
                Err(EngineError::AgentNotStored(error))
            }
        }
    }

    async fn read_agents(&self, workspace: &WorkspaceId) -> Result<(), EngineError> {
        let ticket = self.services.agents.registry.ticket();
        let records = self.services.store.definitions(workspace).await?;
        let agents = records.into_iter().map(AgentDefinition::from_record).collect();
        self.services.agents.registry.set_read(workspace, ticket, agents);
        Ok(())
    }

    async fn stored(&self, workspace: &WorkspaceId, named: &str) -> Result<DefinitionRecord, EngineError> {
        let info = self.show_one_agent(workspace, named)?;
        let Some(id) = info.id else {
            return Err(EngineError::AgentReadOnly(info.fields.name));
        };
        self.services.store.definition(workspace, &id).await?.ok_or(EngineError::AgentNotFound)
    }

    /// Somebody else was first: with this definition, or with its name.
    async fn overtaken(
        &self,
        workspace: &WorkspaceId,
        record: &DefinitionRecord,
    ) -> Result<EngineError, EngineError> {
        self.read_agents(workspace).await?;
        let stored = self.services.store.definition(workspace, &record.id).await?;
        Ok(match stored {
            Some(stored) if stored.version >= record.version => {
                EngineError::AgentChanged(Box::new(self.show_record(workspace, stored)))
            }
            _ => {
                let source = AgentSource::Database;
                let checked =
                    self.checked(workspace, source, Some(&record.id), &record.fields, Vec::new()).await;
                if checked.problems.is_empty() {
                    EngineError::AgentNotFound
                } else {
                    EngineError::InvalidAgent(checked.problems)
                }
            }
        })
    }

    async fn accept(
        &self,
        workspace: &WorkspaceId,
        id: Option<&AgentId>,
        draft: Draft,
    ) -> Result<AgentFields, EngineError> {
        let source = AgentSource::Database;
        let mut checked = self.checked(workspace, source, id, &draft.fields, draft.problems).await;
        let count = self.services.agents.registry.own(workspace).len();
        if id.is_none() && count >= MOST_DEFINITIONS {
            checked.problems.push(FieldProblem {
                path: String::new(),
                code: "too_many".to_owned(),
                line: None,
                message: format!("This workspace has {count} definitions already."),
                fix: "Remove some that are not needed.".to_owned(),
            });
        }
        if checked.problems.is_empty() {
            Ok(draft.fields)
        } else {
            Err(EngineError::InvalidAgent(checked.problems))
        }
    }

    async fn checked(
        &self,
        workspace: &WorkspaceId,
        source: AgentSource,
        id: Option<&AgentId>,
        fields: &AgentFields,
        unread: Vec<FieldProblem>,
    ) -> AgentCheck {
        let registry = &self.services.agents.registry;
        self.checked_in(registry, workspace, source, id, fields, unread).await
    }

    /// Checks a definition, off the serving threads: its prompts may be templates.
    async fn checked_in(
        &self,
        registry: &Arc<AgentRegistry>,
        workspace: &WorkspaceId,
        source: AgentSource,
        id: Option<&AgentId>,
        fields: &AgentFields,
        unread: Vec<FieldProblem>,
    ) -> AgentCheck {
        let (registry, catalog) = (Arc::clone(registry), Arc::clone(&self.services.catalog));
        let (workspace, id, fields) = (workspace.clone(), id.cloned(), fields.clone());
        let checked = self.services.agents.template_threads.run(move || {
            let listed = registry.list(&workspace);
            let (agents, catalog, workspace, id) = (&*registry, &*catalog, &workspace, id.as_ref());
            Checker { agents, listed: &listed, catalog, workspace, id, source }.check(&fields)
        });
        let failed = || AgentCheck {
            problems: vec![FieldProblem {
                path: String::new(),
                code: "check_failed".to_owned(),
                line: None,
                message: "The definition could not be checked.".to_owned(),
                fix: "Try again. If it happens again, the log of the server says why.".to_owned(),
            }],
            warnings: Vec::new(),
        };
        check::after(unread, checked.await.unwrap_or_else(failed))
    }

    fn checker<'a>(
        &'a self,
        workspace: &'a WorkspaceId,
        listed: &'a [Listed],
        source: AgentSource,
        id: Option<&'a AgentId>,
    ) -> Checker<'a> {
        let (agents, catalog) = (&*self.services.agents.registry, &*self.services.catalog);
        Checker { agents, listed, catalog, workspace, id, source }
    }

    fn show_record(&self, workspace: &WorkspaceId, record: DefinitionRecord) -> AgentInfo {
        let agent = Arc::new(AgentDefinition::from_record(record));
        let all = self.services.agents.registry.list(workspace);
        let listed = all.iter().find(|one| one.agent.id == agent.id);
        let unavailable = listed.and_then(|listed| listed.unavailable.clone());
        self.show_agent(workspace, &all, &Listed { agent, unavailable })
    }

    /// `one` of `all` that the registry lists.
    fn show_agent(&self, workspace: &WorkspaceId, all: &[Listed], one: &Listed) -> AgentInfo {
        let agent = &one.agent;
        let fields = agent.fields();
        let own_model = || {
            let name = agent.model.as_ref()?.name();
            let wanted = models::ModelSelection { id: Some(&name), ..models::ModelSelection::default() };
            self.services.catalog.resolve(&wanted, 0).err().map(|error| error.to_string())
        };
        let reason = match (&one.unavailable, agent.enabled) {
            (Some(reason), _) => Some(reason.clone()),
            (None, false) => Some("it is switched off".to_owned()),
            (None, true) => own_model(),
        };
        let warnings = match agent.source {
            AgentSource::Database => {
                self.checker(workspace, all, agent.source, agent.id.as_ref()).warnings(&fields)
            }
            AgentSource::System | AgentSource::File => Vec::new(),
        };
        AgentInfo {
            id: agent.id.clone(),
            source: agent.source,
            agent_type: agent.agent_type(),
            workspace_id: agent.workspace.clone(),
            effective_tools: self.services.agents.registry.tools_of(workspace, agent),
            version: agent.version,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
            available: reason.is_none(),
            reason,
            warnings,
            fields,
        }
    }
}
