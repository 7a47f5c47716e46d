//! `concertino link`: the sign-in link again.

use std::process::ExitCode;

use anyhow::{Result, bail};
use store::Tokens;

use super::token::owner;
use crate::{
    config::Config,
    data_dir::{DataDir, digest},
};

pub(crate) async fn link(config: &Config) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    let token = data.token(config)?;
    let store = data.store(config)?;
    if store.token(&digest(&token)).await?.is_none() {
        if store.was_revoked(&digest(&token)).await? {
            return Err(owner::revoked(&data, config));
        }
        // A server that starts later takes it over.
        if data.try_lock()?.is_none() {
            bail!(
                "the running server does not know the token of {}; restart it, or run `concertino link` with the \
                 settings that it was started with",
                data.token_source(config)
            );
        }
    }
    println!("{}", owner::link(config, &token));
    Ok(ExitCode::SUCCESS)
}
