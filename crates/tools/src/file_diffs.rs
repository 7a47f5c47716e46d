//! The differences that a call makes, for the person who approves it and for the model.

use std::{collections::HashSet, convert::Infallible};

use files::{LogicalPath, in_parallel};
use patch::TextDiff;
use protocol::{FileDiff, file_change::ChangeKind};

use crate::file_draft::{Draft, DraftFile};

/// How much of the differences is shown.
#[derive(Clone, Copy)]
pub(crate) struct DiffLimits {
    pub of_file: usize,
    pub together: usize,
}

impl DiffLimits {
    /// For the person.
    pub const PREVIEW: Self = Self { of_file: 64 << 10, together: 256 << 10 };
    /// For the model, which wrote the change itself.
    pub const OUTPUT: Self = Self { of_file: 4 << 10, together: 16 << 10 };
}

/// Lines around a change.
const CONTEXT: usize = 3;

/// Returns the difference of every file that the draft changes. A file that is moved is listed once, at its new place.
pub(crate) fn diffs(draft: &Draft, limits: DiffLimits) -> Vec<FileDiff> {
    let after = |(_, file): (&LogicalPath, &DraftFile)| file.after.as_ref()?.from.clone();
    let moved: HashSet<LogicalPath> = draft.touched().filter_map(after).collect();
    let is_moved = |(path, file): &(&LogicalPath, &DraftFile)| file.after.is_none() && moved.contains(path);
    let touched: Vec<_> = draft.touched().filter(|touched| !is_moved(touched)).collect();
    let diff = |(): &mut (), (path, file): &(&LogicalPath, &DraftFile)| {
        Ok::<_, Infallible>(diff_of(draft, path, file, limits.of_file))
    };
    let found = in_parallel(&touched, || (), diff).unwrap_or_else(|never| match never {});
    let mut left = limits.together;
    let fit = |(mut diff, mut difference): (FileDiff, TextDiff)| {
        patch::cut(&mut difference, left);
        diff.cut = difference.cut;
        diff.diff.push_str(&difference.text);
        left = left.saturating_sub(diff.diff.len());
        diff
    };
    found.into_iter().flatten().map(fit).collect()
}

/// The difference of a file: what there is to say besides the text, and the text.
fn diff_of(
    draft: &Draft,
    path: &LogicalPath,
    file: &DraftFile,
    limit: usize,
) -> Option<(FileDiff, TextDiff)> {
    let from = file.after.as_ref().and_then(|after| after.from.clone());
    let origin = from.as_ref().and_then(|from| draft.file(from)).unwrap_or(file);
    let old = origin.before.as_ref();
    let new = file.after.as_ref();
    let kind = match (old, new) {
        (None, Some(_)) => ChangeKind::Created,
        (Some(_), None) => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let (old_bytes, new_bytes) =
        (old.map_or(&[][..], |old| &old.bytes), new.map_or(&[][..], |new| &new.bytes));
    let modes = match (old, new.and_then(|new| new.mode)) {
        (Some(old), Some(mode)) if old.state.mode != mode => {
            format!("\\ The permissions change from {:o} to {mode:o}\n", old.state.mode)
        }
        (None, Some(mode)) if mode & 0o111 != 0 => format!("\\ The permissions are {mode:o}\n"),
        _ => String::new(),
    };
    if kind == ChangeKind::Modified && from.is_none() && modes.is_empty() && old_bytes == new_bytes {
        return None;
    }
    let difference = patch::diff(&shown(old_bytes), &shown(new_bytes), CONTEXT, limit);
    let diff = FileDiff {
        path: path.relative().to_owned(),
        from: from.map(|from| from.relative().to_owned()),
        kind,
        added: difference.added,
        removed: difference.removed,
        diff: modes,
        cut: false,
    };
    Some((diff, difference))
}

/// Returns the text as UTF-8 where the file has another encoding.
fn shown(bytes: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if std::str::from_utf8(bytes).is_ok() {
        return bytes.into();
    }
    match files::text::decode(bytes) {
        Some(decoded) => decoded.text.into_bytes().into(),
        None => bytes.into(),
    }
}

/// The files that a call changes, for the question to a person: "It changes a.rs and b.rs."
pub(crate) fn names(paths: &[String]) -> String {
    const LISTED: usize = 3;
    match paths {
        [] => "no file".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if paths.len() <= LISTED => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more files", paths.get(..2).unwrap_or_default().join(", "), paths.len() - 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_files_are_named_and_many_are_counted() {
        let names = |count: usize| names(&["a", "b", "c", "d", "e"].map(str::to_owned)[..count]);
        assert_eq!([names(1), names(2), names(3)], ["a", "a and b", "a, b and c"]);
        assert_eq!([names(4), names(5)], ["a, b and 2 more files", "a, b and 3 more files"]);
    }
}
