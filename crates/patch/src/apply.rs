//! Applies hunks to the text of a file. Lines that a hunk does not change keep every byte.

use crate::{
    error::HunkError,
    lines::{self, BOM, Ending, Line},
    place::{self, Placed},
    syntax::{Hunk, HunkLine, LineKind},
};

pub use crate::line_index::Exactness;

/// The result of [`apply_hunks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub text: String,
    /// Where each hunk was applied.
    pub places: Vec<Place>,
}

impl Applied {
    /// Returns how closely the worst of the hunks matched.
    pub fn exactness(&self) -> Exactness {
        self.places.iter().map(|place| place.exactness).max().unwrap_or(Exactness::Exact)
    }
}

/// Where a hunk was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its first line in the old file, from 1.
    pub line: usize,
    pub exactness: Exactness,
    /// How many lines further down than its line number said; negative: further up.
    pub shifted: isize,
}

/// Applies hunks to a text: all, or none and the reason.
///
/// Added lines get the line ending of the lines around them, unless the hunk itself shows `\r`. A text without a final
/// newline, or with a byte order mark, stays so unless the hunks say otherwise.
pub fn apply_hunks(old: &str, hunks: &[Hunk]) -> Result<Applied, HunkError> {
    let without_bom = old.strip_prefix(BOM).filter(|rest| !rest.is_empty()).unwrap_or(old);
    let mut lines = lines::split(without_bom);
    let placed = place::place(&lines, hunks)?;
    let shows_bom = hunks.iter().zip(&placed).any(|(hunk, placed)| shows_bom(hunk, placed));
    if shows_bom {
        lines = lines::split(old);
    }
    let mut edits: Vec<LineEdit<'_>> = Vec::new();
    for (hunk, placed) in hunks.iter().zip(&placed) {
        line_edits(&lines, hunk, placed.at, &mut edits);
    }
    edits.sort_by_key(|edit| edit.at);
    let mut new = merge(&lines, &edits);
    finish_last_line(&lines, hunks, &mut new);
    let mut text =
        String::with_capacity(old.len() + new.iter().map(|line| line.text.len()).sum::<usize>() / 8);
    if without_bom.len() < old.len()
        && !shows_bom
        && !new.first().is_some_and(|line| line.text.starts_with(BOM))
    {
        text.push(BOM);
    }
    for line in &new {
        text.push_str(line.text);
        text.push_str(line.ending.text());
    }
    Ok(Applied {
        text,
        places: placed.iter().zip(hunks).map(|(placed, hunk)| report(*placed, hunk)).collect(),
    })
}

fn report(placed: Placed, hunk: &Hunk) -> Place {
    let shifted = hunk.position.map_or(0, |position| placed.at as isize - position.above as isize);
    Place { line: placed.at + 1, exactness: placed.exactness, shifted }
}

/// Returns whether the hunk shows the byte order mark of the file, so that it also decides what becomes of it.
fn shows_bom(hunk: &Hunk, placed: &Placed) -> bool {
    placed.at == 0 && hunk.old_lines().next().is_some_and(|line| line.text.starts_with(BOM))
}

/// Lines that replace others.
struct LineEdit<'a> {
    at: usize,
    removed: usize,
    added: Vec<Line<'a>>,
}

/// Turns a hunk into edits.
fn line_edits<'a>(lines: &[Line<'a>], hunk: &'a Hunk, at: usize, edits: &mut Vec<LineEdit<'a>>) {
    let shows_endings = shows_endings(lines, hunk, at);
    let first = edits.len();
    let mut line = at;
    let mut open: Option<LineEdit<'a>> = None;
    for hunk_line in &hunk.lines {
        if hunk_line.kind == LineKind::Context {
            edits.extend(open.take());
            line += 1;
            continue;
        }
        let edit = open.get_or_insert_with(|| LineEdit { at: line, removed: 0, added: Vec::new() });
        if hunk_line.kind == LineKind::Removed {
            edit.removed += 1;
            line += 1;
        } else {
            edit.added.push(added_line(hunk_line, shows_endings));
        }
    }
    edits.extend(open);
    if !shows_endings {
        edits.iter_mut().skip(first).for_each(|edit| take_endings(lines, edit));
    }
}

