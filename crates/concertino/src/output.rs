//! Prints lines for a person. Unlike `println!`, it does not panic when the reader is gone (`concertino doctor | head`).

use std::{
    fmt::Display,
    io::{self, Write},
};

use anyhow::{Context, Result};

/// Prints a line to standard output. A closed pipe is not an error: the reader has seen enough.
pub(crate) fn line(text: impl Display) -> Result<()> {
    ignore_closed_pipe(writeln!(io::stdout().lock(), "{text}"))
}

/// Prints text to standard output without adding a line end.
pub(crate) fn text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    ignore_closed_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints a line to standard error. Failures are ignored: there is nowhere left to report them.
pub(crate) fn note(text: impl Display) {
    writeln!(io::stderr(), "{text}").unwrap_or_default();
}

fn ignore_closed_pipe(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
