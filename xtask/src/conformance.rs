//! The conformance suite of the chat surface, when the shared material lies beside the repository: the real client of
//! two major releases against the debug binary, with a fake model in between.
//!
//! The suite's own runner starts the server and ends it; only its counts and its failures are shown.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, Result, bail};

use crate::{
    command::{self, Echo, Said, cargo},
    mirror::mirror,
    node::{self, Node},
    project::Project,
    steps::Notes,
};

/// How many cases there are; none is left out.
const LEAST_PASSED: u64 = 55;

pub fn run(project: &Project, node: Option<&Node>, notes: &mut Notes) -> Result<()> {
    let Some(suite) = project.shared("conformance") else {
        notes.skip("the conformance suite: ../shared/conformance is not here");
        return Ok(());
    };
    let Some(node) = node else {
        notes.skip("the conformance suite: no Node");
        return Ok(());
    };
    let binary = build(project)?;
    let copy = copy_of(&suite, &project.target.join("conformance"))?;
    let data = Data::new(&project.target)?;
    let log = copy.join("server.log");
    let said = run_suite(node, &copy, &binary, &data.0, &log)?;
    fs::write(copy.join("last-run.tap"), said.lines.join("\n"))?;

    let count =
        |word: &str| counted(&said, word).with_context(|| format!("the suite did not say how many {word}"));
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
            "{failed} conformance cases failed; everything they said is in {}",
            copy.join("last-run.tap").display()
        );
    }
    if passed < LEAST_PASSED {
        bail!("only {passed} conformance cases passed, {LEAST_PASSED} must");
    }
    Ok(())
}

fn build(project: &Project) -> Result<PathBuf> {
    command::run(cargo(project).args(["build", "--workspace", "--bin", "concertino"]))?;
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

fn run_suite(node: &Node, copy: &Path, binary: &Path, data: &Path, log: &Path) -> Result<Said> {
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
    // `exec`: the runner ends the process it started, and that must be the server itself.
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
fn counted(said: &Said, word: &str) -> Option<u64> {
    let line = said.lines.iter().rev().find_map(|line| line.strip_prefix("# ")?.strip_prefix(word))?;
    line.trim().parse().ok()
}

/// The failed cases with what they said, or the end of it all when none is to blame.
fn show_failure(log: &Path, said: &Said) {
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
    println!("what the suite said:\n  {}", failures.join("\n  "));
    println!(
        "the end of what the server said:\n  {}",
        server[server.len().saturating_sub(40)..].join("\n  ")
    );
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A fresh data folder, gone when the suite is over.
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
            eprintln!("warning: {} stays: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_the_suite_is_read() {
        let lines = ["ok 1 - v7: plain", "# tests 51", "# pass 49", "# fail 1", "# skipped 1"];
        let said = Said { success: false, lines: lines.map(str::to_owned).to_vec() };
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
