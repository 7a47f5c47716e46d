//! A run's way to its model: through the gate of the provider, and on to the next model of the chain when one gives
//! up before it has said anything.
//!
//! Which model answers is kept for the rest of the run, so that a provider that is down is asked once. Once an event
//! was given out nothing is asked again, and reading costs nothing more than the model's own stream.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::{
    FutureExt, Stream, StreamExt,
    future::{self, BoxFuture},
    ready,
};
use protocol::Price;
use tokio::time::Instant;

use crate::{
    attached::Reads,
    catalog::explain::{self, Facts},
    model::{FellBack, Model, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream},
    schedule::{
        Gate, Permit, Refused,
        line::{Lane, Turn},
    },
};

/// How long a call waits for a provider that is over its rate limit.
const PATIENCE: Duration = Duration::from_secs(600);
/// The same while there is another model to ask.
const PATIENCE_WITH_FALLBACK: Duration = Duration::from_secs(15);

/// One model of a chain.
#[derive(Clone)]
pub struct Link {
    pub model: Arc<dyn Model>,
    /// `None` for what needs no scheduling: a model inside this process.
    pub gate: Option<Arc<Gate>>,
    /// What errors are explained with.
    pub facts: Option<Arc<Facts>>,
}

pub struct Dispatch {
    chain: Arc<Chain>,
}

struct Chain {
    links: Vec<Link>,
    lane: Lane,
    /// The link that answers at present.
    at: AtomicUsize,
}

impl Dispatch {
    /// `first`, and the others in the order in which they are asked. `lane` is the session.
    pub fn new(first: Link, others: impl IntoIterator<Item = Link>, lane: Lane) -> Self {
        let mut links = vec![first];
        links.extend(others);
        Self { chain: Arc::new(Chain { links, lane, at: AtomicUsize::new(0) }) }
    }
}

impl Chain {
    fn link(&self, at: usize) -> Option<&Link> {
        self.links.get(at)
    }

    fn has_more(&self, at: usize) -> bool {
        at + 1 < self.links.len()
    }
}

impl Model for Dispatch {
    fn name(&self) -> &str {
        self.chain.link(self.chain.at.load(Ordering::Relaxed)).map_or("", |link| link.model.name())
    }

    fn price(&self) -> Option<Price> {
        self.chain.link(self.chain.at.load(Ordering::Relaxed))?.model.price()
    }

    fn context_window(&self) -> Option<u64> {
        self.chain.link(self.chain.at.load(Ordering::Relaxed))?.model.context_window()
    }

    fn reads(&self) -> Reads {
        self.chain
            .link(self.chain.at.load(Ordering::Relaxed))
            .map(|link| link.model.reads())
            .unwrap_or_default()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let at = self.chain.at.load(Ordering::Relaxed);
        let mut call = Call::new(Arc::clone(&self.chain), at, request);
        call.ask();
        call.boxed()
    }

    fn prepare<'a>(&'a self, messages: &'a [Arc<ModelMessage>]) -> BoxFuture<'a, ()> {
        match self.chain.link(self.chain.at.load(Ordering::Relaxed)) {
            Some(link) => link.model.prepare(messages),
            None => future::ready(()).boxed(),
        }
    }
}

/// One call on its way.
struct Call {
    chain: Arc<Chain>,
    at: usize,
    /// Kept until the first event: it may have to be asked again.
    request: Option<ModelRequest>,
    /// The turn of a call that was sent away.
    turn: Option<Turn>,
    deadline: Instant,
    state: State,
}

