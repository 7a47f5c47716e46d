//! The files of a transcript on disk. Whoever wrote a folder that is read here is not trusted: no links are followed, only
//! plain names are names, and everything is bounded.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

use super::TranscriptFault;

pub(super) const SESSION: &str = "session.json";
pub(super) const MESSAGES: &str = "messages.jsonl";
pub(super) const AGENTS: &str = "agents";
pub(super) const ARTIFACTS: &str = "artifacts";

/// What a folder may hold in all, and one line of it.
pub(super) const MOST_BYTES: u64 = 1 << 30;
const LONGEST_LINE: usize = 64 << 20;
const MOST_FILES: usize = 20_000;

/// How much of the bounds is left.
pub(super) struct Bounds {
    bytes: u64,
    files: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: MOST_BYTES, files: MOST_FILES }
    }
}

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

/// The folders in this one, by name; none when it is not there.
pub(super) fn folders(path: &Path, bounds: &mut Bounds) -> Result<Vec<String>, TranscriptFault> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(TranscriptFault::file(path, error)),
        Ok(metadata) if !metadata.is_dir() => return Err(TranscriptFault::unreadable(path, "is no folder")),
        Ok(_) => {}
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| TranscriptFault::file(path, error))? {
        let entry = entry.map_err(|error| TranscriptFault::file(path, error))?;
        let kind = entry.file_type().map_err(|error| TranscriptFault::file(&entry.path(), error))?;
        if !kind.is_dir() {
            return Err(TranscriptFault::unreadable(&entry.path(), "is no folder; links are not followed"));
        }
        let name = entry.file_name();
        let name =
            name.to_str().ok_or_else(|| TranscriptFault::unreadable(&entry.path(), "has no plain name"))?;
        names.push(plain_name(name, path)?.to_owned());
        take_file(path, bounds)?;
    }
    names.sort();
    Ok(names)
}

fn take_file(path: &Path, bounds: &mut Bounds) -> Result<(), TranscriptFault> {
    bounds.files = bounds.files.checked_sub(1).ok_or_else(|| {
        TranscriptFault::unreadable(path, format!("the folder has more than {MOST_FILES} files"))
    })?;
    Ok(())
}

/// A whole file, which must be a plain one.
pub(super) fn read_file(path: &Path, bounds: &mut Bounds) -> Result<Vec<u8>, TranscriptFault> {
    take_file(path, bounds)?;
    let fail = |error| TranscriptFault::file(path, error);
    let seen = fs::symlink_metadata(path).map_err(fail)?;
    let file = File::open(path).map_err(fail)?;
    let opened = file.metadata().map_err(fail)?;
    if !seen.is_file() || !same_file(&seen, &opened) {
        return Err(TranscriptFault::unreadable(path, "is no plain file; links are not followed"));
    }
    let too_much =
        || TranscriptFault::unreadable(path, format!("the folder holds more than {} MiB", MOST_BYTES >> 20));
    let mut bytes = Vec::new();
    let read = file.take(bounds.bytes + 1).read_to_end(&mut bytes).map_err(fail)?;
    bounds.bytes = bounds.bytes.checked_sub(read as u64).ok_or_else(too_much)?;
    Ok(bytes)
}

#[cfg(unix)]
fn same_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same_file(_: &fs::Metadata, other: &fs::Metadata) -> bool {
    other.is_file()
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path, bounds: &mut Bounds) -> Result<T, TranscriptFault> {
    let bytes = read_file(path, bounds)?;
    serde_json::from_slice(&bytes).map_err(|error| TranscriptFault::unreadable(path, error.to_string()))
}

pub(super) fn read_lines<T: DeserializeOwned>(
    path: &Path,
    bounds: &mut Bounds,
) -> Result<Vec<T>, TranscriptFault> {
    let bytes = read_file(path, bounds)?;
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let mut lines = Vec::new();
    if text.is_empty() {
        return Ok(lines);
    }
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let wrong =
            |wrong: String| TranscriptFault::unreadable(path, format!("line {}: {wrong}", number + 1));
        if line.len() > LONGEST_LINE {
            return Err(wrong(format!("is longer than {} MiB", LONGEST_LINE >> 20)));
        }
        lines.push(serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(lines)
}
