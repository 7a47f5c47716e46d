//! Node and its packages. The client tests, the conformance suite and the web interface need them.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::command;

/// The oldest release that the client packages support.
pub const OLDEST: (u32, u32) = (20, 19);

pub struct Node {
    program: OsString,
}

impl Node {
    /// The installed Node, when it is new enough.
    pub fn installed() -> Option<Self> {
        Self::at("node".into())
    }

    /// Installs a newer one from the package registry into this folder.
    pub fn install_in(folder: &Path) -> Result<Self> {
        let place = folder.join(".node");
        let program = place.join("node_modules/node/bin/node");
        if let Some(node) = Self::at(program.clone().into_os_string()) {
            return Ok(node);
        }
        fs::create_dir_all(&place)?;
        // Without a prefix npm would look for a project in the folders above and install there.
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", "."]);
        command::run(npm.arg("node@22").current_dir(&place))?;
        Self::at(program.into_os_string()).context("the installed Node does not start")
    }

    fn at(program: OsString) -> Option<Self> {
        let said = command::output_of(Command::new(&program).arg("--version")).ok()?;
        (version(&said)? >= OLDEST).then_some(Self { program })
    }

    pub fn program(&self) -> &OsString {
        &self.program
    }

    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }
}

fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.trim().strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Runs `npm ci` when the lock file has changed since the last installation.
pub fn install_packages(folder: &Path) -> Result<()> {
    install(folder, &["ci"])
}

/// Does the same for packages that have a part per platform: a lock file made on one platform may lack the parts of
/// others, which `npm ci` refuses. The versions are still those of the lock file, and it is not written.
pub fn install_platform_packages(folder: &Path) -> Result<()> {
    install(folder, &["install", "--no-save"])
}

fn install(folder: &Path, how: &[&str]) -> Result<()> {
    let lock = fs::read(folder.join("package-lock.json")).context("no package-lock.json")?;
    let stamp: PathBuf = folder.join("node_modules/.installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    command::run(
        Command::new("npm")
            .args(how)
            .args(["--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(folder),
    )?;
    fs::write(&stamp, lock).with_context(|| format!("{} cannot be written", stamp.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version("v20.19.0\n"), Some((20, 19)));
        assert!(version("v9.99.0").unwrap() < OLDEST);
        assert!(version("v22.1.0").unwrap() > OLDEST);
        assert_eq!(version("node"), None);
    }
}
