//! What a command needs: its line is judged by the crate `commands`, with the files as they are.

use std::path::Path;

use commands::{CommandTable, Judgement, PathPlace, Surroundings, judge_argv, judge_line};
use files::{FileDomain, LogicalPath, Place};
use policy::Need;

/// The largest configuration file that is looked at.
const SMALL: u64 = 64 << 10;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invocation {
    /// A line for the shell.
    Line(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

impl Invocation {
    /// One line for a person.
    pub fn shown(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Argv(words) => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// A word as a shell would need it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The need of a call that runs a command in a folder of the work directory.
pub(crate) fn need(
    table: &CommandTable,
    command: &Invocation,
    workdir: Option<&str>,
    wants_network: bool,
    files: &FileDomain,
) -> Need {
    let cwd = match folder(files, workdir) {
        Ok(cwd) => cwd,
        Err(why) => return Need::Refused { why },
    };
    let judgement = judge(table, command, &cwd, files);
    Need::Command(if wants_network { judgement.with_network() } else { judgement })
}

/// What a command would do in a folder of the work directory, with the files as they are.
pub fn judge_command(
    table: &CommandTable,
    command: &Invocation,
    workdir: Option<&str>,
    files: &FileDomain,
) -> Result<Judgement, String> {
    Ok(judge(table, command, &folder(files, workdir)?, files))
}

pub(crate) fn judge(
    table: &CommandTable,
    command: &Invocation,
    cwd: &LogicalPath,
    files: &FileDomain,
) -> Judgement {
    let around = Workspace { files, home: home() };
    match command {
        Invocation::Line(line) => judge_line(table, line, cwd.relative(), &around),
        Invocation::Argv(words) => judge_argv(table, words, cwd.relative(), &around),
    }
}

/// The folder that a command runs in.
pub(crate) fn folder(files: &FileDomain, workdir: Option<&str>) -> Result<LogicalPath, String> {
    let written = workdir.map(str::trim).filter(|written| !written.is_empty()).unwrap_or(".");
    let path = files.resolve(written).map_err(|error| error.to_string())?;
    // Not through a link: the command's own path would differ from what was judged.
    let path = files.target(&path).map_err(|error| error.to_string())?;
    match files.info(&path) {
        Ok(info) if info.kind == protocol::file_change::EntryKind::Directory => Ok(path),
        Ok(_) => Err(format!("invalid_path: `workdir` {path} is not a folder")),
        Err(error) => Err(error.to_string()),
    }
}

fn home() -> Option<String> {
    std::env::var("HOME").ok()
}

/// The work directory as the judge of commands sees it.
struct Workspace<'a> {
    files: &'a FileDomain,
    home: Option<String>,
}

impl Surroundings for Workspace<'_> {
    fn place(&self, cwd: &str, written: &str) -> PathPlace {
        let Ok(cwd) = LogicalPath::parse(cwd) else { return PathPlace::Outside };
        if is_sink(written) {
            return PathPlace::Null;
        }
        match self.files.place(&cwd, written) {
            Place::Inside(path) => PathPlace::Workspace(path.relative().to_owned()),
            Place::Outside(path) if is_sink(path.to_str().unwrap_or_default()) => PathPlace::Null,
            Place::Outside(path) if is_public(&path) => PathPlace::PublicSystem,
            Place::Outside(_) => PathPlace::Outside,
        }
    }

    fn read_small(&self, path: &str) -> Option<String> {
        let path = self.files.resolve(path).ok()?;
        String::from_utf8(self.files.read(&path, SMALL).ok()?.bytes).ok()
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    fn matches(&self, cwd: &str, pattern: &str) -> Option<Vec<String>> {
        self.files.expand(&LogicalPath::parse(cwd).ok()?, pattern)
    }
}

/// Devices that keep nothing and reveal nothing.
fn is_sink(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/zero" | "/dev/full")
}

/// Facts of the system that every user of the machine may read and that hold no secrets.
fn is_public(path: &Path) -> bool {
    const FOLDERS: [&str; 9] = [
        "/usr/share",
        "/usr/include",
        "/usr/lib",
        "/usr/bin",
        "/usr/local/share",
        "/bin",
        "/lib",
        "/etc/alternatives",
        "/usr/local/bin",
    ];
    const FILES: [&str; 20] = [
        "/etc/hostname",
        "/etc/hosts",
        "/etc/os-release",
        "/usr/lib/os-release",
        "/etc/debian_version",
        "/etc/issue",
        "/etc/lsb-release",
        "/etc/timezone",
        "/etc/localtime",
        "/etc/shells",
        "/etc/services",
        "/etc/protocols",
        "/etc/mime.types",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/version",
        "/proc/uptime",
        "/proc/loadavg",
        "/proc/stat",
        "/proc/filesystems",
    ];
    FOLDERS.iter().any(|folder| path.starts_with(folder)) || FILES.iter().any(|file| path == Path::new(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let words = ["git", "commit", "-m", "it's done", ""].map(str::to_owned).to_vec();
        assert_eq!(Invocation::Argv(words).shown(), r"git commit -m 'it'\''s done' ''");
    }
}
