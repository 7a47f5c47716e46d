//! What a client follows: an active or ended run, or one that has not begun because its message is still queued.

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::viewer::{ViewError, Viewer};
use crate::EngineError;

pub enum Following {
    Run(Viewer),
    /// The message is queued; this resolves when its run begins, or with the reason why it never will.
    Queued(oneshot::Receiver<Result<Viewer, EngineError>>),
    /// SSE events that belong to no run and are sent once.
    Once(BoxFuture<'static, Vec<u8>>),
    Over,
}

impl Following {
    /// The next SSE events, as many as are ready; `None` after the end. The future may be dropped and called again.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, ViewError>> {
        if let Self::Queued(begins) = self {
            let begun = begins.await.unwrap_or(Err(EngineError::ShuttingDown));
            match begun {
                Ok(viewer) => *self = Self::Run(viewer),
                Err(error) => {
                    *self = Self::Over;
                    return Some(Err(ViewError::NotBegun(Box::new(error))));
                }
            }
        }
        if let Self::Once(events) = self {
            let events = events.await;
            *self = Self::Over;
            return Some(Ok(events));
        }
        match self {
            Self::Run(viewer) => viewer.next().await,
            Self::Queued(_) | Self::Once(_) | Self::Over => None,
        }
    }
}

impl From<Viewer> for Following {
    fn from(viewer: Viewer) -> Self {
        Self::Run(viewer)
    }
}
