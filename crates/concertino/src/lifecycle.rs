//! When the process should end: Ctrl-C or SIGTERM. A hangup, which a terminal sends when it closes, does not end it.

use anyhow::Result;

/// From here on a hangup does nothing.
pub(crate) fn ignore_hangup() -> Result<()> {
    // What is registered once stays so until the process ends.
    #[cfg(unix)]
    drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?);
    Ok(())
}

/// Resolves at the first request to end.
pub(crate) async fn end_requested() -> Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            result = tokio::signal::ctrl_c() => result?,
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await?;
    Ok(())
}
