//! `apply-patch`: changes several files at once, all or none.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use files::{Content, FileDomain, FilesToChange, LogicalPath, MAX_CHANGED_BYTES, in_parallel};
use patch::{Applied, Exactness, FilePatch, Hunk, HunkError, Patch, PatchError, Place};
use policy::Need;
use protocol::{FailureCode, FileDiff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Effect, Tool, ToolCtx, ToolError, WorkspaceFiles,
    file_diffs::{DiffLimits, diffs, names},
    file_draft::{self, Draft, FileText, MAX_EDITED_BYTES, MAX_READ_BYTES, Unread, failed},
    project_notes,
};

/// Change several files at once: all changes are made, or none. The patch is a unified diff, or this format:
///
/// ```text
/// *** Begin Patch
/// *** Update File: src/a.py
/// *** Move to: src/b.py
/// @@ def main():
///  unchanged line
/// -removed line
/// +added line
/// *** Add File: new.txt
/// +every line of the new file
/// *** Delete File: old.txt
/// *** End Patch
/// ```
///
/// Every line of a hunk begins with a space, `-` or `+`. Give about three unchanged lines around a change; a line after `@@`
/// is a whole line of the file above the change and is needed only where the lines occur several times. `*** Move to:` is
/// optional. `*** End of File` after a hunk says that it is at the end of the file.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct Input {
    /// The patch.
    patch: String,
}

#[derive(Debug, Serialize)]
pub struct Output {
    /// What became of each file.
    files: Vec<FileDiff>,
    /// Hunks that did not match exactly, and how they were matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inexact: Vec<String>,
    #[serde(rename = "projectNotes", skip_serializing_if = "Option::is_none")]
    project_notes: Option<String>,
}

pub struct ApplyPatch;

impl Tool for ApplyPatch {
    const NAME: &'static str = "apply-patch";
    type Input = Input;
    type Output = Output;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn one_at_a_time(&self) -> bool {
        true
    }

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        // A patch that cannot be used fails when the call runs, and changes nothing.
        let Ok(changes) = read(&input.patch, files) else { return Need::Nothing };
        let mut seen = HashSet::new();
        let new = touched(&changes).map(LogicalPath::relative).filter(|path| seen.insert(*path));
        let paths: Vec<String> = new.map(str::to_owned).collect();
        Need::Write { why: format!("It changes {}.", names(&paths)), paths }
    }

    async fn preview(&self, files: &WorkspaceFiles, input: &Input) -> Result<Vec<FileDiff>, ToolError> {
        let (_, draft) = drafted(files, &input.patch).await?;
        Ok(diffs(&draft, DiffLimits::PREVIEW))
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<Output, ToolError> {
        let (inexact, draft) = drafted(&ctx.files, &input.patch).await?;
        let files = diffs(&draft, DiffLimits::OUTPUT);
        ctx.files.record.change(draft.into_changes()).await?;
        let paths: Vec<LogicalPath> =
            files.iter().filter_map(|file| ctx.files.domain.resolve(&file.path).ok()).collect();
        let project_notes = project_notes::unseen(&ctx, paths.iter()).await;
        Ok(Output { files, inexact, project_notes })
    }
}

/// A part of the patch, with the files that it is about.
struct Change {
    path: LogicalPath,
    move_to: Option<LogicalPath>,
    file: FilePatch,
}

/// Reads a patch and the paths in it.
fn read(text: &str, files: &FileDomain) -> Result<Vec<Change>, ToolError> {
    let Patch { files: parts } = patch::parse(text).map_err(|error| {
        let code = match error {
            PatchError::Malformed { .. } | PatchError::NoPatch(_) => FailureCode::InvalidArgument,
            PatchError::TooLarge(_) => FailureCode::TooLarge,
            PatchError::Binary { .. } => FailureCode::UnsupportedMediaType,
        };
        failed(code, format!("{error}; nothing was changed"))
    })?;
    let change = |file: FilePatch| {
        let path = files.resolve(file.path())?;
        let move_to = match &file {
            FilePatch::Update { move_to: Some(to), .. } => Some(files.resolve(to)?).filter(|to| *to != path),
            _ => None,
        };
        Ok(Change { path, move_to, file })
    };
    parts.into_iter().map(change).collect()
}

fn touched(changes: &[Change]) -> impl Iterator<Item = &LogicalPath> {
    changes.iter().flat_map(|change| [Some(&change.path), change.move_to.as_ref()]).flatten()
}

async fn drafted(files: &WorkspaceFiles, text: &str) -> Result<(Vec<String>, Draft), ToolError> {
    let changes = read(text, &files.domain)?;
    let paths = touched(&changes).cloned().collect();
    let work = move |draft: &mut Draft| {
        let mut inexact = Vec::new();
        let prepared = prepare(draft.domain(), &changes);
        for (change, prepared) in changes.into_iter().zip(prepared) {
            apply(draft, change, prepared, &mut inexact)?;
        }
        draft.expect_changes()?;
        Ok(inexact)
    };
    file_draft::draft(files, paths, work).await
}

