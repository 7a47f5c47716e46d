//! A run that is in memory, as the owner of its session sees it, and the readers that follow it.

use std::sync::{Arc, atomic::AtomicBool};

use protocol::{
    Seq,
    project::chat::{Reading, View},
};
use store::RunRecord;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{chat_surface::ChatSurface, rules::SessionRules, viewer::Viewer};
use crate::{
    log::{
        session_log::SessionLog,
        writer::{LogWriter, RunOver},
    },
    mailbox::{
        answer::{AnswerReceiver, AnswerSender},
        directory::AgentDirectory,
    },
};

pub(crate) struct LiveRun {
    pub(crate) record: RunRecord,
    pub(crate) log: Arc<SessionLog>,
    /// The event after which it was started or resumed.
    pub(crate) began: Seq,
    /// Set when the person rejected a call and with it the run, before it is cancelled.
    pub(crate) rejected: Arc<AtomicBool>,
    /// Whether its pause or its end is stored.
    pub(crate) over: RunOver,
    pub(crate) surface: ChatSurface,
    pub(crate) cancel: CancellationToken,
    /// Answers for the main agent.
    pub(crate) answers: AnswerSender,
    pub(crate) agents: Arc<AgentDirectory>,
    pub(crate) rules: Arc<SessionRules>,
    /// Whether the session may need a title when the run has ended.
    pub(crate) may_need_title: bool,
    pub(crate) task: JoinHandle<EndedRun>,
}

/// What a run's task returns: the right to append, and answers that the run did not read.
pub(crate) struct EndedRun {
    pub(crate) writer: LogWriter,
    pub(crate) answers: AnswerReceiver,
}

impl LiveRun {
    /// A reader from the first chunk of the message.
    pub(super) fn watch(&self) -> Viewer {
        self.viewer(View::WholeMessage, self.record.first_seq)
    }

    /// A reader that has everything up to this event.
    pub(super) fn watch_after(&self, after: Seq) -> Viewer {
        self.with_sub_agents(self.watch().skipping(after))
    }

    /// A reader from the event at which the run was last resumed.
    pub(super) fn watch_continuation(&self) -> Viewer {
        self.with_sub_agents(self.viewer(View::Continuation, self.record.last_resume))
    }

    fn viewer(&self, view: View, first: Seq) -> Viewer {
        let reading = Reading { view, last_resume: self.record.last_resume, edge: self.log.last() };
        let (log, message) = (Arc::clone(&self.log), self.record.message.clone());
        Viewer::new(log, self.surface, first.saturating_sub(1), message, reading)
            .of_run(self.began)
            .lane(self.record.options.sub_agent_stream)
    }

    /// A reader that begins inside the message first reads what sub-agents did before.
    fn with_sub_agents(&self, viewer: Viewer) -> Viewer {
        if self.agents.had_sub_agents() { viewer.beginning(self.record.first_seq) } else { viewer }
    }
}
