//! Events about the agent itself, not its output: steering, results of background agents, its slot, being stopped.

use protocol::{FoldError, ReportNote, SessionEvent, SessionId, ToolCallId};

use super::Frame;

impl Frame {
    /// A person or the caller said this to the agent.
    pub(crate) fn steer(&mut self, id: String, text: String) -> Result<(), FoldError> {
        let message = self.id();
        self.put(SessionEvent::AgentSteered { message, id, text })
    }

    /// The agent reads the results of these background agents in a text of their own.
    pub(crate) fn report_background(
        &mut self,
        agents: Vec<SessionId>,
        note: ReportNote,
    ) -> Result<(), FoldError> {
        let message = self.id();
        self.put(SessionEvent::BackgroundReported { message, agents, note: Some(note) })
    }

    /// The result of this call, once it is settled, is the result of a background agent.
    pub(crate) fn will_report(&mut self, call: ToolCallId, agent: SessionId) {
        self.reports.insert(call, agent);
    }

    /// A sub-agent that was queued starts to work.
    pub(crate) fn start_delegation(&mut self) -> Result<(), FoldError> {
        let message = self.id();
        self.put(SessionEvent::DelegationStarted { message })
    }

    /// The agent is stopped, because a call fails again and again.
    pub(crate) fn stuck(&mut self, tool: String, times: usize) -> Result<(), FoldError> {
        let message = self.id();
        self.put(SessionEvent::AgentStuck { message, tool, times })
    }
}
