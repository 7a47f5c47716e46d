//! Compares two texts line by line.

use std::{
    collections::HashMap,
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use crate::regions::{Region, regions};

/// The differences between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextDiff {
    /// A unified diff without the two header lines.
    pub text: String,
    /// The number of lines that only the new text has.
    pub added: u32,
    /// The number of lines that only the old text has.
    pub removed: u32,
    /// Whether `text` ends early, because it would be longer than the limit.
    pub cut: bool,
    /// Whether one of the texts is binary; then `text` is empty.
    pub binary: bool,
}

/// After this time the rest of the texts counts as replaced.
const LONGEST: Duration = Duration::from_millis(300);
/// Texts with more lines than this together count as replaced.
const MAX_LINES: usize = 2_000_000;
const MAX_CONTEXT: usize = 1_000;

/// Compares two texts and returns a unified diff with `context` lines around each change, of at most `limit` bytes. The
/// counts are of all changes, also those that were cut off.
pub fn diff(old: &[u8], new: &[u8], context: usize, limit: usize) -> TextDiff {
    if is_binary(old) || is_binary(new) {
        return TextDiff { binary: true, ..TextDiff::default() };
    }
    let (old, new) = (split(old), split(new));
    let operations = operations(&old, &new);
    let mut result = TextDiff::default();
    for operation in &operations {
        let (removed, added) = match operation {
            DiffOp::Equal { .. } => (0, 0),
            other => (other.old_range().len(), other.new_range().len()),
        };
        result.removed = result.removed.saturating_add(u32::try_from(removed).unwrap_or(u32::MAX));
        result.added = result.added.saturating_add(u32::try_from(added).unwrap_or(u32::MAX));
    }
    let mut writer = Writer { old: &old, new: &new, text: String::new(), limit };
    for group in group_diff_ops(operations, context.min(MAX_CONTEXT)) {
        if writer.hunk(&group).is_none() {
            result.cut = true;
            break;
        }
    }
    result.text = writer.text;
    result
}

/// Shortens the text of a difference to `limit` bytes, as [`diff`] with that limit does.
pub fn cut(difference: &mut TextDiff, limit: usize) {
    if difference.text.len() <= limit {
        return;
    }
    let (mut kept, mut end) = (0, 0);
    let mut lines = difference.text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        end += line.len();
        // The mark of a missing newline belongs to the line above.
        end += lines.next_if(|next| next.starts_with('\\')).map_or(0, str::len);
        if end > limit {
            break;
        }
        // A header is kept with the first line below it.
        if !line.starts_with('@') {
            kept = end;
        }
    }
    difference.text.truncate(kept);
    difference.cut = true;
}

/// Returns whether the bytes are not text: they contain a zero byte.
fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

/// Splits into lines that keep their endings.
fn split(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::with_capacity(bytes.len() / 32);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).chain([bytes.len()]) {
        lines.extend(bytes.get(start..end).filter(|line| !line.is_empty()));
        start = end;
    }
    lines
}

fn operations(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    if old.len() + new.len() > MAX_LINES {
        return replaced(old, new);
    }
    let deadline = Instant::now().checked_add(LONGEST);
    let mut operations: Vec<DiffOp> = Vec::new();
    let mut at = (0, 0);
    for (removed, added) in regions(old, new) {
        let (old_index, new_index, len) = (at.0, at.1, removed.start - at.0);
        push(&mut operations, DiffOp::Equal { old_index, new_index, len });
        at = (removed.end, added.end);
        compare(old, new, (removed, added), deadline, &mut operations);
    }
    let (old_index, new_index, len) = (at.0, at.1, old.len() - at.0);
    push(&mut operations, DiffOp::Equal { old_index, new_index, len });
    operations
}