/// Returns a line as the hunk has it. A hunk that does not show endings gets them from [`take_endings`].
fn added_line<'a>(line: &'a HunkLine, shows_endings: bool) -> Line<'a> {
    if !line.newline {
        return Line { text: &line.text, ending: Ending::None };
    }
    match line.text.strip_suffix('\r') {
        Some(text) if shows_endings => Line { text, ending: Ending::CrLf },
        Some(text) => Line { text, ending: Ending::Lf },
        None => Line { text: &line.text, ending: Ending::Lf },
    }
}

/// Returns whether the hunk has a `\r` and agrees with the file about the endings of the old lines.
fn shows_endings(lines: &[Line<'_>], hunk: &Hunk, at: usize) -> bool {
    let agrees = |(line, hunk_line): (&Line<'_>, &HunkLine)| {
        line.ending == Ending::None || hunk_line.text.ends_with('\r') == (line.ending == Ending::CrLf)
    };
    hunk.lines.iter().any(|line| line.text.ends_with('\r'))
        && lines.iter().skip(at).zip(hunk.old_lines()).all(agrees)
}

/// Gives added lines the endings of the lines they replace, or of those around them.
fn take_endings(lines: &[Line<'_>], edit: &mut LineEdit<'_>) {
    let around = ending_around(lines, edit.at);
    let replaced = lines.get(edit.at..edit.at + edit.removed).unwrap_or_default();
    let known = |line: &&Line<'_>| line.ending != Ending::None;
    let last = replaced.iter().rev().find(known).map_or(around, |line| line.ending);
    for (at, line) in edit.added.iter_mut().enumerate().filter(|(_, line)| line.ending != Ending::None) {
        line.ending = replaced.get(at).filter(known).map_or(last, |line| line.ending);
    }
}

/// Returns the ending of the nearest line above that has one, else of the line here, else a plain newline.
fn ending_around(lines: &[Line<'_>], at: usize) -> Ending {
    // Only the last line of a text can lack its ending.
    let above = lines.get(..at).unwrap_or_default().iter().rev().take(2);
    let mut known = above.chain(lines.get(at)).map(|line| line.ending);
    known.find(|ending| *ending != Ending::None).unwrap_or(Ending::Lf)
}

/// Returns the lines of the new text.
fn merge<'a>(lines: &[Line<'a>], edits: &[LineEdit<'a>]) -> Vec<Line<'a>> {
    let mut new = Vec::with_capacity(lines.len());
    let mut at = 0;
    for edit in edits {
        new.extend_from_slice(lines.get(at..edit.at).unwrap_or_default());
        new.extend_from_slice(&edit.added);
        at = at.max(edit.at + edit.removed);
    }
    new.extend_from_slice(lines.get(at..).unwrap_or_default());
    new
}

/// Ends every line but the last with a newline, and the last as the hunks say or as the old text did.
fn finish_last_line(lines: &[Line<'_>], hunks: &[Hunk], new: &mut [Line<'_>]) {
    let said = hunks.iter().rev().find(|hunk| hunk.lines.iter().any(|line| !line.newline));
    let newline = match said {
        Some(hunk) => hunk
            .lines
            .iter()
            .rev()
            .find(|line| line.kind != LineKind::Removed)
            .is_none_or(|line| line.newline),
        None => lines.last().is_none_or(|line| line.ending != Ending::None),
    };
    let style = new.iter().rev().map(|line| line.ending).find(|ending| *ending != Ending::None);
    let count = new.len();
    for (at, line) in new.iter_mut().enumerate() {
        let is_last = at + 1 == count;
        if is_last && !newline {
            line.ending = Ending::None;
        } else if line.ending == Ending::None {
            line.ending = style.unwrap_or(Ending::Lf);
        }
    }
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
