//! The files and folders a command may reach.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    environment::TOOL_FOLDERS,
    error::StartError,
    repository,
    spec::{Access, Sandbox},
};

/// Folders of the system that hold programs and what they need.
const SYSTEM: [&str; 13] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/gnu",
    "/etc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];
/// Files that are often links to places outside of the folders above.
const LINKED: [&str; 3] = ["/etc/resolv.conf", "/etc/localtime", "/etc/hosts"];
/// Secrets in the system folders.
const SYSTEM_SECRETS: [&str; 10] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/security/opasswd",
    "/etc/krb5.keytab",
];
/// Tool chains and their caches in the home folder.
const HOME_TOOLS: [&str; 38] = [
    ".asdf",
    ".bun",
    ".cargo",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".deno",
    ".fnm",
    ".gitconfig",
    ".gradle",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".m2",
    ".mise",
    ".npm",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rye",
    ".sdkman",
    ".volta",
    ".yarn",
    ".cache/deno",
    ".cache/go-build",
    ".cache/ms-playwright",
    ".cache/node",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/uv",
    ".cache/yarn",
    "go",
];
/// Secrets in the home folder: in the tool chains, and in the rest when the work directory is the home folder itself.
const HOME_SECRETS: [&str; 19] = [
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".docker/config.json",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/keyrings",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".netrc",
    ".npm/_auth",
    ".password-store",
    ".ssh",
];
/// Secrets in the folder that `CARGO_HOME` names.
const CARGO_SECRETS: [&str; 2] = ["credentials", "credentials.toml"];

/// What may be done with a [`Root`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RootAccess {
    /// Read and execute.
    Read,
    /// Everything.
    Write,
}

/// A file or folder that a command may reach, with everything below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Root {
    /// The real path, without links.
    pub path: PathBuf,
    /// The path by which it is usually reached when that is a link.
    pub link: Option<PathBuf>,
    pub access: RootAccess,
    /// Another root contains it already; only the link is needed.
    pub covered: bool,
}

/// The roots of a command, and the paths hidden from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots {
    /// Parents before their children.
    pub roots: Vec<Root>,
    /// What the operator hides; wins over every list.
    pub hidden: Vec<PathBuf>,
    /// Usual places of secrets, without those that the operator lists. Hidden where that is possible.
    pub secrets: Vec<PathBuf>,
    /// Parts of the work directory that stay read-only where that is possible.
    pub kept: Vec<PathBuf>,
}

impl Roots {
    /// Collects the roots for a command. `env` is the command's environment: its `HOME` and `PATH` count.
    pub fn collect(sandbox: &Sandbox, access: Access, env: &[(String, String)]) -> Result<Self, StartError> {
        let workdir = real_folder(&sandbox.workdir)?;
        let variable =
            |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let home = variable("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
        let mut roots = Self {
            roots: Vec::new(),
            hidden: real_paths(sandbox.hidden.iter().cloned()),
            secrets: secrets(sandbox, home.as_deref(), variable("CARGO_HOME")),
            kept: repository::kept(sandbox, &workdir, access),
        };
        // A hidden folder around the work directory stays out of reach because no other root contains it.
        let around: Vec<PathBuf> =
            roots.hidden.extract_if(.., |hidden| workdir.starts_with(&*hidden)).collect();
        for path in SYSTEM.iter().chain(&LINKED) {
            roots.add(Path::new(path), RootAccess::Read);
        }
        let folders = TOOL_FOLDERS.iter().filter_map(|name| variable(name));
        for path in variable("PATH").unwrap_or_default().split(':').chain(folders).map(Path::new) {
            // A folder of tools in the home folder is fine, the home folder itself or a parent is not.
            let real = path.canonicalize().unwrap_or_default();
            let too_much = home.as_deref().is_some_and(|home| home.starts_with(&real));
            if path.is_absolute() && !too_much && real.components().count() > 2 {
                roots.add(path, RootAccess::Read);
            }
        }
        for path in home.iter().flat_map(|home| HOME_TOOLS.iter().map(move |tool| home.join(tool))) {
            roots.add(&path, RootAccess::Read);
        }
        for path in &sandbox.read {
            roots.add(path, RootAccess::Read);
        }
        let changeable = if access == Access::ReadOnly { RootAccess::Read } else { RootAccess::Write };
        for path in &sandbox.write {
            roots.add(path, changeable);
        }
        let exposes = |hidden: &&PathBuf| {
            let reached = |root: &Root| hidden.starts_with(&root.path) || root.path.starts_with(hidden);
            **hidden == workdir || roots.roots.iter().any(reached)
        };
        if let Some(hidden) = around.iter().find(exposes) {
            return Err(StartError::WorkdirHidden { workdir, hidden: hidden.clone() });
        }
        roots.add(&sandbox.workdir, changeable);
        roots.settle();
        Ok(roots)
    }

    fn add(&mut self, path: &Path, access: RootAccess) {
        let Ok(real) = path.canonicalize() else { return };
        if real == Path::new("/") || self.hides(&real) {
            return;
        }
        let link = (real != path && path.is_absolute()).then(|| path.to_owned());
        self.roots.push(Root { path: real, link, access, covered: false });
    }

    /// Sorts the roots and marks those that another one contains already.
    fn settle(&mut self) {
        // The strongest access first among equals, so that the others are covered by it.
        self.roots.sort_by(|a, b| {
            a.path.cmp(&b.path).then((b.access == RootAccess::Write).cmp(&(a.access == RootAccess::Write)))
        });
        let mut settled: Vec<Root> = Vec::new();
        for mut root in std::mem::take(&mut self.roots) {
            root.covered = settled.iter().any(|other| {
                !other.covered
                    && root.path.starts_with(&other.path)
                    && (root.access == RootAccess::Read || other.access == RootAccess::Write)
            });
            let known = settled.iter().any(|other| other.link == root.link && other.path == root.path);
            if !root.covered || root.link.is_some() && !known {
                settled.push(root);
            }
        }
        self.roots = settled;
    }

    /// Whether a real path is in one of the roots and not hidden.
    pub fn contains(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| real.starts_with(&root.path)) && !self.hides(real)
    }

