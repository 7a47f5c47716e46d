//! What a shell pattern matches, as the shell of a command would find it. Only names are looked at.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::{FileDomain, LogicalPath};

/// More than so many matches, or entries on the way, are not looked at.
const MOST_MATCHES: usize = 1000;
const MOST_ENTRIES: usize = 20_000;

impl FileDomain {
    /// The paths that a pattern matches in a folder, as they are written from there. `None` when the pattern is not a plain
    /// one (`**`), or there is too much to look at.
    pub fn expand(&self, cwd: &LogicalPath, pattern: &str) -> Option<Vec<String>> {
        let is_absolute = pattern.starts_with('/');
        let start = if is_absolute { PathBuf::from("/") } else { self.os_path(cwd) };
        let mut found = vec![(start, if is_absolute { "/".to_owned() } else { String::new() })];
        let mut left = MOST_ENTRIES;
        for component in pattern.split('/').filter(|component| !component.is_empty()) {
            if component == "**" {
                return None;
            }
            let mut next = Vec::new();
            for (folder, written) in &found {
                for name in names(folder, component, &mut left)? {
                    let written = match written.as_str() {
                        "" => name.clone(),
                        before if before.ends_with('/') => format!("{before}{name}"),
                        before => format!("{before}/{name}"),
                    };
                    next.push((folder.join(&name), written));
                }
            }
            if next.len() > MOST_MATCHES {
                return None;
            }
            found = next;
        }
        Some(found.into_iter().map(|(_, written)| written).collect())
    }
}

/// The names in a folder that one component of a pattern matches.
fn names(folder: &Path, component: &str, left: &mut usize) -> Option<Vec<String>> {
    if !component.contains(['*', '?', '[']) {
        let exists = folder.join(component).symlink_metadata().is_ok();
        return Some(if exists { vec![component.to_owned()] } else { Vec::new() });
    }
    let matcher = GlobBuilder::new(component).literal_separator(true).build().ok()?.compile_matcher();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        *left = left.checked_sub(1)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // A shell shows hidden names only where the pattern begins with a point.
        let is_shown = !name.starts_with('.') || component.starts_with('.');
        if is_shown && matcher.is_match(&name) {
            names.push(name);
        }
    }
    names.sort();
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HardLinks;

    #[test]
    fn a_pattern_is_expanded_as_a_shell_does() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["src/a.rs", "src/b.rs", "src/c.txt", "src/deep/d.rs", ".env", "README.md"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let domain = FileDomain::open(folder.path(), &[], HardLinks::Refuse).unwrap();
        let root = LogicalPath::root();
        let src = LogicalPath::parse("src").unwrap();
        for (cwd, pattern, expected) in [
            (&root, "*", Some(vec!["README.md", "src"])),
            (&root, ".e*", Some(vec![".env"])),
            (&root, "src/*.rs", Some(vec!["src/a.rs", "src/b.rs"])),
            (&src, "*/*.rs", Some(vec!["deep/d.rs"])),
            (&src, "../*.md", Some(vec!["../README.md"])),
            (&src, "[ab].rs", Some(vec!["a.rs", "b.rs"])),
            (&root, "none/*", Some(vec![])),
            (&root, "**/*.rs", None),
        ] {
            let found = domain.expand(cwd, pattern);
            let found = found.as_ref().map(|found| found.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found, expected, "{cwd} {pattern}");
        }
    }
}
