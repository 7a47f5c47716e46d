//! Runs the published chat clients in `tests/client` on Node.
//!
//! Needs Node and the packages that are installed there (`cargo xtask test` installs both). Without them a test prints
//! that it was skipped and why, and passes. Its report is written to a file, where `cargo xtask` reads it.

use std::{
    env,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

/// Node, and the folder with the client scripts.
pub struct NodeClient {
    program: OsString,
    folder: PathBuf,
}

impl NodeClient {
    /// Finds Node and the installed packages, or says what is missing.
    ///
    /// `CONCERTINO_TEST_NODE` names another program, `CONCERTINO_TEST_CLIENT` another folder.
    pub fn find() -> Result<Self, String> {
        let program = env::var_os("CONCERTINO_TEST_NODE").unwrap_or_else(|| "node".into());
        let folder = env::var_os("CONCERTINO_TEST_CLIENT")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/client"), PathBuf::from);
        if !folder.join("node_modules/ai").is_dir() {
            return Err(
                "the packages of tests/client are not installed (cargo xtask test installs them)".to_owned()
            );
        }
        let name = program.to_string_lossy().into_owned();
        match Command::new(&program).arg("--version").output() {
            Ok(output) if output.status.success() => Ok(Self { program, folder }),
            Ok(output) => {
                Err(format!("`{name} --version` failed: {}", String::from_utf8_lossy(&output.stderr)))
            }
            Err(error) => Err(format!("`{name}` cannot be started: {error}")),
        }
    }

    /// Runs a script with these lines as its input. Returns what it printed, as an error when it failed.
    fn run(&self, script: &str, lines: impl Iterator<Item = String> + Send) -> Result<String, String> {
        let mut child = Command::new(&self.program)
            .arg(script)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node starts");
        let mut input = child.stdin.take().expect("the input is a pipe");
        let output = thread::scope(|scope| {
            // Written beside, because the script may print before it has read everything.
            scope.spawn(move || {
                for line in lines {
                    // A script that failed closes its input early; its own output says why.
                    if writeln!(input, "{line}").is_err() {
                        break;
                    }
                }
            });
            child.wait_with_output().expect("Node ends")
        });
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() { Ok(text) } else { Err(text) }
    }
}

/// Runs a client script over these lines and fails the test when the script fails. `subject` is what is skipped when
/// Node is missing; the report is printed and written to `report`.
pub fn compare(script: &str, subject: &str, report: &Path, lines: impl Iterator<Item = String> + Send) {
    let outcome = match NodeClient::find() {
        Ok(client) => client.run(script, lines),
        Err(reason) => {
            let line = format!("SKIPPED: {subject}: {reason}\n");
            eprintln!("{line}");
            Ok(line)
        }
    };
    let text = outcome.as_ref().unwrap_or_else(|text| text);
    println!("{text}");
    fs::write(report, text).expect("the target folder is writable");
    assert!(outcome.is_ok(), "{text}");
}
