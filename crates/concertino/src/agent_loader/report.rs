//! What loading the agent files found: for the log, for `concertino doctor`, and without names for `GET /health`.

use std::path::PathBuf;

use crate::{agent_files::FileProblem, output};

/// So many problems of one kind are logged at a time.
const MOST_LOGGED: usize = 20;

/// The result of loading the agent files once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoadReport {
    /// The file with main agents that was read.
    pub(crate) main_file: Option<PathBuf>,
    /// Why the file with main agents cannot be used.
    pub(crate) unusable: Option<FileProblem>,
    /// Whether the settings name that file.
    pub(crate) is_named: bool,
    /// Whether agents of an earlier version of that file are in use.
    pub(crate) has_last_version: bool,
    /// Main agents that were left out.
    pub(crate) dropped: Vec<FileProblem>,
    pub(crate) warnings: Vec<FileProblem>,
    /// Problems of the files in the agent folder.
    pub(crate) folder: Vec<FileProblem>,
    /// Why the agent folder cannot be read.
    pub(crate) folder_error: Option<String>,
}

impl LoadReport {
    /// Whether the settings name a file with main agents that cannot be used.
    pub(crate) fn named_file_is_unusable(&self) -> bool {
        self.is_named && self.unusable.is_some()
    }

    /// What is wrong in a few sentences, without names of files or agents: everybody may read `GET /health`.
    pub(crate) fn public_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.unusable.is_some() {
            let in_use = if self.has_last_version {
                "the last version that could be read is in use"
            } else {
                "only the other agents are available"
            };
            warnings.push(format!("The file with main agents cannot be read; {in_use}."));
        }
        let mut count = |count: usize, one: &str, several: &str| match count {
            0 => {}
            1 => warnings.push(format!("1 {one}.")),
            count => warnings.push(format!("{count} {several}.")),
        };
        count(
            self.dropped.len(),
            "main agent was left out because of a mistake in its definition",
            "main agents were left out because of mistakes in their definitions",
        );
        count(
            self.warnings.len(),
            "setting of a main agent has no effect",
            "settings of main agents have no effect",
        );
        count(
            self.folder.len() + usize::from(self.folder_error.is_some()),
            "problem in the agent folder",
            "problems in the agent folder",
        );
        if let Some(last) = warnings.last_mut() {
            last.push_str(" Run `concertino doctor` for details.");
        }
        warnings
    }

    /// Prints what a person who starts the program must know.
    pub(crate) fn print(&self) {
        if let Some(problem) = &self.unusable {
            output::note(problem);
        }
        for problem in &self.dropped {
            output::note(problem);
        }
        for problem in self.warnings.iter().take(MOST_LOGGED) {
            output::note(problem);
        }
        if let Some(error) = &self.folder_error {
            output::note(format_args!("The agent folder cannot be read: {error}"));
        }
        for problem in &self.folder {
            output::note(format_args!(
                "{problem} This agent is not available. Run `concertino agents check` for details."
            ));
        }
    }

    /// Logs what changed while the server runs.
    pub(crate) fn log(&self) {
        if let Some(problem) = &self.unusable {
            let in_use = if self.has_last_version { "the last version that could be read" } else { "none" };
            tracing::warn!(%problem, main_agents_in_use = in_use, "the file with main agents cannot be read");
        }
        if let Some(error) = &self.folder_error {
            tracing::warn!(error, "the agent folder cannot be read; its agents stay as they are");
        }
        let kinds = [
            ("a main agent was left out", &self.dropped),
            ("a setting of a main agent has no effect", &self.warnings),
            ("an agent file has a problem; its last version that could be read stays in use", &self.folder),
        ];
        for (what, problems) in kinds {
            for problem in problems.iter().take(MOST_LOGGED) {
                tracing::warn!(%problem, "{what}");
            }
            if problems.len() > MOST_LOGGED {
                let more = problems.len() - MOST_LOGGED;
                tracing::warn!(more, "further problems are listed by `concertino doctor`");
            }
        }
        if self.unusable.is_none() {
            let file = self.main_file.as_ref().map(|path| path.display().to_string());
            tracing::info!(main_agents = file, "the agent files were read again");
        }
    }
}
