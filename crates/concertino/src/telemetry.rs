//! Writes logs to standard error, filtered by `CONCERTINO_LOG` (`info`, `engine=debug`, …).

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::config::Config;

pub(crate) fn start(config: &Config) -> Result<()> {
    let filter = EnvFilter::builder().parse(&config.log).with_context(|| {
        format!(
            "the log filter \"{}\" is not valid; set log or CONCERTINO_LOG to a level such as info",
            config.log
        )
    })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        // When the terminal is closed, reporting a failed write to it would panic.
        .log_internal_errors(false)
        .init();
    Ok(())
}
