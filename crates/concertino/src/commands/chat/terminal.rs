//! Output to the terminal, raw mode and signals.

use std::io::{self, Write};

use anyhow::Result;
use crossterm::{
    event::{DisableBracketedPaste, EnableBracketedPaste},
    execute,
    terminal::{disable_raw_mode, enable_raw_mode},
};

use super::{output_settings::OutputSettings, render::Piece};

/// Prints the answer to standard output and everything else to standard error, or all to a terminal.
pub(crate) fn print(settings: &OutputSettings, pieces: &[Piece]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut wrote_info = false;
    for piece in pieces {
        match piece {
            Piece::Answer(text) => out.write_all(text.as_bytes())?,
            Piece::Info(text) if settings.terminal => out.write_all(text.as_bytes())?,
            Piece::Info(text) => {
                // Keeps the order when standard output and standard error are the same file.
                out.flush()?;
                io::stderr().write_all(text.as_bytes())?;
                wrote_info = true;
            }
        }
    }
    if wrote_info {
        io::stderr().flush()?;
    }
    out.flush()
}

/// Prints a text to the terminal at once.
pub(crate) fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Returns whether the output could not be written because its reader closed the pipe. That is no error.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Puts the terminal into raw mode, where keys arrive one by one. Dropping it restores the mode.
pub(crate) struct RawMode(());

impl RawMode {
    pub(crate) fn on() -> io::Result<Self> {
        enable_raw_mode()?;
        let raw = Self(());
        execute!(io::stdout(), EnableBracketedPaste)?;
        Ok(raw)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let paste = execute!(io::stdout(), DisableBracketedPaste);
        if let Err(error) = disable_raw_mode().and(paste) {
            tracing::warn!(%error, "the terminal mode could not be restored; run `reset`");
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
}

/// Signals sent to the process. Every wait of the client also waits for these.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    pub(crate) fn listen() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn listen() -> Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            // The signal cannot be received; only its default handling is left.
            Err(_) => std::future::pending().await,
        }
    }
}
