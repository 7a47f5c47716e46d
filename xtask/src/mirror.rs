//! Copies a shared folder into the target folder: the original may be read-only, and files that are built or installed in
//! the copy stay there between runs.

use std::{fs, path::Path};

use anyhow::{Context, Result};

/// Copies the files of `from` whose names `wanted` accepts to `to`. Other files of `to` stay.
pub fn mirror(from: &Path, to: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("{} cannot be made", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        if !wanted(&name.to_string_lossy()) {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type()?.is_dir() {
            mirror(&entry.path(), &target, wanted)?;
            continue;
        }
        let content = fs::read(entry.path())?;
        // An unchanged file keeps its modification time, so that nothing is rebuilt for it.
        if fs::read(&target).is_ok_and(|present| present == content) {
            continue;
        }
        if target.exists() {
            fs::remove_file(&target)?;
        }
        fs::copy(entry.path(), &target).with_context(|| format!("{} cannot be copied", target.display()))?;
    }
    Ok(())
}
