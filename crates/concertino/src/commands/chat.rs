//! `concertino chat`: placeholder while the terminal client is written.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::config::Config;

#[derive(Args)]
pub(crate) struct ChatArguments {
    /// What to say.
    message: Vec<String>,
}

pub(crate) async fn chat(_config: &Config, _arguments: ChatArguments) -> Result<ExitCode> {
    anyhow::bail!("not yet")
}
