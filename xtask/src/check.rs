//! `cargo xtask check`: the checks to run while editing. Format and tree always; lints and types of the crates that
//! changed since the branch left `main` and of those that depend on them; unit tests of the crates that changed.
//!
//! `cargo xtask test` is what CI runs; this is the quick part of it.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Args;

use crate::{
    changes::{self, Affected, Workspace},
    command::{self, cargo},
    dependencies, links, prepare,
    project::Project,
    rust_tests,
    steps::{Notes, Steps},
    tree, web,
};

#[derive(Args)]
pub struct CheckArguments {
    /// Check every crate and the web interface, not only what changed
    #[arg(long)]
    all: bool,
    /// Compare with this commit; without it, with the commit where the branch left `main`
    #[arg(long, value_name = "COMMIT")]
    since: Option<String>,
}

pub fn run(project: &Project, arguments: &CheckArguments) -> Result<()> {
    let mut steps = Steps::default();
    let outcome = every_step(project, arguments, &mut steps);
    steps.conclude(outcome)
}

fn every_step(project: &Project, arguments: &CheckArguments, steps: &mut Steps) -> Result<()> {
    let mut files = Vec::new();
    steps.run("changes", |_| {
        files = changes::changed_files(project, arguments.since.as_deref())?;
        Ok(())
    })?;
    let workspace = Workspace::of(&project.metadata);
    let affected = if arguments.all { workspace.all() } else { workspace.affected(&files) };
    let web_changed = arguments.all
        || files.iter().any(|file| file.starts_with("web/") && !file.starts_with("web/dist/"))
        || affected.changed.contains("protocol");
    println!(
        "{} files changed; crates: {}; crates that depend on them: {}; web interface: {}",
        files.len(),
        in_words(affected.changed.iter()),
        in_words(affected.dependent.difference(&affected.changed)),
        if web_changed { "yes" } else { "no" },
    );
    steps.run("format", |_| command::run(cargo(project).args(["fmt", "--all", "--check"])))?;
    steps.run("tree", |notes| tree::check(project, notes))?;
    steps.run("links", |_| links::check(project))?;
    steps.run("dependencies", |_| dependencies::check(project))?;
    rust_steps(project, &affected, steps)?;
    if web_changed {
        steps.run("web", |notes| {
            let node = prepare::web_packages(project, notes)?;
            web::quick_check(project, node.as_ref(), notes)
        })?;
    }
    for (name, test) in changes::changed_integration_tests(&files) {
        println!(
            "changed and not run here: the test `{test}` of `{name}` (cargo nextest run -p {name} --test {test})"
        );
    }
    Ok(())
}

fn rust_steps(project: &Project, affected: &Affected, steps: &mut Steps) -> Result<()> {
    if affected.dependent.is_empty() {
        println!("no crate changed");
        return Ok(());
    }
    // Clippy also checks the types of every target, tests included.
    steps.run("clippy", |_| {
        let mut clippy = cargo(project);
        clippy.arg("clippy").args(packages(&affected.dependent)).args([
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]);
        command::run(&mut clippy)
    })?;
    steps.run("unit tests", |notes: &mut Notes| {
        let mut tests = cargo(project);
        if rust_tests::has_nextest() {
            tests.args(["nextest", "run", "--no-tests=pass"]);
        } else {
            tests.args(["test", "--no-fail-fast"]);
        }
        tests.args(packages(&affected.changed)).args(["--lib", "--bins"]);
        rust_tests::run_counted(&mut tests, notes)
    })
}

fn packages(names: &BTreeSet<String>) -> impl Iterator<Item = &str> {
    names.iter().flat_map(|name| ["--package", name.as_str()])
}

fn in_words<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
