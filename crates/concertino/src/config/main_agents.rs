//! Reads where the file with main agents is.

use std::path::{Path, PathBuf};

const FILE: &str = "main-agents.toml";
/// Folders below the work directory and the home folder; the second is that of Snow CLI.
const FOLDERS: [&str; 2] = [".concertino", ".snow"];

/// Where main agents are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MainAgentsPath {
    /// The settings name the file: it must exist and be valid.
    Named(PathBuf),
    /// The first of these that exists and is not empty.
    Search(Vec<PathBuf>),
}

pub(super) fn main_agents(named: Option<PathBuf>, workdir: &Path, home: Option<&Path>) -> MainAgentsPath {
    match named {
        Some(path) => MainAgentsPath::Named(path),
        None => {
            let places = [Some(workdir), home].into_iter().flatten();
            let paths = places.flat_map(|place| FOLDERS.map(|folder| place.join(folder).join(FILE)));
            MainAgentsPath::Search(paths.collect())
        }
    }
}
