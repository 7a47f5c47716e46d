//! A person's answer to an approval, on its way to the agent that asked.

use protocol::{AnsweredBy, ApprovalId, CallPattern, GrantScope, InputAnswers, RuleId};
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
    /// What the person filled in, for a request for input; the values of secret fields are references. Without answers
    /// such a request is declined.
    pub(crate) answers: Option<Box<InputAnswers>>,
    pub(crate) by: AnsweredBy,
}

/// Calls that a person allows from now on, and the rule that this becomes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenGrant {
    pub(crate) rule: RuleId,
    pub(crate) calls: CallPattern,
    pub(crate) scope: GrantScope,
}

impl Decision {
    /// A plain yes or no to an approval, from a client of the chat routes.
    pub fn new(approved: bool, reason: Option<String>) -> Self {
        Self {
            approved,
            reason,
            input: None,
            grant: None,
            ends_run: false,
            answers: None,
            by: AnsweredBy::Chat,
        }
    }

    /// The answer to a request for input; it is declined without answers.
    pub(crate) fn of_input(answers: Option<InputAnswers>, reason: Option<String>, by: AnsweredBy) -> Self {
        let answers = answers.map(Box::new);
        Self { approved: answers.is_some(), reason, input: None, grant: None, ends_run: false, answers, by }
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
