//! Signals: Ctrl-C and SIGTERM end the process. SIGHUP, which a terminal sends when it closes, does not; it makes the
//! server read its agent files again.

use anyhow::Result;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives SIGHUP, on which the server reads its agent files again.
pub(crate) struct Hangups {
    #[cfg(unix)]
    signal: Signal,
}

impl Hangups {
    /// Registers the signal: from now on it does not kill the process, even when this value is dropped.
    pub(crate) fn listen() -> Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signal: signal(SignalKind::hangup())?,
        })
    }

    /// Resolves at the next signal, or never where there is none.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
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
