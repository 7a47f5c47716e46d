//! What an acknowledged write survives, and the file system calls that make new files and folders last.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// What a write survives once its caller has been answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power loss: the commit reached the disk (fsync) before the caller is answered.
    #[default]
    Power,
    /// The end of this process, also by `kill -9`. A power loss may take the newest writes back.
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

/// The names in this folder survive a power loss: new, renamed and removed files.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // The parent of a name without a folder is "", which means the present folder.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Other systems have no way to sync a folder.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Makes a folder that only its owner can open, with the folders above it. What was made survives a power loss.
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
