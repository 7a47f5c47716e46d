//! Finds the block of lines around a line by indentation: the function, class or section that it is in.

use std::ops::Range;

const TAB: usize = 4;
/// Comments, and what is written above a head like them.
const COMMENTS: [&str; 7] = ["#", "//", "--", "/*", "*", "<!--", "@"];
const MIDDLE: [&str; 6] = ["else", "elif", "except", "catch", "finally", "rescue"];

/// What to find.
pub(crate) struct Around {
    /// Counted from 0.
    pub anchor: usize,
    /// How many enclosing levels belong to the block; 0: all.
    pub max_levels: usize,
    /// Whether other blocks at the outermost level belong to it.
    pub include_siblings: bool,
    /// Whether comments above belong to it.
    pub include_header: bool,
    pub max_lines: usize,
}

/// The block around the anchor, which must be one of the lines.
///
/// It grows up and down while lines are indented at least as far as the outermost level. Of that level itself it has
/// one line on each side (the head and the end of the block), unless siblings are wanted.
pub(crate) fn block(lines: &[&str], around: &Around) -> Range<usize> {
    let indents = indents(lines);
    let anchor = around.anchor.min(lines.len().saturating_sub(1));
    let own = indents.get(anchor).copied().unwrap_or_default();
    let outermost = match around.max_levels {
        0 => 0,
        levels => own.saturating_sub(levels.saturating_mul(TAB)),
    };
    let is_in = |place: &usize| indents.get(*place).is_some_and(|indent| *indent >= outermost);
    let is_boundary = |place: usize| {
        !around.include_siblings && indents.get(place) == Some(&outermost) && !is_blank(lines, place)
    };
    let at_outermost = own == outermost && !is_middle(lines, anchor);
    let up = {
        // Only comments are above the head of the block.
        let mut has_head = at_outermost && !is_end(lines, anchor);
        let wanted = |place: &usize| {
            if !is_boundary(*place) {
                return !has_head;
            }
            if around.include_header && is_comment(lines, *place) || is_middle(lines, *place) {
                return true;
            }
            !std::mem::replace(&mut has_head, true)
        };
        (0..anchor).rev().take_while(is_in).take_while(wanted).count()
    };
    let down = {
        let mut has_end = at_outermost && is_end(lines, anchor);
        let wanted = |place: &usize| {
            if !is_boundary(*place) || is_middle(lines, *place) {
                return !has_end;
            }
            // The head of another block, or the end of this one.
            is_end(lines, *place) && !std::mem::replace(&mut has_end, true)
        };
        (anchor + 1..lines.len()).take_while(is_in).take_while(wanted).count()
    };
    trim(lines, grow(anchor, up, down, around.max_lines))
}

/// Takes lines from both sides in turn until the limit.
fn grow(anchor: usize, up: usize, down: usize, max_lines: usize) -> Range<usize> {
    let room = max_lines.saturating_sub(1);
    let half = room / 2;
    let up_taken = up.min(half.max(room.saturating_sub(down)));
    let down_taken = down.min(room - up_taken);
    anchor - up_taken..anchor + 1 + down_taken
}

/// The indentation of each line; a blank line has that of the line before it.
fn indents(lines: &[&str]) -> Vec<usize> {
    let mut previous = 0;
    let indent = |line: &&str| {
        if !line.trim().is_empty() {
            let white = line.chars().take_while(|character| matches!(character, ' ' | '\t'));
            previous = white.map(|character| if character == '\t' { TAB } else { 1 }).sum();
        }
        previous
    };
    lines.iter().map(indent).collect()
}

fn is_blank(lines: &[&str], place: usize) -> bool {
    lines.get(place).is_none_or(|line| line.trim().is_empty())
}

fn is_comment(lines: &[&str], place: usize) -> bool {
    lines.get(place).is_some_and(|line| COMMENTS.iter().any(|sign| line.trim_start().starts_with(sign)))
}

/// A line that closes a block, such as `}` or `end`.
fn is_end(lines: &[&str], place: usize) -> bool {
    let line = lines.get(place).map(|line| line.trim()).unwrap_or_default();
    line.starts_with(['}', ')', ']']) || line.starts_with("</") || line.starts_with("end")
}

/// A line between two parts of a block, such as `} else {`.
fn is_middle(lines: &[&str], place: usize) -> bool {
    let line = lines.get(place).map(|line| line.trim()).unwrap_or_default();
    let opens = line.ends_with(['{', ':', '(', '[']);
    opens && (line.starts_with(['}', ')', ']']) || MIDDLE.iter().any(|word| line.starts_with(word)))
}

fn trim(lines: &[&str], mut range: Range<usize>) -> Range<usize> {
    while range.len() > 1 && is_blank(lines, range.start) {
        range.start += 1;
    }
    while range.len() > 1 && is_blank(lines, range.end - 1) {
        range.end -= 1;
    }
    range
}

#[cfg(test)]
#[path = "indentation_tests.rs"]
mod tests;
