//! Sends a run's model calls: waits for a permit of the provider, and falls back to the next model of the chain when
//! one fails before its first event.
//!
//! The model that answers is kept for the rest of the run, so that a provider that is down is called once. After the
//! first event nothing is retried, and the events pass through unchanged.

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
    attached::FileSupport,
    catalog::explain::{self, ProviderFacts},
    model::{FellBack, Model, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream},
    provider_limiter::{
        AcquireError, Permit, ProviderLimiter,
        fair_queue::{FairnessKey, TicketNumber},
    },
};

/// How long a call waits for a provider that is over its rate limit.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(600);
/// The same when there is another model to fall back to.
const QUEUE_TIMEOUT_WITH_FALLBACK: Duration = Duration::from_secs(15);

/// A model with what is needed to call it.
#[derive(Clone)]
pub struct Endpoint {
    pub model: Arc<dyn Model>,
    /// `None` for a model inside this process, which needs no limit.
    pub limiter: Option<Arc<ProviderLimiter>>,
    /// Names the settings in error messages.
    pub facts: Option<Arc<ProviderFacts>>,
}

/// A model with its fallbacks, as one run calls it.
pub struct Dispatch {
    chain: Arc<Chain>,
}

struct Chain {
    endpoints: Vec<Endpoint>,
    key: FairnessKey,
    /// The index of the endpoint that answers at present.
    current: AtomicUsize,
}

impl Dispatch {
    /// Calls `first`, then `fallbacks` in their order. `key` stands for the session.
    pub fn new(first: Endpoint, fallbacks: impl IntoIterator<Item = Endpoint>, key: FairnessKey) -> Self {
        let mut endpoints = vec![first];
        endpoints.extend(fallbacks);
        Self { chain: Arc::new(Chain { endpoints, key, current: AtomicUsize::new(0) }) }
    }

    fn current(&self) -> Option<&Endpoint> {
        self.chain.endpoint(self.chain.current.load(Ordering::Relaxed))
    }
}

impl Chain {
    fn endpoint(&self, index: usize) -> Option<&Endpoint> {
        self.endpoints.get(index)
    }

    fn has_fallback(&self, index: usize) -> bool {
        index + 1 < self.endpoints.len()
    }

    fn queue_timeout(&self, index: usize) -> Duration {
        if self.has_fallback(index) { QUEUE_TIMEOUT_WITH_FALLBACK } else { QUEUE_TIMEOUT }
    }

    /// The error with advice, where the provider is known.
    fn explain(&self, index: usize, error: ModelError) -> ModelError {
        match self.endpoint(index).and_then(|endpoint| endpoint.facts.as_deref()) {
            Some(facts) => explain::explain(facts, error),
            None => error,
        }
    }

    fn name(&self, index: usize) -> &str {
        self.endpoint(index).map_or("", |endpoint| endpoint.model.name())
    }
}

impl Model for Dispatch {
    fn name(&self) -> &str {
        self.chain.name(self.chain.current.load(Ordering::Relaxed))
    }

    fn price(&self) -> Option<Price> {
        self.current()?.model.price()
    }

    fn context_window(&self) -> Option<u64> {
        self.current()?.model.context_window()
    }

    fn file_support(&self) -> FileSupport {
        self.current().map(|endpoint| endpoint.model.file_support()).unwrap_or_default()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let current = self.chain.current.load(Ordering::Relaxed);
        let mut call = Call::new(Arc::clone(&self.chain), current, request);
        call.start();
        call.boxed()
    }

    fn prepare<'a>(&'a self, messages: &'a [Arc<ModelMessage>]) -> BoxFuture<'a, ()> {
        match self.current() {
            Some(endpoint) => endpoint.model.prepare(messages),
            None => future::ready(()).boxed(),
        }
    }
}

/// One call, with its retries and fallbacks.
struct Call {
    chain: Arc<Chain>,
    /// The endpoint that is called.
    index: usize,
    /// Kept until the first event, because it may be sent again.
    request: Option<ModelRequest>,
    /// The ticket of a call that was rate limited.
    ticket: Option<TicketNumber>,
    deadline: Instant,
    state: State,
}

