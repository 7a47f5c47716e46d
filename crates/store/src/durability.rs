//! What an acknowledged write survives, and the file system calls that make new files and folders durable.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// What a write survives once it has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power loss: the commit is synced to the disk (fsync) before the write returns.
    #[default]
    Power,
    /// The end of this process, even by `kill -9`. A power loss may take the newest writes.
    Process,
}

impl std::str::FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "power" => Ok(Self::Power),
            "process" => Ok(Self::Process),
            other => Err(format!("durability must be \"power\" or \"process\", not \"{other}\"")),
        }
    }
}

impl std::fmt::Display for Durability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Power => "power",
            Self::Process => "process",
        })
    }
}

/// Syncs a folder, so that its new, renamed and removed names survive a power loss.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // The parent of a bare file name is "", which means the current folder.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Other systems have no way to sync a folder.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Creates a folder that only its owner can open, with missing folders above it. New folders survive a power loss.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(Path::new(""));
    make_private_folder(parent)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        made => made?,
    }
    sync_folder(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_durability_is_read_as_it_is_written() {
        for durability in [Durability::Power, Durability::Process] {
            assert_eq!(durability.to_string().parse(), Ok(durability));
        }
        let error = "fast".parse::<Durability>().unwrap_err();
        assert!(error.contains("\"power\" or \"process\""), "{error}");
    }

    #[test]
    fn folders_are_made_with_those_above_them() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        make_private_folder(&deep).unwrap();
        make_private_folder(&deep).unwrap();
        assert!(deep.is_dir());
    }
}
