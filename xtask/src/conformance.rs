//! Runs the conformance suites when the shared material is beside the repository. That of the chat routes is the real
//! client of two major releases against the debug binary, with a fake model behind it; that of the events surface is in
//! `events`.
//!
//! The suite's own runner starts and stops the server; only its counts and its failures are printed.

mod events;

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, Result, bail};

use crate::{
    command::{self, CommandOutput, Echo, build_binary},
    mirror::mirror,
    node::{self, Node},
    project::Project,
    steps::Notes,
};

/// The number of cases; all must pass.
const LEAST_PASSED: u64 = 55;

pub fn run(project: &Project, node: Option<&Node>, notes: &mut Notes) -> Result<()> {
    if ["conformance", "conformance-events"].iter().all(|suite| project.shared(suite).is_none()) {
        notes.skip(
            "the conformance suites: ../shared/conformance and ../shared/conformance-events are not here",
        );
        return Ok(());
    }
    let Some(node) = node else {
        notes.skip("the conformance suites: no Node");
        return Ok(());
    };
    let binary = build(project)?;
    chat(project, node, &binary, notes)?;
    events::run(project, node, &binary, notes)
}

fn chat(project: &Project, node: &Node, binary: &Path, notes: &mut Notes) -> Result<()> {
    let Some(suite) = project.shared("conformance") else {
        notes.skip("the conformance suite: ../shared/conformance is not here");
        return Ok(());
    };
    let copy = copy_of(&suite, &project.target.join("conformance"))?;
    let data = Data::new(&project.target)?;
    let log = copy.join("server.log");
    let said = run_suite(node, &copy, binary, &data.0, &log)?;
    fs::write(copy.join("last-run.tap"), said.lines.join("\n"))?;

    let count = |word: &str| {
        counted(&said, word).with_context(|| format!("the suite did not print the number of {word}"))
    };
    let (passed, failed, skipped) = match (count("pass"), count("fail"), count("skipped")) {
        (Ok(passed), Ok(failed), Ok(skipped)) => (passed, failed, skipped),
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
            show_failure(&log, &said);
            return Err(error);
        }
    };
    println!("conformance: {passed} passed, {failed} failed, {skipped} skipped");
    notes.passed += passed;
    notes.failed += failed;
    if !said.success || failed > 0 {
        show_failure(&log, &said);
        bail!(
            "{failed} conformance cases failed; their output is in {}",
            copy.join("last-run.tap").display()
        );
    }
    if passed < LEAST_PASSED {
        bail!("only {passed} conformance cases passed, {LEAST_PASSED} must");
    }
    Ok(())
}

fn build(project: &Project) -> Result<PathBuf> {
    build_binary(project)?;
    let binary = project.target.join("debug/concertino");
    if !binary.is_file() {
        bail!("{} was not built", binary.display());
    }
    Ok(binary)
}

fn copy_of(suite: &Path, copy: &Path) -> Result<PathBuf> {
    let tests = copy.join("tests");
    if tests.exists() {
        fs::remove_dir_all(&tests)?;
    }
    mirror(suite, copy, &|name| name != "node_modules")?;
    node::install_packages(copy)?;
    Ok(copy.to_owned())
}

fn run_suite(node: &Node, copy: &Path, binary: &Path, data: &Path, log: &Path) -> Result<CommandOutput> {
    let port = free_port()?;
    let settings = [
        ("CONCERTINO_AUTH", "off".to_owned()),
        ("CONCERTINO_ENABLE", "conformance".to_owned()),
        ("CONCERTINO_AUTO_TITLE", "off".to_owned()),
        ("CONCERTINO_DATA_DIR", data.display().to_string()),
        ("CONCERTINO_LISTEN", format!("127.0.0.1:{port}")),
        ("OPENAI_API_KEY", "not-a-key-8c1".to_owned()),
        ("OPENAI_MODEL", "fake".to_owned()),
    ];
    let settings: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name}={}", shell_word(value))).collect();
    // `exec`, because the runner kills the process that it started, and that must be the server itself.
    let start = format!(
        "exec env {} OPENAI_BASE_URL=\"$UPSTREAM_BASE_URL\" {} serve > {} 2>&1",
        settings.join(" "),
        shell_word(&binary.display().to_string()),
        shell_word(&log.display().to_string()),
    );
    let mut suite = node.command();
    suite
        .arg("run.mjs")
        .current_dir(copy)
        .env_remove("ONLY")
        .env_remove("TESTS")
        .env_remove("CLIENTS")
        .env_remove("TOOL_MAP")
        .env("SERVER", format!("http://127.0.0.1:{port}"))
        .env("SERVER_CMD", start)
        .env("SUBAGENT_APPROVALS", "1")
        .env("UPSTREAM_PORT", "0")
        .env("REPORTER", "tap");
    command::watch(&mut suite, Echo::Nothing)
}

/// The summary of the test runner: `# pass 49`.
fn counted(said: &CommandOutput, word: &str) -> Option<u64> {
    let line = said.lines.iter().rev().find_map(|line| line.strip_prefix("# ")?.strip_prefix(word))?;
    line.trim().parse().ok()
}

/// Prints the failed cases with their output, or the end of the output when no case failed.
fn show_failure(log: &Path, said: &CommandOutput) {
    let mut failures = Vec::new();
    let mut inside = false;
    for line in &said.lines {
        inside |= line.starts_with("not ok");
        if inside {
            failures.push(line.as_str());
        }
        inside &= line.trim() != "...";
    }
    if failures.is_empty() {
        failures = said.lines.iter().map(String::as_str).skip(said.lines.len().saturating_sub(40)).collect();
    }
    let server = fs::read_to_string(log).unwrap_or_else(|error| format!("no log of the server: {error}"));
    let server: Vec<&str> = server.lines().collect();
    println!("output of the suite:\n  {}", failures.join("\n  "));
    println!("end of the server's log:\n  {}", server[server.len().saturating_sub(40)..].join("\n  "));
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A new data folder, removed when the suite has finished.
struct Data(PathBuf);

impl Data {
    fn new(target: &Path) -> Result<Self> {
        let folder = target.join(format!("conformance-data-{}", process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("warning: {} cannot be removed: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_the_suite_is_read() {
        let lines = ["ok 1 - v7: plain", "# tests 51", "# pass 49", "# fail 1", "# skipped 1"];
        let said = CommandOutput { success: false, lines: lines.map(str::to_owned).to_vec() };
        assert_eq!(
            [counted(&said, "pass"), counted(&said, "fail"), counted(&said, "skipped")],
            [Some(49), Some(1), Some(1)]
        );
        assert_eq!(counted(&said, "cancelled"), None);
    }

    #[test]
    fn a_path_with_blanks_and_quotes_is_one_word() {
        assert_eq!(shell_word("/a b/it's"), r"'/a b/it'\''s'");
    }
}