/// Compares one part of the texts.
fn compare(
    old: &[&[u8]],
    new: &[&[u8]],
    (removed, added): Region,
    deadline: Option<Instant>,
    operations: &mut Vec<DiffOp>,
) {
    // Lines become numbers, so that comparing two of them takes the same time however long they are.
    let mut numbers: HashMap<&[u8], u32> = HashMap::new();
    let mut number = |line| {
        let next = numbers.len() as u32;
        *numbers.entry(line).or_insert(next)
    };
    let old_lines: Vec<u32> =
        old.get(removed.clone()).unwrap_or_default().iter().map(|line| number(*line)).collect();
    let new_lines: Vec<u32> =
        new.get(added.clone()).unwrap_or_default().iter().map(|line| number(*line)).collect();
    for operation in capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, deadline) {
        push(operations, moved(operation, removed.start, added.start));
    }
}

/// Adds an operation; lines that are equal, next to others that are, become one operation.
fn push(operations: &mut Vec<DiffOp>, operation: DiffOp) {
    match (operations.last_mut(), operation) {
        (_, DiffOp::Equal { len: 0, .. }) => {}
        (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
        _ => operations.push(operation),
    }
}

/// An operation further down in both texts.
fn moved(operation: DiffOp, old: usize, new: usize) -> DiffOp {
    let (old_index, new_index) = (operation.old_range().start + old, operation.new_range().start + new);
    let (old_len, new_len) = (operation.old_range().len(), operation.new_range().len());
    match operation {
        DiffOp::Equal { len, .. } => DiffOp::Equal { old_index, new_index, len },
        DiffOp::Delete { .. } => DiffOp::Delete { old_index, old_len, new_index },
        DiffOp::Insert { .. } => DiffOp::Insert { old_index, new_index, new_len },
        DiffOp::Replace { .. } => DiffOp::Replace { old_index, old_len, new_index, new_len },
    }
}

/// Everything between the common beginning and the common end is replaced.
fn replaced(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let shortest = old.len().min(new.len()) - start;
    let end =
        old.iter().rev().zip(new.iter().rev()).take(shortest).take_while(|(old, new)| old == new).count();
    let (old_len, new_len) = (old.len() - start - end, new.len() - start - end);
    let all = [
        DiffOp::Equal { old_index: 0, new_index: 0, len: start },
        DiffOp::Replace { old_index: start, old_len, new_index: start, new_len },
        DiffOp::Equal { old_index: start + old_len, new_index: start + new_len, len: end },
    ];
    all.into_iter()
        .filter(|operation| !operation.old_range().is_empty() || !operation.new_range().is_empty())
        .collect()
}

struct Writer<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    text: String,
    limit: usize,
}

impl Writer<'_> {
    /// Writes one hunk, or as many of its lines as fit; `None` when some did not.
    fn hunk(&mut self, group: &[DiffOp]) -> Option<()> {
        let (first, last) = (group.first()?, group.last()?);
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let before = self.text.len();
        self.push(&format!("@@ -{} +{} @@\n", range(&old), range(&new)))?;
        let header = self.text.len();
        let written = group.iter().try_for_each(|operation| match operation {
            DiffOp::Equal { .. } => self.lines(' ', self.old, operation.old_range()),
            other => {
                self.lines('-', self.old, other.old_range())?;
                self.lines('+', self.new, other.new_range())
            }
        });
        if written.is_none() && self.text.len() == header {
            self.text.truncate(before);
        }
        written
    }

    fn lines(&mut self, prefix: char, lines: &[&[u8]], range: Range<usize>) -> Option<()> {
        for line in lines.get(range).unwrap_or_default() {
            let text = String::from_utf8_lossy(line);
            let newline = if line.ends_with(b"\n") { "" } else { "\n\\ No newline at end of file\n" };
            let before = self.text.len();
            if before + 1 + text.len() + newline.len() > self.limit {
                return None;
            }
            self.text.push(prefix);
            self.text.push_str(&text);
            self.text.push_str(newline);
        }
        Some(())
    }

    fn push(&mut self, line: &str) -> Option<()> {
        if self.text.len() + line.len() > self.limit {
            return None;
        }
        self.text.push_str(line);
        Some(())
    }
}

/// `12,3`; one line is `12`, and no line is the number of the line above.
fn range(lines: &Range<usize>) -> String {
    let start = if lines.is_empty() { lines.start } else { lines.start + 1 };
    match lines.len() {
        1 => start.to_string(),
        count => format!("{start},{count}"),
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
