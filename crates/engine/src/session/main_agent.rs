//! The main agent of a session: which one answers next, and how a client chooses another.
//!
//! The choice is an event of the session, so it is stored with it and survives a restart. A run keeps the agent that it
//! began with.

use std::sync::Arc;

use protocol::{RunOptions, SessionEvent};
use store::{LastRun, RunStatus, SessionRecord};

use super::actor::Actor;
use crate::{
    EngineError,
    agents::{AgentDefinition, DEFAULT_AGENT},
};

/// The agent of a run that is to begin.
pub(super) struct ChosenAgent {
    pub(super) definition: Arc<AgentDefinition>,
    /// The event to append with the run, if the request chooses another agent than the session had.
    pub(super) choice: Option<SessionEvent>,
}

/// What a switch did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSwitch {
    pub previous: String,
    pub current: String,
    /// The display name of the current one.
    pub name: String,
}

impl Actor {
    /// The agent that a request is for: the one it names, else the session's, else the default one. One that was chosen
    /// earlier and no longer exists is replaced by the default one.
    pub(super) fn main_agent(
        &self,
        record: Option<&SessionRecord>,
        options: &RunOptions,
    ) -> Result<ChosenAgent, EngineError> {
        let find = |name: Option<&str>| {
            let options = RunOptions { agent_id: name.map(str::to_owned), ..options.clone() };
            self.services.agents.main(&self.name.workspace, &options)
        };
        let stored = record.and_then(|record| record.agent.as_deref());
        let Some(named) = options.agent_id.as_deref() else {
            let definition = match stored.map(|stored| find(Some(stored))) {
                Some(Ok(definition)) => definition,
                Some(Err(_)) | None => find(None)?,
            };
            return Ok(ChosenAgent { definition, choice: None });
        };
        let definition = find(Some(named))?;
        let previous = stored.unwrap_or(DEFAULT_AGENT);
        let choice = (previous != definition.name).then(|| chosen(&definition, previous, None));
        Ok(ChosenAgent { definition, choice })
    }

    /// Gives the session another main agent, while it is idle.
    pub(super) async fn switch_agent(
        &mut self,
        agent: &str,
        request: Option<String>,
    ) -> Result<AgentSwitch, EngineError> {
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let registry = &self.services.agents.registry;
        let Some(definition) = registry.main_exact(&self.name.workspace, agent) else {
            return Err(EngineError::UnknownAgent(agent.to_owned()));
        };
        let at_work =
            matches!(record.last_run, Some(LastRun { status: RunStatus::Running | RunStatus::Parked, .. }));
        if self.live.is_some() || at_work || record.queued > 0 {
            return Err(EngineError::AgentBusy);
        }
        let previous = current_agent(&self.services.agents, &record);
        self.append(vec![chosen(&definition, &previous, request)]).await?;
        let (current, name) = (definition.name.clone(), definition.display_name.clone());
        Ok(AgentSwitch { previous, current, name })
    }
}

fn chosen(definition: &AgentDefinition, previous: &str, request: Option<String>) -> SessionEvent {
    SessionEvent::AgentChosen {
        agent: definition.name.clone(),
        display_name: definition.display_name.clone(),
        previous: previous.to_owned(),
        request,
    }
}

/// The agent that answers in the session next: the stored one if it still exists.
pub(crate) fn current_agent(agents: &crate::services::Agents, record: &SessionRecord) -> String {
    let options = RunOptions { agent_id: record.agent.clone(), ..RunOptions::default() };
    match agents.main(&record.workspace, &options) {
        Ok(definition) => definition.name.clone(),
        Err(_) => DEFAULT_AGENT.to_owned(),
    }
}
