//! Signals: Ctrl-C and SIGTERM end the process. SIGHUP, which a terminal sends when it closes, does not.

use anyhow::Result;

/// Makes the process ignore SIGHUP from now on.
pub(crate) fn ignore_hangup() -> Result<()> {
    // Tokio's handler stays registered until the process ends, even when its stream is dropped.
    #[cfg(unix)]
    drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?);
    Ok(())
}

/// Resolves at the first Ctrl-C or SIGTERM.
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
