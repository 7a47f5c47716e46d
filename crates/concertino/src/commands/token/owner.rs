//! The owner's token. There is one at a time; it comes from the data folder or from the settings.

use anyhow::{Result, anyhow, bail};
use engine::SystemClock;
use protocol::Clock;
use store::{OwnerToken, Store};

use crate::{
    config::Config,
    data_dir::{DataDir, digest, new_token},
};

/// Makes this the owner's token and revokes the ones before. Returns how many were revoked.
pub(crate) async fn set(data: &DataDir, config: &Config, store: &dyn Store, token: &str) -> Result<usize> {
    match store.set_owner_token(&digest(token), SystemClock.now()).await? {
        OwnerToken::Set { replaced } => Ok(replaced),
        OwnerToken::Revoked => Err(revoked_error(data, config)),
        OwnerToken::Taken => bail!(
            "the token in {} was created with `concertino token add` for somebody else; the owner needs another one",
            data.token_source(config)
        ),
    }
}

/// Writes a new token to the data folder and revokes the old one at once, also in a running server.
pub(crate) async fn rotate(data: &DataDir, config: &Config, store: &dyn Store) -> Result<String> {
    if config.token.is_some() {
        bail!(
            "the token is set in {}; change it there and restart the server, which revokes the old one",
            data.token_source(config)
        );
    }
    let token = new_token()?;
    // The file is written first: if the next step fails, the next start of the server completes it.
    data.write_token(&token)?;
    set(data, config, store, &token).await?;
    Ok(token)
}

/// Explains that the configured token was revoked.
pub(crate) fn revoked_error(data: &DataDir, config: &Config) -> anyhow::Error {
    match config.token {
        Some(_) => anyhow!(
            "the token in {} was revoked and cannot be used again; set another (`openssl rand -hex 32` makes one), or \
             remove it to use the token of the data folder",
            data.token_source(config)
        ),
        None => anyhow!(
            "the token in {} was revoked and cannot be used again; create another with `concertino token rotate`",
            data.token_source(config)
        ),
    }
}

/// Returns the link that signs a browser in.
pub(crate) fn link(config: &Config, token: &str) -> String {
    format!("{}/?token={token}", config.url())
}
