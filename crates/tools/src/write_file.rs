//! `write-file`: creates a file, or replaces one that the session has read.

use files::{FileDomain, LogicalPath, MAX_CHANGED_BYTES};
use policy::Need;
use protocol::{FailureCode, FileDiff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Effect, Tool, ToolCtx, ToolError, WorkspaceFiles,
    file_diffs::{DiffLimits, diffs},
    file_draft::{self, Draft, FileText, MAX_EDITED_BYTES, Unread, failed},
    project_notes,
};

/// Create a text file, or replace the whole content of one. Read an existing file first: one that was not read in this
/// session, or that changed since, is not replaced. To change a part of a file use `edit-file` or `apply-patch`. Folders
/// are made as needed.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The file, relative to the work directory.
    path: String,
    /// The whole new content.
    content: String,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Output {
    /// Relative to the work directory.
    path: String,
    bytes: usize,
    status: Status,
    #[serde(rename = "projectNotes", skip_serializing_if = "Option::is_none")]
    project_notes: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Created,
    Overwritten,
}

pub struct WriteFile;

impl Tool for WriteFile {
    const NAME: &'static str = "write-file";
    type Input = Input;
    type Output = Output;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn one_at_a_time(&self) -> bool {
        true
    }

    fn need(&self, input: &Input, files: &FileDomain) -> Need {
        file_draft::need_of(&input.path, "writes", files)
    }

    async fn preview(&self, files: &WorkspaceFiles, input: &Input) -> Result<Vec<FileDiff>, ToolError> {
        let (_, draft) = drafted(files, &input.path, input.content.clone()).await?;
        Ok(diffs(&draft, DiffLimits::PREVIEW))
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<Output, ToolError> {
        let (output, draft) = drafted(&ctx.files, &input.path, input.content).await?;
        ctx.files.record.change(draft.into_changes()).await?;
        let path = ctx.files.domain.resolve(&input.path)?;
        let project_notes = project_notes::unseen(&ctx, std::iter::once(&path)).await;
        Ok(Output { project_notes, ..output })
    }
}

async fn drafted(files: &WorkspaceFiles, path: &str, content: String) -> Result<(Output, Draft), ToolError> {
    let path = files.domain.resolve(path)?;
    if content.len() as u64 > MAX_EDITED_BYTES {
        let message = format!("the content is larger than {} MiB", MAX_EDITED_BYTES >> 20);
        return Err(failed(FailureCode::TooLarge, message));
    }
    if content.contains('\0') {
        return Err(failed(
            FailureCode::InvalidArgument,
            "the content has a zero character; only text can be written",
        ));
    }
    file_draft::draft(files, vec![path.clone()], move |draft| write(draft, &path, &content)).await
}

fn write(draft: &mut Draft, path: &LogicalPath, content: &str) -> Result<Output, ToolError> {
    let output = |bytes: usize, status| Output {
        path: path.relative().to_owned(),
        bytes,
        status,
        project_notes: None,
    };
    let bytes = match draft.content(path, Unread::Refuse, MAX_CHANGED_BYTES) {
        Ok(old) => {
            let old = FileText::decode(path, &old.bytes)?;
            // The byte order mark of UTF-8 is part of the encoding, which stays.
            let marked = old.text.starts_with('\u{feff}') && !content.starts_with('\u{feff}');
            let mark = if marked { "\u{feff}" } else { "" };
            old.encode(path, format!("{mark}{content}"))?
        }
        Err(ToolError::Failed { code: FailureCode::NotFound, .. }) => {
            draft.create(path, content.as_bytes().to_vec(), None)?;
            return Ok(output(content.len(), Status::Created));
        }
        Err(error) => return Err(error),
    };
    let written = bytes.len();
    draft.replace(path, bytes);
    Ok(output(written, Status::Overwritten))
}

#[cfg(test)]
#[path = "write_file_tests.rs"]
mod tests;
