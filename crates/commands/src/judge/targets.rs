//! Files that a command writes although no single word names them: the targets of copies, files that are changed in place,
//! downloads, and files that the program text of `sed` or `awk` names.

use super::{At, Judge, Verdict, options::Scan, scripts};
use crate::{
    PathPlace, ProtectedFiles, Protection,
    judgement::CommandEffect,
    syntax::tree::{Value, Word},
    table::{Operands, Rule},
};

impl Judge<'_> {
    /// A file that is changed in place, and its safety copy.
    pub(super) fn rewrite(
        &mut self,
        word: &Word,
        scan: &Scan<'_>,
        at: &At,
        verdict: &mut Verdict,
        rule: &str,
    ) {
        self.write(&word.value, at, verdict, rule);
        let Some(path) = word.text() else { return };
        for ending in scan.in_place.iter().flatten().filter(|ending| !ending.is_empty()) {
            let (folder, name) = path.rsplit_once('/').map_or(("", path), |(_, name)| {
                (path.get(..path.len() - name.len()).unwrap_or_default(), name)
            });
            let copy =
                if ending.contains('*') { ending.replace('*', name) } else { format!("{name}{ending}") };
            let copy = if copy.contains('/') { copy } else { format!("{folder}{copy}") };
            self.write(&Value::Known(copy), at, verdict, rule);
        }
    }

    /// `cp a b`, `cp a b folder`, `mv`, `ln`, `install`, `rsync`.
    pub(super) fn copies(&mut self, rule: &Rule, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        let named = |name: &str| matches!(name, "-t" | "--target-directory");
        let in_option = scan.values.iter().find(|(name, _)| named(name)).map(|(_, word)| word.clone());
        let in_folder = in_option.is_some();
        let mut sources = scan.operands.clone();
        let links = rule.id.ends_with("/ln");
        let target = match in_option {
            Some(target) => Some(target),
            None if sources.len() > 1 => sources.pop().cloned(),
            // `ln -s folder/name` makes `name`.
            None if links => Some(Word::known("./")),
            None => None,
        };
        for source in &sources {
            if rule.operands == Operands::Move {
                self.write(&source.value, at, verdict, &rule.id);
            } else if !is_remote(rule, source) {
                self.read(&source.value, source.spelling, at, verdict);
            }
            // What is written through a link later is written to its target.
            if links || scan.unknown_options {
                self.check_protected_value(&source.value, at, verdict, links);
            }
        }
        let Some(target) = target.filter(|target| !is_remote(rule, target)) else { return };
        self.write(&target.value, at, verdict, &rule.id);
        let Some(folder) = folder_text(&target.value, self.around.home()) else { return };
        let surely_folder =
            in_folder || sources.len() > 1 || folder.ends_with('/') || matches!(folder.as_str(), "." | "..");
        for source in &sources {
            let (Value::Known(path) | Value::Home(path) | Value::Glob(path)) = &source.value else {
                continue;
            };
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if matches!(name, "" | "." | "..") {
                continue;
            }
            let inside = Value::Known(format!("{}/{name}", folder.trim_end_matches('/')));
            if surely_folder && !matches!(source.value, Value::Glob(_)) {
                self.write(&inside, at, verdict, &rule.id);
            } else {
                self.check_protected_value(&inside, at, verdict, true);
            }
        }
    }

    /// Asks every time when a path is protected, without recording that it is written.
    pub(super) fn check_protected_value(&self, value: &Value, at: &At, verdict: &mut Verdict, secrets: bool) {
        let Value::Known(path) = value else { return };
        if let Some(PathPlace::Workspace(relative)) = self.place(path, at)
            && let Some(group) = ProtectedFiles::built_in().of_operand(&relative)
            && (secrets || group.protection != Protection::Secret)
        {
            let why = format!("It may change {relative}, {}.", group.because);
            verdict.raise(CommandEffect::Sensitive, "files/protected", why);
        }
    }

    /// Downloads that get the last part of their address as a name.
    pub(super) fn downloads(&mut self, rule: &Rule, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        let given = |wanted: &[&str]| scan.options.iter().any(|option| wanted.contains(&option.as_str()));
        let by_address = match rule.id.as_str() {
            "network/curl" => given(&["-O", "--remote-name", "--remote-name-all", "--remote-na"]),
            _ => !given(&["-O", "--output-document"]),
        };
        let folder = scan
            .values
            .iter()
            .find(|(name, _)| matches!(name.as_str(), "-P" | "--directory-prefix" | "--output-dir"));
        let folder = folder.map_or(Some("."), |(_, word)| word.text());
        let (true, Some(folder)) = (by_address, folder) else { return };
        for word in &scan.operands {
            // A pattern that matches nothing stays as it is.
            let (Value::Known(address) | Value::Glob(address)) = &word.value else { continue };
            let address = address.split(['?', '#']).next().unwrap_or_default();
            let path = address.split_once("://").map_or(address, |(_, path)| path);
            let name = path.split_once('/').and_then(|(_, path)| path.rsplit('/').next());
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let folder = folder.trim_end_matches('/');
                self.write(&Value::Known(format!("{folder}/{name}")), at, verdict, &rule.id);
            }
        }
    }

    /// Files that a program text of `sed` or `awk` names as written.
    pub(super) fn written_by_text(
        &mut self,
        text: &str,
        at: &At,
        verdict: &mut Verdict,
        rule: &str,
        named: fn(&str) -> Vec<String>,
    ) {
        for path in named(text).into_iter().take(scripts::MAX_WRITTEN) {
            // What the text means is not certain enough for more than the files of the work directory.
            if let Some(PathPlace::Workspace(_)) = self.place(&path, at) {
                self.write(&Value::Known(path), at, verdict, rule);
            }
        }
    }
}

/// `host:path`
fn is_remote(rule: &Rule, word: &Word) -> bool {
    let host =
        |text: &str| text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    rule.network && word.text().is_some_and(host)
}

fn folder_text(value: &Value, home: Option<&str>) -> Option<String> {
    match value {
        Value::Known(text) => Some(text.clone()),
        Value::Home(rest) => home.map(|home| format!("{home}{rest}")),
        _ => None,
    }
}
