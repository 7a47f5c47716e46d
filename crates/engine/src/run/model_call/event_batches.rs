//! What a model says, as it arrives: all that is ready together is taken together, and neighbouring deltas are one.

use std::{
    future::poll_fn,
    mem::{Discriminant, discriminant},
    task::Poll,
};

use futures::StreamExt;
use models::{ModelError, ModelEvent, ModelStream};

/// How much is taken at once.
const READY: usize = 256;

pub(crate) struct EventBatches {
    stream: ModelStream,
    /// The kind of the event before, and whether it may grow.
    before: Option<Discriminant<ModelEvent>>,
    grows: bool,
}

impl EventBatches {
    pub(crate) fn new(stream: ModelStream) -> Self {
        Self { stream, before: None, grows: false }
    }

    /// Waits for something to arrive and takes all that did; nothing at the end of the stream.
    pub(crate) async fn next(&mut self) -> Vec<Result<ModelEvent, ModelError>> {
        let mut events: Vec<Result<ModelEvent, ModelError>> = Vec::new();
        let mut taken = 0;
        poll_fn(|cx| {
            while taken < READY {
                match self.stream.poll_next_unpin(cx) {
                    Poll::Ready(Some(event)) => {
                        taken += 1;
                        self.put(&mut events, event);
                    }
                    Poll::Pending if events.is_empty() => return Poll::Pending,
                    Poll::Ready(None) | Poll::Pending => break,
                }
            }
            Poll::Ready(())
        })
        .await;
        events
    }

    /// A delta that goes on where the last one ended is told, stored and read with it. The first of a segment or a
    /// call stays on its own, so that what is streamed can be seen to stream.
    fn put(
        &mut self,
        events: &mut Vec<Result<ModelEvent, ModelError>>,
        event: Result<ModelEvent, ModelError>,
    ) {
        if let Ok(event) = &event {
            let kind = Some(discriminant(event));
            if self.grows
                && self.before == kind
                && let Some(Ok(last)) = events.last_mut()
                && last.join(event)
            {
                return;
            }
            self.grows = self.before == kind;
            self.before = kind;
        }
        events.push(event);
    }
}
