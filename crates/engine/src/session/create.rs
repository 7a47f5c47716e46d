//! Makes a session before its first message.

use protocol::{SessionEvent, TitledBy};

use super::{actor::Actor, log_end::LogEnd};
use crate::{EngineError, agents::DEFAULT_AGENT};

impl Actor {
    pub(super) async fn create(
        &mut self,
        title: Option<String>,
        agent: Option<String>,
    ) -> Result<(), EngineError> {
        if self.record().await?.is_some() {
            return Err(EngineError::IdConflict);
        }
        let mut events = vec![SessionEvent::SessionCreated];
        if title.is_some() {
            events.push(SessionEvent::TitleSet { title, by: TitledBy::Person });
        }
        if let Some(agent) = agent {
            let found = self.services.agents.registry.main_exact(&self.name.workspace, &agent);
            let definition = found.ok_or(EngineError::UnknownAgent(agent))?;
            events.push(SessionEvent::AgentChosen {
                agent: definition.name.clone(),
                display_name: definition.display_name.clone(),
                previous: DEFAULT_AGENT.to_owned(),
                request: None,
            });
        }
        let log = LogEnd::of_new(&self.name).open(&self.services);
        log.append_without_run(events, Vec::new()).await?;
        Ok(())
    }
}
