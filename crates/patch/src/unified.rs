//! Reads unified diffs, as `diff -u` and git write them.

use crate::{
    envelope::unprefixed,
    error::PatchError,
    file_header::{self, FileHeader, GIT},
    hunk_body::{self, Header, HunkBody},
    parse::Source,
    syntax::{FilePatch, Hunk},
};

/// Returns the first line of the first header, or `None` when the text has no unified diff.
pub(crate) fn first_header<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let plain =
        |pair: &[&str]| pair.iter().zip(["--- ", "+++ "]).all(|(line, start)| line.starts_with(start));
    let of_git = lines.iter().position(|line| line.starts_with(GIT));
    let of_plain = lines.windows(2).position(plain);
    let first = of_git.into_iter().chain(of_plain).min()?;
    lines.get(first).copied()
}

/// Reads all files of the diff. Text before the first file and between files is ignored.
pub(crate) fn read(source: &mut Source<'_>) -> Result<Vec<FilePatch>, PatchError> {
    let mut files = Vec::new();
    let mut open: Option<(FileHeader, Vec<Hunk>)> = None;
    while let Some(line) = source.peek() {
        if line.starts_with(GIT) || file_header::begins_plain(source) {
            finish(&mut files, open.take())?;
            source.count_file()?;
            let read = if line.starts_with(GIT) { file_header::read_git } else { file_header::read_plain };
            open = Some((read(source)?, Vec::new()));
        } else if line.starts_with("@@@") {
            return Err(
                source.malformed("this is the combined diff of a merge; write a diff against one version")
            );
        } else if let Some(header) = hunk_body::header(line) {
            let Some((_, hunks)) = &mut open else {
                return Err(
                    source.malformed("the hunk belongs to no file: --- and +++ lines are missing above it")
                );
            };
            let hunk = read_hunk(source, &header)?;
            source.push_hunk(hunks, hunk)?;
        } else if line.starts_with("GIT binary patch") || is_binary(line) {
            let path = line.split(' ').nth(2).unwrap_or("the file").to_owned();
            return Err(PatchError::Binary { line: source.number(), path });
        } else {
            source.skip();
        }
    }
    finish(&mut files, open)?;
    Ok(files)
}

fn finish(files: &mut Vec<FilePatch>, open: Option<(FileHeader, Vec<Hunk>)>) -> Result<(), PatchError> {
    if let Some((header, hunks)) = open {
        files.push(header.finish(hunks)?);
    }
    Ok(())
}

fn is_binary(line: &str) -> bool {
    line.starts_with("Binary files ") && line.trim_end().ends_with(" differ")
}

/// How many lines the header says that still follow.
struct Left {
    old: usize,
    new: usize,
}

impl Left {
    fn count(&mut self, line: &str) {
        let (old, new) = match line.as_bytes().first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            _ => (1, 1),
        };
        self.old = self.old.saturating_sub(old);
        self.new = self.new.saturating_sub(new);
    }

    fn is_done(&self) -> bool {
        self.old == 0 && self.new == 0
    }
}

/// Reads a hunk. Its lines are recognised by their prefixes; the counts of the header only decide what looks like a
/// header or a separator, because authors count wrongly.
fn read_hunk(source: &mut Source<'_>, header: &Header) -> Result<Hunk, PatchError> {
    let number = source.number();
    let mut body = HunkBody::default();
    body.read_header(header);
    source.skip();
    let mut left = match header {
        Header::Numbers(numbers) => Left { old: numbers.old_lines, new: numbers.new_lines },
        _ => Left { old: 0, new: 0 },
    };
    // Unprefixed empty lines at the end which the counts include.
    let mut counted_blank = 0;
    while let Some(line) = source.peek() {
        if next_file(source, &left) || (left.is_done() && is_signature(source, line)) {
            break;
        }
        if !body.take(line) {
            if left.is_done() || begins_other(line) {
                break;
            }
            return Err(source.malformed(unprefixed(line)));
        }
        let blank = line.trim_end().is_empty() && !line.starts_with(' ');
        counted_blank = if !blank { 0 } else { counted_blank + usize::from(left.old > 0 && left.new > 0) };
        left.count(line);
        source.skip();
    }
    if left.is_done() {
        body.keep_blank(counted_blank);
    }
    if let Some(line) = source.peek().filter(|line| !begins_other(line) && !is_separator(line)) {
        let ended_by_blank = source.follows_blank();
        if !ended_by_blank && !next_file(source, &left) && !is_signature(source, line) {
            return Err(source.malformed(unprefixed(line)));
        }
    }
    if body.is_empty() {
        return Err(source.malformed_at(number, "no lines follow the @@ line"));
    }
    Ok(body.finish())
}

/// Returns whether the next lines are the `---` and `+++` of another file, and not lines that begin with `-- ` and `++ `.
fn next_file(source: &Source<'_>, left: &Left) -> bool {
    let both_expected = left.old > 0 && left.new > 0;
    let counts_fit = left.old == 1 && left.new == 1;
    let hunk_follows = source.peek_at(2).is_some_and(|line| line.starts_with("@@ -"));
    file_header::begins_plain(source) && (!both_expected || (hunk_follows && !counts_fit))
}

/// Returns whether the line begins something that is no hunk line.
fn begins_other(line: &str) -> bool {
    let others =
        ["diff ", "@@", "Index: ", "Only in ", "Binary files ", "GIT binary patch", "=====", "From "];
    others.iter().any(|other| line.starts_with(other))
}

/// Returns whether the line ends a patch in running text.
fn is_separator(line: &str) -> bool {
    let line = line.trim_end();
    line.is_empty() || line.starts_with("```") || line.starts_with("~~~") || line == "EOF"
}

/// Returns whether `-- ` and a version end the patch, as git writes them in mails.
fn is_signature(source: &Source<'_>, line: &str) -> bool {
    let version = source.peek_at(1).unwrap_or_default();
    line.trim_end() == "--" && version.starts_with(|first: char| first.is_ascii_digit())
}
