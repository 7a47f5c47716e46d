//! A model that answers from a script: for tests and benchmarks.
//!
//! A [`Reply`] is a sequence of steps. It ends with a matching `Finished`, unless it fails. Calls are numbered in their
//! order in the reply. A [`Scripted`] is a handle: a test keeps one clone, the engine gets another, and the test sees
//! the requests.

use std::{collections::VecDeque, sync::Arc};

use futures::{StreamExt, stream};
use parking_lot::Mutex;
use protocol::{FinishReason, Price, Usage};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    attached::FileSupport,
    model::{Model, ModelError, ModelEvent, ModelRequest, ModelStream},
};

#[derive(Clone)]
pub struct Scripted {
    shared: Arc<Shared>,
}

type Choose = Box<dyn FnMut(&ModelRequest) -> Option<Reply> + Send>;

struct Shared {
    name: String,
    choose: Mutex<Choose>,
    requests: Mutex<Vec<ModelRequest>>,
    live: watch::Sender<usize>,
    price: Mutex<Option<Price>>,
    context_window: Mutex<Option<u64>>,
    file_support: Mutex<FileSupport>,
}

impl Scripted {
    /// Each call gets the next reply. A call without a reply fails.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        Self::from_choice(Box::new(move |_| replies.pop_front()))
    }

    /// Each call gets the reply that `choose` returns for its request.
    pub fn choosing(mut choose: impl FnMut(&ModelRequest) -> Reply + Send + 'static) -> Self {
        Self::from_choice(Box::new(move |request| Some(choose(request))))
    }

    fn from_choice(choose: Choose) -> Self {
        let shared = Shared {
            name: "scripted/script".to_owned(),
            choose: Mutex::new(choose),
            requests: Mutex::default(),
            live: watch::Sender::new(0),
            price: Mutex::default(),
            context_window: Mutex::default(),
            file_support: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Sets the price of its answers.
    #[must_use]
    pub fn priced(self, price: Price) -> Self {
        *self.shared.price.lock() = Some(price);
        self
    }

    /// Sets the context window, which is unknown otherwise.
    #[must_use]
    pub fn with_window(self, tokens: u64) -> Self {
        *self.shared.context_window.lock() = Some(tokens);
        self
    }

    /// Accepts neither images nor PDF files.
    #[must_use]
    pub fn reading_text_only(self) -> Self {
        *self.shared.file_support.lock() = FileSupport::text_only();
        self
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.requests.lock().clone()
    }

    /// The number of answers that are being read.
    pub fn live(&self) -> usize {
        *self.shared.live.borrow()
    }

    /// Waits until no answer is being read: all were read to their end or dropped.
    pub async fn idle(&self) {
        let mut live = self.shared.live.subscribe();
        // The sender lives as long as `self`, so this cannot fail.
        if live.wait_for(|live| *live == 0).await.is_err() {
            tracing::debug!("the script is gone");
        }
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn price(&self) -> Option<Price> {
        *self.shared.price.lock()
    }

    fn context_window(&self) -> Option<u64> {
        *self.shared.context_window.lock()
    }

    fn file_support(&self) -> FileSupport {
        *self.shared.file_support.lock()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let reply = (self.shared.choose.lock())(&request).unwrap_or_else(|| {
            let message = "the script has no reply left".to_owned();
            fails(ModelError::Refused { status: 410, message })
        });
        self.shared.requests.lock().push(request);
        let live = LiveAnswer::new(Arc::clone(&self.shared));
        let actions = VecDeque::from(reply.actions());
        stream::unfold((actions, live), |(mut actions, live)| async move {
            loop {
                match actions.pop_front()? {
                    ScriptAction::Say(event) => {
                        // Events arrive one by one, as over a network.
                        tokio::task::yield_now().await;
                        return Some((Ok(event), (actions, live)));
                    }
                    ScriptAction::Fail(error) => return Some((Err(error), (VecDeque::new(), live))),
                    ScriptAction::Wait(gate) => gate.pass().await,
                }
            }
        })
        .boxed()
    }
}

/// Counts an answer while it is being read.
struct LiveAnswer(Arc<Shared>);

impl LiveAnswer {
    fn new(shared: Arc<Shared>) -> Self {
        shared.live.send_modify(|live| *live += 1);
        Self(shared)
    }
}

impl Drop for LiveAnswer {
    fn drop(&mut self) {
        self.0.live.send_modify(|live| *live -= 1);
    }
}

/// One answer of the script.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    steps: Vec<ReplyStep>,
    finish: Option<FinishReason>,
}

#[derive(Clone, Debug)]
enum ReplyStep {
    Say(ModelEvent),
    Call { id: Option<String>, tool: String, arguments: Vec<String> },
    Fail(ModelError),
    Wait(Gate),
}

/// A step whose call has its index.
enum ScriptAction {
    Say(ModelEvent),
    Fail(ModelError),
    Wait(Gate),
}

impl Reply {
    /// This reply and then the steps of `next`.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        self.steps.extend(next.steps);
        self.finish = next.finish.or(self.finish);
        self
    }

    /// Adds the usage of the answer.
    #[must_use]
    pub fn uses(mut self, usage: Usage) -> Self {
        self.steps.push(ReplyStep::Say(ModelEvent::Usage(usage)));
        self
    }

    /// Ends with this reason instead of the matching one.
    #[must_use]
    pub fn finishes(mut self, reason: FinishReason) -> Self {
        self.finish = Some(reason);
        self
    }

    fn actions(self) -> Vec<ScriptAction> {
        let mut actions = Vec::with_capacity(self.steps.len() + 1);
        let mut calls = 0;
        for step in self.steps {
            match step {
                ReplyStep::Say(event) => actions.push(ScriptAction::Say(event)),
                ReplyStep::Fail(error) => actions.push(ScriptAction::Fail(error)),
                ReplyStep::Wait(gate) => actions.push(ScriptAction::Wait(gate)),
                ReplyStep::Call { id, tool, arguments } => {
                    let index = calls;
                    calls += 1;
                    actions.push(ScriptAction::Say(ModelEvent::ToolStarted { index, id, name: tool }));
                    let deltas = arguments.into_iter().filter(|delta| !delta.is_empty());
                    actions.extend(
                        deltas.map(|delta| ScriptAction::Say(ModelEvent::ToolDelta { index, delta })),
                    );
                }
            }
        }
        let fitting = if calls == 0 { FinishReason::Stop } else { FinishReason::ToolCalls };
        actions.push(ScriptAction::Say(ModelEvent::Finished(self.finish.unwrap_or(fitting))));
        actions
    }
}

