//! The header of a file in a unified diff: names, renames, modes.

use crate::{
    error::PatchError,
    file_name::{self, HeaderName},
    parse::Source,
    syntax::{FilePatch, Hunk, LineKind},
};

/// What the header of a file says.
#[derive(Debug, Default)]
pub(crate) struct FileHeader {
    /// The line of the patch where it begins.
    line: usize,
    old: Option<HeaderName>,
    new: Option<HeaderName>,
    /// The names of the `diff --git` line, when it says them.
    git: Option<(String, String)>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    mode: Option<u32>,
    is_new: bool,
    is_deleted: bool,
}

pub(crate) const GIT: &str = "diff --git ";

/// Returns whether a `---` line and a `+++` line begin here.
pub(crate) fn begins_plain(source: &Source<'_>) -> bool {
    source.peek().is_some_and(|line| line.starts_with("--- "))
        && source.peek_at(1).is_some_and(|line| line.starts_with("+++ "))
}

/// Reads `--- old` and `+++ new`.
pub(crate) fn read_plain(source: &mut Source<'_>) -> Result<FileHeader, PatchError> {
    let mut header = FileHeader { line: source.number(), ..FileHeader::default() };
    header.read_names(source)?;
    Ok(header)
}

/// Reads the lines from `diff --git` to `+++ new`.
pub(crate) fn read_git(source: &mut Source<'_>) -> Result<FileHeader, PatchError> {
    let line = source.number();
    let names = source.next().and_then(|line| line.strip_prefix(GIT)).unwrap_or_default();
    let mut header = FileHeader { line, git: file_name::git_names(names), ..FileHeader::default() };
    while let Some(line) = source.peek() {
        if begins_plain(source) {
            header.read_names(source)?;
            break;
        }
        if !header.read_extended(source, line)? {
            break;
        }
        source.skip();
    }
    Ok(header)
}

impl FileHeader {
    fn read_names(&mut self, source: &mut Source<'_>) -> Result<(), PatchError> {
        for (prefix, side) in [("--- ", &mut self.old), ("+++ ", &mut self.new)] {
            let rest = source.peek().and_then(|line| line.strip_prefix(prefix)).unwrap_or_default();
            let name = file_name::header_name(rest);
            *side = Some(name.ok_or_else(|| source.malformed("the quoted file name cannot be read"))?);
            source.skip();
        }
        Ok(())
    }

    /// Reads a line between `diff --git` and `---`, and returns `false` when it is none.
    fn read_extended(&mut self, source: &Source<'_>, line: &str) -> Result<bool, PatchError> {
        let line = line.trim_end_matches('\r');
        let name = |rest: &str| {
            let unquoted = if rest.starts_with('"') {
                file_name::quoted(rest).map(|(name, _)| name)
            } else {
                Some(rest.to_owned())
            };
            unquoted.ok_or_else(|| source.malformed("the quoted file name cannot be read"))
        };
        if let Some(mode) = line.strip_prefix("new mode ") {
            self.mode = Some(mode_of(source, mode)?);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            (self.mode, self.is_new) = (Some(mode_of(source, mode)?), true);
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            mode_of(source, mode)?;
            self.is_deleted = true;
        } else if let Some(rest) = line.strip_prefix("rename from ") {
            self.rename_from = Some(name(rest)?);
        } else if let Some(rest) = line.strip_prefix("rename to ") {
            self.rename_to = Some(name(rest)?);
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(source.malformed("copies are not supported; add the new file with all its lines"));
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(PatchError::Binary { line: source.number(), path: self.shown_name() });
        } else {
            let known = ["old mode ", "similarity index ", "dissimilarity index ", "index "];
            return Ok(known.iter().any(|known| line.starts_with(known)));
        }
        Ok(true)
    }

    /// The name for messages.
    fn shown_name(&self) -> String {
        match (&self.new, &self.old, &self.git) {
            (Some(HeaderName::Named(name)), ..) | (_, Some(HeaderName::Named(name)), _) => name.clone(),
            (.., Some((old, new))) => file_name::without_prefixes(old, new).1.to_owned(),
            _ => "the file".to_owned(),
        }
    }

