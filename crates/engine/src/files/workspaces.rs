//! The work directory of each workspace, opened on first use.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::files::{ContentStore, FileDomain, FileError, HardLinks, SnapshotStore};
use parking_lot::Mutex;
use protocol::{Durability, FailureCode, FileChange, FileState, WorkspaceId};
use sha2::{Digest, Sha256};
use store::make_private_folder;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

use super::blocking;

/// How many bytes of contents are kept per workspace by default.
pub const CONTENT_LIMIT: u64 = 512 << 20;
/// A longer name of a folder is replaced by its SHA-256.
const LONGEST_NAME: usize = 120;

/// Where the files of workspaces are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSettings {
    /// The work directory of the default workspace.
    pub workdir: PathBuf,
    /// The server's own folder, which no tool can reach. It has the work directories of the other workspaces, and the
    /// contents of files before and after changes.
    pub data_dir: PathBuf,
    /// Further files and folders that no tool can reach, such as the settings file.
    pub protected: Vec<PathBuf>,
    pub hard_links: HardLinks,
    /// How many bytes of contents are kept per workspace, for reverts. The oldest are removed first.
    pub content_limit: u64,
    /// What changes of files survive.
    pub durability: Durability,
}

/// The work directories of all workspaces.
pub(crate) struct Workspaces {
    settings: Option<FileSettings>,
    open: Mutex<HashMap<WorkspaceId, Arc<Workspace>>>,
}

/// The files of one workspace.
pub(crate) struct Workspace {
    pub(crate) id: WorkspaceId,
    pub(crate) domain: FileDomain,
    /// Contents of files before and after changes.
    pub(crate) contents: ContentStore,
    pub(crate) content_limit: u64,
    /// Files and folders that no command can reach.
    pub(crate) hidden: Vec<PathBuf>,
    /// Contents of files before commands that may change them.
    pub(crate) snapshots: SnapshotStore,
    /// What tools made of files most recently, by path.
    made: Mutex<HashMap<String, Option<FileState>>>,
    /// Held from the check of a change set until it is finished, and while contents are removed.
    changing: AsyncMutex<()>,
    /// How many bytes of contents are kept, at most; `None` until they are counted.
    kept_bytes: Mutex<Option<u64>>,
    /// How many lines differ between two contents, by their names.
    line_counts: Mutex<HashMap<[Option<String>; 2], [u32; 2]>>,
}

/// How many changes of tools are remembered.
const MOST_NOTED: usize = 4096;
/// How many line counts are remembered.
const MOST_COUNTS: usize = 4096;

impl Workspaces {
    /// Without settings there are no files.
    pub(crate) fn new(settings: Option<FileSettings>) -> Self {
        Self { settings, open: Mutex::default() }
    }

    /// The files of a workspace. Its folder is made on first use.
    pub(crate) async fn get(&self, id: &WorkspaceId) -> Result<Arc<Workspace>, FileError> {
        if let Some(open) = self.open.lock().get(id) {
            return Ok(Arc::clone(open));
        }
        let settings = self.settings.clone().ok_or_else(|| {
            let message = "no work directory is configured; set one with `--workdir`";
            FileError::new(FailureCode::NotConfigured, message)
        })?;
        let workspace = id.clone();
        let opened = Arc::new(blocking(move || Workspace::open(&settings, workspace)).await?);
        // Another task may have been faster. All must share one, since it has the lock.
        Ok(Arc::clone(self.open.lock().entry(id.clone()).or_insert(opened)))
    }

    /// The folder with the contents of all workspaces.
    pub(crate) fn contents_folder(&self) -> Option<PathBuf> {
        self.settings.as_ref().map(|settings| settings.data_dir.join(CONTENTS))
    }
}

/// The file of a kept content in a backup, below the folder of the backup; `None` for what is no SHA-256.
pub fn content_file(workspace: &WorkspaceId, content: &str) -> Option<PathBuf> {
    let is_hash = content.len() == 64 && content.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| PathBuf::from(CONTENTS).join(folder_name(workspace)).join(content))
}

/// The kept contents of a workspace, to copy them while the server may be running.
pub fn contents_to_read(data_dir: &Path, workspace: &WorkspaceId) -> Result<ContentStore, FileError> {
    ContentStore::open_to_read(&data_dir.join(CONTENTS).join(folder_name(workspace)))
}

/// The folder of the data directory with the contents of files before commands: a folder per workspace.
const SNAPSHOTS: &str = "snapshots";
/// The folder of the data directory with kept contents: a folder per workspace.
pub(crate) const CONTENTS: &str = "contents";

impl Workspace {
    pub(super) fn open(settings: &FileSettings, id: WorkspaceId) -> Result<Self, FileError> {
        let name = folder_name(&id);
        let workdir = if id == WorkspaceId::default_workspace() {
            settings.workdir.clone()
        } else {
            settings.data_dir.join("workspaces").join(&name)
        };
        let contents = settings.data_dir.join(CONTENTS);
        let contents = contents.join(&name);
        let snapshots = settings.data_dir.join(SNAPSHOTS).join(&name);
        for folder in [&workdir, &contents, &snapshots] {
            make_private_folder(folder).map_err(|error| {
                let message = format!("a folder of the workspace cannot be made: {}", error.kind());
                FileError::new(FailureCode::NotConfigured, message)
            })?;
        }
        let protected: Vec<_> =
            std::iter::once(&settings.data_dir).chain(&settings.protected).cloned().collect();
        Ok(Self {
            domain: FileDomain::open(&workdir, &protected, settings.hard_links)?,
            contents: ContentStore::open(&contents, settings.durability)?,
            hidden: protected,
            snapshots: SnapshotStore::open(&snapshots)?,
            made: Mutex::default(),
            content_limit: settings.content_limit,
            changing: AsyncMutex::new(()),
            kept_bytes: Mutex::new(None),
            line_counts: Mutex::default(),
            id,
        })
    }

