//! Finds and reads the file with main agents.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use engine::agents::{
    AgentDefinition, AgentRegistry,
    main_agents_file::{self, MAX_FILE_BYTES, Position, Severity},
};

use crate::{agent_files::FileProblem, config::main_agents::MainAgentsPath};

/// A file that could be read.
#[derive(Debug)]
pub(crate) struct MainFile {
    pub(crate) path: PathBuf,
    pub(crate) agents: Vec<AgentDefinition>,
    /// Agents that were left out.
    pub(crate) dropped: Vec<FileProblem>,
    pub(crate) warnings: Vec<FileProblem>,
}

impl MainAgentsPath {
    /// The paths at which a file is looked for, in this order.
    pub(crate) fn candidates(&self) -> &[PathBuf] {
        match self {
            Self::Named(path) => std::slice::from_ref(path),
            Self::Search(paths) => paths,
        }
    }

    /// The problem when reading failed for a reason that is not in a file.
    pub(crate) fn unread(&self, reason: &str) -> FileProblem {
        let path = self.candidates().first().map(PathBuf::as_path).unwrap_or(Path::new(""));
        unreadable(path, Position { line: 1, column: 1 }, reason)
    }

    /// Reads the file that is in force; `None` when there is none. One that cannot be used is a problem: the next is not
    /// tried in its place.
    pub(crate) fn read(&self, registry: &AgentRegistry) -> Result<Option<MainFile>, FileProblem> {
        let is_named = matches!(self, Self::Named(_));
        for path in self.candidates() {
            let text = match read_text(path) {
                Ok(Some(text)) => text,
                Ok(None) if is_named => {
                    return Err(unreadable(path, Position { line: 1, column: 1 }, "the file does not exist"));
                }
                Ok(None) => continue,
                Err(problem) => return Err(problem),
            };
            let read = main_agents_file::parse(&text, registry)
                .map_err(|error| unreadable(path, error.position, &error.message))?;
            if read.is_empty && !is_named {
                continue;
            }
            let located = |severity: Severity| {
                let notices = read.notices.iter().filter(|notice| notice.severity == severity);
                notices.map(|notice| problem(path, notice.position, notice.text.clone())).collect()
            };
            let (dropped, warnings) = (located(Severity::Dropped), located(Severity::Warning));
            return Ok(Some(MainFile { path: path.clone(), agents: read.agents, dropped, warnings }));
        }
        Ok(None)
    }
}

fn problem(path: &Path, position: Position, text: String) -> FileProblem {
    let Position { line, column } = position;
    FileProblem { file: path.to_owned(), line, column: Some(column), text, fix: String::new() }
}

fn unreadable(path: &Path, position: Position, reason: &str) -> FileProblem {
    problem(path, position, format!("the main agents cannot be read: {reason}"))
}

/// Reads a text file of limited size; returns `None` when it does not exist.
fn read_text(path: &Path) -> Result<Option<String>, FileProblem> {
    let start = Position { line: 1, column: 1 };
    let failed = |error: std::io::Error| unreadable(path, start, &error.to_string());
    match fs::metadata(path) {
        // Opening a pipe or a device could wait for ever.
        Ok(kind) if !kind.is_file() => return Err(unreadable(path, start, "this is not a file")),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::new();
    // One byte more than allowed, so that a file that is too large is recognised.
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_FILE_BYTES {
        let reason = format!("it is larger than {MAX_FILE_BYTES} bytes");
        return Err(unreadable(path, start, &reason));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let text = String::from_utf8_lossy(valid);
            Err(unreadable(path, Position::after(&text), "it is not UTF-8 text"))
        }
    }
}
