//! Notices changes of the files that define agents, without reading them.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

/// So many entries of a folder are looked at.
const MAX_ENTRIES: usize = 2000;
/// A file system may give two changes in a row the same time.
const RACY: Duration = Duration::from_secs(2);

/// What the file system says about all files at one moment. Two that are equal mean that nothing has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileState {
    files: Vec<(PathBuf, Option<Stamp>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Duration,
    /// When the inode was changed last; unlike `modified`, nobody can set it back.
    changed: Duration,
    /// Device and inode: a file that was replaced by another has others.
    identity: [u64; 2],
}

impl FileState {
    /// Looks at these files, and at the agent files of the folder.
    pub(super) fn of(files: &[PathBuf], folder: &Path) -> Self {
        let mut paths = files.to_vec();
        paths.push(folder.to_owned());
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)
            .map(|entries| entries.flatten().take(MAX_ENTRIES).map(|entry| entry.path()).collect())
            .unwrap_or_default();
        entries.sort();
        for entry in entries {
            if entry.is_dir() {
                paths.extend(["agent.toml", "prompt.md", "prompt.zh.md"].map(|name| entry.join(name)));
            }
            paths.push(entry);
        }
        let stamped = |path: PathBuf| {
            let stamp = Stamp::of(&path);
            (path, stamp)
        };
        Self { files: paths.into_iter().map(stamped).collect() }
    }

    /// Whether a file was changed so shortly before `now` that a further change might not be visible.
    pub(super) fn is_racy(&self, now: Duration) -> bool {
        let stamps = self.files.iter().filter_map(|(_, stamp)| stamp.as_ref());
        stamps.map(|stamp| stamp.modified.max(stamp.changed)).any(|newest| now.abs_diff(newest) < RACY)
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.unwrap_or_default();
        #[cfg(unix)]
        let (changed, identity) = {
            use std::os::unix::fs::MetadataExt;
            let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
            let changed = Duration::new(seconds, u32::try_from(metadata.ctime_nsec()).unwrap_or_default());
            (changed, [metadata.dev(), metadata.ino()])
        };
        #[cfg(not(unix))]
        let (changed, identity) = (modified, [0; 2]);
        Some(Self { bytes: metadata.len(), modified, changed, identity })
    }
}
