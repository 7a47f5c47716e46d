//! Decides where the hunks of a patch belong in a file, or says why that cannot be decided.

use std::{collections::BTreeSet, ops::Range};

use crate::{
    error::{After, HunkError, Places},
    line_index::{Exactness, LineIndex},
    lines::{Line, shown},
    syntax::{Hunk, LineKind},
};

/// Where a hunk belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The number of lines above it.
    pub at: usize,
    pub exactness: Exactness,
}

/// Finds the place of every hunk. Hunks follow each other from the top of the file to its end; one that does not may
/// still stand alone further up.
pub(crate) fn place(lines: &[Line<'_>], hunks: &[Hunk]) -> Result<Vec<Placed>, HunkError> {
    let mut placer =
        Placer { index: LineIndex::new(lines), free_from: 0, shift: 0, changed: BTreeSet::new() };
    hunks.iter().enumerate().map(|(at, hunk)| placer.place(at + 1, hunk)).collect()
}

struct Placer<'a> {
    index: LineIndex<'a>,
    /// The line behind the last line that a hunk changed.
    free_from: usize,
    /// How far the last hunk was from where its line number said.
    shift: isize,
    /// The lines that hunks changed: the first, and the one behind the last. They do not overlap; an insertion is empty.
    changed: BTreeSet<(usize, usize)>,
}

/// The part of the file where a hunk is searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// Behind the hunk before it.
    Behind,
    /// Everywhere between the changes so far.
    Between,
}