    /// Waits until no change set of the workspace is being made and no content removed.
    pub(crate) async fn lock(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Notes what a tool made of files, so that a command that ran meanwhile is not said to have done it.
    pub(super) fn note_changes(&self, changes: &[FileChange]) {
        let mut made = self.made.lock();
        if made.len() >= MOST_NOTED {
            made.clear();
        }
        made.extend(changes.iter().map(|change| (change.path.clone(), change.after.clone())));
    }

    /// Whether a tool has made and recorded this change.
    pub(super) fn was_made_by_a_tool(&self, change: &FileChange) -> bool {
        self.made.lock().remove(&change.path).is_some_and(|after| after == change.after)
    }

    /// Notes that contents of so many bytes were kept; returns whether there may be more than the limit allows.
    pub(crate) fn note_kept(&self, bytes: u64) -> bool {
        let mut kept = self.kept_bytes.lock();
        match kept.as_mut() {
            Some(kept) => {
                *kept = kept.saturating_add(bytes);
                *kept > self.content_limit
            }
            None => true,
        }
    }

    pub(crate) fn set_kept(&self, bytes: u64) {
        *self.kept_bytes.lock() = Some(bytes);
    }

    /// How many lines were added and removed between two contents, if that is remembered.
    pub(super) fn counted_lines(&self, contents: &[Option<String>; 2]) -> Option<[u32; 2]> {
        self.line_counts.lock().get(contents).copied()
    }

    pub(super) fn remember_lines(&self, contents: [Option<String>; 2], lines: [u32; 2]) {
        let mut counts = self.line_counts.lock();
        if counts.len() >= MOST_COUNTS {
            counts.clear();
        }
        counts.insert(contents, lines);
    }
}

/// The name of a workspace's folder. People choose the names of workspaces, so characters that could have a meaning in a
/// path are written as hex, and no two workspaces have the same folder.
pub(crate) fn folder_name(workspace: &WorkspaceId) -> String {
    let mut name = String::new();
    for byte in workspace.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => name.push(char::from(byte)),
            other => name.push_str(&format!("_{other:02x}")),
        }
    }
    match name.len() {
        0 => "_".to_owned(),
        1..=LONGEST_NAME => name,
        // A short name has no `_` that is not followed by two digits.
        _ => format!("_sha256-{:x}", Sha256::digest(workspace.as_str())),
    }
}

/// The workspace whose folder has this name; `None` for a name that is none of ours, or that was too long to be kept.
pub(crate) fn workspace_of(folder: &str) -> Option<WorkspaceId> {
    let mut bytes = Vec::new();
    let mut rest = folder.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'_' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let id = WorkspaceId::new(String::from_utf8(bytes).ok()?);
    (folder_name(&id) == folder).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(folder: &std::path::Path) -> FileSettings {
        FileSettings {
            workdir: folder.join("work"),
            data_dir: folder.join("data"),
            protected: Vec::new(),
            hard_links: HardLinks::Refuse,
            content_limit: CONTENT_LIMIT,
            durability: Durability::Process,
        }
    }

    #[test]
    fn the_folder_of_a_workspace_is_one_plain_name_that_no_other_has() {
        for (id, name) in [
            ("team-1", "team-1"),
            ("", "_"),
            ("_", "_5f"),
            ("..", "_2e_2e"),
            ("a/b", "a_2fb"),
            ("Ab", "_41b"),
            ("组", "_e7_bb_84"),
        ] {
            assert_eq!(folder_name(&WorkspaceId::new(id)), name, "{id}");
            assert_eq!(workspace_of(name), (!id.is_empty()).then(|| WorkspaceId::new(id)));
        }
        let (long, longer) = ("a".repeat(200), "a".repeat(201));
        let name = folder_name(&WorkspaceId::new(long));
        assert!(name.starts_with("_sha256-") && name.len() == 72, "{name}");
        assert_ne!(name, folder_name(&WorkspaceId::new(longer)));
        for name in [name.as_str(), "Team", "_4", "_zz", "_61", ".."] {
            assert_eq!(workspace_of(name), None, "{name}");
        }
    }

    #[tokio::test]
    async fn each_workspace_has_its_own_folder_and_none_reaches_the_servers() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        std::fs::create_dir_all(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("data/token"), "secret").unwrap();
        let workspaces = Workspaces::new(Some(FileSettings { workdir: folder.path().into(), ..settings }));
        let default = workspaces.get(&WorkspaceId::default_workspace()).await.unwrap();
        let team = workspaces.get(&WorkspaceId::new("team")).await.unwrap();
        assert!(Arc::ptr_eq(&team, &workspaces.get(&WorkspaceId::new("team")).await.unwrap()));
        std::fs::write(folder.path().join("data/workspaces/team/a.txt"), "a").unwrap();
        let path = team.domain.resolve("a.txt").unwrap();
        assert_eq!(team.domain.read(&path, 10).unwrap().bytes, b"a");
        for path in ["data/token", "data/workspaces/team/a.txt"] {
            let path = default.domain.resolve(path).unwrap();
            assert!(default.domain.read(&path, 10).is_err(), "{path}");
        }
    }

    #[tokio::test]
    async fn without_a_work_directory_there_are_no_files() {
        let error = Workspaces::new(None).get(&WorkspaceId::default_workspace()).await.err().unwrap();
        assert_eq!(error.code, FailureCode::NotConfigured);
    }
}
