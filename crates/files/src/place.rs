//! Where a path leads that a command names, in the words of the operating system.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use crate::{FileDomain, LogicalPath};

/// Where a path of a command leads, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A path that tools may reach.
    Inside(LogicalPath),
    /// Anywhere else; also what tools may not reach inside the work directory.
    Outside(PathBuf),
}

impl FileDomain {
    /// Finds where a path leads that a command names when it runs in the folder `cwd` of the work directory. The last
    /// components need not exist. Only names are looked up, nothing is opened.
    pub fn place(&self, cwd: &LogicalPath, written: &str) -> Place {
        let root = self.os_path(&LogicalPath::root());
        let path = follow(&self.os_path(cwd).join(written));
        let inside = path.strip_prefix(&root).ok().and_then(|below| below.to_str());
        match inside.map(LogicalPath::parse) {
            Some(Ok(logical)) if !self.is_protected(&logical) => Place::Inside(logical),
            _ => Place::Outside(path),
        }
    }

    /// The path of a folder or file for a process that this program starts.
    pub fn os_path(&self, path: &LogicalPath) -> PathBuf {
        let [canonical, _] = self.root.paths();
        if path.is_root() { canonical.to_owned() } else { canonical.join(path.relative()) }
    }

    /// Whether tools may not reach it, or a folder above it.
    fn is_protected(&self, path: &LogicalPath) -> bool {
        let above = std::iter::successors(Some(path.clone()), LogicalPath::parent);
        above.filter(|path| !path.is_root()).any(|path| {
            self.info(&path).is_err_and(|error| error.code == protocol::FailureCode::AccessDenied)
        })
    }
}

/// Follows the links of a path as far as it exists, and removes `.` and `..` from the rest.
fn follow(path: &Path) -> PathBuf {
    let mut rest: Vec<OsString> = Vec::new();
    let mut existing = path.to_owned();
    let mut found = loop {
        if let Ok(found) = existing.canonicalize() {
            break found;
        }
        // A link that leads nowhere yet: what is made there is made at its target.
        if let Ok(target) = existing.read_link()
            && rest.len() < 256
        {
            let above = existing.parent().map(Path::to_owned).unwrap_or_default();
            rest.push(OsString::new());
            existing = above.join(target);
            continue;
        }
        match existing.components().next_back() {
            Some(Component::Normal(name)) => rest.push(name.to_owned()),
            Some(Component::ParentDir) => rest.push("..".into()),
            _ => break existing,
        }
        existing.pop();
    };
    for name in rest.into_iter().rev().filter(|name| !name.is_empty()) {
        if name == ".." {
            found.pop();
        } else {
            found.push(name);
        }
    }
    found
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::HardLinks;

    #[test]
    fn a_path_of_a_command_is_found_after_its_links() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let work = top.join("work");
        std::fs::create_dir_all(work.join("src/deep")).unwrap();
        std::fs::create_dir_all(work.join("data")).unwrap();
        std::fs::write(top.join("secret"), "s").unwrap();
        std::fs::write(work.join("data/token"), "t").unwrap();
        symlink("../secret", work.join("out")).unwrap();
        symlink("src", work.join("in")).unwrap();
        symlink(top.join("new"), work.join("dangling")).unwrap();
        symlink("dangling", work.join("twice")).unwrap();
        let domain = FileDomain::open(&work, &[work.join("data")], HardLinks::Refuse).unwrap();
        let root = LogicalPath::root();
        let inside = |path: &str| Place::Inside(LogicalPath::parse(path).unwrap());
        let outside = |path: &str| Place::Outside(top.join(path));
        let in_src = LogicalPath::parse("src").unwrap();
        for (cwd, written, expected) in [
            (&root, ".", Place::Inside(LogicalPath::root())),
            (&root, "src/new.txt", inside("src/new.txt")),
            (&root, "in/deep/../x", inside("src/x")),
            (&in_src, "../a", inside("a")),
            (&in_src, "../../secret", outside("secret")),
            (&root, "out", outside("secret")),
            (&root, "dangling", outside("new")),
            (&root, "twice", outside("new")),
            (&root, "dangling/more", outside("new/more")),
            (&root, "no/../../secret", outside("secret")),
            (&root, "data/token", outside("work/data/token")),
            (&root, "/etc/passwd", Place::Outside("/etc/passwd".into())),
        ] {
            assert_eq!(domain.place(cwd, written), expected, "{cwd} {written}");
        }
        assert_eq!(domain.place(&root, work.join("src").to_str().unwrap()), inside("src"));
    }
}
