//! The changes that a call is about to make to files, before anything is written.
//!
//! A draft reads each file once and lays the changes over it, so that a later part of a call sees what an earlier part did.
//! The preview that a person approves and the change itself come from the same draft.

use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
};

use files::{Content, FileDomain, FilesToChange, LogicalPath, MAX_CHANGED_BYTES, NewContent, NewFile, text};
use policy::Need;
use protocol::{FailureCode, file_change::EntryKind};

use crate::{ToolError, WorkspaceFiles};

/// Text files up to this size are edited.
pub(crate) const MAX_EDITED_BYTES: u64 = 8 << 20;
/// The most bytes of all files of one call, before the change.
pub(crate) const MAX_READ_BYTES: u64 = 256 << 20;

/// The files of one call.
pub(crate) struct Draft {
    domain: FileDomain,
    /// The versions that the session last read.
    read: HashMap<LogicalPath, String>,
    read_bytes: u64,
    files: HashMap<LogicalPath, DraftFile>,
    /// In the order in which they were first touched.
    order: Vec<LogicalPath>,
}

/// A file before the call and after what was done so far.
pub(crate) struct DraftFile {
    pub before: Option<Content>,
    pub after: Option<DraftContent>,
}

#[derive(Clone)]
pub(crate) struct DraftContent {
    pub bytes: Vec<u8>,
    /// `None`: the permission bits that the file has, or those of a new file.
    pub mode: Option<u32>,
    /// Where the content was before the call, if it was in another place.
    pub from: Option<LogicalPath>,
}

/// Whether a file may be changed that the session has not read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// No: the call does not show that its author knows the content.
    Refuse,
    /// Yes: the call names the text that it replaces.
    Accept,
}

/// What a call needs that changes this file; `does` is the verb for the person. A path that cannot be used needs nothing:
/// the call fails when it runs, and changes nothing.
pub(crate) fn need_of(path: &str, does: &str, files: &FileDomain) -> Need {
    let Ok(path) = files.resolve(path) else { return Need::Nothing };
    let path = path.relative().to_owned();
    Need::Write { why: format!("It {does} {path}."), paths: vec![path] }
}

/// Runs `work` on a thread that may block, with a draft that knows which of these files the session has read. Fails when
/// the agent may not change one of them.
pub(crate) async fn draft<T: Send + 'static>(
    files: &WorkspaceFiles,
    paths: Vec<LogicalPath>,
    work: impl FnOnce(&mut Draft) -> Result<T, ToolError> + Send + 'static,
) -> Result<(T, Draft), ToolError> {
    files.edit_limit.check(&paths)?;
    let mut read = HashMap::new();
    for path in paths {
        if let Some(version) = files.record.last_read(&path).await? {
            read.insert(path, version);
        }
    }
    let domain = files.domain.clone();
    let mut draft = Draft { domain, read, read_bytes: 0, files: HashMap::new(), order: Vec::new() };
    let blocking = tokio::task::spawn_blocking(move || work(&mut draft).map(|result| (result, draft)));
    blocking.await.map_err(|error| ToolError::Fatal(Box::new(error)))?
}

impl Draft {
    /// Creates a file. It fails with `conflict` when something has the name already.
    pub fn create(&mut self, path: &LogicalPath, bytes: Vec<u8>, mode: Option<u32>) -> Result<(), ToolError> {
        self.expect_absent(path)?;
        self.put(path, Some(DraftContent { bytes, mode, from: None }));
        Ok(())
    }

    /// Replaces the content of a file. Mode and origin stay.
    pub fn replace(&mut self, path: &LogicalPath, bytes: Vec<u8>) {
        let (mode, from) = match self.files.get(path).and_then(|file| file.after.as_ref()) {
            Some(content) => (content.mode, content.from.clone()),
            None => (None, None),
        };
        self.put(path, Some(DraftContent { bytes, mode, from }));
    }

    pub fn set_mode(&mut self, path: &LogicalPath, mode: u32) {
        if let Some(content) = self.files.get_mut(path).and_then(|file| file.after.as_mut()) {
            content.mode = Some(mode);
        }
    }

    pub fn delete(&mut self, path: &LogicalPath) {
        self.put(path, None);
    }

    /// Moves a file with its permission bits. It fails with `conflict` when something has the new name already.
    pub fn rename(&mut self, path: &LogicalPath, to: &LogicalPath) -> Result<(), ToolError> {
        self.expect_absent(to)?;
        let Some(file) = self.files.get_mut(path) else { return Ok(()) };
        let Some(mut content) = file.after.take() else { return Ok(()) };
        content.mode = content.mode.or_else(|| file.before.as_ref().map(|before| before.state.mode));
        let from = content.from.take().or_else(|| file.before.is_some().then(|| path.clone()));
        content.from = from.filter(|from| from != to);
        self.put(to, Some(content));
        Ok(())
    }

