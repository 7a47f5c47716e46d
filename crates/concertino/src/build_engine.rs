//! Builds the engine of this process, in the same way for the server and for commands that work on the data folder.

use std::sync::Arc;

use anyhow::{Context, Result};
use engine::{Engine, EngineParts, EngineSettings, RandomIds, SystemClock, transcript::Mirror};
use models::Catalog;
use store::Store;

use crate::config::Config;

/// The engine without the agents of files, which an [`AgentLoader`](crate::agent_loader::AgentLoader) adds.
pub(crate) async fn build_engine(
    config: &Config,
    store: Arc<dyn Store>,
    catalog: Arc<Catalog>,
    mirror: Option<Arc<Mirror>>,
) -> Result<Engine> {
    let tools = tools::Registry::with_commands(&config.tool_groups, &config.commands.table)?;
    for (workspace, tool) in config.workspace_tools.named() {
        if tools.get(tool).is_none() {
            tracing::warn!(%workspace, tool, "workspace_tools names a tool that does not exist");
        }
    }
    let engine = Engine::new(EngineParts {
        store,
        catalog,
        tools,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        settings: EngineSettings {
            profile: config.profile,
            context: config.context,
            auto_title: config.auto_title,
            max_crashes: config.max_crashes,
            workspace_tools: config.workspace_tools.clone(),
            mirror,
            approvals: config.approvals.clone(),
            files: Some(config.files.clone()),
            commands: Some(config.commands.clone()),
            ..EngineSettings::default()
        },
    });
    engine.load_agents().await.context("cannot read the agents in the database")?;
    Ok(engine)
}
