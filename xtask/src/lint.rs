//! `cargo xtask lint`: the checks that run no tests. The quick ones come first.

use anyhow::Result;

use crate::{
    command::{self, cargo},
    dependencies, links,
    project::Project,
    steps::Steps,
    tree,
};

pub fn run(project: &Project) -> Result<()> {
    let mut steps = Steps::default();
    let outcome = cheap(project, &mut steps).and_then(|()| expensive(project, &mut steps));
    steps.conclude(outcome)
}

/// The checks that take seconds.
pub fn cheap(project: &Project, steps: &mut Steps) -> Result<()> {
    steps.run("format", |_| command::run(cargo(project).args(["fmt", "--all", "--check"])))?;
    steps.run("tree", |notes| tree::check(project, notes))?;
    steps.run("links", |_| links::check(project))?;
    steps.run("dependencies", |_| dependencies::check(project))
}

/// The checks that compile the workspace.
pub fn expensive(project: &Project, steps: &mut Steps) -> Result<()> {
    steps.run("clippy", |_| clippy(project))?;
    steps.run("rustdoc", |_| rustdoc(project))
}

pub fn clippy(project: &Project) -> Result<()> {
    command::run(cargo(project).args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

pub fn rustdoc(project: &Project) -> Result<()> {
    command::run(cargo(project).args(["doc", "--no-deps", "--workspace"]).env("RUSTDOCFLAGS", "-D warnings"))
}
