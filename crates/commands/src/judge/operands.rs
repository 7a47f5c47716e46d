//! Judges the files that a command reads and writes.

use super::{
    At, Judge, Verdict,
    options::Scan,
    patterns::{fixed_folder, fixed_part_holds_all_parents, names_secrets, picks_secrets},
};
use crate::{
    PathPlace, ProtectedFiles,
    judgement::CommandEffect,
    syntax::tree::{Spelling, Value, Word},
    table::{Guard, Operands, Rule},
};

/// More matches of a pattern than this are not examined.
const MAX_MATCHES: usize = 5000;

impl Judge<'_> {
    pub(super) fn operands(&mut self, rule: &Rule, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        let guarded = rule.guard == Guard::Always || (rule.guard == Guard::WhenSensitive && scan.sensitive);
        if guarded && scan.operands.iter().any(|word| self.is_root(&word.value)) {
            let why = "It would destroy the system or a home directory.";
            verdict.raise(CommandEffect::Refused, &format!("{}-of-everything", rule.id), why);
        }
        let kind = if scan.names_only { Operands::Text } else { rule.operands };
        let in_place = !scan.in_place.is_empty();
        let first_is_empty = scan.operands.first().and_then(|word| word.text()).is_some_and(str::is_empty);
        for (index, word) in scan.operands.iter().enumerate() {
            match kind {
                Operands::Any if in_place => self.rewrite(word, scan, at, verdict, &rule.id),
                Operands::Any => {}
                Operands::Pattern if in_place && index == 0 && !scan.has_pattern => {}
                // `sed -i '' s/a/b/ file`: some versions take the ending from a word of its own.
                Operands::Pattern if in_place && index == 1 && first_is_empty && !scan.has_pattern => {
                    self.check_protected_value(&word.value, at, verdict, true);
                }
                Operands::Paths | Operands::Pattern | Operands::Copy if in_place => {
                    self.rewrite(word, scan, at, verdict, &rule.id)
                }
                Operands::Text if matches!(word.value, Value::Glob(_)) => {
                    self.read(&word.value, word.spelling, at, verdict)
                }
                Operands::Text => {}
                Operands::None => verdict.ask(&rule.id, "It is given a value, which may change the system."),
                Operands::Format if word.text().is_some_and(|text| text.starts_with('+')) => {}
                Operands::Format => {
                    verdict.ask(&rule.id, "It is given a value, which may change the system.")
                }
                Operands::Pattern | Operands::PatternContents if index == 0 && !scan.has_pattern => {
                    self.pattern(word, verdict)
                }
                Operands::Paths | Operands::Pattern => self.read(&word.value, word.spelling, at, verdict),
                Operands::Writes => self.write(&word.value, at, verdict, &rule.id),
                Operands::Copy | Operands::Move => {}
                Operands::InOut if index == 0 => self.read(&word.value, word.spelling, at, verdict),
                Operands::InOut => self.write(&word.value, at, verdict, &rule.id),
                Operands::PatternContents
                    if word.text().is_some_and(|text| text.contains([':', '*', '?', '['])) =>
                {
                    let path = scan.before_dashes.is_some_and(|before| index >= before);
                    self.contents(word, path, at, verdict);
                }
                Operands::PatternContents => self.read(&word.value, word.spelling, at, verdict),
                Operands::Revisions => self.revision(word, at, verdict),
                Operands::Contents => {
                    let path = scan.before_dashes.is_some_and(|before| index >= before);
                    self.contents(word, path, at, verdict);
                }
            }
        }
        if matches!(kind, Operands::Copy | Operands::Move) && !in_place {
            self.copies(rule, scan, at, verdict);
        }
    }

    /// A pattern that is several files, or known only at run time, may turn into options and files.
    fn pattern(&mut self, word: &Word, verdict: &mut Verdict) {
        if matches!(word.value, Value::Glob(_) | Value::Runtime | Value::Pipe) {
            verdict.ask("line/pattern-at-run-time", "What is searched for is known only at run time.");
        }
    }

    /// Records that a file is read.
    pub(super) fn read(&mut self, value: &Value, spelling: Spelling, at: &At, verdict: &mut Verdict) {
        match value {
            Value::Pipe => {}
            Value::Found => at.found.iter().for_each(|pattern| self.read_named(pattern, verdict)),
            Value::Runtime => {
                verdict.ask("files/at-run-time", "Which file it reads is known only at run time.")
            }
            Value::Known(text) if text.is_empty() || text == "-" => {}
            Value::Known(text) if spelling == Spelling::Escapes && text.contains('/') => {
                verdict.ask("files/hidden-name", "The name of a file is written in a way that hides it.");
            }
            Value::Known(text) => self.read_path(text, at, verdict),
            Value::Home(rest) => match self.around.home().map(|home| format!("{home}{rest}")) {
                Some(path) => self.read_path(&path, at, verdict),
                None => verdict.ask("files/outside", "It reads the home directory."),
            },
            Value::Glob(pattern) => self.read_matches(pattern, at, verdict),
        }
    }

    fn read_path(&mut self, path: &str, at: &At, verdict: &mut Verdict) {
        match self.place(path, at) {
            Some(PathPlace::Workspace(relative)) => {
                if ProtectedFiles::built_in().is_secret(&relative) {
                    verdict.ask("files/secret", format!("It reads {relative}, which usually holds secrets."));
                }
                self.reads.insert(relative);
            }
            Some(PathPlace::PublicSystem | PathPlace::Null) => {}
            Some(PathPlace::Outside) => {
                self.network |= path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
                verdict
                    .ask("files/outside", format!("It reads {path}, which is outside the work directory."));
            }
            None => verdict
                .ask("files/unknown-directory", format!("In which directory it reads {path} is not known.")),
        }
    }

    fn read_matches(&mut self, pattern: &str, at: &At, verdict: &mut Verdict) {
        let Some(dir) = &at.dir else {
            return verdict.ask("files/unknown-directory", "In which directory it reads files is not known.");
        };
        let fixed = fixed_folder(pattern);
        if pattern.split('/').any(|part| part == "..") && !fixed_part_holds_all_parents(pattern, fixed) {
            return verdict.ask("files/outside", "The pattern could match files outside the work directory.");
        }
        if let Some(paths) = self.around.matches(dir, pattern).filter(|paths| paths.len() <= MAX_MATCHES) {
            for path in paths {
                self.read_path(&path, at, verdict);
            }
        } else if picks_secrets(pattern) || ProtectedFiles::built_in().is_secret(pattern) {
            verdict.ask("files/secret", format!("The pattern {pattern} may match files that hold secrets."));
        }
        match self.place(if fixed.is_empty() { "." } else { fixed }, at) {
            Some(PathPlace::Workspace(_) | PathPlace::PublicSystem | PathPlace::Null) => {}
            _ => verdict
                .ask("files/outside", format!("It reads {pattern}, which is outside the work directory.")),
        }
    }

    /// Asks when files are read whose names match a pattern that is written to find secrets.
    pub(super) fn read_named(&self, pattern: &str, verdict: &mut Verdict) {
        if names_secrets(pattern) || ProtectedFiles::built_in().is_secret(pattern) {
            let why = format!("It reads files with the name {pattern}, which usually hold secrets.");
            verdict.ask("files/secret", why);
        }
    }

    /// Records that a file is written, created or deleted.
    pub(super) fn write(&mut self, value: &Value, at: &At, verdict: &mut Verdict, rule: &str) {
        let path = match value {
            Value::Known(text) => text.clone(),
            Value::Home(rest) => match self.around.home() {
                Some(home) => format!("{home}{rest}"),
                None => {
                    return verdict.raise(CommandEffect::Sensitive, rule, "It writes to the home directory.");
                }
            },
            Value::Glob(pattern) => {
                self.write_matches(pattern, at, verdict, rule);
                format!("{}/x", fixed_folder(pattern).trim_end_matches('/'))
            }
            Value::Pipe => return,
            Value::Found => {
                verdict.ask(rule, "Which files it writes is known only at run time.");
                return at.found.iter().for_each(|pattern| self.check_protected(pattern, verdict));
            }
            Value::Runtime => {
                return verdict.ask(rule, "Which file it writes is known only at run time.");
            }
        };
        let path = if path == "/x" && !matches!(value, Value::Known(_)) { "x".to_owned() } else { path };
        if is_device(&path) {
            let why = format!("It writes to {path}, a device of the system.");
            return verdict.raise(CommandEffect::Refused, "files/device", why);
        }
        match self.place(&path, at) {
            Some(PathPlace::Null) => {}
            Some(PathPlace::Workspace(relative)) => {
                self.check_protected(&relative, verdict);
                if verdict.effect == CommandEffect::ReadOnly {
                    verdict.ask(rule, format!("It writes {relative}."));
                }
                if matches!(value, Value::Known(_) | Value::Home(_)) {
                    self.writes.insert(relative);
                }
            }
            Some(PathPlace::PublicSystem | PathPlace::Outside) => {
                let temporary =
                    ["/tmp/", "/var/tmp/"].iter().any(|folder| format!("{path}/").starts_with(folder))
                        && !path.contains("/..");
                let effect = if temporary { CommandEffect::Asks } else { CommandEffect::Sensitive };
                verdict.raise(
                    effect,
                    "files/writes-outside",
                    format!("It writes {path}, which is outside the work directory."),
                );
                verdict.prefix = 0;
            }
            None => verdict.ask(rule, format!("In which directory it writes {path} is not known.")),
        }
    }

    /// Records that the files are written that a pattern matches.
    fn write_matches(&mut self, pattern: &str, at: &At, verdict: &mut Verdict, rule: &str) {
        let matches = at.dir.as_deref().and_then(|dir| self.around.matches(dir, pattern));
        match matches.filter(|paths| paths.len() <= MAX_MATCHES) {
            Some(paths) => {
                for path in paths {
                    self.write(&Value::Known(path), at, verdict, rule);
                }
            }
            None => self.check_protected(pattern, verdict),
        }
    }

    /// Asks every time when a path of the work directory, or a pattern for such paths, is protected.
    pub(super) fn check_protected(&self, relative: &str, verdict: &mut Verdict) {
        if let Some(group) = ProtectedFiles::built_in().of_operand(relative) {
            let why = format!("It changes {relative}, {}.", group.because);
            verdict.raise(CommandEffect::Sensitive, "files/protected", why);
        }
    }

    /// Where a path is; `None` when the directory it starts from is not known.
    pub(super) fn place(&self, path: &str, at: &At) -> Option<PathPlace> {
        match &at.dir {
            Some(dir) => Some(self.around.place(dir, path)),
            None if path.starts_with('/') => Some(self.around.place("", path)),
            None => None,
        }
    }

    /// Whether a value is the whole system, a system folder or the home directory.
    pub(super) fn is_root(&self, value: &Value) -> bool {
        let text = match value {
            Value::Home(rest) => return matches!(plain_path(rest).as_str(), "/" | "/*" | "/.*"),
            Value::Known(text) | Value::Glob(text) => text,
            _ => return false,
        };
        if !text.starts_with('/') {
            return false;
        }
        const FOLDERS: [&str; 21] = [
            "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt",
            "proc", "root", "run", "sbin", "srv", "sys", "usr", "var", "Users",
        ];
        let path = plain_path(text);
        let inside = path.strip_suffix("/*").or_else(|| path.strip_suffix("/.*")).unwrap_or(&path);
        let home = self.around.home().map(plain_path);
        inside.is_empty()
            || inside == "/"
            || home.as_deref() == Some(inside)
            || inside.strip_prefix('/').is_some_and(|name| FOLDERS.contains(&name))
            || path.strip_prefix('/').is_some_and(|name| !name.contains('/') && name.contains(['*', '?']))
    }
}

/// An absolute path without `.`, `..` and doubled slashes.
pub(super) fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Whether a path is a disk, a memory device or a switch of the kernel.
fn is_device(path: &str) -> bool {
    let path = plain_path(path);
    const DEVICES: [&str; 16] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "loop", "mapper/", "disk/", "mem", "kmem",
        "port", "sr", "zram",
    ];
    let device =
        path.strip_prefix("/dev/").is_some_and(|name| DEVICES.iter().any(|known| name.starts_with(known)));
    device || path == "/proc/sysrq-trigger" || path == "/proc/kcore"
}
