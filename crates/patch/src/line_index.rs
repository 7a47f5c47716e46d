//! Finds sequences of lines in a text, with rules that get looser step by step, in bounded time.

use std::{borrow::Cow, collections::HashMap};

use crate::{
    error::HunkError,
    lines::{BOM, Line},
};

/// How closely the lines of a hunk match those of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exactness {
    Exact,
    /// White space at the ends of lines differs.
    TrailingSpace,
    /// White space at the beginnings and ends of lines differs.
    Space,
    /// Typographic quotes, dashes or spaces differ.
    Punctuation,
}

impl Exactness {
    pub(crate) const ALL: [Self; 4] = [Self::Exact, Self::TrailingSpace, Self::Space, Self::Punctuation];
}

/// The lines of a text, found by their content.
pub(crate) struct LineIndex<'a> {
    lines: &'a [Line<'a>],
    /// One table for each rule, made when the rule is first used.
    tables: [Option<Table<'a>>; 4],
    /// How many comparisons may still be made.
    work_left: usize,
}

/// The most comparisons of lines for one file. Ordinary patches need fewer than the file has lines.
const MAX_WORK: usize = 50_000_000;

impl<'a> LineIndex<'a> {
    pub fn new(lines: &'a [Line<'a>]) -> Self {
        Self { lines, tables: [const { None }; 4], work_left: MAX_WORK }
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).map_or("", |line| line.text)
    }

    /// Returns whether the lines from `at` on are these lines.
    pub fn matches_at(&self, exactness: Exactness, wanted: &[&str], at: usize) -> bool {
        let Some(lines) = at.checked_add(wanted.len()).and_then(|end| self.lines.get(at..end)) else {
            return false;
        };
        lines.iter().zip(wanted).all(|(line, wanted)| key(exactness, line.text) == key(exactness, wanted))
    }

    /// Returns where these lines begin, in order, from line `from` on; at most `most` places.
    pub fn find(
        &mut self,
        exactness: Exactness,
        wanted: &[&str],
        from: usize,
        most: usize,
    ) -> Result<Vec<usize>, HunkError> {
        let last = self.lines.len().checked_sub(wanted.len());
        let (lines, slot) = (self.lines, &mut self.tables[exactness as usize]);
        if slot.is_none() {
            self.work_left = self.work_left.checked_sub(lines.len()).ok_or(HunkError::TooMuchWork)?;
        }
        let table = slot.get_or_insert_with(|| Table::new(exactness, lines));
        let wanted: Option<Vec<u32>> =
            wanted.iter().map(|line| table.numbers.get(&key(exactness, line)).copied()).collect();
        let (Some(wanted), Some(last)) = (wanted, last) else { return Ok(Vec::new()) };
        let rarest = wanted.iter().enumerate().min_by_key(|(_, number)| table.positions(**number).len());
        let Some((rarest, number)) = rarest else { return Ok(Vec::new()) };
        let positions = table.positions(*number);
        let first = positions.partition_point(|at| (*at as usize) < from.saturating_add(rarest));
        let mut found = Vec::new();
        for at in positions.iter().skip(first) {
            let start = *at as usize - rarest;
            if start > last || found.len() >= most {
                break;
            }
            let here = table.lines.iter().skip(start);
            let equal = here.zip(&wanted).take_while(|(line, wanted)| line == wanted).count();
            self.work_left = self.work_left.checked_sub(equal + 1).ok_or(HunkError::TooMuchWork)?;
            if equal == wanted.len() {
                found.push(start);
            }
        }
        Ok(found)
    }
}

/// Every different line has a number; equal lines have the same.
struct Table<'a> {
    numbers: HashMap<Cow<'a, str>, u32>,
    /// The number of each line.
    lines: Vec<u32>,
    /// The places of all lines, by number and then in order.
    places: Vec<u32>,
    /// Where the places of each number begin; one more at the end.
    starts: Vec<u32>,
}

impl<'a> Table<'a> {
    fn new(exactness: Exactness, lines: &[Line<'a>]) -> Self {
        let mut numbers: HashMap<Cow<'a, str>, u32> = HashMap::new();
        let mut counts: Vec<u32> = Vec::new();
        let mut of_lines = Vec::with_capacity(lines.len());
        for line in lines {
            let next = counts.len() as u32;
            let number = *numbers.entry(key(exactness, line.text)).or_insert(next);
            match counts.get_mut(number as usize) {
                Some(count) => *count += 1,
                None => counts.push(1),
            }
            of_lines.push(number);
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        for count in &counts {
            starts.push(total);
            total += count;
        }
        starts.push(total);
        let mut next = starts.clone();
        let mut places = vec![0; lines.len()];
        for (at, number) in of_lines.iter().enumerate() {
            let slot = &mut next[*number as usize];
            places[*slot as usize] = at as u32;
            *slot += 1;
        }
        Self { numbers, lines: of_lines, places, starts }
    }

    fn positions(&self, number: u32) -> &[u32] {
        let bound = |at: usize| self.starts.get(at).map_or(0, |start| *start as usize);
        self.places.get(bound(number as usize)..bound(number as usize + 1)).unwrap_or_default()
    }
}

/// Returns what is compared of a line. The byte order mark and the `\r` of a line ending never count.
fn key(exactness: Exactness, line: &str) -> Cow<'_, str> {
    let line = line.trim_start_matches(BOM);
    match exactness {
        Exactness::Exact => Cow::Borrowed(line.strip_suffix('\r').unwrap_or(line)),
        Exactness::TrailingSpace => Cow::Borrowed(line.trim_end()),
        Exactness::Space => Cow::Borrowed(line.trim()),
        Exactness::Punctuation => plain_punctuation(line.trim()),
    }
}

/// Replaces typographic quotes, dashes and spaces by the plain ones.
fn plain_punctuation(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let plain = |letter: char| match letter {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    Cow::Owned(line.chars().map(plain).collect())
}

#[cfg(test)]
#[path = "line_index_tests.rs"]
mod tests;
