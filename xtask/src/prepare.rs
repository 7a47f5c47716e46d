//! Gets what the tests need. As root missing Debian packages are installed; anybody else is told the one line to run,
//! and what needs them is skipped, loudly.

use std::process::Command;

use anyhow::Result;

use crate::{
    command,
    node::{self, Node},
    project::Project,
    python,
    steps::Notes,
};

/// `None`: there is no Node and we may not install it.
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
    if !command::answers("npm") {
        notes.skip("the tests with the real client and of the web interface: no npm");
        return Ok(None);
    }
    let client = project.root.join("tests/client");
    let node = match Node::of_the_machine() {
        Some(node) => node,
        None => Node::beside(&client)?,
    };
    node::install_packages(&client)?;
    node::install_platform_packages(&project.root.join("web"))?;
    Ok(Some(node))
}

fn missing_packages() -> Vec<&'static str> {
    let mut missing = Vec::new();
    for (program, package) in
        [("cc", "build-essential"), ("node", "nodejs"), ("npm", "npm"), ("chromium", "chromium")]
    {
        if !command::answers(program) {
            missing.push(package);
        }
    }
    if !python::is_there() {
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
