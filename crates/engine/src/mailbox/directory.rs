//! How the agents of an active run are reached: which are at work, which asked what, what was said to each.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use protocol::{ApprovalId, MessageId, SessionId, ToolOutcome};
use tokio::sync::{mpsc::error::TrySendError, watch};
use tokio_util::sync::CancellationToken;

use super::{
    activity::Activity,
    answer::{AnswerSender, PendingAnswer},
};
use crate::EngineError;

pub(crate) struct AgentDirectory {
    /// The main agent's message.
    pub(crate) main: MessageId,
    activity: Arc<Activity>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    had_sub_agents: bool,
    sub_agents: HashMap<MessageId, SubAgentHandle>,
    /// Which agent asked a question.
    asked: HashMap<ApprovalId, AnswerSender>,
    /// Open questions of agents that are about to be resumed, and answers that came before they were.
    expected: HashMap<ApprovalId, Option<PendingAnswer>>,
    steering: HashMap<MessageId, Vec<String>>,
}

/// How a sub-agent at work is reached.
#[derive(Clone)]
pub(crate) struct SubAgentHandle {
    pub(crate) chat: SessionId,
    /// The message of the agent that delegated to it.
    pub(crate) parent: MessageId,
    pub(crate) cancel: CancellationToken,
    /// Its result, once it has ended.
    pub(crate) result: watch::Receiver<Option<ToolOutcome>>,
}

/// Why an answer was not delivered.
pub(crate) enum Undelivered {
    /// No agent of this run asked for it.
    NotAsked(Box<PendingAnswer>),
    /// The run is parking, or the agent that asked is ending: answer it afterwards.
    Parking(Box<PendingAnswer>),
}

impl AgentDirectory {
    pub(crate) fn new(main: MessageId, activity: Arc<Activity>) -> Self {
        Self { main, activity, state: Mutex::default() }
    }

    /// Whether the run has, or had, sub-agents.
    pub(crate) fn had_sub_agents(&self) -> bool {
        self.state.lock().had_sub_agents
    }

    /// Announces a sub-agent that is about to be resumed, with its open questions.
    pub(crate) fn expect(&self, questions: impl IntoIterator<Item = ApprovalId>) {
        let mut state = self.state.lock();
        state.had_sub_agents = true;
        state.expected.extend(questions.into_iter().map(|approval| (approval, None)));
    }

    pub(crate) fn enter(&self, message: &MessageId, handle: SubAgentHandle) {
        let mut state = self.state.lock();
        state.had_sub_agents = true;
        state.sub_agents.insert(message.clone(), handle);
    }

    pub(crate) fn leave(&self, message: &MessageId) {
        let mut state = self.state.lock();
        state.sub_agents.remove(message);
        state.steering.remove(message);
    }

    /// The sub-agent with this chat id, if it is at work.
    pub(crate) fn by_chat(&self, chat: &str) -> Option<(MessageId, SubAgentHandle)> {
        let state = self.state.lock();
        let found = state.sub_agents.iter().find(|(_, handle)| handle.chat.as_str() == chat);
        found.map(|(message, handle)| (message.clone(), handle.clone()))
    }

    /// The sub-agents at work that this agent delegated to.
    pub(crate) fn sub_agents_of(&self, message: &MessageId) -> Vec<SubAgentHandle> {
        let state = self.state.lock();
        state.sub_agents.values().filter(|handle| handle.parent == *message).cloned().collect()
    }

    /// Keeps a text for an agent at work until its next step; `false` if the agent has ended.
    pub(crate) fn steer(&self, message: &MessageId, text: String) -> bool {
        let mut state = self.state.lock();
        if *message != self.main && !state.sub_agents.contains_key(message) {
            return false;
        }
        state.steering.entry(message.clone()).or_default().push(text);
        true
    }

    pub(crate) fn take_steering(&self, message: &MessageId) -> Vec<String> {
        let mut state = self.state.lock();
        if state.steering.is_empty() {
            Vec::new()
        } else {
            state.steering.remove(message).unwrap_or_default()
        }
    }

    /// Registers the agent behind `answers` as the one that asked this question.
    pub(crate) fn asked(&self, approval: ApprovalId, answers: &AnswerSender) {
        let mut state = self.state.lock();
        let early = state.expected.remove(&approval).flatten();
        state.asked.insert(approval, answers.clone());
        drop(state);
        if let Some(answer) = early
            && let Err(Undelivered::NotAsked(answer) | Undelivered::Parking(answer)) = self.deliver(answer)
        {
            drop(answer.reply.send(Err(EngineError::Busy)));
        }
    }

