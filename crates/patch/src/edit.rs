//! Replaces exact text in a file.

use std::borrow::Cow;

use memchr::memmem;

use crate::{
    error::Places,
    line_index::{Exactness, LineIndex},
    lines,
};

/// A replacement of exact text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub old_text: String,
    pub new_text: String,
    /// Replace every occurrence. Otherwise the text must occur exactly once.
    pub replace_all: bool,
}

/// The most edits of one call.
pub const MAX_EDITS: usize = 200;
/// The longest text that edits may produce.
const MAX_RESULT: usize = 64 * 1024 * 1024;

/// Why an edit changes nothing. `edit` counts from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("edit {edit}: the old text is empty; write the text that is replaced")]
    Empty { edit: usize },
    #[error("edit {edit}: the old text and the new text are the same")]
    Same { edit: usize },
    #[error("edit {edit}: the old text is not in the file{hint}")]
    Absent { edit: usize, hint: String },
    #[error(
        "edit {edit}: the old text is in the file {count} times, at {places}; add text around it so that it is \
         unique, or set replaceAll"
    )]
    NotUnique { edit: usize, count: usize, places: Places },
    #[error("there are {0} edits; at most {MAX_EDITS} are applied at once")]
    TooMany(usize),
    #[error("edit {edit}: the result would be larger than {MAX_RESULT} bytes")]
    TooLarge { edit: usize },
}

/// Applies edits in order, each to the result of the one before: all, or none and the reason.
///
/// In a file with CRLF, `\n` of the old text also matches `\r\n`, and `\n` of the new text becomes `\r\n`.
pub fn edit(old: &str, edits: &[Edit]) -> Result<String, EditError> {
    if edits.len() > MAX_EDITS {
        return Err(EditError::TooMany(edits.len()));
    }
    let mut text = Cow::Borrowed(old);
    for (at, edit) in edits.iter().enumerate() {
        text = Cow::Owned(apply(&text, at + 1, edit)?);
    }
    Ok(text.into_owned())
}

fn apply(text: &str, number: usize, edit: &Edit) -> Result<String, EditError> {
    if edit.old_text.is_empty() {
        return Err(EditError::Empty { edit: number });
    }
    if edit.old_text == edit.new_text {
        return Err(EditError::Same { edit: number });
    }
    let Found { places: found, overlapping } = find(text, &edit.old_text);
    if found.is_empty() {
        return Err(EditError::Absent { edit: number, hint: near(text, &edit.old_text) });
    }
    if !edit.replace_all && (found.len() > 1 || overlapping.is_some()) {
        let starts: Vec<usize> = found.iter().map(|place| place.start).chain(overlapping).collect();
        return Err(EditError::NotUnique {
            edit: number,
            count: starts.len(),
            places: listed(text, &starts),
        });
    }
    let longest = edit.new_text.len().saturating_mul(2).saturating_mul(found.len());
    if longest.saturating_add(text.len()) > MAX_RESULT {
        return Err(EditError::TooLarge { edit: number });
    }
    let mut new = String::with_capacity(text.len() + edit.new_text.len());
    let mut end = 0;
    for place in &found {
        new.push_str(text.get(end..place.start).unwrap_or_default());
        new.push_str(&with_endings(text, place, edit));
        end = place.end;
    }
    new.push_str(text.get(end..).unwrap_or_default());
    Ok(new)
}

type Span = std::ops::Range<usize>;

/// The places of a text.
struct Found {
    /// All that do not overlap.
    places: Vec<Span>,
    /// Where the text begins again inside its only place.
    overlapping: Option<usize>,
}

fn find(text: &str, wanted: &str) -> Found {
    let plain = if ignores_endings(text, wanted) {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let finder = memmem::Finder::new(wanted);
    let starts: Vec<usize> = finder.find_iter(plain.as_bytes()).collect();
    let mut overlapping = None;
    if let [only] = starts[..] {
        let behind = plain.as_bytes().get(only + 1..).unwrap_or_default();
        overlapping = finder.find(behind).map(|at| only + 1 + at);
    }
    if let Cow::Borrowed(_) = plain {
        return Found { places: starts.iter().map(|at| *at..at + wanted.len()).collect(), overlapping };
    }
    let mut returns = CarriageReturns::new(text);
    let places = starts.iter().map(|at| returns.original(*at)..returns.original(at + wanted.len())).collect();
    Found { places, overlapping: overlapping.map(|at| CarriageReturns::new(text).original(at)) }
}

/// Returns the lines of these positions.
fn listed(text: &str, starts: &[usize]) -> Places {
    let line_of = |at: &usize| {
        let above = text.as_bytes().get(..*at).unwrap_or_default();
        memchr::memchr_iter(b'\n', above).count() + 1
    };
    Places {
        lines: starts.iter().take(Places::LISTED).map(line_of).collect(),
        more: starts.len() > Places::LISTED,
    }
}

/// Returns whether `\n` of the wanted text also means `\r\n`.
fn ignores_endings(text: &str, wanted: &str) -> bool {
    wanted.contains('\n') && !wanted.contains('\r') && text.contains("\r\n")
}

/// Maps positions in a text whose `\r\n` were replaced by `\n` back to the original. Positions must ascend.
struct CarriageReturns<'a> {
    endings: Box<dyn Iterator<Item = usize> + 'a>,
    next: Option<usize>,
    passed: usize,
}

impl<'a> CarriageReturns<'a> {
    fn new(text: &'a str) -> Self {
        let mut endings = Box::new(memmem::find_iter(text.as_bytes(), "\r\n"));
        Self { next: endings.next(), endings, passed: 0 }
    }

    fn original(&mut self, at: usize) -> usize {
        while self.next.is_some_and(|next| next < at + self.passed) {
            self.passed += 1;
            self.next = self.endings.next();
        }
        at + self.passed
    }
}

/// Says where the text is when white space does not count.
fn near(text: &str, wanted: &str) -> String {
    let lines = lines::split(text);
    let wanted: Vec<&str> = wanted.trim_matches('\n').lines().collect();
    let mut index = LineIndex::new(&lines);
    for (exactness, differs) in
        [(Exactness::Space, "white space"), (Exactness::Punctuation, "quotes or dashes")]
    {
        if let Ok([at, ..]) = index.find(exactness, &wanted, 0, 1).as_deref() {
            return format!("; it is at line {} with other {differs}: copy it exactly", at + 1);
        }
    }
    "; read the file again and copy the text exactly".to_owned()
}

/// Returns the new text with the line endings of the text it replaces.
fn with_endings<'a>(text: &str, place: &Span, edit: &'a Edit) -> Cow<'a, str> {
    let new = edit.new_text.as_str();
    if !new.contains('\n') || new.contains('\r') || edit.old_text.contains('\r') {
        return Cow::Borrowed(new);
    }
    let bytes = text.as_bytes();
    let crlf_at = |at: usize| at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\r');
    let from = bytes.get(place.start..).unwrap_or_default();
    let above = bytes.get(..place.start).unwrap_or_default();
    // The first newline from the place on, else the last one above it.
    let newline =
        memchr::memchr(b'\n', from).map(|at| place.start + at).or_else(|| memchr::memrchr(b'\n', above));
    if newline.is_some_and(crlf_at) { Cow::Owned(new.replace('\n', "\r\n")) } else { Cow::Borrowed(new) }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
