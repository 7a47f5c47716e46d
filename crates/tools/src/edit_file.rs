//! `edit-file`: replaces exact text in a file.

use files::{FileDomain, LogicalPath};
use patch::{EditError, MAX_EDITS};
use policy::Need;
use protocol::{FailureCode, FileDiff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Effect, Tool, ToolCtx, ToolError, WorkspaceFiles,
    file_diffs::{DiffLimits, diffs},
    file_draft::{self, Draft, Unread, failed},
    project_notes,
};

/// Replace exact text in a file. Each `oldText` must be copied from the file with its white space and occur exactly once:
/// add text around it to make it unique, or set `replaceAll`. Edits are applied in order; when one does not fit, none is.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct Input {
    /// The file, relative to the work directory.
    path: String,
    /// What to replace, in order. Each edit sees the result of the one before.
    #[schemars(length(min = 1, max = 200))]
    edits: Vec<Edit>,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Edit {
    /// The text to replace, exactly as it is in the file.
    old_text: String,
    /// The text to put in its place; empty to remove it.
    new_text: String,
    /// Replace every occurrence. Default: the text must occur exactly once.
    replace_all: Option<bool>,
}

#[derive(Debug, Serialize)]
pub struct Output {
    #[serde(flatten)]
    diff: FileDiff,
    #[serde(rename = "projectNotes", skip_serializing_if = "Option::is_none")]
    project_notes: Option<String>,
}

pub struct EditFile;

impl Tool for EditFile {
    const NAME: &'static str = "edit-file";
    type Input = Input;
    type Output = Output;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn one_at_a_time(&self) -> bool {
        true
    }

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        file_draft::need_of(&input.path, "changes", files)
    }

    async fn preview(&self, files: &WorkspaceFiles, input: &Input) -> Result<Vec<FileDiff>, ToolError> {
        let draft = drafted(files, input.clone()).await?;
        Ok(diffs(&draft, DiffLimits::PREVIEW))
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<Output, ToolError> {
        let path = ctx.files.domain.resolve(&input.path)?;
        let draft = drafted(&ctx.files, input).await?;
        let mut diffs = diffs(&draft, DiffLimits::OUTPUT);
        ctx.files.record.change(draft.into_changes()).await?;
        let diff = diffs.pop().ok_or_else(|| ToolError::Report("nothing was changed".to_owned()))?;
        let project_notes = project_notes::unseen(&ctx, std::iter::once(&path)).await;
        Ok(Output { diff, project_notes })
    }
}

async fn drafted(files: &WorkspaceFiles, input: Input) -> Result<Draft, ToolError> {
    let path = files.domain.resolve(&input.path)?;
    let paths = vec![path.clone()];
    let work = move |draft: &mut Draft| edit(draft, &path, input.edits);
    Ok(file_draft::draft(files, paths, work).await?.1)
}

fn edit(draft: &mut Draft, path: &LogicalPath, edits: Vec<Edit>) -> Result<(), ToolError> {
    let old = draft.text(path, Unread::Accept)?;
    let edit = |edit: Edit| patch::Edit {
        old_text: edit.old_text,
        new_text: edit.new_text,
        replace_all: edit.replace_all.unwrap_or(false),
    };
    let edits: Vec<patch::Edit> = edits.into_iter().map(edit).collect();
    let new = patch::edit(&old.text, &edits).map_err(|error| {
        let code = match error {
            EditError::Absent { .. } | EditError::NotUnique { .. } => FailureCode::Conflict,
            EditError::TooMany(_) | EditError::TooLarge { .. } => FailureCode::TooLarge,
            EditError::Empty { .. } | EditError::Same { .. } => FailureCode::InvalidArgument,
        };
        failed(code, format!("{}: {error}; nothing was changed", path.relative()))
    })?;
    let bytes = old.encode(path, new)?;
    draft.replace(path, bytes);
    draft.expect_changes()
}

const _: () = assert!(MAX_EDITS == 200, "the schema says it");

#[cfg(test)]
#[path = "edit_file_tests.rs"]
mod tests;