impl Placer<'_> {
    fn place(&mut self, number: usize, hunk: &Hunk) -> Result<Placed, HunkError> {
        let wanted: Vec<&str> = hunk.old_lines().map(|line| line.text.as_str()).collect();
        let placed = if wanted.is_empty() {
            let at = self.place_insertion(number, hunk)?;
            Placed { at, exactness: Exactness::Exact }
        } else {
            match self.place_lines(number, hunk, &wanted)? {
                Some(placed) => placed,
                None => return Err(self.not_found(number, hunk, &wanted)?),
            }
        };
        if let Some(position) = hunk.position {
            self.shift = placed.at as isize - position.above as isize;
        }
        if let Some(changed) = changed_lines(hunk, placed.at) {
            self.free_from = self.free_from.max(changed.end);
            self.changed.insert((changed.start, changed.end));
        }
        Ok(placed)
    }

    fn place_lines(
        &mut self,
        number: usize,
        hunk: &Hunk,
        wanted: &[&str],
    ) -> Result<Option<Placed>, HunkError> {
        if let Some(at) = self.expected(hunk)
            && hunk.anchors.is_empty()
            && !hunk.at_end
            && at >= self.free_from
            && self.index.matches_at(Exactness::Exact, wanted, at)
        {
            return Ok(Some(Placed { at, exactness: Exactness::Exact }));
        }
        let starts = self.search_starts(number, hunk, wanted.first().copied())?;
        let passes =
            if self.changed.is_empty() { &[Where::Behind][..] } else { &[Where::Behind, Where::Between] };
        for part in passes {
            for exactness in Exactness::ALL {
                let found = self.candidates(hunk, wanted, exactness, starts.as_deref(), *part)?;
                if let Some(at) = self.decide(number, hunk, found)? {
                    return Ok(Some(Placed { at, exactness }));
                }
            }
        }
        Ok(None)
    }

    /// Returns where the lines could be. With anchors: the first place behind each place of the anchors.
    fn candidates(
        &mut self,
        hunk: &Hunk,
        wanted: &[&str],
        exactness: Exactness,
        starts: Option<&[usize]>,
        part: Where,
    ) -> Result<Vec<usize>, HunkError> {
        let from = if part == Where::Behind { self.free_from } else { 0 };
        let first_start = starts.and_then(|starts| starts.first()).copied().unwrap_or(0);
        let from = from.max(first_start);
        if hunk.at_end {
            let at = self.index.len().checked_sub(wanted.len()).filter(|at| *at >= from);
            let at = at.filter(|at| self.index.matches_at(exactness, wanted, *at));
            return Ok(at.into_iter().filter(|at| self.is_free(*at, wanted.len())).collect());
        }
        let few = hunk.position.is_none() && starts.is_none() && part == Where::Behind;
        let most = if few { Places::LISTED + 1 } else { usize::MAX };
        let mut found = self.index.find(exactness, wanted, from, most)?;
        if part == Where::Between {
            found.retain(|at| self.is_free(*at, wanted.len()));
        }
        let Some(starts) = starts else { return Ok(found) };
        let first_behind = |start: &usize| found.get(found.partition_point(|at| at < start)).copied();
        let mut nearest: Vec<usize> = starts.iter().filter_map(first_behind).collect();
        nearest.dedup();
        Ok(nearest)
    }

    /// Returns whether no hunk changes these lines yet.
    fn is_free(&self, at: usize, lines: usize) -> bool {
        let above_end = self.changed.range(..(at + lines, 0)).next_back();
        above_end.is_none_or(|(_, end)| *end <= at)
    }

    /// Chooses between places that match equally well: only a line number can decide, and only clearly.
    fn decide(&self, number: usize, hunk: &Hunk, found: Vec<usize>) -> Result<Option<usize>, HunkError> {
        if let [] | [_] = found[..] {
            return Ok(found.first().copied());
        }
        if let Some(expected) = self.expected(hunk) {
            let (mut nearest, mut second) = ((usize::MAX, 0), usize::MAX);
            for at in &found {
                let distance = at.abs_diff(expected);
                if distance < nearest.0 {
                    (nearest, second) = ((distance, *at), nearest.0);
                } else {
                    second = second.min(distance);
                }
            }
            if nearest.0 < second && nearest.0.saturating_mul(CLEARLY_NEARER) <= second {
                return Ok(Some(nearest.1));
            }
        }
        Err(HunkError::Ambiguous { hunk: number, places: listed(&found) })
    }

    /// Returns where the line number of the hunk says that it is, moved as far as the hunk before it was.
    fn expected(&self, hunk: &Hunk) -> Option<usize> {
        hunk.position.map(|position| position.above.saturating_add_signed(self.shift))
    }

    /// Returns the lines behind the anchors where the search begins: one for every place of the first anchor.
    fn search_starts(
        &mut self,
        number: usize,
        hunk: &Hunk,
        first_line: Option<&str>,
    ) -> Result<Option<Vec<usize>>, HunkError> {
        let mut starts: Option<Vec<usize>> = None;
        for (at, anchor) in hunk.anchors.iter().enumerate() {
            let mut found = Vec::new();
            for exactness in Exactness::ALL {
                let least = starts.as_ref().and_then(|starts| starts.first()).copied().unwrap_or(0);
                found = self.index.find(exactness, &[anchor], least, usize::MAX)?;
                if !found.is_empty() {
                    break;
                }
            }
            if let Some(starts) = &starts {
                let first = |start: &usize| found.get(found.partition_point(|line| line < start)).copied();
                let mut nearest: Vec<usize> = starts.iter().filter_map(first).collect();
                nearest.dedup();
                found = nearest;
            }
            if found.is_empty() {
                return Err(self.anchor_not_found(number, anchor, at > 0));
            }
            // Some authors repeat the line of the last anchor as the first line of the hunk.
            let is_last = at + 1 == hunk.anchors.len();
            let repeated = is_last && first_line.is_some_and(|line| line.trim() == anchor.trim());
            let behind = if repeated { 0 } else { 1 };
            starts = Some(found.into_iter().map(|line| line + behind).collect());
        }
        Ok(starts)
    }

    /// Finds the place of a hunk without old lines: the end, below its anchors, or its line number.
    fn place_insertion(&mut self, number: usize, hunk: &Hunk) -> Result<usize, HunkError> {
        if hunk.at_end || self.index.len() == 0 {
            return Ok(self.index.len());
        }
        let places = match hunk.position.filter(|position| position.old_lines == 0) {
            // Nothing but the number says where the lines belong, so the file must be as the patch expects it.
            Some(position) if self.shift == 0 && position.above <= self.index.len() => vec![position.above],
            Some(_) => Vec::new(),
            None => self.search_starts(number, hunk, None)?.unwrap_or_default(),
        };
        match places[..] {
            [at] if self.is_free(at, 0) => Ok(at),
            [] | [_] => Err(HunkError::NoPlace { hunk: number }),
            _ => Err(HunkError::Ambiguous { hunk: number, places: listed(&places) }),
        }
    }

    fn anchor_not_found(&self, number: usize, anchor: &str, below_another: bool) -> HunkError {
        let part = anchor.trim();
        let near = (0..self.index.len()).find(|at| self.index.line(*at).contains(part));
        let hint = match near {
            Some(at) if below_another => {
                format!("; it is on line {}, but not below the @@ line before it", at + 1)
            }
            Some(at) => format!(
                "; line {} contains it but is {:?}: write whole lines after @@",
                at + 1,
                shown(self.index.line(at))
            ),
            None => "; write a line of the file as it is, or leave the @@ line empty".to_owned(),
        };
        HunkError::AnchorNotFound { hunk: number, anchor: shown(anchor), hint }
    }

    /// Says why the lines were not found: where they are instead, or which line differs.
    fn not_found(&mut self, number: usize, hunk: &Hunk, wanted: &[&str]) -> Result<HunkError, HunkError> {
        let elsewhere = self.index.find(Exactness::Space, wanted, 0, Places::LISTED + 1)?;
        if !elsewhere.is_empty() {
            let places = listed(&elsewhere);
            if hunk.at_end {
                return Ok(HunkError::NotAtEnd { hunk: number, found: format!("at {places}") });
            }
            let hint = if hunk.anchors.is_empty() {
                format!("; they are at {places}, where another hunk changes lines: join the two hunks")
            } else {
                format!("; they are at {places}, but not below the lines that its @@ lines name")
            };
            return Ok(HunkError::NotFound { hunk: number, after: After(0), hint });
        }
        let hint = self.difference(wanted)?;
        Ok(HunkError::NotFound { hunk: number, after: After(self.free_from), hint })
    }

    /// Finds the place where most of the lines match from the first on, and names the line that differs.
    fn difference(&mut self, wanted: &[&str]) -> Result<String, HunkError> {
        const EXAMINED: usize = 1_000;
        const MOST_COMPARED: usize = 1_000_000;
        let Some(first) = wanted.iter().position(|line| !line.trim().is_empty()) else {
            return Ok("; add the lines around the change".to_owned());
        };
        let first_line = wanted.get(first).copied().unwrap_or_default();
        let mut best: Option<(usize, usize)> = None;
        let mut compared = 0;
        for at in self.index.find(Exactness::Space, &[first_line], 0, EXAMINED)? {
            let rest = wanted.iter().skip(first).enumerate();
            let equal =
                rest.take_while(|(below, line)| self.index.line(at + below).trim() == line.trim()).count();
            if best.is_none_or(|(most, _)| equal > most) {
                best = Some((equal, at));
            }
            compared += equal;
            if compared > MOST_COMPARED {
                break;
            }
        }
        let Some((equal, at)) = best else {
            let line = shown(first_line);
            return Ok(format!("; {line:?} is not a line of the file: read the file again"));
        };
        let differs = at + equal;
        let patch_line = wanted.get(first + equal).copied().unwrap_or_default();
        let (there, patch_line) = (shown(self.index.line(differs)), shown(patch_line));
        Ok(if differs < self.index.len() {
            format!(
                "; the nearest is at line {}: line {} is {there:?}, but the patch has {patch_line:?}",
                at + 1,
                differs + 1
            )
        } else {
            format!("; the nearest is at line {}, but the file ends before {patch_line:?}", at + 1)
        })
    }
}

/// A line number decides when the second nearest place is this many times further away.
const CLEARLY_NEARER: usize = 4;

fn listed(found: &[usize]) -> Places {
    let lines = found.iter().take(Places::LISTED).map(|at| at + 1).collect();
    Places { lines, more: found.len() > Places::LISTED }
}

/// Returns the old lines from the first that a hunk changes to the last, or `None` when it changes nothing.
fn changed_lines(hunk: &Hunk, at: usize) -> Option<Range<usize>> {
    let mut line = at;
    let mut changed: Option<Range<usize>> = None;
    for hunk_line in &hunk.lines {
        let next = if hunk_line.kind == LineKind::Added { line } else { line + 1 };
        if hunk_line.kind != LineKind::Context {
            changed = Some(changed.map_or(line, |changed| changed.start)..next);
        }
        line = next;
    }
    changed
}
