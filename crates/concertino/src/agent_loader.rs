//! The agents in files: loads them into the engine, and again when a file changes.
//!
//! Sources are `main-agents.toml` and the folder `agents` of the data folder. A file that cannot be used keeps the version
//! of it that could be used last. A new version takes effect at once for all of its agents; runs keep the definition they
//! began with.

mod file_state;
mod main_file;
mod report;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use engine::{
    Engine, SystemClock,
    agents::{AgentDefinition, AgentRegistry, AgentSource, FileAgents},
};
use protocol::{Clock, WorkspaceId};

use self::file_state::FileState;
pub(crate) use self::report::LoadReport;
use crate::{
    agent_files::{self, AgentFile},
    config::{Config, main_agents::MainAgentsPath},
    data_dir::DataDir,
    lifecycle::Hangups,
};

/// How often the files are looked at.
const POLL: Duration = Duration::from_secs(1);
/// An editor may write a file in several steps: it is read when it has not changed for this long.
const SETTLE: Duration = Duration::from_millis(50);
/// A file that changes all the time is read nevertheless.
const MOST_WAITS: usize = 20;

pub(crate) struct AgentLoader {
    main_agents: MainAgentsPath,
    folder: PathBuf,
    /// The agents of `main-agents.toml`, as they could be read last.
    main_file: Vec<AgentDefinition>,
    /// The agents of each file of the folder, as they could be read last.
    folder_files: HashMap<PathBuf, Vec<AgentDefinition>>,
    /// What the files looked like before they were read; `None` when they must be read again.
    loaded: Option<FileState>,
    reported: LoadReport,
}

impl AgentLoader {
    pub(crate) fn new(config: &Config, data: &DataDir) -> Self {
        Self::of(config.main_agents.clone(), data.agents())
    }

    fn of(main_agents: MainAgentsPath, folder: PathBuf) -> Self {
        Self {
            main_agents,
            folder,
            main_file: Vec::new(),
            folder_files: HashMap::new(),
            loaded: None,
            reported: LoadReport::default(),
        }
    }

    /// Reads all files and replaces the engine's agents of files.
    pub(crate) async fn load(&mut self, engine: &Engine) -> LoadReport {
        let now = Duration::from_millis(u64::try_from(SystemClock.now().0).unwrap_or_default());
        let state = self.look().await;
        self.loaded = (!state.is_racy(now)).then_some(state);
        let registry = Arc::new(engine.agents().without_files());
        let mut report = LoadReport::default();
        let folders = self.load_folder(engine, &registry, &mut report).await;
        self.load_main_file(registry, &mut report).await;
        let main_file = self.main_file.clone();
        engine.agents().set_files(FileAgents { main_file, folders, warnings: report.public_warnings() });
        self.reported = report.clone();
        report
    }

    /// Reads `main-agents.toml` without an engine, against the names in `registry`.
    pub(crate) async fn load_main_file_only(&mut self, registry: Arc<AgentRegistry>) -> LoadReport {
        let mut report = LoadReport::default();
        self.load_main_file(registry, &mut report).await;
        report
    }

    async fn load_main_file(&mut self, registry: Arc<AgentRegistry>, report: &mut LoadReport) {
        let path = self.main_agents.clone();
        let read = tokio::task::spawn_blocking(move || path.read(&registry)).await;
        match read.unwrap_or_else(|error| Err(self.main_agents.unread(&error.to_string()))) {
            Ok(Some(file)) => {
                self.main_file = file.agents;
                report.main_file = Some(file.path);
                report.dropped = file.dropped;
                report.warnings = file.warnings;
            }
            Ok(None) => self.main_file.clear(),
            Err(problem) => {
                report.unusable = Some(problem);
                report.is_named = matches!(self.main_agents, MainAgentsPath::Named(_));
                report.has_last_version = !self.main_file.is_empty();
            }
        }
    }

    /// Reads the folder. Every file is checked against those before it, to which it may refer.
    async fn load_folder(
        &mut self,
        engine: &Engine,
        registry: &Arc<AgentRegistry>,
        report: &mut LoadReport,
    ) -> Vec<AgentDefinition> {
        let folder = self.folder.clone();
        let read = tokio::task::spawn_blocking(move || {
            if folder.exists() { agent_files::find(&folder) } else { Ok(Vec::new()) }
        });
        let files = match read.await.map_err(anyhow::Error::new).and_then(|found| found) {
            Ok(files) => files,
            Err(error) => {
                report.folder_error = Some(format!("{error:#}"));
                let mut paths: Vec<&PathBuf> = self.folder_files.keys().collect();
                paths.sort();
                return paths.into_iter().flat_map(|path| self.folder_files[path].clone()).collect();
            }
        };
        let mut last = std::mem::take(&mut self.folder_files);
        let mut folders: Vec<AgentDefinition> = Vec::new();
        for file in files {
            let problems = report.folder.len();
            let mut agents = check_file(engine, registry, &file, report).await;
            if report.folder.len() > problems
                && let Some(last) = last.remove(file.path())
            {
                agents = last;
            }
            folders.extend(agents.iter().cloned());
            self.folder_files.insert(file.path().to_owned(), agents);
            registry.set_files(FileAgents { folders: folders.clone(), ..FileAgents::default() });
        }
        folders
    }

    async fn look(&self) -> FileState {
        let (files, folder) = (self.main_agents.candidates().to_vec(), self.folder.clone());
        let looked = tokio::task::spawn_blocking(move || FileState::of(&files, &folder));
        looked.await.unwrap_or_default()
    }

    /// Loads the files again whenever one changes, and on every hangup. Never returns.
    pub(crate) async fn watch(mut self, engine: &Engine, mut hangups: Hangups) {
        loop {
            let is_forced = tokio::select! {
                () = tokio::time::sleep(POLL) => false,
                () = hangups.next() => true,
            };
            if is_forced {
                tracing::info!("SIGHUP: the agent files are read again");
            }
            if is_forced || self.has_changed().await {
                self.reload(engine).await;
            }
        }
    }

    /// Whether a file has changed since it was read.
    async fn has_changed(&self) -> bool {
        self.loaded.as_ref() != Some(&self.look().await)
    }

    async fn reload(&mut self, engine: &Engine) {
        self.settle().await;
        let before = self.reported.clone();
        let report = self.load(engine).await;
        if report != before {
            report.log();
        }
    }

    /// Waits until the files stay the same for a moment.
    async fn settle(&self) {
        let mut state = self.look().await;
        for _ in 0..MOST_WAITS {
            tokio::time::sleep(SETTLE).await;
            let next = self.look().await;
            if next == state {
                return;
            }
            state = next;
        }
    }
}

/// Returns the agents of a file that can be used, and reports the problems of the others.
async fn check_file(
    engine: &Engine,
    registry: &Arc<AgentRegistry>,
    file: &AgentFile,
    report: &mut LoadReport,
) -> Vec<AgentDefinition> {
    let found = match file.agents() {
        Ok(found) => found,
        Err(problem) => {
            report.folder.push(problem);
            return Vec::new();
        }
    };
    let workspace = WorkspaceId::default_workspace();
    let mut agents = Vec::new();
    for agent in found {
        let (fields, checked) =
            engine.check_agent_in(registry, &workspace, AgentSource::File, &agent.body).await;
        if checked.problems.is_empty() {
            agents.push(AgentDefinition::from_fields(fields, AgentSource::File));
        }
        report.folder.extend(checked.problems.iter().map(|problem| file.locate(&agent, problem)));
    }
    agents
}
