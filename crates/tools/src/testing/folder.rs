//! A folder with files, for tests of the tools that change them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use files::{FileDomain, HardLinks};
use protocol::{Durability, FileDiff};
use serde_json::Value;

use super::{call_in, ctx, files_in, memory_record::MemoryRecord};
use crate::{AnyTool, EditLimit, Tool, ToolCtx, WorkspaceFiles, erase, typed::Family};

pub(crate) struct Folder {
    pub path: PathBuf,
    pub files: WorkspaceFiles,
    _removed_at_the_end: tempfile::TempDir,
}

impl Folder {
    /// A folder with these files. None of them counts as read.
    pub fn with(files: &[(&str, &[u8])]) -> Self {
        let (folder, path) = filled(tempfile::tempdir().unwrap(), files);
        Self { files: files_in(&path), path, _removed_at_the_end: folder }
    }

    /// As [`Folder::with`], in the file system of another folder.
    pub fn within(place: &Path, durability: Durability, files: &[(&str, &[u8])]) -> Self {
        let new = || tempfile::tempdir_in(place).unwrap();
        let (folder, path) = filled(new(), files);
        let domain = FileDomain::open(&path, &[], HardLinks::Refuse).unwrap();
        let record = Arc::new(MemoryRecord::keeping(new(), domain.clone(), None, durability));
        let files =
            WorkspaceFiles { domain, record, may_read: Arc::new(|_| true), edit_limit: EditLimit::default() };
        Self { files, path, _removed_at_the_end: folder }
    }

    /// Notes that the session has read a file as it is now.
    pub async fn read(&self, name: &str) {
        let path = self.files.domain.resolve(name).unwrap();
        let version = self.files.domain.version(&path).unwrap().unwrap();
        self.files.record.was_read(&path, version).await;
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path.join(name), bytes).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path.join(name)).ok()
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.bytes(name).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    pub fn ctx(&self) -> ToolCtx {
        ToolCtx { files: self.files.clone(), ..ctx(&Arc::default()) }
    }

    /// Runs a call after its preview, which must fail with the same error.
    pub async fn call(&self, tool: impl Tool, input: Value) -> Result<Value, String> {
        let tool: Arc<dyn AnyTool> = erase(tool, Family::Host);
        let preview = self.preview(&tool, &input).await;
        let result = call_in(self.ctx(), tool, input).await;
        match (&preview, &result) {
            (Ok(_), Ok(_)) => {}
            (Err(preview), Err(error)) => assert_eq!(preview, error),
            _ => panic!("the preview is {preview:?}, the call {result:?}"),
        }
        result
    }

    pub async fn preview(&self, tool: &Arc<dyn AnyTool>, input: &Value) -> Result<Vec<FileDiff>, String> {
        let call = Arc::clone(tool).prepare(input).map_err(|error| error.to_string())?;
        call.preview(&self.files).await.map_err(|error| error.to_string())
    }
}

fn filled(folder: tempfile::TempDir, files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
    let path = folder.path().to_owned();
    for (name, bytes) in files {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), bytes).unwrap();
    }
    (folder, path)
}
