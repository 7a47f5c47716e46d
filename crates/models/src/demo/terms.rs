//! Compares units with terms. A term is one or more words (`what time`) or Chinese characters (`几点`) in normal form;
//! `^` and `$` match the start and the end. Lists of terms are texts with commas, which stay readable when they are long.
//!
//! A [`ClosedRule`] accepts a sentence only if it knows every word of it. This distinguishes "what time is it" from "what
//! time does the shop close" without a list of such questions.

use super::{
    politeness,
    utterance::{Unit, is_han},
};

/// The number of units that `term` matches at the start of `units`.
pub(super) fn starts(units: &[Unit], term: &str) -> Option<usize> {
    // Most comparisons end here.
    let open = term.strip_prefix("^ ").unwrap_or(term);
    if units.first()?.norm.chars().next() != open.chars().next() {
        return None;
    }
    let mut length = 0;
    for wanted in pieces(term) {
        if units.get(length).is_none_or(|unit| unit.norm != wanted) {
            return None;
        }
        length += 1;
    }
    (length > 0).then_some(length)
}

/// The longest of the terms at the start of `units`.
pub(super) fn starts_any(units: &[Unit], terms: &str) -> Option<usize> {
    each(terms).filter_map(|term| starts(units, term)).max()
}

/// The different lengths that the terms match at the start of `units`, the longest first.
pub(super) fn lengths(units: &[Unit], terms: &str) -> Vec<usize> {
    let mut lengths: Vec<usize> = each(terms).filter_map(|term| starts(units, term)).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    lengths.dedup();
    lengths
}

/// The longest of the terms at the end of `units`.
pub(super) fn ends_any(units: &[Unit], terms: &str) -> Option<usize> {
    each(terms)
        .filter_map(|term| {
            let length = pieces(term).count();
            let tail = units.len().checked_sub(length)?;
            starts(&units[tail..], term)
        })
        .max()
}

/// The first index at which one of the terms matches, and the length of the longest match there.
pub(super) fn find_any(units: &[Unit], terms: &str) -> Option<(usize, usize)> {
    let terms: Vec<&str> = each(terms).collect();
    (0..units.len()).find_map(|place| {
        let longest = terms.iter().filter_map(|term| starts(&units[place..], term)).max()?;
        Some((place, longest))
    })
}

pub(super) fn has_any(units: &[Unit], terms: &str) -> bool {
    each(terms).any(|term| {
        let open = term.strip_prefix('^').unwrap_or(term);
        let open = open.strip_suffix('$').unwrap_or(open).trim();
        let places = if term.starts_with('^') { 1.min(units.len()) } else { units.len() };
        (0..places).any(|place| {
            starts(&units[place..], open)
                .is_some_and(|length| !term.ends_with('$') || place + length == units.len())
        })
    })
}

/// Removes terms from the start while one matches.
pub(super) fn trim_start<'u>(mut units: &'u [Unit], terms: &str) -> &'u [Unit] {
    while let Some(length) = starts_any(units, terms) {
        units = &units[length..];
    }
    units
}

/// Removes terms from the end while one matches.
pub(super) fn trim_end<'u>(mut units: &'u [Unit], terms: &str) -> &'u [Unit] {
    while let Some(length) = ends_any(units, terms) {
        units = &units[..units.len() - length];
    }
    units
}

/// Whether the terms cover all of `units`.
pub(super) fn covered(units: &[Unit], lists: &[&str]) -> bool {
    uncovered(units, lists).is_empty()
}

/// The indexes of the units that the terms do not cover, with the best possible cover.
pub(super) fn uncovered(units: &[Unit], lists: &[&str]) -> Vec<usize> {
    let terms: Vec<&str> = lists.iter().flat_map(|terms| each(terms)).collect();
    // best[place] = (uncovered units from here on, length of the term to use here; 0: none). Longer terms first.
    let mut best = vec![(0, 0); units.len() + 1];
    for place in (0..units.len()).rev() {
        let mut choice = (best[place + 1].0 + 1, 0);
        for term in &terms {
            if let Some(length) = starts(&units[place..], term) {
                let left = best[place + length].0;
                if left < choice.0 || (left == choice.0 && length > choice.1) {
                    choice = (left, length);
                }
            }
        }
        best[place] = choice;
    }
    let mut left = Vec::new();
    let mut place = 0;
    while place < units.len() {
        let (_, length) = best[place];
        if length == 0 {
            left.push(place);
        }
        place += length.max(1);
    }
    left
}

/// A request without a variable part.
pub(super) struct ClosedRule {
    /// One term of each group must occur.
    pub(super) needs: &'static [&'static str],
    /// Other terms that may occur, in addition to polite phrases.
    pub(super) knows: &'static str,
    /// Terms that must not occur: idioms that look like the request.
    pub(super) never: &'static str,
}

impl ClosedRule {
    pub(super) fn accepts(&self, units: &[Unit]) -> bool {
        self.unknown_units(units).is_some_and(|left| left.is_empty())
    }

    /// The indexes of the units that it does not know, or `None` if it is another request.
    pub(super) fn unknown_units(&self, units: &[Unit]) -> Option<Vec<usize>> {
        let wanted = self.needs.iter().all(|group| has_any(units, group)) && !has_any(units, self.never);
        wanted.then(|| {
            let mut known = self.needs.to_vec();
            known.extend([self.knows, politeness::ENGLISH, politeness::CHINESE]);
            uncovered(units, &known)
        })
    }
}

/// The terms of a list.
fn each(terms: &str) -> impl Iterator<Item = &str> {
    terms.split(',').map(str::trim).filter(|term| !term.is_empty())
}

fn pieces(term: &str) -> impl Iterator<Item = &str> {
    term.split_whitespace().filter(|word| *word != "^" && *word != "$").flat_map(|word| {
        let single = !word.starts_with(is_han);
        let whole = single.then_some(word);
        let characters = (!single).then(|| word.split("").filter(|piece| !piece.is_empty()));
        whole.into_iter().chain(characters.into_iter().flatten())
    })
}

#[cfg(test)]
mod tests {
    use super::{super::utterance::Utterance, *};

    #[test]
    fn terms_match_words_and_characters_alike() {
        let utterance = Utterance::new("Well, what time is it 现在几点");
        assert_eq!(find_any(utterance.all(), "time, what time"), Some((1, 2)));
        assert_eq!(find_any(utterance.all(), "几点"), Some((7, 2)));
        assert!(has_any(utterance.all(), "^ well, nothing"));
        assert!(has_any(utterance.all(), "几点 $"));
        assert!(!has_any(utterance.all(), "^ what, what $"));
    }

    #[test]
    fn what_is_left_over_is_as_little_as_possible() {
        let utterance = Utterance::new("现在上海几点了");
        assert_eq!(uncovered(utterance.all(), &["现在, 在上, 几点, 了"]), [2, 3]);
        assert!(covered(utterance.all(), &["现在, 上海", "几点, 几点了, 了"]));
    }
}
