//! What reaches a frame from outside while it runs: answers to its questions, questions of its sub-agents, and the
//! agents that work for it in the background.

use protocol::FoldError;
use tokio::{sync::mpsc, task::JoinSet};

use super::{call_tools::LiveAnswer, delegate::Delegated, drive::RunCtx, frame::Frame, raise::Raised};

pub(crate) struct Mail {
    address: mpsc::Sender<Box<LiveAnswer>>,
    pub(crate) answers: Answers,
    /// Questions of sub-agents, for the main agent's message.
    pub(crate) raised: Option<mpsc::Receiver<Box<Raised>>>,
    /// Sub-agents that nobody waits for at their call.
    pub(crate) background: JoinSet<Delegated>,
}

/// Answers to questions of a frame that come while it is in memory.
pub(crate) type Answers = mpsc::Receiver<Box<LiveAnswer>>;

impl Mail {
    pub(crate) fn new(
        address: mpsc::Sender<Box<LiveAnswer>>,
        answers: Answers,
        raised: Option<mpsc::Receiver<Box<Raised>>>,
    ) -> Self {
        Self { address, answers, raised, background: JoinSet::new() }
    }

    /// Where answers for this frame go.
    pub(crate) fn address(&self) -> &mpsc::Sender<Box<LiveAnswer>> {
        &self.address
    }

    /// Writes down what sub-agents asked in the meantime.
    pub(crate) fn show_raised(&mut self, run: &RunCtx, frame: &mut Frame) -> Result<(), FoldError> {
        while let Some(raised) = self.raised.as_mut().and_then(|raised| raised.try_recv().ok()) {
            raised.show(frame, &*run.parts.ids)?;
        }
        Ok(())
    }
}

/// The next question of a sub-agent; never comes where none are raised.
pub(crate) async fn next_raised(raised: &mut Option<mpsc::Receiver<Box<Raised>>>) -> Box<Raised> {
    if let Some(raised) = raised
        && let Some(raised) = raised.recv().await
    {
        return raised;
    }
    std::future::pending().await
}
