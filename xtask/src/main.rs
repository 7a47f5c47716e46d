//! `cargo xtask`: the project's own tasks. `cargo xtask check` is for the edit loop, `cargo xtask test` is what CI runs.
//!
//! Every task works on a fresh clone, prints each step with its time, and writes only to the target folder and to the
//! Node packages of `tests/client` and `web`.

mod areas;
mod bench;
mod changes;
mod check;
mod code_counts;
mod command;
mod conformance;
mod dependencies;
mod fuzz;
mod imports;
mod layers;
mod licence;
mod links;
mod lint;
mod local_model;
mod mirror;
mod modules;
mod node;
mod prepare;
mod project;
mod python;
mod rust_tests;
mod soak;
mod steps;
mod tree;
mod tree_report;
mod typescript;
mod web;
mod web_tests;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use crate::{areas::Area, project::Project, steps::Steps};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Check what changed while you edit: format, tree, lints, types, unit tests
    Check(check::CheckArguments),
    /// Run every check and every test, as CI does, or only the tests of some areas
    Test {
        /// Run only these areas, in this order; everything when absent
        #[arg(value_name = "AREA")]
        areas: Vec<Area>,
    },
    /// Run the checks that need no tests: format, tree, links, dependencies, clippy, rustdoc
    Lint,
    /// Show the imports between the modules of a crate, or figures about all crates
    Tree(tree_report::TreeArguments),
    /// Run the long version of a test, or of all of them
    Soak {
        /// Run only this one; all when absent
        name: Option<soak::Name>,
    },
    /// Measure the release build beside other servers; arguments go to the harness
    Bench {
        /// Run only a short comparison with our own bound: text and tool turns beside a proxy that forwards bytes
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
    /// List the tasks, the areas of `test` and the long tests
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
        Task::Check(arguments) => check::run(&Project::find()?, &arguments),
        Task::Test { areas } if areas.is_empty() => test(&Project::find()?),
        Task::Test { areas } => areas::run(&Project::find()?, &areas),
        Task::Lint => lint::run(&Project::find()?),
        Task::Tree(arguments) => tree_report::show(&Project::find()?, &arguments),
        Task::Soak { name } => soak::run(&Project::find()?, name),
        Task::Web { check: false } => web::build(&Project::find()?),
        Task::Web { check: true } => areas::run(&Project::find()?, &[Area::Web, Area::Browser]),
        Task::Bench { smoke: true, .. } => bench::smoke(&Project::find()?),
        Task::Bench { beside, arguments, .. } => bench::run(&Project::find()?, &beside, &arguments),
        Task::List => list(),
    }
}

/// Everything that CI runs. The quick steps come first, so that a mistake shows within seconds.
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
    lint::cheap(project, steps)?;
    lint::expensive(project, steps)?;
    steps.run("web", |notes| web::check(project, node.as_ref(), notes))?;
    steps.run("tests", |notes| {
        rust_tests::run(project, node.as_ref(), &[], notes)?;
        rust_tests::doc_tests(project, notes)
    })?;
    steps.run("conformance", |notes| conformance::run(project, node.as_ref(), notes))?;
    steps.run("browser", |notes| web_tests::in_browser(project, node.as_ref(), notes))
}

fn list() -> Result<()> {
    Arguments::command().print_long_help()?;
    print_values::<Area>("Areas of `cargo xtask test [AREA]...`");
    print_values::<soak::Name>("Long tests of `cargo xtask soak [NAME]`");
    Ok(())
}

fn print_values<T: ValueEnum>(title: &str) {
    println!("\n{title}:");
    for value in T::value_variants().iter().filter_map(ValueEnum::to_possible_value) {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        println!("  {:<14}{help}", value.get_name());
    }
}
