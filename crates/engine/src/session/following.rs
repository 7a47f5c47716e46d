//! What a client follows: a run that is on or over, or one that has not begun because its message still waits.

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::subscribe::{ViewError, Viewer};
use crate::EngineError;

pub enum Following {
    Run(Viewer),
    /// The message is stored and waits; this tells when its run begins, or why it never will.
    Queued(oneshot::Receiver<Result<Viewer, EngineError>>),
    /// Frames that come once, from no run.
    Once(BoxFuture<'static, Vec<u8>>),
    Over,
}

impl Following {
    /// The next frames, as many as are ready; `None` after the end. May be dropped and called again.
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
        if let Self::Once(frames) = self {
            let frames = frames.await;
            *self = Self::Over;
            return Some(Ok(frames));
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
