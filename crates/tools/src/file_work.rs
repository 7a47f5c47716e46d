//! Runs blocking file operations of a tool on a thread of their own, until they end or the call is cancelled.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use files::{FileDomain, FileError, LogicalPath, Watch};
use policy::Need;
use protocol::FailureCode;

use crate::{ToolCtx, ToolError};

/// A search or listing returns what it has found after this time.
const SEARCH_TIME: Duration = Duration::from_secs(30);

/// Runs an operation with the call's cancellation and the rules for reading.
pub(crate) async fn blocking<T: Send + 'static>(
    ctx: &ToolCtx,
    work: impl FnOnce(&FileDomain, &Watch) -> Result<T, FileError> + Send + 'static,
) -> Result<T, ToolError> {
    let (domain, cancel) = (ctx.files.domain.clone(), ctx.cancel.clone());
    let may_read = Arc::clone(&ctx.files.may_read);
    let run = move || {
        let watch = Watch {
            cancelled: &|| cancel.is_cancelled(),
            may_read: &|path| may_read(path),
            deadline: Some(Instant::now() + SEARCH_TIME),
        };
        work(&domain, &watch)
    };
    match tokio::task::spawn_blocking(run).await {
        Ok(Err(error)) if error.code == FailureCode::Cancelled => Err(ToolError::Cancelled),
        Ok(result) => Ok(result?),
        Err(error) => Err(ToolError::Fatal(Box::new(error))),
    }
}

/// Reading one file or folder: the path as it was written and, if links lead elsewhere, what it leads to.
pub(crate) fn reads(files: &FileDomain, written: &str) -> Need {
    // A path that cannot be used asks nobody: the call fails and says why.
    let Ok(path) = files.resolve(written) else { return Need::Nothing };
    let mut paths = vec![path.relative().to_owned()];
    if let Some(target) = files.target(&path).ok().filter(|target| *target != path) {
        paths.push(target.relative().to_owned());
    }
    Need::Read { paths }
}

/// The folder or file that an optional parameter names; the work directory by default.
pub(crate) fn place(files: &FileDomain, written: Option<&str>) -> Result<LogicalPath, FileError> {
    files.resolve(written.map(str::trim).unwrap_or_default())
}

/// Limits a number that a model chose.
pub(crate) fn within(chosen: Option<u32>, default: u32, most: u32) -> usize {
    chosen.unwrap_or(default).clamp(1, most) as usize
}
