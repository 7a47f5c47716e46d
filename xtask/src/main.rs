//! `cargo xtask`: the project's own tasks. `cargo xtask test` is what CI runs.
//!
//! Every task works on a fresh clone, prints what it does with its time, and leaves nothing outside the target folder
//! but the packages of `tests/client`.

mod bench;
mod command;
mod conformance;
mod dependencies;
mod licence;
mod mirror;
mod node;
mod prepare;
mod project;
mod rust_tests;
mod soak;
mod steps;
mod tree;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::{command::cargo, project::Project, steps::Steps};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Prepare what is missing, then run every check and every test: what CI runs
    Test,
    /// Run the checks that need no tests: format, tree, dependencies, clippy, rustdoc
    Lint,
    /// Run the long version of a test, or of all of them
    Soak {
        /// Which one; all when absent
        name: Option<soak::Name>,
    },
    /// Measure the release build beside other servers; arguments go to the harness
    Bench {
        /// Only a short look at our own bound: text and tool turns beside a proxy that forwards bytes
        #[arg(long)]
        smoke: bool,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// List the tasks
    List,
}

fn main() -> ExitCode {
    match run(Arguments::parse().task.unwrap_or(Task::List)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Test => test(&Project::find()?),
        Task::Lint => {
            let project = Project::find()?;
            let mut steps = Steps::default();
            let outcome =
                cheap_checks(&project, &mut steps).and_then(|()| expensive_checks(&project, &mut steps));
            steps.conclude(outcome)
        }
        Task::Soak { name } => soak::run(&Project::find()?, name),
        Task::Bench { smoke: true, .. } => bench::smoke(&Project::find()?),
        Task::Bench { arguments, .. } => bench::run(&Project::find()?, &arguments),
        Task::List => {
            Arguments::command().print_long_help()?;
            Ok(())
        }
    }
}

/// The cheap steps come first, so that a slip shows within seconds.
fn test(project: &Project) -> Result<()> {
    let mut steps = Steps::default();
    let outcome = every_step(project, &mut steps);
    steps.conclude(outcome)
}

fn every_step(project: &Project, steps: &mut Steps) -> Result<()> {
    let mut node = None;
    steps.run("prepare", |notes| {
        node = prepare::everything(project, notes)?;
        Ok(())
    })?;
    cheap_checks(project, steps)?;
    expensive_checks(project, steps)?;
    steps.run("tests", |notes| rust_tests::run(project, node.as_ref(), notes))?;
    steps.run("conformance", |notes| conformance::run(project, node.as_ref(), notes))
}

fn cheap_checks(project: &Project, steps: &mut Steps) -> Result<()> {
    steps.run("format", |_| command::run(cargo(project).args(["fmt", "--all", "--check"])))?;
    steps.run("tree", |notes| tree::check(project, notes))?;
    steps.run("dependencies", |_| dependencies::check(project))
}

fn expensive_checks(project: &Project, steps: &mut Steps) -> Result<()> {
    steps.run("clippy", |_| {
        command::run(cargo(project).args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    steps.run("rustdoc", |_| {
        command::run(
            cargo(project).args(["doc", "--no-deps", "--workspace"]).env("RUSTDOCFLAGS", "-D warnings"),
        )
    })
}
