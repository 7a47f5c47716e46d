//! The parts of a repository that a command may not change although it may change the work directory.
//!
//! The settings and hooks in `.git` start programs whenever a person uses git there, outside of any sandbox.

use std::path::{Path, PathBuf};

use crate::spec::{Access, Sandbox};

/// The paths of the work directory that stay read-only: all of `.git`, or its hooks when the command may change the
/// repository. What the operator lists as writable is left out.
pub(crate) fn kept(sandbox: &Sandbox, workdir: &Path, access: Access) -> Vec<PathBuf> {
    let repository = workdir.join(".git");
    // A link is left alone: what it names is protected, or not, by its own place.
    let exists = |path: &Path| path.symlink_metadata().is_ok_and(|data| !data.is_symlink());
    let listed = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path.starts_with(&repository));
    if !exists(&repository) || sandbox.write.iter().any(listed) {
        return Vec::new();
    }
    match access {
        Access::ReadOnly => Vec::new(),
        Access::Workspace => vec![repository],
        Access::Repository => [repository.join("hooks")].into_iter().filter(|path| exists(path)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SandboxLevel;

    #[test]
    fn settings_and_hooks_are_kept_unless_the_operator_lists_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let mut sandbox = Sandbox {
            level: SandboxLevel::Required,
            workdir: root.clone(),
            read: vec![],
            write: vec![],
            hidden: vec![],
            launcher: "launcher".into(),
        };
        let kept = |sandbox: &Sandbox, access| super::kept(sandbox, &root, access);
        assert_eq!(kept(&sandbox, Access::Workspace), Vec::<PathBuf>::new());
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(kept(&sandbox, Access::ReadOnly), Vec::<PathBuf>::new());
        assert_eq!(kept(&sandbox, Access::Workspace), [root.join(".git")]);
        assert_eq!(kept(&sandbox, Access::Repository), Vec::<PathBuf>::new());
        std::fs::create_dir(root.join(".git/hooks")).unwrap();
        assert_eq!(kept(&sandbox, Access::Repository), [root.join(".git/hooks")]);
        sandbox.write = vec![root.join(".git")];
        assert_eq!(kept(&sandbox, Access::Workspace), Vec::<PathBuf>::new());
    }
}
