//! The files of a workspace as people look at them: a folder, and one file with a type that is safe to show.

use std::{
    fs::File,
    io::{Read, Seek},
};

use ::files::{FileDomain, FileError};
use protocol::{
    FailureCode,
    file_change::{EntryKind, FolderEntry, FolderList},
};

/// The most entries of a folder that are listed.
const MOST_ENTRIES: usize = 2_000;
/// How many bytes decide what a file is.
const SNIFFED: u64 = 8 << 10;

/// A file of a workspace, open for reading.
#[derive(Debug)]
pub struct WorkspaceFile {
    pub file: File,
    /// The last part of its path.
    pub name: String,
    pub bytes: u64,
    pub kind: FileKind,
}

/// What a browser may show a file as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Text in this encoding.
    Text(&'static str),
    /// An image of this media type, without scripts.
    Image(&'static str),
    /// Anything else; it is saved, not shown.
    Other,
}

/// Lists a folder, folders first.
pub(crate) fn folder(domain: &FileDomain, path: &str) -> Result<FolderList, FileError> {
    let path = domain.resolve(path)?;
    let (entries, cut) = domain.list_up_to(&path, MOST_ENTRIES)?;
    let mut entries: Vec<FolderEntry> = entries
        .into_iter()
        .map(|entry| FolderEntry {
            name: entry.name,
            kind: entry.info.kind,
            bytes: entry.info.bytes,
            modified_at: entry.info.modified,
            ignored: entry.ignored,
        })
        .collect();
    entries.sort_by(|a, b| {
        let is_file = |entry: &FolderEntry| entry.kind != EntryKind::Directory;
        (is_file(a), &a.name).cmp(&(is_file(b), &b.name))
    });
    Ok(FolderList { path: path.relative().to_owned(), entries, cut })
}

/// Opens a file and finds out what it is.
pub(crate) fn open(domain: &FileDomain, path: &str) -> Result<WorkspaceFile, FileError> {
    let path = domain.resolve(path)?;
    let mut opened = domain.open_file(&path)?;
    let failed = |_| FileError::new(FailureCode::Internal, format!("could not read {path}"));
    let mut head = Vec::new();
    (&mut opened.file).take(SNIFFED).read_to_end(&mut head).map_err(failed)?;
    opened.file.rewind().map_err(failed)?;
    let name = path.relative().rsplit('/').next().unwrap_or_default().to_owned();
    Ok(WorkspaceFile { file: opened.file, name, bytes: opened.info.bytes, kind: FileKind::of(&head) })
}

impl FileKind {
    /// Decides by the first bytes of a file.
    fn of(head: &[u8]) -> Self {
        const IMAGES: [(&[u8], &str); 5] = [
            (b"\x89PNG\r\n\x1a\n", "image/png"),
            (b"\xff\xd8\xff", "image/jpeg"),
            (b"GIF87a", "image/gif"),
            (b"GIF89a", "image/gif"),
            (b"\0\0\x01\0", "image/x-icon"),
        ];
        if let Some((_, kind)) = IMAGES.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Self::Image(kind);
        }
        if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            return Self::Image("image/webp");
        }
        if head.get(4..8) == Some(b"ftyp") && matches!(head.get(8..12), Some(b"avif" | b"avis")) {
            return Self::Image("image/avif");
        }
        match head {
            [0xff, 0xfe, ..] => Self::Text("utf-16le"),
            [0xfe, 0xff, ..] => Self::Text("utf-16be"),
            _ if head.contains(&0) => Self::Other,
            _ if is_utf8(head) => Self::Text("utf-8"),
            _ => files::text::detect(head, None).map_or(Self::Other, |encoding| Self::Text(encoding.name())),
        }
    }
}

/// Whether the bytes are UTF-8, perhaps cut inside of the last character.
fn is_utf8(head: &[u8]) -> bool {
    std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_shown_as_text_or_image_only_if_it_is_one() {
        for (head, kind) in [
            (&b""[..], FileKind::Text("utf-8")),
            (b"fn main() {}\n", FileKind::Text("utf-8")),
            ("报告".as_bytes(), FileKind::Text("utf-8")),
            (&"报告".as_bytes()[..5], FileKind::Text("utf-8")),
            (b"<script>alert(1)</script>", FileKind::Text("utf-8")),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", FileKind::Text("utf-8")),
            (b"\xff\xfea\0", FileKind::Text("utf-16le")),
            (b"\xb1\xa8\xb8\xe6\xca\xc7\xd6\xd0\xce\xc4\xa1\xa3", FileKind::Text("GBK")),
            (b"\x89PNG\r\n\x1a\n0", FileKind::Image("image/png")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", FileKind::Image("image/webp")),
            (b"%PDF-1.7\n\xb5\xb5\0", FileKind::Other),
            (b"\x7fELF\x02\x01\x01\0", FileKind::Other),
            (b"\x80\x01\x02\x03", FileKind::Other),
        ] {
            assert_eq!(FileKind::of(head), kind, "{head:?}");
        }
    }
}
