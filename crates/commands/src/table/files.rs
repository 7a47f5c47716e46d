//! Groups of files in the work directory that are protected: `table/files.toml`.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use super::TableError;

/// Protected files of the work directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileGroups {
    groups: Vec<(Protection, String, GlobSet)>,
}

/// What is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Protection {
    /// Writing asks every time.
    Write,
    /// Writing asks every time, and reading asks.
    Secret,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    group: Vec<GroupForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupForm {
    protection: Protection,
    /// Completes "<path>, which …".
    which: String,
    patterns: String,
}

impl FileGroups {
    pub(super) fn read(text: &str) -> Result<Self, TableError> {
        let form: Form = toml::from_str(text)?;
        let groups = form
            .group
            .into_iter()
            .map(|group| Ok((group.protection, group.which, compile(&group.patterns)?)));
        Ok(Self { groups: groups.collect::<Result<_, TableError>>()? })
    }

    /// The protection of a path, and why. Upper and lower case are the same, because some file systems say so.
    pub(crate) fn protection(&self, path: &str) -> Option<(Protection, &str)> {
        let path = path.trim_end_matches('/').to_lowercase();
        let found = self.groups.iter().filter(|(_, _, patterns)| patterns.is_match(&path));
        let found = found.map(|(protection, which, _)| (*protection, which.as_str()));
        found.max_by_key(|(protection, _)| *protection == Protection::Secret)
    }
}

fn compile(patterns: &str) -> Result<GlobSet, TableError> {
    let mut set = GlobSetBuilder::new();
    let glob = |text: &str| -> Result<Glob, globset::Error> {
        GlobBuilder::new(text).literal_separator(true).build()
    };
    for pattern in patterns.split_whitespace() {
        set.add(glob(pattern)?);
        set.add(glob(&format!("**/{pattern}"))?);
        // What is put into a folder by a command that names only the folder is inside of it.
        if let Some(folder) = pattern.strip_suffix("/**") {
            set.add(glob(folder)?);
            set.add(glob(&format!("**/{folder}"))?);
        }
    }
    Ok(set.build()?)
}
