//! Git: paths and revisions among the operands, and what `git push` overwrites.

use super::{At, Judge, Verdict, git, options::Scan, patterns::names_secrets};
use crate::{
    ProtectedFiles,
    judgement::CommandEffect,
    syntax::tree::{Spelling, Value, Word},
    table::Rule,
};

impl Judge<'_> {
    /// A revision, or a path that could lead out of the repository.
    pub(super) fn revision(&mut self, word: &Word, at: &At, verdict: &mut Verdict) {
        match &word.value {
            Value::Known(text) => {
                let path = text.rsplit_once(':').map_or(text.as_str(), |(_, path)| path);
                let leads_out = [text.as_str(), path]
                    .iter()
                    .any(|path| path.starts_with(['/', '~']) || path.split('/').any(|part| part == ".."));
                if leads_out {
                    self.read(&Value::Known(path.to_owned()), word.spelling, at, verdict);
                }
            }
            value => self.read(value, word.spelling, at, verdict),
        }
    }

    /// A revision, `revision:path` or a path, whose contents are printed. Behind `--` it is a path.
    pub(super) fn contents(&mut self, word: &Word, is_path: bool, at: &At, verdict: &mut Verdict) {
        self.revision(word, at, verdict);
        let Value::Known(text) = &word.value else { return };
        let Some((path, sure)) = path_of(text, is_path) else { return };
        // `revision:path` starts at the top of the repository, `revision:./path` and a path of its own do not.
        let from_top = text.len() > path.len() && !path.starts_with("./") && !path.starts_with("../");
        let top = at.dir.as_deref().filter(|_| from_top).and_then(|dir| git::top_folder(self.around, dir));
        let at = At { dir: top.or_else(|| at.dir.clone()), ..at.clone() };
        self.repository_path(path, sure, word.spelling, &at, verdict);
    }

    /// Judges a path in the repository. One that is not surely a path counts when a file has that name, or when it is secret.
    fn repository_path(
        &mut self,
        path: &str,
        sure: bool,
        spelling: Spelling,
        at: &At,
        verdict: &mut Verdict,
    ) {
        if path.contains(['*', '?', '[']) {
            self.read_named(path, verdict);
        }
        let secret = ProtectedFiles::built_in().is_secret(path);
        let leads_out = path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
        let exists = || {
            let place = self.place(path, at);
            matches!(place, Some(crate::PathPlace::Workspace(path)) if self.around.read_small(&path).is_some())
        };
        if !leads_out && (secret || names_secrets(path) || sure || exists()) {
            self.read(&Value::Known(path.to_owned()), spelling, at, verdict);
        }
    }

    /// `git log -L 1,5:path`
    pub(super) fn line_ranges(&mut self, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        for (_, word) in scan.values.iter().filter(|(name, _)| name == "-L") {
            if let Some((_, path)) = word.text().and_then(|text| text.rsplit_once(':')) {
                self.repository_path(path, true, word.spelling, at, verdict);
            }
        }
    }

    /// Refspecs that overwrite (`+main`) or delete (`:main`) branches elsewhere.
    pub(super) fn pushed(&mut self, rule: &Rule, scan: &Scan<'_>, verdict: &mut Verdict) {
        for word in &scan.operands {
            let rule = format!("{}-refspec", rule.id);
            match word.text() {
                Some(text) if text.starts_with('+') => {
                    let why = format!("`{text}` overwrites a branch on another machine.");
                    verdict.raise(CommandEffect::Sensitive, &rule, why);
                }
                Some(text) if text.starts_with(':') => {
                    let why = format!("`{text}` deletes or overwrites branches on another machine.");
                    verdict.raise(CommandEffect::Sensitive, &rule, why);
                }
                Some(_) => {}
                None => {
                    let why = "Which branch it changes on another machine is known only at run time.";
                    verdict.raise(CommandEffect::Sensitive, &rule, why);
                }
            }
        }
    }

    /// `git checkout main -- path`, `git restore path`: paths that are written.
    pub(super) fn checked_out(&mut self, rule: &Rule, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        for (index, word) in scan.operands.iter().enumerate() {
            let sure = scan.before_dashes.is_some_and(|before| index >= before);
            let value = match &word.value {
                Value::Known(text) => match path_of(text, sure) {
                    Some((path, _)) => Value::Known(path.to_owned()),
                    None => continue,
                },
                value => value.clone(),
            };
            match &value {
                Value::Known(path) if !sure => self.check_protected(path.trim_start_matches("./"), verdict),
                _ => self.write(&value, at, verdict, &rule.id),
            }
        }
    }
}

/// The path in `path`, `revision:path`, `:0:path` or `:(magic)path`, and whether it is certain that it is one. `None` for paths
/// that are left out (`:!path`).
fn path_of(text: &str, is_path: bool) -> Option<(&str, bool)> {
    if let Some(magic) = text.strip_prefix(":(") {
        let (magic, path) = magic.split_once(')')?;
        return (!magic.contains("exclude")).then_some((path, true));
    }
    if text.starts_with(":!") || text.starts_with(":^") {
        return None;
    }
    if let Some(path) = text.strip_prefix(":/") {
        return Some((path, is_path));
    }
    match text.split_once(':') {
        _ if is_path && !text.starts_with(':') => Some((text, true)),
        None => Some((text, false)),
        // `:0:path` is a version of the path in the index.
        Some(("", path)) => match path.split_once(':') {
            Some((stage, path)) if stage.len() == 1 => Some((path, true)),
            _ => Some((path, true)),
        },
        Some((_, path)) => Some((path, true)),
    }
}
