//! `concertino link`: prints the sign-in link.

use std::process::ExitCode;

use anyhow::{Result, bail};
use store::Tokens;

use super::token::owner;
use crate::{
    config::Config,
    data_dir::{DataDir, digest},
    output,
};

pub(crate) async fn link(config: &Config) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    let token = data.token(config)?;
    let store = data.store(config)?;
    if store.token(&digest(&token)).await?.is_none() {
        if store.was_revoked(&digest(&token)).await? {
            return Err(owner::revoked_error(&data, config));
        }
        // When no server runs, the next one to start accepts this token.
        if data.try_lock()?.is_none() {
            bail!(
                "the running server does not know the token in {}; restart the server, or run `concertino link` with \
                 the same settings as the server",
                data.token_source(config)
            );
        }
    }
    output::line(owner::link(config, &token))?;
    Ok(ExitCode::SUCCESS)
}