fn reply(step: ReplyStep) -> Reply {
    Reply { steps: vec![step], finish: None }
}

/// Text in one event.
pub fn says(text: &str) -> Reply {
    reply(ReplyStep::Say(ModelEvent::Text(text.to_owned())))
}

/// Text, one event per piece.
pub fn says_in_pieces(pieces: &[&str]) -> Reply {
    let steps = pieces.iter().map(|piece| ReplyStep::Say(ModelEvent::Text((*piece).to_owned()))).collect();
    Reply { steps, finish: None }
}

pub fn reasons(text: &str) -> Reply {
    reply(ReplyStep::Say(ModelEvent::Reasoning(text.to_owned())))
}

/// A tool call with this input.
pub fn calls(id: &str, tool: &str, input: Value) -> Reply {
    raw_call(id, tool, &input.to_string())
}

/// Several tool calls of one answer: id, tool, input.
pub fn calls_many<'a>(all: impl IntoIterator<Item = (&'a str, &'a str, Value)>) -> Reply {
    all.into_iter().fold(Reply::default(), |reply, (id, tool, input)| reply.then(calls(id, tool, input)))
}

/// A tool call with exactly this argument text, which need not be JSON. An empty id is a missing one.
pub fn raw_call(id: &str, tool: &str, arguments: &str) -> Reply {
    call_in_pieces(id, tool, &[arguments])
}

/// A tool call whose argument text arrives in these pieces.
pub fn call_in_pieces(id: &str, tool: &str, pieces: &[&str]) -> Reply {
    reply(ReplyStep::Call {
        id: (!id.is_empty()).then(|| id.to_owned()),
        tool: tool.to_owned(),
        arguments: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
    })
}

/// The answer ends here with an error.
pub fn fails(error: ModelError) -> Reply {
    reply(ReplyStep::Fail(error))
}

/// The answer waits until the gate is open.
pub fn waits(gate: &Gate) -> Reply {
    reply(ReplyStep::Wait(gate.clone()))
}

/// A point at which an answer waits for the test. Once open, a gate stays open.
#[derive(Clone, Debug)]
pub struct Gate {
    state: Arc<watch::Sender<GateState>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct GateState {
    open: bool,
    arrived: usize,
}

impl Default for Gate {
    fn default() -> Self {
        Self { state: Arc::new(watch::Sender::new(GateState::default())) }
    }
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Waits until an answer has reached the gate.
    pub async fn reached(&self) {
        self.wait_for(|state| state.arrived > 0).await;
    }

    async fn pass(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        self.wait_for(|state| state.open).await;
    }

    async fn wait_for(&self, condition: impl FnMut(&GateState) -> bool) {
        // The sender lives as long as `self`, so this cannot fail.
        if self.state.subscribe().wait_for(condition).await.is_err() {
            tracing::debug!("the gate is gone");
        }
    }
}

#[cfg(test)]
#[path = "scripted_tests.rs"]
mod tests;