    fn hides(&self, real: &Path) -> bool {
        self.hidden.iter().chain(&self.secrets).any(|hidden| real.starts_with(hidden))
    }
}

/// The real path of a folder.
pub(crate) fn real_folder(path: &Path) -> Result<PathBuf, StartError> {
    let real = path.canonicalize().and_then(|real| {
        if real.is_dir() { Ok(real) } else { Err(std::io::Error::from(std::io::ErrorKind::NotADirectory)) }
    });
    real.map_err(|source| StartError::Folder { path: path.to_owned(), source })
}

/// The usual places of secrets that exist, without those that the operator lists himself.
fn secrets(sandbox: &Sandbox, home: Option<&Path>, cargo: Option<&str>) -> Vec<PathBuf> {
    let of_system = SYSTEM_SECRETS.iter().map(PathBuf::from);
    let at_home = home.into_iter().flat_map(|home| HOME_SECRETS.iter().map(move |secret| home.join(secret)));
    let of_cargo =
        cargo.into_iter().flat_map(|cargo| CARGO_SECRETS.map(|secret| Path::new(cargo).join(secret)));
    let listed = [std::slice::from_ref(&sandbox.workdir), &sandbox.read, &sandbox.write].concat();
    let listed = real_paths(listed.into_iter());
    let mut secrets = real_paths(of_system.chain(at_home).chain(of_cargo));
    secrets.retain(|secret| !listed.iter().any(|path| path.starts_with(secret)));
    secrets
}

/// The real paths of those that exist, sorted.
fn real_paths(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut real: Vec<PathBuf> = paths.filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// A path that a rule is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub path: PathBuf,
    pub access: RootAccess,
    /// Only the listing of this one folder, whose other entries have rules of their own.
    pub listing: bool,
}

/// The rules for a root without what is hidden in it: its entries instead of the folder itself.
///
/// Links are left out: a rule for one would be a rule for its target.
pub(crate) fn grants(root: &Root, hidden: &[PathBuf]) -> Vec<Grant> {
    let mut grants = Vec::new();
    let mut pending = vec![root.path.clone()];
    while let Some(path) = pending.pop() {
        if hidden.iter().any(|hidden| path.starts_with(hidden)) {
            continue;
        }
        if !hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            grants.push(Grant { path, access: root.access, listing: false });
            continue;
        }
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                pending.push(entry.path());
            }
        }
        grants.push(Grant { path, access: root.access, listing: true });
    }
    grants
}

#[cfg(test)]
#[path = "roots_tests.rs"]
mod tests;
