//! The tests of the web interface: unit tests in Node, and the real binary in a real browser.

use std::{path::Path, process::Command};

use anyhow::{Result, bail};

use crate::{
    command::{self, CommandOutput, Echo, build_binary},
    node::Node,
    project::Project,
    steps::Notes,
};

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub fn units(node: &Node, web: &Path, notes: &mut Notes) -> Result<()> {
    counted(node.command().args(["node_modules/vitest/vitest.mjs", "run"]).current_dir(web), notes)
}

pub fn in_browser(project: &Project, node: Option<&Node>, notes: &mut Notes) -> Result<()> {
    with_browser(project, node, "e2e/vitest.config.ts", notes)
}

pub fn soak(project: &Project, node: Option<&Node>, notes: &mut Notes) -> Result<()> {
    with_browser(project, node, "e2e/soak.config.ts", notes)
}

fn with_browser(project: &Project, node: Option<&Node>, config: &str, notes: &mut Notes) -> Result<()> {
    let Some(node) = node else {
        notes.skip("the web interface in a browser: no Node");
        return Ok(());
    };
    let Some(browser) = BROWSERS.into_iter().find_map(place_of) else {
        notes.skip("the web interface in a browser: no Chromium");
        return Ok(());
    };
    build_binary(project)?;
    let mut tests = node.command();
    tests
        .args(["node_modules/vitest/vitest.mjs", "run", "--config", config])
        .current_dir(project.root.join("web"))
        .env("CONCERTINO_BINARY", project.target.join("debug/concertino"))
        .env("CHROMIUM", browser);
    counted(&mut tests, notes)
}

fn place_of(name: &str) -> Option<String> {
    let said = command::output_of(Command::new("sh").args(["-c", "command -v \"$0\"", name])).ok()?;
    Some(said.trim().to_owned()).filter(|place| !place.is_empty())
}

fn counted(tests: &mut Command, notes: &mut Notes) -> Result<()> {
    let said = command::watch(tests.env("NO_COLOR", "1"), Echo::Everything)?;
    let Some((passed, failed)) = summary(&said) else { bail!("the number of tests could not be read") };
    notes.passed += passed;
    notes.failed += failed;
    if !said.success || failed > 0 {
        bail!("the tests of the web interface failed");
    }
    Ok(())
}

/// `      Tests  1 failed | 58 passed (59)`
fn summary(said: &CommandOutput) -> Option<(u64, u64)> {
    let line = said.lines.iter().rev().find_map(|line| line.trim().strip_prefix("Tests "))?;
    let number = |word: &str| {
        let at = line.split(['|', '(']).find(|part| part.contains(word))?;
        at.split_whitespace().next()?.parse().ok()
    };
    Some((number("passed").unwrap_or(0), number("failed").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_says_how_many() {
        let said = |line: &str| CommandOutput { success: true, lines: vec![line.to_owned()] };
        assert_eq!(summary(&said("      Tests  1 failed | 58 passed (59)")), Some((58, 1)));
        assert_eq!(summary(&said("      Tests  20 passed (20)")), Some((20, 0)));
        assert_eq!(summary(&said("nothing")), None);
    }
}
