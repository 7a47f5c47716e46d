//! A person's answer to an approval, on its way to the agent that asked.

use protocol::{ApprovalId, CallPattern, GrantScope, RuleId};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::activity::ActivityGuard;
use crate::EngineError;

/// Where the result of a command goes. A caller that has gone needs none.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

/// An answer that may be written to the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub approved: bool,
    pub reason: Option<String>,
    /// The input that runs instead of the one that was asked about; the tool has accepted it.
    pub(crate) input: Option<Value>,
    /// What the person allows from now on.
    pub(crate) grant: Option<GivenGrant>,
    /// The person wants nothing more of the run.
    pub(crate) ends_run: bool,
}

/// Calls that a person allows from now on, and the rule that this becomes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenGrant {
    pub(crate) rule: RuleId,
    pub(crate) calls: CallPattern,
    pub(crate) scope: GrantScope,
}

impl Decision {
    pub fn new(approved: bool, reason: Option<String>) -> Self {
        Self { approved, reason, input: None, grant: None, ends_run: false }
    }
}

/// An answer that has not reached the agent that asked.
pub(crate) struct PendingAnswer {
    pub(crate) approval: ApprovalId,
    pub(crate) decision: Decision,
    pub(crate) reply: Reply<()>,
    /// Counts the agent that asked as at work from the moment the answer is delivered.
    pub(crate) activity: Option<ActivityGuard>,
}

/// The two ends of an agent's queue of answers.
pub(crate) type AnswerSender = mpsc::Sender<Box<PendingAnswer>>;
pub(crate) type AnswerReceiver = mpsc::Receiver<Box<PendingAnswer>>;

/// How many answers one agent's queue holds.
pub(crate) const ANSWERS: usize = 16;
