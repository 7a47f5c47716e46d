//! Which entries listings and searches leave out: `.gitignore` files, with or without a repository, and some defaults.

use std::{io::Read, path::Path, sync::Arc};

use cap_std::fs::Dir;
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::{LogicalPath, domain::Root, handle::Guard};

const GITIGNORE: &str = ".gitignore";
/// A longer `.gitignore` is read up to here.
const MAX_BYTES: u64 = 1 << 20;
const MAX_PATTERNS: usize = 10_000;
/// Folders of dependencies and of generated files.
const GENERATED: [&str; 5] = ["node_modules", "dist", "build", ".turbo", "__pycache__"];

/// What to leave out besides `.git`, `.DS_Store` and temporary files of the server, which are never shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoreRules {
    /// What `.gitignore` files name.
    #[default]
    Gitignore,
    /// Also folders of dependencies and of generated files (`node_modules`, `dist`, `build` …), unless a `.gitignore` file
    /// includes them with `!`.
    GitignoreAndGenerated,
    None,
}

/// The `.gitignore` files that hold in a folder: its own and those of the folders above.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignored {
    nearest: Option<Arc<Level>>,
}

#[derive(Debug)]
struct Level {
    patterns: Gitignore,
    /// The length of the folder's path, with the `/` at its end.
    prefix: usize,
    above: Option<Arc<Level>>,
}

impl Ignored {
    /// Reads those of the folders above `path`, not its own.
    pub fn above(root: &Root, path: &LogicalPath) -> Self {
        let mut ignored = Self::default();
        let mut dir = Arc::clone(&root.dir);
        let mut relative = String::new();
        for part in path.parts() {
            ignored = ignored.enter(&root.guard, &dir, &relative);
            // A link on the way: what is above its target does not matter here.
            let Ok(next) = root.guard.open_folder(&dir, part.as_ref()) else { break };
            dir = next.into();
            if !relative.is_empty() {
                relative.push('/');
            }
            relative.push_str(part);
        }
        ignored
    }

    /// Adds the folder's own file, if it has one.
    pub fn enter(&self, guard: &Guard, dir: &Dir, relative: &str) -> Self {
        let prefix = if relative.is_empty() { 0 } else { relative.len() + 1 };
        match read(guard, dir) {
            Some(patterns) => {
                Self { nearest: Some(Arc::new(Level { patterns, prefix, above: self.nearest.clone() })) }
            }
            None => self.clone(),
        }
    }

    /// Whether the file is left out by the defaults or a `.gitignore`.
    pub fn hides(&self, folder: &str, name: &str, is_folder: bool) -> bool {
        let path = join(folder, name);
        self.hides_path(IgnoreRules::GitignoreAndGenerated, &path, name, is_folder)
    }

    /// `path` is relative to the work directory and ends with `name`.
    pub fn hides_path(&self, rules: IgnoreRules, path: &str, name: &str, is_folder: bool) -> bool {
        if name == ".git" || name == ".DS_Store" {
            return true;
        }
        if rules == IgnoreRules::None {
            return false;
        }
        let mut level = self.nearest.as_ref();
        while let Some(here) = level {
            let relative = path.get(here.prefix..).unwrap_or(path);
            match here.patterns.matched(Path::new(relative), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = here.above.as_ref(),
            }
        }
        rules == IgnoreRules::GitignoreAndGenerated && is_folder && GENERATED.contains(&name)
    }
}

pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn read(guard: &Guard, dir: &Dir) -> Option<Gitignore> {
    let (file, _) = guard.open_file(dir, GITIGNORE.as_ref()).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.trim_start_matches('\u{feff}').lines().take(MAX_PATTERNS) {
        // As git does, a pattern that cannot be read is skipped.
        if builder.add_line(None, line).is_err() {
            continue;
        }
    }
    builder.build().ok().filter(|patterns| !patterns.is_empty())
}
