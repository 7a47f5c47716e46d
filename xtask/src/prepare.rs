//! Installs what the tests need. As root it installs missing Debian packages; otherwise it prints the command to run, and
//! the tests that need them are skipped with a note in the summary.

use std::process::Command;

use anyhow::Result;

use crate::{
    command,
    node::{self, Node},
    project::Project,
    python,
    steps::Notes,
};

/// Returns `None` when there is no Node and it cannot be installed.
pub fn everything(project: &Project, notes: &mut Notes) -> Result<Option<Node>> {
    let missing = missing_packages();
    if !missing.is_empty() {
        if is_root() {
            install(&missing)?;
        } else {
            let line = format!("sudo apt-get install -y {}", missing.join(" "));
            notes.skip(&format!("what needs {}; to install: {line}", missing.join(", ")));
        }
    }
    let node = web_packages(project, notes)?;
    if node.is_some() {
        node::install_packages(&project.root.join("tests/client"))?;
    }
    Ok(node)
}

/// Node with the packages of the web interface; `None` without npm.
pub fn web_packages(project: &Project, notes: &mut Notes) -> Result<Option<Node>> {
    if !command::is_installed("npm") {
        notes.skip("the tests with the real client and of the web interface: no npm");
        return Ok(None);
    }
    let node = match Node::installed() {
        Some(node) => node,
        None => Node::install_in(&project.root.join("tests/client"))?,
    };
    node::install_platform_packages(&project.root.join("web"))?;
    Ok(Some(node))
}

fn missing_packages() -> Vec<&'static str> {
    let mut missing = Vec::new();
    for (program, package) in
        [("cc", "build-essential"), ("node", "nodejs"), ("npm", "npm"), ("chromium", "chromium")]
    {
        if !command::is_installed(program) {
            missing.push(package);
        }
    }
    if !python::is_available() {
        missing.extend(["python3", "python3-venv"]);
    }
    missing
}

pub fn is_root() -> bool {
    command::output_of(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn install(packages: &[&str]) -> Result<()> {
    command::run(Command::new("apt-get").arg("update").env("DEBIAN_FRONTEND", "noninteractive"))?;
    let mut apt = Command::new("apt-get");
    apt.args(["install", "-y", "--no-install-recommends"]).args(packages);
    command::run(apt.env("DEBIAN_FRONTEND", "noninteractive"))
}
