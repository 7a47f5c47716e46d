//! `concertino link`: the sign-in link again.

use std::process::ExitCode;

use anyhow::Result;

use crate::{config::Config, data_dir::DataDir};

pub(crate) fn link(config: &Config) -> Result<ExitCode> {
    let token = DataDir::open(config)?.token(config)?;
    println!("{}/?token={token}", config.url());
    Ok(ExitCode::SUCCESS)
}
