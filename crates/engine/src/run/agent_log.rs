//! One agent's access to the session's log. It appends what the agent's frame has written, and relays the questions of a
//! sub-agent to the main agent once they are stored.

use std::sync::Arc;

use protocol::{SessionEvent, UiMessage};
use store::StoreError;

use super::{delegation::approval_relay::ApprovalRelay, frame::Frame};
use crate::log::{session_log::SessionLog, writer::LogWriter};

pub(crate) struct AgentLog {
    writer: LogWriter,
    relay: Option<Box<ApprovalRelay>>,
}

impl AgentLog {
    pub(crate) fn of_main_agent(writer: LogWriter) -> Self {
        Self { writer, relay: None }
    }

    /// A sub-agent's access to the same log.
    pub(crate) fn for_sub_agent(&self, relay: ApprovalRelay) -> Self {
        Self { writer: self.writer.share(), relay: Some(Box::new(relay)) }
    }

    /// The same log, for work that goes on beside this agent.
    pub(crate) fn share(&self) -> Self {
        Self { writer: self.writer.share(), relay: None }
    }

    pub(crate) fn session_log(&self) -> &Arc<SessionLog> {
        self.writer.log()
    }

    pub(crate) fn into_writer(self) -> LogWriter {
        self.writer
    }

    /// Appends the events that the frame has written since the last call.
    pub(crate) async fn append(&mut self, frame: &mut Frame) -> Result<(), StoreError> {
        self.append_events(frame.take(), Vec::new()).await
    }

    /// The same for events that must be stored before what they announce begins.
    pub(crate) async fn append_durably(&mut self, frame: &mut Frame) -> Result<(), StoreError> {
        let events = frame.take();
        let relayed = self.relay.as_mut().map(|relay| relay.select(&events)).unwrap_or_default();
        self.writer.append_durably(events).await?;
        self.relay(relayed).await;
        Ok(())
    }

    /// Appends events together with the folded messages of the frames that they park or close.
    pub(crate) async fn append_events(
        &mut self,
        events: Vec<SessionEvent>,
        messages: Vec<UiMessage>,
    ) -> Result<(), StoreError> {
        let relayed = self.relay.as_mut().map(|relay| relay.select(&events)).unwrap_or_default();
        self.writer.append(events, messages).await?;
        self.relay(relayed).await;
        Ok(())
    }

    async fn relay(&self, events: Vec<super::delegation::approval_relay::RelayedApproval>) {
        if let Some(relay) = self.relay.as_ref().filter(|_| !events.is_empty()) {
            relay.send(events).await;
        }
    }
}