    /// Returns the change that the header and the hunks describe.
    pub fn finish(self, hunks: Vec<Hunk>) -> Result<FilePatch, PatchError> {
        let line = self.line;
        let malformed = |message: String| PatchError::Malformed { line, message };
        let (old, new) = self.names().map_err(&malformed)?;
        match (old, new) {
            (None, Some(path)) => {
                let content = added_content(&hunks).ok_or_else(|| {
                    malformed(format!("{path} is a new file, but a hunk has lines that do not begin with +"))
                })?;
                Ok(FilePatch::Add { path, content, mode: self.mode })
            }
            (Some(path), None) => {
                let removes_only =
                    hunks.iter().flat_map(|hunk| &hunk.lines).all(|line| line.kind == LineKind::Removed);
                if !removes_only {
                    return Err(malformed(format!(
                        "{path} is deleted, but a hunk has lines that do not begin with -"
                    )));
                }
                Ok(FilePatch::Delete { path, hunks })
            }
            (Some(path), Some(new)) => {
                let move_to = (new != path).then_some(new);
                if hunks.is_empty() && move_to.is_none() && self.mode.is_none() {
                    return Err(malformed(format!("{path} is named, but no change follows")));
                }
                Ok(FilePatch::Update { path, move_to, mode: self.mode, hunks })
            }
            (None, None) => Err(malformed("both names are /dev/null".to_owned())),
        }
    }

    /// Returns the name before and the name after; `None` where the file does not exist.
    fn names(&self) -> Result<(Option<String>, Option<String>), String> {
        if let (Some(from), Some(to)) = (&self.rename_from, &self.rename_to) {
            return Ok((Some(from.clone()), Some(to.clone())));
        }
        let (old, new) = match (&self.old, &self.new, &self.git) {
            (Some(old), Some(new), _) => (old.clone(), new.clone()),
            (.., Some((old, new))) => (HeaderName::Named(old.clone()), HeaderName::Named(new.clone())),
            _ => return Err("the names of the file cannot be read; write --- and +++ lines".to_owned()),
        };
        let is_git = self.git.is_some();
        let (old, new) = match (old, new) {
            (HeaderName::Absent, HeaderName::Absent) => return Ok((None, None)),
            (HeaderName::Absent, HeaderName::Named(new)) => {
                return Ok((None, Some(bare(&new, "b/", is_git)?)));
            }
            (HeaderName::Named(old), HeaderName::Absent) => {
                return Ok((Some(bare(&old, "a/", is_git)?), None));
            }
            (HeaderName::Named(old), HeaderName::Named(new)) => (old, new),
        };
        let (old, new) = file_name::without_prefixes(&old, &new);
        if new.is_empty() || old.is_empty() {
            return Err("the path is missing".to_owned());
        }
        match (self.is_new, self.is_deleted) {
            (true, false) => return Ok((None, Some(new.to_owned()))),
            (false, true) => return Ok((Some(old.to_owned()), None)),
            _ => {}
        }
        let copies = [".orig", ".old", ".bak", "~"];
        if old == new || copies.iter().any(|copy| old.strip_suffix(copy) == Some(new)) {
            return Ok((Some(new.to_owned()), Some(new.to_owned())));
        }
        Err(format!(
            "the --- line names {old:?} and the +++ line {new:?}; to move a file, write \"rename from\" and \"rename to\" \
             lines or *** Move to:"
        ))
    }
}

/// Removes the prefix of a name whose other side is `/dev/null`. Only plain diffs may lack it.
fn bare(name: &str, prefix: &str, is_git: bool) -> Result<String, String> {
    let rest = name.strip_prefix(prefix);
    let rest = rest
        .or_else(|| name.split_once('/').filter(|(one, _)| is_git && one.len() == 1).map(|(_, rest)| rest));
    match rest.unwrap_or(name) {
        "" => Err("the path is missing".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Reads the permission bits of `100644`. Links and other repositories cannot be patched.
fn mode_of(source: &Source<'_>, text: &str) -> Result<u32, PatchError> {
    match u32::from_str_radix(text.trim(), 8) {
        Ok(mode) if mode & 0o170_000 == 0o100_000 => Ok(mode & 0o777),
        Ok(0o120_000) => {
            Err(source.malformed("the patch changes a symbolic link; only regular files can be patched"))
        }
        Ok(0o160_000) => {
            Err(source.malformed("the patch changes a submodule; only regular files can be patched"))
        }
        _ => Err(source.malformed(format!("the file mode {:?} cannot be read", text.trim()))),
    }
}

/// Returns the content of a new file, or `None` when a hunk has other lines than added ones.
fn added_content(hunks: &[Hunk]) -> Option<String> {
    let mut content = String::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        if line.kind != LineKind::Added {
            return None;
        }
        content.push_str(&line.text);
        content.push_str(if line.newline { "\n" } else { "" });
    }
    Some(content)
}
