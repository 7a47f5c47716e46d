//! Running other programs: always shown, never through a shell, and their failure is ours.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::project::Project;

/// The cargo that started us, in the repository.
pub fn cargo(project: &Project) -> Command {
    cargo_in(&project.root)
}

pub fn cargo_in(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Runs to the end with our own input and output.
pub fn run(command: &mut Command) -> Result<()> {
    show(command);
    let status = command.status().with_context(|| format!("{} cannot be started", name_of(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", name_of(command));
    }
    Ok(())
}

/// What a command writes to its output; its complaints are part of the error.
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

/// Everything a command said, and whether it was content.
pub struct Said {
    pub success: bool,
    pub lines: Vec<String>,
}

/// Whether the lines of a watched command are printed while it runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Echo {
    Everything,
    Nothing,
}

/// Runs a command and keeps its lines, output before complaints.
pub fn watch(command: &mut Command, echo: Echo) -> Result<Said> {
    show(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be started", name_of(command)))?;
    let output = child.stdout.take().context("no output to read")?;
    let complaints = child.stderr.take().context("no error output to read")?;
    let lines = thread::scope(|scope| {
        let complaints = scope.spawn(move || lines_of(complaints, echo));
        let mut lines = lines_of(output, echo)?;
        lines.extend(complaints.join().map_err(|_| anyhow!("the reader of the output failed"))??);
        anyhow::Ok(lines)
    });
    let status = child.wait().with_context(|| format!("{} cannot be waited for", name_of(command)))?;
    Ok(Said { success: status.success(), lines: lines? })
}

fn lines_of(stream: impl Read, echo: Echo) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for line in BufReader::new(stream).split(b'\n') {
        let line = String::from_utf8_lossy(&line.context("output that cannot be read")?).into_owned();
        if echo == Echo::Everything {
            println!("{line}");
        }
        lines.push(line);
    }
    Ok(lines)
}

/// Whether a program is there and answers.
pub fn answers(program: impl AsRef<OsStr>) -> bool {
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