/// A file that was read, and patched if the patch does that.
struct Prepared {
    content: Content,
    new: Vec<u8>,
    places: Vec<Place>,
}

/// Reads and patches, several at a time, the files that only one part of the patch changes. What fails is left to [`apply`],
/// which says why.
fn prepare(domain: &FileDomain, changes: &[Change]) -> Vec<Option<Prepared>> {
    let mut times: HashMap<&LogicalPath, usize> = HashMap::new();
    for path in touched(changes) {
        *times.entry(path).or_default() += 1;
    }
    let left = AtomicU64::new(MAX_READ_BYTES);
    let work = |files: &mut FilesToChange<'_>, change: &Change| {
        let once = times.get(&change.path) == Some(&1);
        let prepared = match &change.file {
            FilePatch::Update { hunks, .. } if once && !hunks.is_empty() => {
                prepare_file(files, &change.path, hunks, &left)
            }
            _ => None,
        };
        Ok::<_, Infallible>(prepared)
    };
    in_parallel(changes, || FilesToChange::of(domain), work).unwrap_or_else(|never| match never {})
}

fn prepare_file(
    files: &mut FilesToChange<'_>,
    path: &LogicalPath,
    hunks: &[Hunk],
    left: &AtomicU64,
) -> Option<Prepared> {
    let content = files.read(path, MAX_EDITED_BYTES).ok()??;
    left.try_update(Relaxed, Relaxed, |left| left.checked_sub(content.state.bytes)).ok()?;
    let old = FileText::decode(path, &content.bytes).ok()?;
    let Applied { text, places } = patch::apply_hunks(&old.text, hunks).ok()?;
    let new = old.encode(path, text).ok()?;
    Some(Prepared { content, new, places })
}

fn apply(
    draft: &mut Draft,
    change: Change,
    prepared: Option<Prepared>,
    inexact: &mut Vec<String>,
) -> Result<(), ToolError> {
    let Change { path, move_to, file } = change;
    match file {
        FilePatch::Add { content, mode, .. } => draft.create(&path, content.into_bytes(), mode),
        FilePatch::Delete { hunks, .. } => {
            draft.content(&path, Unread::Accept, MAX_CHANGED_BYTES)?;
            if !hunks.is_empty() && !change_text(draft, &path, &hunks, inexact)? {
                let message = format!(
                    "{} has other lines than the patch deletes; nothing was changed",
                    path.relative()
                );
                return Err(failed(FailureCode::Conflict, message));
            }
            draft.delete(&path);
            Ok(())
        }
        FilePatch::Update { mode, hunks, .. } => {
            if let Some(Prepared { content, new, places }) = prepared {
                draft.add(&path, content, new, Unread::Accept)?;
                report(&path, &places, inexact);
            } else {
                draft.content(&path, Unread::Accept, MAX_CHANGED_BYTES)?;
                if !hunks.is_empty() {
                    change_text(draft, &path, &hunks, inexact)?;
                }
            }
            if let Some(mode) = mode {
                draft.set_mode(&path, mode);
            }
            move_to.map_or(Ok(()), |to| draft.rename(&path, &to))
        }
    }
}

/// Applies hunks to a file of the draft, and returns whether its new text is empty.
fn change_text(
    draft: &mut Draft,
    path: &LogicalPath,
    hunks: &[Hunk],
    inexact: &mut Vec<String>,
) -> Result<bool, ToolError> {
    let old = draft.text(path, Unread::Accept)?;
    let applied = patch::apply_hunks(&old.text, hunks).map_err(|error| {
        let code = match error {
            HunkError::TooMuchWork => FailureCode::TooLarge,
            _ => FailureCode::Conflict,
        };
        failed(code, format!("{}: {error}; nothing was changed", path.relative()))
    })?;
    report(path, &applied.places, inexact);
    let is_empty = applied.text.is_empty();
    let bytes = old.encode(path, applied.text)?;
    draft.replace(path, bytes);
    Ok(is_empty)
}

/// Says which hunks did not match exactly.
fn report(path: &LogicalPath, places: &[Place], inexact: &mut Vec<String>) {
    const LISTED: usize = 50;
    for (number, place) in places.iter().enumerate() {
        let differs = match place.exactness {
            Exactness::Exact => continue,
            Exactness::TrailingSpace => "the white space at the ends of lines differs",
            Exactness::Space => "the white space at the beginnings or ends of lines differs",
            Exactness::Punctuation => "quotes, dashes or spaces differ",
        };
        if inexact.len() < LISTED {
            let (path, number) = (path.relative(), number + 1);
            inexact.push(format!("{path}: hunk {number} was applied at line {}: {differs}", place.line));
        }
    }
}

#[cfg(test)]
#[path = "apply_patch_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "apply_patch_speed_tests.rs"]
mod speed_tests;