enum State {
    Asking,
    Entering(BoxFuture<'static, Result<Permit, Refused>>),
    /// Nothing was said yet.
    Listening(ModelStream, Option<Permit>),
    Speaking(ModelStream, #[expect(dead_code, reason = "held until the answer is over")] Option<Permit>),
    Over,
}

type Item = Option<Result<ModelEvent, ModelError>>;

impl Call {
    fn new(chain: Arc<Chain>, at: usize, request: ModelRequest) -> Self {
        let deadline = Instant::now() + patience(&chain, at);
        Self { chain, at, request: Some(request), turn: None, deadline, state: State::Asking }
    }

    /// Goes to the gate, or straight to the model.
    fn ask(&mut self) {
        let chain = Arc::clone(&self.chain);
        let gate = chain.link(self.at).and_then(|link| link.gate.as_ref());
        let Some(gate) = gate else { return self.call(None) };
        let turn = self.turn.take();
        if turn.is_none()
            && let Some(permit) = gate.try_enter(chain.lane)
        {
            return self.call(Some(permit));
        }
        self.state = State::Entering(Arc::clone(gate).enter(chain.lane, turn, self.deadline).boxed());
    }

    fn call(&mut self, permit: Option<Permit>) {
        self.state = match (self.chain.link(self.at), &self.request) {
            (Some(link), Some(request)) => State::Listening(link.model.stream(request.clone()), permit),
            _ => State::Over,
        };
    }

    /// Nothing was said: the next model is asked if there is one and it may do better, else this is the end.
    fn give_up(&mut self, error: ModelError) -> Item {
        let facts = self.chain.link(self.at).and_then(|link| link.facts.as_deref());
        let from = self.chain.link(self.at).map_or("", |link| link.model.name()).to_owned();
        let may_do_better = explain::another_may_do_better(&error);
        let error = match facts {
            Some(facts) => explain::explain(facts, error),
            None => error,
        };
        if !may_do_better || !self.chain.has_more(self.at) {
            self.state = State::Over;
            return Some(Err(error));
        }
        self.at += 1;
        self.chain.at.fetch_max(self.at, Ordering::Relaxed);
        self.deadline = Instant::now() + patience(&self.chain, self.at);
        self.turn = None;
        self.state = State::Asking;
        let to = self.chain.link(self.at).map_or("", |link| link.model.name()).to_owned();
        tracing::warn!(from, to, %error, "another model is asked instead");
        Some(Ok(ModelEvent::FellBack(Box::new(FellBack { from, to, why: error.to_string() }))))
    }

    /// The first word of the model.
    fn first(&mut self, item: Item) -> Option<Item> {
        let State::Listening(stream, permit) = std::mem::replace(&mut self.state, State::Over) else {
            return None;
        };
        match (item, permit) {
            (Some(Ok(event)), permit) => {
                if let Some(permit) = &permit {
                    permit.answered();
                }
                // Never asked again, and it may be as long as the chat.
                self.request = None;
                self.state = State::Speaking(stream, permit);
                Some(Some(Ok(event)))
            }
            (Some(Err(ModelError::RateLimited { retry_after })), Some(permit)) => {
                drop(stream);
                self.turn = Some(permit.sent_away(retry_after));
                self.state = State::Asking;
                None
            }
            (Some(Err(error)), permit) => {
                drop((stream, permit));
                Some(self.give_up(error))
            }
            (None, _) => Some(self.give_up(ModelError::Cut)),
        }
    }
}

fn patience(chain: &Chain, at: usize) -> Duration {
    if chain.has_more(at) { PATIENCE_WITH_FALLBACK } else { PATIENCE }
}

impl Stream for Call {
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Item> {
        let call = self.get_mut();
        loop {
            match &mut call.state {
                State::Speaking(stream, _) => {
                    let item = ready!(stream.poll_next_unpin(context));
                    let Some(Err(error)) = item else { return Poll::Ready(item) };
                    let facts = call.chain.link(call.at).and_then(|link| link.facts.as_deref());
                    let error = match facts {
                        Some(facts) => explain::explain(facts, error),
                        None => error,
                    };
                    call.state = State::Over;
                    return Poll::Ready(Some(Err(error)));
                }
                State::Asking => call.ask(),
                State::Entering(entering) => match ready!(entering.poll_unpin(context)) {
                    Ok(permit) => call.call(Some(permit)),
                    Err(Refused::Full) => return Poll::Ready(call.give_up(ModelError::Crowded)),
                    Err(Refused::Late) => {
                        return Poll::Ready(call.give_up(ModelError::RateLimited { retry_after: None }));
                    }
                },
                State::Listening(stream, _) => {
                    let item = ready!(stream.poll_next_unpin(context));
                    if let Some(item) = call.first(item) {
                        return Poll::Ready(item);
                    }
                }
                State::Over => return Poll::Ready(None),
            }
        }
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