    /// Delivers an answer to the agent that asked, or returns it.
    pub(crate) fn deliver(&self, mut answer: PendingAnswer) -> Result<(), Undelivered> {
        let mut state = self.state.lock();
        let Some(answers) = state.asked.get(&answer.approval).cloned() else {
            return match state.expected.get_mut(&answer.approval) {
                Some(early @ None) => {
                    *early = Some(answer);
                    Ok(())
                }
                _ => Err(Undelivered::NotAsked(Box::new(answer))),
            };
        };
        drop(state);
        let Some(activity) = self.activity.begin_unless_parking() else {
            return Err(Undelivered::Parking(Box::new(answer)));
        };
        answer.activity = Some(activity);
        // The sender stays registered: the agent recognises the same answer when it is delivered a second time.
        answers.try_send(Box::new(answer)).map_err(|undelivered| match undelivered {
            TrySendError::Full(answer) | TrySendError::Closed(answer) => Undelivered::Parking(answer),
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::{mpsc, oneshot};

    use super::*;
    use crate::mailbox::answer::Decision;

    fn directory() -> (Arc<Activity>, AgentDirectory) {
        let activity = Arc::new(Activity::default());
        let directory = AgentDirectory::new(MessageId::new("main"), Arc::clone(&activity));
        (activity, directory)
    }

    fn answer(approval: &str) -> (PendingAnswer, oneshot::Receiver<Result<(), EngineError>>) {
        let (reply, replied) = oneshot::channel();
        let (approval, decision) = (ApprovalId::new(approval), Decision::new(true, None));
        (PendingAnswer { approval, decision, reply, activity: None }, replied)
    }

    fn handle(chat: &str, parent: &str) -> SubAgentHandle {
        let (_, result) = watch::channel(None);
        let (chat, parent) = (SessionId::new(chat), MessageId::new(parent));
        SubAgentHandle { chat, parent, cancel: CancellationToken::new(), result }
    }

    #[test]
    fn an_answer_reaches_the_agent_that_asked_and_counts_it_as_at_work() {
        let (activity, directory) = directory();
        let main = activity.begin();
        let (sender, mut answers) = mpsc::channel(1);
        directory.asked(ApprovalId::new("a"), &sender);
        assert!(directory.deliver(answer("a").0).is_ok());
        drop(main);
        let received = answers.try_recv().unwrap();
        assert!(received.activity.is_some());
        assert!(activity.begin_unless_parking().is_some(), "the delivered answer keeps the run active");
    }

    #[test]
    fn an_answer_nobody_asked_for_and_one_for_a_parking_run_are_returned() {
        let (activity, directory) = directory();
        assert!(matches!(directory.deliver(answer("a").0), Err(Undelivered::NotAsked(_))));
        let (sender, _answers) = mpsc::channel(1);
        directory.asked(ApprovalId::new("a"), &sender);
        drop(activity.begin());
        assert!(matches!(directory.deliver(answer("a").0), Err(Undelivered::Parking(_))));
    }

    #[test]
    fn an_answer_that_comes_before_its_agent_is_resumed_waits_for_it_once() {
        let (activity, directory) = directory();
        let _main = activity.begin();
        directory.expect([ApprovalId::new("a")]);
        assert!(directory.deliver(answer("a").0).is_ok());
        assert!(matches!(directory.deliver(answer("a").0), Err(Undelivered::NotAsked(_))), "one is kept");
        let (sender, mut answers) = mpsc::channel(1);
        directory.asked(ApprovalId::new("a"), &sender);
        assert_eq!(answers.try_recv().unwrap().approval, ApprovalId::new("a"));
    }

    #[test]
    fn text_reaches_only_agents_at_work() {
        let (_, directory) = directory();
        let (main, sub) = (MessageId::new("main"), MessageId::new("sub"));
        assert!(directory.steer(&main, "one".to_owned()) && directory.steer(&main, "two".to_owned()));
        assert_eq!(directory.take_steering(&main), ["one", "two"]);
        assert!(directory.take_steering(&main).is_empty());
        assert!(!directory.steer(&sub, "nobody".to_owned()));
        directory.enter(&sub, handle("chat", "main"));
        assert!(directory.had_sub_agents() && directory.steer(&sub, "left over".to_owned()));
        assert_eq!(directory.by_chat("chat").map(|(message, _)| message), Some(sub.clone()));
        assert_eq!(directory.sub_agents_of(&main).len(), 1);
        directory.leave(&sub);
        directory.enter(&sub, handle("chat", "main"));
        assert!(directory.take_steering(&sub).is_empty(), "text for an agent that left is dropped");
    }
}
