//! Reads a model stream in batches: all events that are ready are taken together, and neighbouring deltas are joined.

use std::{
    future::poll_fn,
    mem::{Discriminant, discriminant},
    task::Poll,
};

use futures::StreamExt;
use models::{ModelError, ModelEvent, ModelStream};

/// The most events of one batch.
const READY: usize = 256;

pub(crate) struct EventBatches {
    stream: ModelStream,
    /// The kind of the previous event, and whether the next delta may be joined to it.
    before: Option<Discriminant<ModelEvent>>,
    grows: bool,
}

impl EventBatches {
    pub(crate) fn new(stream: ModelStream) -> Self {
        Self { stream, before: None, grows: false }
    }

    /// Waits for the next events and returns all that are ready; empty at the end of the stream.
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

    /// Joins a delta to the previous one of the same kind. The first delta of a segment or a call stays separate, so that
    /// a client sees the text begin at once.
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