    /// Reads a file as the call has left it so far, and checks that nobody has changed it since the session read it.
    pub fn content(
        &mut self,
        path: &LogicalPath,
        unread: Unread,
        limit: u64,
    ) -> Result<&DraftContent, ToolError> {
        if !self.files.contains_key(path) {
            let content =
                FilesToChange::of(&self.domain).read(path, limit)?.ok_or_else(|| not_found(path))?;
            self.check_read(path, &content, unread)?;
            self.read_bytes += content.state.bytes;
            if self.read_bytes > MAX_READ_BYTES {
                let limit = MAX_READ_BYTES >> 20;
                let message = format!(
                    "the files of this call are larger than {limit} MiB together; change fewer at once"
                );
                return Err(failed(FailureCode::TooLarge, message));
            }
            let after = DraftContent { bytes: content.bytes.clone(), mode: None, from: None };
            self.order.push(path.clone());
            self.files.insert(path.clone(), DraftFile { before: Some(content), after: Some(after) });
        }
        let content = self.files.get(path).and_then(|file| file.after.as_ref());
        let content = content.ok_or_else(|| not_found(path))?;
        if content.bytes.len() as u64 > limit {
            let message = format!("{} is larger than {} MiB", path.relative(), limit >> 20);
            return Err(failed(FailureCode::TooLarge, message));
        }
        Ok(content)
    }

    /// Adds a file that was read, and what the call makes of it.
    pub fn add(
        &mut self,
        path: &LogicalPath,
        content: Content,
        bytes: Vec<u8>,
        unread: Unread,
    ) -> Result<(), ToolError> {
        self.check_read(path, &content, unread)?;
        self.read_bytes += content.state.bytes;
        if self.read_bytes > MAX_READ_BYTES {
            let limit = MAX_READ_BYTES >> 20;
            let message =
                format!("the files of this call are larger than {limit} MiB together; change fewer at once");
            return Err(failed(FailureCode::TooLarge, message));
        }
        let after = DraftContent { bytes, mode: None, from: None };
        self.order.push(path.clone());
        self.files.insert(path.clone(), DraftFile { before: Some(content), after: Some(after) });
        Ok(())
    }

    pub fn domain(&self) -> &FileDomain {
        &self.domain
    }

