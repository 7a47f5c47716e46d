//! Signals: Ctrl-C and SIGTERM end the process. SIGHUP, which a terminal sends when it closes, does not.

use anyhow::Result;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Makes the process ignore SIGHUP from now on.
pub(crate) fn ignore_hangup() -> Result<()> {
    // Tokio's handler stays registered until the process ends, even when its stream is dropped.
    #[cfg(unix)]
    drop(signal(SignalKind::hangup())?);
    Ok(())
}

/// Requests to end the process: Ctrl-C and SIGTERM. One that comes before [`Self::first`] is called is kept until then.
pub(crate) struct EndRequests {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl EndRequests {
    /// Registers the signals: from now on they do not kill the process.
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
