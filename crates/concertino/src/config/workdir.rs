//! Reads where the files of the workspaces are.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Returns the work directory of the default workspace. `chosen` is what the settings say, `here` the folder in which the program was started.
///
/// Without a setting, the files of the default workspace are those of the folder in which the program was started. The
/// home folder and `/` hold too much that no agent should see, so there it is a folder in the data folder.
pub(super) fn workdir(
    chosen: Option<PathBuf>,
    data_dir: &Path,
    here: &Path,
    home: Option<&Path>,
) -> Result<PathBuf> {
    let absolute = |path: &Path| {
        std::path::absolute(path)
            .with_context(|| format!("the work directory {} is not a path", path.display()))
    };
    let data_dir = absolute(data_dir)?;
    match chosen {
        Some(chosen) => absolute(&chosen),
        None => {
            let here = absolute(here)?;
            let is_too_much = here.parent().is_none() || home.is_some_and(|home| is_same(home, &here));
            Ok(if is_too_much { data_dir.join("workspace") } else { here })
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// Makes sure that the work directory of the default workspace exists. One in the data folder is created; one that a
/// person named must exist, because a mistyped name would otherwise become an empty folder.
pub(crate) fn prepare(folder: &Path, data_dir: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let data_dir = std::path::absolute(data_dir)?;
    if !folder.starts_with(&data_dir) {
        bail!(
            "the work directory {} does not exist or is not a folder; create it, or name another with --workdir",
            folder.display()
        );
    }
    store::make_private_folder(folder)
        .with_context(|| format!("cannot create the work directory {}", folder.display()))
}
