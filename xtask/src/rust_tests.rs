//! Runs the Rust tests: with nextest where it is installed, else with cargo's own runner. The report of the differential
//! test is printed, because its mix of cases is part of its result.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::{
    command::{self, CommandOutput, Echo, cargo},
    node::Node,
    prepare,
    project::Project,
    python,
    steps::Notes,
    tree::rust_files,
};

/// Runs the tests of these crates; of all when `packages` is empty.
pub fn run(project: &Project, node: Option<&Node>, packages: &[&str], notes: &mut Notes) -> Result<()> {
    let report = project.target.join("tmp/fold-differential.txt");
    if report.exists() {
        fs::remove_file(&report)?;
    }
    let mut tests = cargo(project);
    if has_nextest() {
        tests.args(["nextest", "run", "--no-tests=pass"]);
    } else {
        tests.args(["test", "--all-targets", "--no-fail-fast"]);
    }
    if packages.is_empty() {
        tests.arg("--workspace");
    }
    tests.args(packages.iter().flat_map(|name| ["--package", name]));
    if let Some(node) = node {
        tests.env("CONCERTINO_TEST_NODE", node.program());
    }
    let includes = |name: &str| packages.is_empty() || packages.contains(&name);
    if includes("server") {
        match python::environment(project, "litellm") {
            Ok(bin) => drop(tests.env("CONCERTINO_TEST_LITELLM", bin.join("litellm"))),
            Err(error) => notes.skip(&format!("the adapters against LiteLLM's proxy: {error:#}")),
        }
    }
    if (includes("concertino") || includes("powerloss")) && !can_mount() {
        notes.skip("power losses: they need /dev/fuse, and root or fusermount3 of the package fuse3");
    }
    let outcome = run_counted(&mut tests, notes);
    print_report(&report, notes)?;
    outcome
}

/// Runs the examples in doc comments, when there are any.
pub fn doc_tests(project: &Project, notes: &mut Notes) -> Result<()> {
    if !has_doc_tests(project)? {
        println!("no doc comment has an example");
        return Ok(());
    }
    run_counted(cargo(project).args(["test", "--workspace", "--doc"]), notes)
}

pub fn has_nextest() -> bool {
    command::is_installed("cargo-nextest")
}

/// Whether the tests of power losses can mount their file system. Without it they skip themselves.
fn can_mount() -> bool {
    let device = fs::OpenOptions::new().read(true).write(true).open("/dev/fuse");
    device.is_ok() && (prepare::is_root() || command::is_installed("fusermount3"))
}

/// Runs a test command and adds its tests to the summary.
pub fn run_counted(tests: &mut Command, notes: &mut Notes) -> Result<()> {
    let said = command::watch(tests, Echo::Everything)?;
    let counted = count(&said, notes);
    if !said.success {
        bail!("the tests failed");
    }
    if !counted {
        bail!("the number of tests could not be read");
    }
    Ok(())
}

fn print_report(report: &Path, notes: &mut Notes) -> Result<()> {
    let Ok(text) = fs::read_to_string(report) else { return Ok(()) };
    match text.trim().strip_prefix("SKIPPED: ") {
        Some(reason) => notes.skip(reason),
        None => println!("\nour fold compared with the real client's:\n{text}"),
    }
    Ok(())
}

/// Adds up the numbers that the runner printed; `false` when it printed none.
fn count(said: &CommandOutput, notes: &mut Notes) -> bool {
    let mut counted = false;
    for line in &said.lines {
        if let Some((passed, failed)) = nextest_summary(line).or_else(|| cargo_summary(line)) {
            notes.passed += passed;
            notes.failed += failed;
            counted = true;
        }
    }
    counted
}

/// `Summary [ 0.1s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped`
fn nextest_summary(line: &str) -> Option<(u64, u64)> {
    let (_, counts) = line.trim_start().strip_prefix("Summary [")?.split_once(" run: ")?;
    let failed =
        number_before(counts, " failed").unwrap_or(0) + number_before(counts, " timed out").unwrap_or(0);
    Some((number_before(counts, " passed").unwrap_or(0), failed))
}

/// `test result: ok. 12 passed; 0 failed; 1 ignored; …`
fn cargo_summary(line: &str) -> Option<(u64, u64)> {
    let counts = line.strip_prefix("test result: ")?;
    Some((number_before(counts, " passed")?, number_before(counts, " failed")?))
}

fn number_before(text: &str, word: &str) -> Option<u64> {
    let (before, _) = text.split_once(word)?;
    before.rsplit(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

fn has_doc_tests(project: &Project) -> Result<bool> {
    for file in rust_files(&project.root.join("crates"))? {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let mut lines = text.lines().map(str::trim_start);
        if lines.any(|line| matches!(line, "/// ```" | "//! ```" | "/// ```rust" | "//! ```rust")) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_are_understood() {
        let line =
            "     Summary [   0.004s] 24 tests run: 21 passed (1 slow), 2 failed, 1 timed out, 5 skipped";
        assert_eq!(nextest_summary(line), Some((21, 3)));
        assert_eq!(nextest_summary("     Summary [   1.000s] 1 test run: 1 passed, 0 skipped"), Some((1, 0)));
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out";
        assert_eq!(cargo_summary(line), Some((12, 3)));
        assert_eq!(nextest_summary("running 3 tests"), None);
        assert_eq!(cargo_summary("running 3 tests"), None);
    }
}
