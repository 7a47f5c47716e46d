//! The owner's token: one at a time, from the data folder or from the settings.

use anyhow::{Result, anyhow, bail};
use engine::SystemClock;
use protocol::Clock;
use store::{OwnerToken, Store};

use crate::{
    config::Config,
    data_dir::{DataDir, digest, new_token},
};

/// Makes this the owner's token; returns how many it replaced, which are revoked now.
pub(crate) async fn set(data: &DataDir, config: &Config, store: &dyn Store, token: &str) -> Result<usize> {
    match store.set_owner_token(&digest(token), SystemClock.now()).await? {
        OwnerToken::Set { replaced } => Ok(replaced),
        OwnerToken::Revoked => Err(revoked(data, config)),
        OwnerToken::Taken => bail!(
            "the token of {} was given to somebody else with `concertino token add`; the owner needs one of their own",
            data.token_source(config)
        ),
    }
}

/// A new token in the data folder; the one before is revoked at once, also in a server that runs.
pub(crate) async fn rotate(data: &DataDir, config: &Config, store: &dyn Store) -> Result<String> {
    if config.token.is_some() {
        bail!(
            "the token is set by {}; change it there and start the server again: the old one is revoked then",
            data.token_source(config)
        );
    }
    let token = new_token()?;
    // The file first: if the rest fails, the next start completes it.
    data.write_token(&token)?;
    set(data, config, store, &token).await?;
    Ok(token)
}

pub(crate) fn revoked(data: &DataDir, config: &Config) -> anyhow::Error {
    match config.token {
        Some(_) => anyhow!(
            "the token of {} was revoked and cannot be used again; set another (`openssl rand -hex 32` makes one), or \
             none to use the one of the data folder",
            data.token_source(config)
        ),
        None => anyhow!(
            "the token in {} was revoked and cannot be used again; `concertino token rotate` makes another",
            data.token_source(config)
        ),
    }
}

pub(crate) fn link(config: &Config, token: &str) -> String {
    format!("{}/?token={token}", config.url())
}
