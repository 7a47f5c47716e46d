//! The file system calls that make new files and folders durable.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

pub use protocol::Durability;

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
    fn folders_are_made_with_those_above_them() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        make_private_folder(&deep).unwrap();
        make_private_folder(&deep).unwrap();
        assert!(deep.is_dir());
    }
}
