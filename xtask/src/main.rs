//! `cargo xtask`: the project's own tasks. `cargo xtask test` is what CI runs.
//!
//! Every task works on a fresh clone, prints what it does with its time, and leaves nothing outside the target folder
//! but the packages of `tests/client` and `web`.

mod bench;
mod command;
mod conformance;
mod dependencies;
mod fuzz;
mod licence;
mod local_model;
mod mirror;
mod node;
mod prepare;
mod project;
mod python;
mod rust_tests;
mod soak;
mod steps;
mod tree;
mod typescript;
mod web;
mod web_tests;

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
        #[command(flatten)]
        beside: bench::Beside,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build `web/dist` and the types of the web interface again
    Web {
        /// Build nothing: run the checks and tests of the web interface alone
        #[arg(long)]
        check: bool,
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
        Task::Web { check: false } => web::build(&Project::find()?),
        Task::Web { check: true } => check_web(&Project::find()?),
        Task::Bench { smoke: true, .. } => bench::smoke(&Project::find()?),
        Task::Bench { beside, arguments, .. } => bench::run(&Project::find()?, &beside, &arguments),
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
    steps.run("web", |notes| web::check(project, node.as_ref(), notes))?;
    steps.run("tests", |notes| rust_tests::run(project, node.as_ref(), notes))?;
    steps.run("conformance", |notes| conformance::run(project, node.as_ref(), notes))?;
    steps.run("browser", |notes| web_tests::in_browser(project, node.as_ref(), notes))
}

fn check_web(project: &Project) -> Result<()> {
    let mut steps = Steps::default();
    let mut node = None;
    let outcome = steps
        .run("prepare", |notes| {
            node = prepare::everything(project, notes)?;
            Ok(())
        })
        .and_then(|()| steps.run("web", |notes| web::check(project, node.as_ref(), notes)))
        .and_then(|()| steps.run("browser", |notes| web_tests::in_browser(project, node.as_ref(), notes)));
    steps.conclude(outcome)
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
