//! Where output goes and where signals come from. Raw mode lives in a guard: it ends on every way out.

use std::io::{self, Write};

use anyhow::Result;
use crossterm::{
    event::{DisableBracketedPaste, EnableBracketedPaste},
    execute,
    terminal::{disable_raw_mode, enable_raw_mode},
};

use super::{look::Look, render::Piece};

pub(crate) fn print(look: &Look, pieces: &[Piece]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut aside = false;
    for piece in pieces {
        match piece {
            Piece::Answer(text) => out.write_all(text.as_bytes())?,
            Piece::Aside(text) if look.terminal => out.write_all(text.as_bytes())?,
            Piece::Aside(text) => {
                // Keeps the order when both end up in the same place.
                out.flush()?;
                io::stderr().write_all(text.as_bytes())?;
                aside = true;
            }
        }
    }
    if aside {
        io::stderr().flush()?;
    }
    out.flush()
}

/// Nobody reads our output any more, which is no error of ours.
pub(crate) fn is_reader_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Keys one by one while this lives.
pub(crate) struct Raw(());

impl Raw {
    pub(crate) fn on() -> io::Result<Self> {
        enable_raw_mode()?;
        let raw = Self(());
        execute!(io::stdout(), EnableBracketedPaste)?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let paste = execute!(io::stdout(), DisableBracketedPaste);
        if let Err(error) = disable_raw_mode().and(paste) {
            tracing::warn!(%error, "the terminal could not be set back; `reset` does it");
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
}

/// Signals sent to the process. Whoever waits for anything waits for these as well.
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
            // Cannot be listened for: only the default handling is left.
            Err(_) => std::future::pending().await,
        }
    }
}
