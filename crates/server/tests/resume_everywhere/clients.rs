//! Hands recorded streams to the published clients in `tests/client`.
//!
//! Needs Node and the installed packages there (`cargo xtask test` sees to both); without them the test says loudly
//! that it was skipped. The report is also left in the target folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

/// Every pair of a number and a point, in place of the first point after each number.
pub fn everything() -> bool {
    std::env::var_os("RESUME_ALL").is_some()
}

pub fn compare(script: &str, cases: &[Value]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let report = folder.join("resume-differential.txt");
    let project = project();
    let node = std::env::var("CONCERTINO_TEST_NODE").unwrap_or_else(|_| "node".to_owned());
    if let Err(reason) = ready(&node, &project) {
        let line = format!("SKIPPED: the published clients did not resume anything: {reason}\n");
        eprintln!("{line}");
        fs::write(report, line).expect("the target folder is writable");
        return;
    }
    let recorded = folder.join("resume-cases.jsonl");
    let lines: Vec<String> = cases.iter().map(|case| format!("{case}\n")).collect();
    fs::write(&recorded, lines.concat()).expect("the target folder is writable");
    let output = Command::new(node)
        .arg(script)
        .current_dir(&project)
        .stdin(Stdio::from(fs::File::open(&recorded).expect("the cases were written")))
        .stderr(Stdio::inherit())
        .output()
        .expect("node starts");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    fs::write(report, &*text).expect("the target folder is writable");
    assert!(output.status.success(), "{text}");
}

fn project() -> PathBuf {
    match std::env::var_os("CONCERTINO_TEST_CLIENT") {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/client"),
    }
}

fn ready(node: &str, project: &Path) -> Result<(), String> {
    if !project.join("node_modules/ai").is_dir() {
        return Err(
            "the packages of tests/client are not installed (cargo xtask test installs them)".to_owned()
        );
    }
    match Command::new(node).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("`{node} --version` fails: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("`{node}` cannot be started: {error}")),
    }
}
