//! Logs go to standard error; `CONCERTINO_LOG` filters them (`info`, `engine=debug`, …).

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::config::Config;

pub(crate) fn start(config: &Config) -> Result<()> {
    let filter = EnvFilter::builder()
        .parse(&config.log)
        .with_context(|| format!("CONCERTINO_LOG is not a filter: \"{}\"", config.log))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        // A terminal that has gone cannot be written to, and complaining about it would panic.
        .log_internal_errors(false)
        .init();
    Ok(())
}
