//! Runs the conformance suite of the events surface, when it is beside the repository, in both of its forms: it starts the
//! server itself (`SERVER_CMD`), which it needs for restarts, and it is given a server that is up (`SERVER`).

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Command},
};

use anyhow::{Context, Result, bail};

use super::{Data, counted, free_port, shell_word, show_failure};
use crate::{
    command::{self, CommandOutput, Echo},
    node::Node,
    project::Project,
    steps::Notes,
};

/// The number of cases that must pass in each form; those that restart the server are skipped in the second.
const LEAST_PASSED: [u64; 2] = [76, 75];

const MAX_BODY_BYTES: &str = "1048576";
const HEARTBEAT_MS: &str = "1000";

pub(super) fn run(project: &Project, node: &Node, binary: &Path, notes: &mut Notes) -> Result<()> {
    let Some(suite) = project.shared("conformance-events") else {
        notes.skip("the conformance suite of the events surface: ../shared/conformance-events is not here");
        return Ok(());
    };
    let results = project.target.join("conformance-events");
    fs::create_dir_all(&results)?;
    for (form, least) in ["SERVER_CMD", "SERVER"].into_iter().zip(LEAST_PASSED) {
        let log = results.join(format!("{form}.log"));
        let said = match form {
            "SERVER" => with_server(node, &suite, binary, &project.target, &log)?,
            _ => with_command(node, &suite, binary, &log)?,
        };
        let tap = results.join(format!("{form}.tap"));
        fs::write(&tap, said.lines.join("\n"))?;
        let [passed, failed, skipped] = ["pass", "fail", "skipped"].map(|word| counted(&said, word));
        let (Some(passed), Some(failed), Some(skipped)) = (passed, failed, skipped) else {
            show_failure(&log, &said);
            bail!("the suite of the events surface did not print its counts");
        };
        println!(
            "conformance of the events surface, {form}: {passed} passed, {failed} failed, {skipped} skipped"
        );
        notes.passed += passed;
        notes.failed += failed;
        if !said.success || failed > 0 {
            show_failure(&log, &said);
            bail!(
                "{failed} conformance cases of the events surface failed; their output is in {}",
                tap.display()
            );
        }
        if passed < least {
            bail!("only {passed} conformance cases of the events surface passed with {form}, {least} must");
        }
    }
    Ok(())
}

/// The suite without settings of the caller's own.
fn suite_command(node: &Node, suite: &Path) -> Command {
    let mut command = node.command();
    command.args(["--test", "--test-reporter=tap"]).current_dir(suite);
    for name in
        ["SERVER", "SERVER_CMD", "READ_TOOL", "CONFIRM_TOOL", "QUESTION_TOOL", "CONFIRM_ARGS", "SUB_AGENT"]
    {
        command.env_remove(name);
    }
    command.env("MAX_BODY_BYTES", MAX_BODY_BYTES).env("HEARTBEAT_MS", HEARTBEAT_MS);
    command
}

fn with_command(node: &Node, suite: &Path, binary: &Path, log: &Path) -> Result<CommandOutput> {
    // A server that is started again adds to the log.
    File::create(log)?;
    let [binary, log] = [binary, log].map(|path| shell_word(&path.display().to_string()));
    let mut suite = suite_command(node, suite);
    suite.env_remove("UPSTREAM_PORT").env("SERVER_CMD", format!("exec {binary} serve >> {log} 2>&1"));
    command::watch(&mut suite, Echo::Nothing)
}

fn with_server(node: &Node, suite: &Path, binary: &Path, target: &Path, log: &Path) -> Result<CommandOutput> {
    let data = Data::new(target)?;
    let workdir = data.0.join("work");
    fs::create_dir_all(&workdir)?;
    let (port, upstream) = (free_port()?, free_port()?);
    let output = File::create(log)?;
    let mut server = Command::new(binary);
    server
        .arg("serve")
        .current_dir(&workdir)
        .env("CONCERTINO_LISTEN", format!("127.0.0.1:{port}"))
        .env("CONCERTINO_MAIN_AGENTS", suite.join("fixtures/main-agents.toml"))
        .env("CONCERTINO_DATA_DIR", data.0.join("data"))
        .env("CONCERTINO_WORKDIR", &workdir)
        .env("CONCERTINO_MAX_BODY_BYTES", MAX_BODY_BYTES)
        .env("CONCERTINO_HEARTBEAT_MS", HEARTBEAT_MS)
        .env("CONCERTINO_AUTO_TITLE", "off")
        .env("CONCERTINO_AUTH", "off")
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{upstream}/v1"))
        .env("OPENAI_API_KEY", "not-a-key-8c1")
        .env("OPENAI_MODEL", "fake-model")
        .stdin(std::process::Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output);
    let child = server.spawn().with_context(|| format!("{} cannot be started", binary.display()))?;
    let _server = Running(child);
    let mut suite = suite_command(node, suite);
    suite.env("SERVER", format!("http://127.0.0.1:{port}")).env("UPSTREAM_PORT", upstream.to_string());
    command::watch(&mut suite, Echo::Nothing)
}

/// A server that ends with the suite.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            eprintln!("warning: the server cannot be ended: {error}");
        }
    }
}
