//! The long versions of the tests: the same code, more cases.

use anyhow::Result;
use clap::ValueEnum;

use crate::{command::cargo, conformance, prepare, project::Project, rust_tests, steps::Steps, web_tests};

#[derive(Clone, Copy, ValueEnum)]
pub enum Name {
    /// Our fold against the real client's, on 20,000 streams, and the properties on 3,000 logs
    Fold,
    /// The conformance suite, five times in a row
    Conformance,
    /// 500 times kill -9 at any moment, under a mixed load: nothing that was seen is lost
    Crash,
    /// Every store call failing once, at random and for long; upstreams that cut at every byte
    Faults,
    /// A run dropped and resumed at every event, by our fold and by the real clients
    Resume,
    /// Half an hour of streaming in a browser: the heap stays what it was
    Web,
    /// Every test that is marked as too long for the everyday run
    Ignored,
}

pub fn run(project: &Project, name: Option<Name>) -> Result<()> {
    let mut steps = Steps::default();
    let names = name.as_ref().map_or(Name::value_variants(), std::slice::from_ref);
    let outcome = names.iter().try_for_each(|name| one(project, *name, &mut steps));
    steps.conclude(outcome)
}

fn one(project: &Project, name: Name, steps: &mut Steps) -> Result<()> {
    let mut node = None;
    steps.run("prepare", |notes| {
        node = prepare::everything(project, notes)?;
        Ok(())
    })?;
    match name {
        Name::Fold => steps.run("fold", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--package", "protocol", "--test", "fold", "--", "--nocapture"]);
            tests.env("FOLD_STREAMS", "20000").env("FOLD_LOGS", "3000");
            if let Some(node) = &node {
                tests.env("CONCERTINO_TEST_NODE", node.program());
            }
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Conformance => (0..5).try_for_each(|_| {
            steps.run("conformance", |notes| conformance::run(project, node.as_ref(), notes))
        }),
        Name::Crash => steps.run("crash", |notes| {
            let mut tests = cargo(project);
            tests.args([
                "test",
                "--release",
                "--package",
                "concertino",
                "--test",
                "crash",
                "--",
                "--nocapture",
            ]);
            tests.env("CRASH_KILLS", std::env::var("CRASH_KILLS").unwrap_or_else(|_| "500".to_owned()));
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Faults => steps.run("faults", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--package", "server", "--test", "faults", "--", "--nocapture"]);
            tests.env("FAULT_ROUNDS", std::env::var("FAULT_ROUNDS").unwrap_or_else(|_| "20".to_owned()));
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Resume => steps.run("resume", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--package", "server", "--test", "resume_everywhere", "--", "--nocapture"]);
            tests.env("RESUME_ALL", "1");
            if let Some(node) = &node {
                tests.env("CONCERTINO_TEST_NODE", node.program());
            }
            rust_tests::run_counted(&mut tests, notes)
        }),
        Name::Web => steps.run("web", |notes| web_tests::soak(project, node.as_ref(), notes)),
        Name::Ignored => steps.run("ignored", |notes| {
            let mut tests = cargo(project);
            tests.args(["test", "--workspace", "--no-fail-fast", "--", "--ignored"]);
            rust_tests::run_counted(&mut tests, notes)
        }),
    }
}
