//! What an agent receives while it works: answers to its questions, approvals of its sub-agents, and its background
//! agents.

use protocol::{FoldError, IdSource};
use tokio::{sync::mpsc, task::JoinSet};

use super::delegation::{approval_relay::RelayedApproval, delegate::Delegated};
use crate::{
    mailbox::answer::{ANSWERS, AnswerReceiver, AnswerSender},
    run::frame::Frame,
};

pub(crate) struct AgentInbox {
    sender: AnswerSender,
    pub(crate) answers: AnswerReceiver,
    /// Approvals of sub-agents that this message must show; only the main agent has these.
    pub(crate) relayed: Option<mpsc::Receiver<Box<RelayedApproval>>>,
    /// Sub-agents that work in the background.
    pub(crate) background: JoinSet<Delegated>,
}

impl AgentInbox {
    pub(crate) fn of_main_agent(relayed: mpsc::Receiver<Box<RelayedApproval>>) -> Self {
        Self { relayed: Some(relayed), ..Self::of_sub_agent() }
    }

    pub(crate) fn of_sub_agent() -> Self {
        let (sender, answers) = mpsc::channel(ANSWERS);
        Self { sender, answers, relayed: None, background: JoinSet::new() }
    }

    /// Where answers for this agent are sent.
    pub(crate) fn sender(&self) -> &AnswerSender {
        &self.sender
    }

    /// Writes the approvals that sub-agents have relayed so far into the message.
    pub(crate) fn show_relayed(&mut self, frame: &mut Frame, ids: &dyn IdSource) -> Result<(), FoldError> {
        while let Some(relayed) = self.relayed.as_mut().and_then(|relayed| relayed.try_recv().ok()) {
            relayed.show(frame, ids)?;
        }
        Ok(())
    }

    /// The next approval that a sub-agent relays; pending for ever where none are relayed.
    pub(crate) async fn next_relayed(
        relayed: &mut Option<mpsc::Receiver<Box<RelayedApproval>>>,
    ) -> Box<RelayedApproval> {
        if let Some(relayed) = relayed
            && let Some(relayed) = relayed.recv().await
        {
            return relayed;
        }
        std::future::pending().await
    }
}
