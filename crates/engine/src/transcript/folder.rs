//! The files of a transcript as they are written, and their names.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use serde::Serialize;

use super::TranscriptFault;

pub(super) const SESSION: &str = "session.json";
pub(super) const MESSAGES: &str = "messages.jsonl";
pub(super) const AGENTS: &str = "agents";
pub(super) const ARTIFACTS: &str = "artifacts";

/// A name that means nothing to a file system but itself.
pub(super) fn plain_name<'a>(name: &'a str, path: &Path) -> Result<&'a str, TranscriptFault> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > 120 || !name.bytes().all(plain) {
        return Err(TranscriptFault::unreadable(path, format!("{name:?} cannot be the name of a file")));
    }
    Ok(name)
}

pub(super) fn make(path: &Path) -> Result<(), TranscriptFault> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| TranscriptFault::file(path, error))
}

/// The same, without anything that was left of an earlier try.
pub(super) fn make_anew(path: &Path) -> Result<(), TranscriptFault> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TranscriptFault::file(path, error)),
        _ => make(path),
    }
}

pub(super) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), TranscriptFault> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|error| TranscriptFault::file(path, error.into()))?;
    bytes.push(b'\n');
    write_file(path, &bytes)
}

pub(super) fn write_lines<T: Serialize>(path: &Path, lines: &[T]) -> Result<(), TranscriptFault> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line).map_err(|error| TranscriptFault::file(path, error.into()))?;
        bytes.push(b'\n');
    }
    write_file(path, &bytes)
}

pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TranscriptFault> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| TranscriptFault::file(path, error))
}

pub(super) fn sync(path: &Path) -> Result<(), TranscriptFault> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| TranscriptFault::file(path, error))
}