enum State {
    /// To be sent, or sent again.
    Ready,
    Queued(BoxFuture<'static, Result<Permit, AcquireError>>),
    /// No event was received yet.
    Waiting(ModelStream, Option<Permit>),
    Streaming(ModelStream, #[expect(dead_code, reason = "held until the answer ends")] Option<Permit>),
    Done,
}

type Item = Option<Result<ModelEvent, ModelError>>;

impl Call {
    fn new(chain: Arc<Chain>, index: usize, request: ModelRequest) -> Self {
        let deadline = Instant::now() + chain.queue_timeout(index);
        Self { chain, index, request: Some(request), ticket: None, deadline, state: State::Ready }
    }

    /// Calls the model if a permit is free or none is needed; queues the call otherwise.
    fn start(&mut self) {
        let chain = Arc::clone(&self.chain);
        let limiter = chain.endpoint(self.index).and_then(|endpoint| endpoint.limiter.as_ref());
        let Some(limiter) = limiter else { return self.call(None) };
        let ticket = self.ticket.take();
        if ticket.is_none()
            && let Some(permit) = limiter.try_acquire(chain.key)
        {
            return self.call(Some(permit));
        }
        self.state = State::Queued(Arc::clone(limiter).acquire(chain.key, ticket, self.deadline).boxed());
    }

    fn call(&mut self, permit: Option<Permit>) {
        self.state = match (self.chain.endpoint(self.index), &self.request) {
            (Some(endpoint), Some(request)) => State::Waiting(endpoint.model.stream(request.clone()), permit),
            _ => State::Done,
        };
    }

    /// Handles a failure before the first event: falls back to the next model if there is one and it may succeed, else
    /// returns the error.
    fn fall_back(&mut self, error: ModelError) -> Item {
        let from = self.chain.name(self.index).to_owned();
        let another_may_succeed = explain::another_may_succeed(&error);
        let error = self.chain.explain(self.index, error);
        if !another_may_succeed || !self.chain.has_fallback(self.index) {
            self.state = State::Done;
            return Some(Err(error));
        }
        self.index += 1;
        self.chain.current.fetch_max(self.index, Ordering::Relaxed);
        self.deadline = Instant::now() + self.chain.queue_timeout(self.index);
        self.ticket = None;
        self.state = State::Ready;
        let to = self.chain.name(self.index).to_owned();
        tracing::warn!(from, to, %error, "falling back to another model");
        Some(Ok(ModelEvent::FellBack(Box::new(FellBack { from, to, why: error.to_string() }))))
    }

    /// Handles the first item of the answer; `None` when the call has to be repeated.
    fn first_item(&mut self, item: Item) -> Option<Item> {
        let State::Waiting(stream, permit) = std::mem::replace(&mut self.state, State::Done) else {
            return None;
        };
        match (item, permit) {
            (Some(Ok(event)), permit) => {
                if let Some(permit) = &permit {
                    permit.answer_started();
                }
                // It is never sent again, and it may be as long as the chat.
                self.request = None;
                self.state = State::Streaming(stream, permit);
                Some(Some(Ok(event)))
            }
            (Some(Err(ModelError::RateLimited { retry_after })), Some(permit)) => {
                drop(stream);
                self.ticket = Some(permit.rate_limited(retry_after));
                self.state = State::Ready;
                None
            }
            (Some(Err(error)), permit) => {
                drop((stream, permit));
                Some(self.fall_back(error))
            }
            (None, _) => Some(self.fall_back(ModelError::Cut)),
        }
    }
}

impl Stream for Call {
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Item> {
        let call = self.get_mut();
        loop {
            match &mut call.state {
                State::Streaming(stream, _) => {
                    let item = ready!(stream.poll_next_unpin(context));
                    let Some(Err(error)) = item else { return Poll::Ready(item) };
                    call.state = State::Done;
                    return Poll::Ready(Some(Err(call.chain.explain(call.index, error))));
                }
                State::Ready => call.start(),
                State::Queued(acquiring) => match ready!(acquiring.poll_unpin(context)) {
                    Ok(permit) => call.call(Some(permit)),
                    Err(AcquireError::QueueFull) => {
                        return Poll::Ready(call.fall_back(ModelError::QueueFull));
                    }
                    Err(AcquireError::TimedOut) => {
                        let error = ModelError::RateLimited { retry_after: None };
                        return Poll::Ready(call.fall_back(error));
                    }
                },
                State::Waiting(stream, _) => {
                    let item = ready!(stream.poll_next_unpin(context));
                    if let Some(item) = call.first_item(item) {
                        return Poll::Ready(item);
                    }
                }
                State::Done => return Poll::Ready(None),
            }
        }
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