    /// Reads a file as text, to be edited.
    pub fn text(&mut self, path: &LogicalPath, unread: Unread) -> Result<FileText<'_>, ToolError> {
        let content = self.content(path, unread, MAX_EDITED_BYTES)?;
        FileText::decode(path, &content.bytes)
    }

    fn check_read(&self, path: &LogicalPath, content: &Content, unread: Unread) -> Result<(), ToolError> {
        let Some(read) = self.read.get(path) else {
            return if unread == Unread::Accept { Ok(()) } else { Err(not_read(path)) };
        };
        // The version of a file up to this size is its content.
        let same = if content.state.bytes <= MAX_EDITED_BYTES {
            *read == content.state.content
        } else {
            self.domain.version(path)?.as_ref() == Some(read)
        };
        if same { Ok(()) } else { Err(changed_since(path)) }
    }

    fn expect_absent(&mut self, path: &LogicalPath) -> Result<(), ToolError> {
        let absent = match self.files.get(path) {
            Some(file) => file.after.is_none(),
            None => match FilesToChange::of(&self.domain).read(path, MAX_CHANGED_BYTES) {
                Ok(found) => found.is_none(),
                Err(error) if error.code == FailureCode::TooLarge => false,
                // The call deletes the files of a folder and puts a file in its place.
                Err(error) if error.code == FailureCode::InvalidArgument && self.empties(path) => true,
                Err(error) => return Err(error.into()),
            },
        };
        if !absent {
            let message = format!("{} exists already; update it, or choose another name", path.relative());
            return Err(failed(FailureCode::Conflict, message));
        }
        self.expect_folders(path)
    }

    fn empties(&self, folder: &LogicalPath) -> bool {
        self.files.iter().any(|(path, file)| file.after.is_none() && folder.contains(path))
    }

    /// Fails when a file is where a new file needs a folder.
    fn expect_folders(&self, path: &LogicalPath) -> Result<(), ToolError> {
        let mut folder = path.parent();
        while let Some(parent) = folder.filter(|parent| !parent.is_root()) {
            let is_file = match self.files.get(&parent) {
                Some(file) => file.after.is_some(),
                None => match self.domain.info(&parent) {
                    Ok(info) if info.kind == EntryKind::Directory => return Ok(()),
                    Ok(_) => true,
                    Err(_) => false,
                },
            };
            if is_file {
                let (path, parent) = (path.relative(), parent.relative());
                let message = format!("{path} cannot be made, because {parent} is a file, not a folder");
                return Err(failed(FailureCode::InvalidPath, message));
            }
            folder = parent.parent();
        }
        Ok(())
    }

    fn put(&mut self, path: &LogicalPath, after: Option<DraftContent>) {
        match self.files.entry(path.clone()) {
            Entry::Occupied(mut file) => file.get_mut().after = after,
            Entry::Vacant(file) => {
                self.order.push(path.clone());
                file.insert(DraftFile { before: None, after });
            }
        }
    }

    /// The files that the call touched, in order, without those that did not exist and do not.
    pub fn touched(&self) -> impl Iterator<Item = (&LogicalPath, &DraftFile)> {
        let file = |path| self.files.get(path).map(|file| (path, file));
        self.order.iter().filter_map(file).filter(|(_, file)| file.before.is_some() || file.after.is_some())
    }

    pub fn file(&self, path: &LogicalPath) -> Option<&DraftFile> {
        self.files.get(path)
    }

    /// Fails when everything would stay as it is.
    pub fn expect_changes(&self) -> Result<(), ToolError> {
        let stays = |file: &DraftFile| match (&file.before, &file.after) {
            (Some(before), Some(after)) => {
                before.bytes == after.bytes && after.mode.is_none_or(|mode| mode == before.state.mode)
            }
            (before, after) => before.is_none() && after.is_none(),
        };
        if self.files.values().all(stays) {
            return Err(failed(
                FailureCode::InvalidArgument,
                "the call changes nothing: the files stay as they are",
            ));
        }
        Ok(())
    }

    /// Returns what to write.
    pub fn into_changes(mut self) -> Vec<NewContent> {
        let mut changes = Vec::with_capacity(self.order.len());
        for path in self.order {
            let Some(DraftFile { before, after }) = self.files.remove(&path) else { continue };
            if before.is_none() && after.is_none() {
                continue;
            }
            let after = after.map(|after| NewFile { bytes: after.bytes, mode: after.mode });
            changes.push(NewContent { path, before: before.map(|before| before.state), after });
        }
        changes
    }
}

/// The text of a file, which can be written back as it was encoded.
pub(crate) struct FileText<'a> {
    pub text: Cow<'a, str>,
    encoding: text::TextEncoding,
}

impl<'a> FileText<'a> {
    pub fn decode(path: &LogicalPath, bytes: &'a [u8]) -> Result<Self, ToolError> {
        if let Some(text) = text::plain_utf8(bytes) {
            return Ok(Self { text: text.into(), encoding: text::TextEncoding::UTF_8 });
        }
        let decoded = text::decode(bytes).filter(|decoded| decoded.lossless);
        let decoded = decoded.ok_or_else(|| {
            let message = format!("{} is not a text file; only text can be changed", path.relative());
            failed(FailureCode::UnsupportedMediaType, message)
        })?;
        // The mark of UTF-8 stays in the text, so that a patch can show it.
        match std::str::from_utf8(bytes) {
            Ok(text) if decoded.encoding.is_utf8() => {
                Ok(Self { text: text.into(), encoding: text::TextEncoding::UTF_8 })
            }
            _ => Ok(Self { text: decoded.text.into(), encoding: decoded.encoding }),
        }
    }

    /// Encodes another text as this one was.
    pub fn encode(&self, path: &LogicalPath, new: String) -> Result<Vec<u8>, ToolError> {
        if self.encoding == text::TextEncoding::UTF_8 {
            return Ok(new.into_bytes());
        }
        self.encoding.encode(&new).ok_or_else(|| {
            let message = format!(
                "{} is encoded as {}, which lacks a character of the new text; use other characters, or delete the file \
                 and create it anew",
                path.relative(),
                self.encoding.name()
            );
            failed(FailureCode::InvalidArgument, message)
        })
    }
}

pub(crate) fn failed(code: FailureCode, message: impl Into<String>) -> ToolError {
    ToolError::Failed { code, message: message.into() }
}

fn not_found(path: &LogicalPath) -> ToolError {
    failed(FailureCode::NotFound, format!("{} does not exist", path.relative()))
}

fn not_read(path: &LogicalPath) -> ToolError {
    let message = format!("{} exists and was not read in this session; read it first", path.relative());
    failed(FailureCode::Conflict, message)
}

fn changed_since(path: &LogicalPath) -> ToolError {
    let message = format!("{} has changed since it was read; read it again", path.relative());
    failed(FailureCode::Conflict, message)
}
