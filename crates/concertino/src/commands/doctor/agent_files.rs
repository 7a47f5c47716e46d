//! Checks the files that define agents: `main-agents.toml` and the agent folder.

use std::{fmt::Display, sync::Arc};

use anyhow::Result;
use engine::agents::AgentRegistry;
use models::Catalog;

use crate::{
    agent_loader::{AgentLoader, LoadReport},
    build_engine::build_engine,
    config::Config,
    data_dir::DataDir,
    output,
};

/// Prints every problem with file and line. Returns whether all files can be used.
pub(super) async fn check(
    config: &Config,
    data: &DataDir,
    database_is_sound: bool,
    catalog: Arc<Catalog>,
) -> Result<bool> {
    let report = if database_is_sound && data.database().is_file() {
        // Definitions in the database are names that the files may use.
        let store = data.store(config)?;
        let engine = build_engine(config, Arc::new(store), catalog, None).await?;
        AgentLoader::new(config, data).load(&engine).await
    } else {
        let tools = tools::Registry::with_commands(&config.tool_groups, &config.commands.table)?;
        let registry = AgentRegistry::new(tools.names(), config.workspace_tools.clone());
        AgentLoader::new(config, data).load_main_file_only(Arc::new(registry)).await
    };
    print(&report, &data.agents().display())?;
    Ok(report.unusable.is_none()
        && report.dropped.is_empty()
        && report.folder.is_empty()
        && report.folder_error.is_none())
}

fn print(report: &LoadReport, folder: &impl Display) -> Result<()> {
    match (&report.main_file, &report.unusable) {
        (_, Some(problem)) => {
            output::line("main agents: the file cannot be used")?;
            output::line(format_args!("  {problem}"))?;
            output::line(
                "  A running server keeps the last version that it could read. Without one it has only the",
            )?;
            output::line("  built-in main agents, or does not start if the settings name this file.")?;
        }
        (Some(path), None) => output::line(format_args!("main agents: {}", path.display()))?,
        (None, None) => output::line("main agents: built-in ones only, no file was found")?,
    }
    for problem in &report.dropped {
        output::line(format_args!("  {problem}"))?;
    }
    for warning in &report.warnings {
        output::line(format_args!("  warning: {warning}"))?;
    }
    output::line(format_args!("your agent files: {folder}"))?;
    if let Some(error) = &report.folder_error {
        output::line(format_args!("  {error}"))?;
    }
    for problem in &report.folder {
        output::line(format_args!("  {problem} {}", problem.fix))?;
    }
    if !report.folder.is_empty() || report.folder_error.is_some() {
        output::line("  A running server keeps the last version of an agent that it could read.")?;
    }
    Ok(())
}
