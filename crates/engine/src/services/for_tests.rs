//! Services over a store in a temporary folder, for the tests of this crate.

use std::sync::Arc;

use models::{Catalog, Scripted};
use store::{Durability, SqliteStore};
use tempfile::TempDir;

use super::{Agents, Caches, Services, Tasks, ToolAccess, rule_book::RuleBook};
use crate::{
    RandomIds, SystemClock,
    agents::{AgentRegistry, template_threads::TemplateThreads, tool_set::ToolSets},
    files::workspaces::Workspaces,
    jobs::Jobs,
    log::open_logs::OpenLogs,
    secrets::SecretVault,
    settings::EngineSettings,
};

/// A store whose folder is removed with it.
pub(crate) struct TemporaryStore {
    pub(crate) store: Arc<SqliteStore>,
    _folder: TempDir,
}

impl TemporaryStore {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open_with(&folder.path().join("test.db"), Durability::Process).unwrap();
        Self { store: Arc::new(store), _folder: folder }
    }

    /// Services with the default settings, the built-in tools and agents, and a model that answers nothing.
    pub(crate) fn services(&self) -> Arc<Services> {
        let tools = tools::Registry::builtin(&[]).unwrap();
        let settings = EngineSettings::default();
        let registry = Arc::new(AgentRegistry::new(tools.names(), settings.workspace_tools.clone()));
        let agents =
            Agents { registry, tool_sets: ToolSets::default(), template_threads: TemplateThreads::default() };
        Arc::new(Services {
            store: Arc::clone(&self.store) as _,
            logs: OpenLogs::default(),
            catalog: Arc::new(Catalog::of(Arc::new(Scripted::new([])))),
            tools: ToolAccess {
                registry: tools,
                rules: Arc::new(RuleBook::new(Arc::clone(&self.store) as _, &settings.approvals)),
                files: Workspaces::new(None),
                jobs: Arc::new(Jobs::new(None)),
            },
            agents,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            settings,
            caches: Caches::default(),
            secrets: Arc::new(SecretVault::new(None)),
            tasks: Tasks::default(),
        })
    }
}
