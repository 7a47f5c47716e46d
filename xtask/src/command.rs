//! Runs other programs: the command is always printed, no shell is involved, and a failure is an error.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::project::Project;

/// The cargo that started this task, in the repository.
pub fn cargo(project: &Project) -> Command {
    cargo_in(&project.root)
}

pub fn cargo_in(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Builds the debug binary that tests start.
pub fn build_binary(project: &Project) -> Result<()> {
    run(cargo(project).args(["build", "--workspace", "--bin", "concertino"]))
}

/// Runs a command to its end, with the terminal as its input and output.
pub fn run(command: &mut Command) -> Result<()> {
    show(command);
    let status = command.status().with_context(|| format!("{} cannot be started", name_of(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", name_of(command));
    }
    Ok(())
}

/// Returns what a command prints. When it fails, its error output is part of the error.
pub fn output_of(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8_lossy(&output_bytes(command)?).into_owned())
}

pub fn output_bytes(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("{} cannot be started", name_of(command)))?;
    if !output.status.success() {
        bail!("{} failed: {}", name_of(command), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// Everything a command printed, and whether it succeeded.
pub struct CommandOutput {
    pub success: bool,
    pub lines: Vec<String>,
}

/// Whether the lines of a watched command are printed while it runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Echo {
    Everything,
    Nothing,
}

/// Runs a command and collects its lines, those of the error output last.
pub fn watch(command: &mut Command, echo: Echo) -> Result<CommandOutput> {
    show(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be started", name_of(command)))?;
    let output = child.stdout.take().context("no output to read")?;
    let errors = child.stderr.take().context("no error output to read")?;
    let lines = thread::scope(|scope| {
        let errors = scope.spawn(move || lines_of(errors, echo));
        let mut lines = lines_of(output, echo)?;
        lines.extend(errors.join().map_err(|_| anyhow!("the reader of the output failed"))??);
        anyhow::Ok(lines)
    });
    let status = child.wait().with_context(|| format!("{} did not end properly", name_of(command)))?;
    Ok(CommandOutput { success: status.success(), lines: lines? })
}

fn lines_of(stream: impl Read, echo: Echo) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for line in BufReader::new(stream).split(b'\n') {
        let line = String::from_utf8_lossy(&line.context("the output cannot be read")?).into_owned();
        if echo == Echo::Everything {
            println!("{line}");
        }
        lines.push(line);
    }
    Ok(lines)
}

/// Whether a program is installed and runs.
pub fn is_installed(program: impl AsRef<OsStr>) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn show(command: &Command) {
    let words = command.get_args().map(|word| word.to_string_lossy());
    let words: Vec<_> = std::iter::once(name_of(command).into()).chain(words).collect();
    println!("$ {}", words.join(" "));
}

fn name_of(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}
