//! When the process should end: Ctrl-C or SIGTERM. A hangup, which a terminal sends when it closes, does not end it.

use anyhow::Result;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// From here on a hangup does nothing.
pub(crate) fn ignore_hangup() -> Result<()> {
    // What is registered once stays so until the process ends.
    #[cfg(unix)]
    drop(signal(SignalKind::hangup())?);
    Ok(())
}

/// Requests to end. One that comes before [`Self::first`] is called is kept until then.
pub(crate) struct EndRequests {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl EndRequests {
    /// From here on a request to end does not kill the process.
    pub(crate) fn listen() -> Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Resolves at the first request to end.
    pub(crate) async fn first(&mut self) -> Result<()> {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        tokio::signal::ctrl_c().await?;
        Ok(())
    }
}
