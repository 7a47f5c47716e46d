//! Finds the parts of two texts that differ: small ones by walking along both, so that only they are compared in full.

use std::ops::Range;

/// So many equal lines in a row end a part that differs.
const RUN: usize = 16;
/// The most lines of a part, of both texts together; from a longer one on, the rest counts as different.
const LONGEST: usize = 64;
/// How often lines are compared at most, for each line of the texts.
const MOST_COMPARED: usize = 16;

/// A part of the old text and what is in its place in the new one.
pub(crate) type Region = (Range<usize>, Range<usize>);

/// The parts that differ, in order. Between them the lines are equal.
pub(crate) fn regions(old: &[&[u8]], new: &[&[u8]]) -> Vec<Region> {
    let (mut at, mut regions) = ((0, 0), Vec::new());
    let mut left = (old.len() + new.len()).saturating_mul(MOST_COMPARED);
    loop {
        let equal = equal_lines(old, new, at, usize::MAX);
        at = (at.0 + equal, at.1 + equal);
        if at == (old.len(), new.len()) {
            return regions;
        }
        match end_of_difference(old, new, at, &mut left) {
            Some(end) => {
                regions.push((at.0..end.0, at.1..end.1));
                at = end;
            }
            None => {
                let rest = (old.get(at.0..).unwrap_or_default(), new.get(at.1..).unwrap_or_default());
                let same = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(a, b)| a == b).count();
                regions.push((at.0..old.len() - same, at.1..new.len() - same));
                return regions;
            }
        }
    }
}

/// The nearest place behind a difference where the texts agree for a while, or to their ends.
fn end_of_difference(
    old: &[&[u8]],
    new: &[&[u8]],
    at: (usize, usize),
    left: &mut usize,
) -> Option<(usize, usize)> {
    for length in 1..=LONGEST {
        for removed in 0..=length {
            let end = (at.0 + removed, at.1 + (length - removed));
            if end.0 > old.len() || end.1 > new.len() {
                continue;
            }
            let equal = equal_lines(old, new, end, RUN);
            *left = left.checked_sub(equal + 1)?;
            if equal == RUN || (end.0 + equal, end.1 + equal) == (old.len(), new.len()) {
                return Some(end);
            }
        }
    }
    None
}

/// How many lines are equal from these places on, at most `most`.
fn equal_lines(old: &[&[u8]], new: &[&[u8]], at: (usize, usize), most: usize) -> usize {
    let (old, new) = (old.get(at.0..).unwrap_or_default(), new.get(at.1..).unwrap_or_default());
    old.iter().zip(new).take(most).take_while(|(old, new)| old == new).count()
}
