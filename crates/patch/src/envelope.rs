//! Reads the envelope `*** Begin Patch` … `*** End Patch`.

use crate::{
    error::PatchError,
    hunk_body::{self, HunkBody},
    lines::shown,
    parse::Source,
    syntax::{FilePatch, Hunk},
};

pub(crate) const BEGIN: &str = "*** Begin Patch";
pub(crate) const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Reads all envelopes of the text. What stands around them is ignored.
pub(crate) fn read(source: &mut Source<'_>) -> Result<Vec<FilePatch>, PatchError> {
    let mut files = Vec::new();
    while let Some(line) = source.next() {
        if line.trim_end() == BEGIN {
            read_one(source, &mut files)?;
        }
    }
    if files.is_empty() {
        return Err(PatchError::NoPatch("the patch changes no file".to_owned()));
    }
    Ok(files)
}

fn read_one(source: &mut Source<'_>, files: &mut Vec<FilePatch>) -> Result<(), PatchError> {
    while let Some(line) = source.peek() {
        let line = line.trim_end();
        if line == END {
            source.skip();
            return Ok(());
        }
        if line.is_empty() {
            source.skip();
            continue;
        }
        source.count_file()?;
        files.push(read_file(source, line)?);
    }
    Err(source.malformed(format!("the line {END} is missing: the patch may be cut off")))
}

fn read_file(source: &mut Source<'_>, line: &str) -> Result<FilePatch, PatchError> {
    if let Some(path) = line.strip_prefix(ADD) {
        let path = path_of(source, path)?;
        source.skip();
        return Ok(FilePatch::Add { path, content: added_content(source)?, mode: None });
    }
    if let Some(path) = line.strip_prefix(DELETE) {
        let path = path_of(source, path)?;
        source.skip();
        return Ok(FilePatch::Delete { path, hunks: Vec::new() });
    }
    let Some(path) = line.strip_prefix(UPDATE) else {
        let line = shown(line);
        return Err(
            source.malformed(format!("expected {ADD}, {DELETE}, {UPDATE} or {END}, but it is {line:?}"))
        );
    };
    let path = path_of(source, path)?;
    let number = source.number();
    source.skip();
    let mut move_to = None;
    if let Some(target) = source.peek().and_then(|line| line.strip_prefix(MOVE)) {
        move_to = Some(path_of(source, target)?);
        source.skip();
    }
    let hunks = read_hunks(source)?;
    if hunks.is_empty() && move_to.is_none() {
        return Err(source.malformed_at(number, format!("{path} is named, but no change follows")));
    }
    Ok(FilePatch::Update { path, move_to, mode: None, hunks })
}

fn path_of(source: &Source<'_>, written: &str) -> Result<String, PatchError> {
    match written.trim() {
        "" => Err(source.malformed("the path is missing")),
        path => Ok(path.to_owned()),
    }
}

/// Reads the lines of a new file. Each begins with `+`; an empty line may lack it.
fn added_content(source: &mut Source<'_>) -> Result<String, PatchError> {
    let mut content = String::new();
    let mut blank = 0;
    while let Some(line) = source.peek().filter(|line| !is_directive(line)) {
        if line.trim_end().is_empty() {
            blank += 1;
        } else if let Some(text) = line.strip_prefix('+') {
            content.extend(std::iter::repeat_n('\n', blank));
            blank = 0;
            content.push_str(text);
            content.push('\n');
        } else if line.starts_with("\\ ") && content.ends_with('\n') {
            content.pop();
        } else if line.trim_end() != END_OF_FILE {
            let line = shown(line);
            return Err(
                source.malformed(format!("every line of a new file begins with +, but this is {line:?}"))
            );
        }
        source.skip();
    }
    Ok(content)
}

/// Returns whether the line begins another part of the envelope.
fn is_directive(line: &str) -> bool {
    line.starts_with("*** ") && line.trim_end() != END_OF_FILE
}

fn read_hunks(source: &mut Source<'_>) -> Result<Vec<Hunk>, PatchError> {
    let mut hunks = Vec::new();
    let mut body = HunkBody::default();
    // The line of the last `@@`, until lines follow it.
    let mut open: Option<usize> = None;
    let mut ended = false;
    while let Some(line) = source.peek().filter(|line| !is_directive(line)) {
        if let Some(header) = hunk_body::header(line) {
            if !body.is_empty() {
                source.push_hunk(&mut hunks, std::mem::take(&mut body).finish())?;
            }
            body.read_header(&header);
            open = Some(source.number());
            ended = false;
        } else if line.trim_end() == END_OF_FILE {
            if body.is_empty() {
                return Err(source.malformed(format!("{END_OF_FILE} follows no change")));
            }
            body.set_at_end();
            ended = true;
        } else if ended && !line.trim_end().is_empty() {
            return Err(
                source.malformed(format!("after {END_OF_FILE} an @@ line or another file is expected"))
            );
        } else if !ended && !body.take(line) {
            return Err(source.malformed(unprefixed(line)));
        } else if !body.is_empty() {
            open = None;
        }
        source.skip();
    }
    if let Some(number) = open {
        return Err(source.malformed_at(number, "no lines follow the @@ line"));
    }
    if !body.is_empty() {
        source.push_hunk(&mut hunks, body.finish())?;
    }
    Ok(hunks)
}

/// What is wrong with a line of a hunk that has no prefix.
pub(crate) fn unprefixed(line: &str) -> String {
    format!(
        "every line of a hunk begins with a space (unchanged), - (removed) or + (added), but this is {:?}",
        shown(line)
    )
}
