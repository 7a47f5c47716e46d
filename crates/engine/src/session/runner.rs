//! What the owner of a session asks of the agent loop. `run/launch.rs` implements it, so that `session/` does not depend
//! on `run/`.

use std::sync::Arc;

use async_trait::async_trait;
use models::Model;
use protocol::{ApprovalId, MessageId, MessageRef, RunOptions, SessionEvent};
use store::{RecoveryAttempt, RunRecord, SessionRecord};

use super::{
    live_run::LiveRun, log_end::LogEnd, registry::SessionHandle, request::ClientOutput, viewer::Viewer,
};
use crate::{
    EngineError,
    agents::AgentDefinition,
    context::{cache::History, command::Command},
    mailbox::answer::Decision,
    session_name::SessionName,
};

#[async_trait]
pub(crate) trait Runner: Send + Sync {
    /// Appends the events that led to a run together with the run itself, and starts it.
    async fn start(&self, session: &SessionName, new: NewRun) -> Result<StartedRun, EngineError>;

    /// Resumes a run that is parked or was interrupted. `None` if `how` has nothing for this run to do.
    async fn resume(
        &self,
        session: &SessionName,
        record: &SessionRecord,
        run: RunRecord,
        how: Resume,
    ) -> Result<Option<StartedRun>, EngineError>;

    /// Ends a run that is not in memory.
    async fn end(&self, record: &SessionRecord, run: &RunRecord, ending: Ending) -> Result<(), EngineError>;

    /// Appends a run that failed before it began.
    async fn fail_to_start(&self, record: &SessionRecord, failed: FailedStart) -> Result<(), EngineError>;

    /// Has the model write the session's title in the background.
    fn write_title(&self, session: SessionHandle);
}

/// A run that is to begin.
pub(crate) struct NewRun {
    pub(crate) end: LogEnd,
    /// What led to the run: above all the person's message.
    pub(crate) events: Vec<SessionEvent>,
    /// The message to answer.
    pub(crate) answers: MessageRef,
    pub(crate) options: RunOptions,
    pub(crate) agent: Arc<AgentDefinition>,
    pub(crate) model: Arc<dyn Model>,
    /// The conversation up to the message, where it is known without reading it.
    pub(crate) history: Option<History>,
    /// The command that the message is, if it is one.
    pub(crate) command: Option<Command>,
}

pub(crate) struct StartedRun {
    pub(crate) live: LiveRun,
    /// A reader for the client that started or resumed the run.
    pub(crate) viewer: Viewer,
}

/// Why a run is resumed, and with what.
pub(crate) enum Resume {
    /// A person asked a stopped or failed run to go on.
    Continue,
    /// A person answered, or the front end sent the output of a tool that it runs.
    Answer { decisions: Vec<AnsweredApproval>, outputs: Vec<ClientOutput> },
    /// A person stopped one sub-agent of a parked run.
    StopSubAgent(MessageId),
    /// The process that ran it crashed.
    Recover(RecoveryAttempt),
}

#[derive(Clone, Debug)]
pub(crate) struct AnsweredApproval {
    pub(crate) approval: ApprovalId,
    pub(crate) decision: Decision,
}

/// Why a run that is not in memory is ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The person denied this call and wants nothing more of it.
    Rejected(ApprovalId),
    /// The person sent something else instead of answering its question.
    Withdrawn,
    /// The person stopped it while it waited for an answer.
    StoppedWhileParked,
    /// The person stopped a run that a failing store had left behind.
    Stopped,
    /// It was active in too many crashes in a row.
    Crashed(RecoveryAttempt),
}

/// A queued message whose run kept crashing the server before it began.
pub(crate) struct FailedStart {
    /// Events before the run: the message leaves the queue and is accepted.
    pub(crate) events: Vec<SessionEvent>,
    pub(crate) answers: MessageRef,
    pub(crate) options: RunOptions,
    /// The reason, for the person.
    pub(crate) reason: String,
}
