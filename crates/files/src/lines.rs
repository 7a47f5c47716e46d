//! Some lines of a text file, read in bounded memory however big the file is.

use std::io::Read;

use memchr::memchr_iter;
use protocol::FailureCode;

use crate::{FileDomain, FileError, LogicalPath, Watch, text};

/// A line is cut here, at the end of a character.
pub const LINE_BYTES: usize = 500;
const BUFFER: usize = 256 << 10;

/// One line, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1.
    pub number: u64,
    /// At most [`LINE_BYTES`] bytes.
    pub text: String,
    /// The number of bytes that were cut off.
    pub cut: u64,
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// The number of lines of the file, when its end was reached. The rest of a longer file is not read.
    pub total: Option<u64>,
    /// The encoding's usual name.
    pub encoding: &'static str,
}

impl FileDomain {
    /// Reads `count` lines from line `first` on, counted from 1. Fails when the file has fewer lines than `first`, and with
    /// `unsupported_media_type` when it is no text.
    pub fn lines(
        &self,
        path: &LogicalPath,
        first: u64,
        count: u64,
        watch: &Watch,
    ) -> Result<Lines, FileError> {
        let opened = self.open_file(path)?;
        read_lines(opened.file, path, first, count, watch)
    }
}

fn read_lines(
    mut file: impl Read,
    path: &LogicalPath,
    first: u64,
    count: u64,
    watch: &Watch,
) -> Result<Lines, FileError> {
    let mut buffer = vec![0; BUFFER];
    let mut read = fill(&mut file, &mut buffer, path)?;
    let head = buffer.get(..read).unwrap_or_default();
    let encoding = text::detect(whole_characters(head), None).ok_or_else(|| not_text(path))?;
    let mut decoder = (!encoding.is_utf8()).then(|| encoding.encoding().new_decoder_with_bom_removal());
    let mut decoded = vec![0; if decoder.is_some() { BUFFER * 3 + 64 } else { 0 }];
    let mut splitter = Splitter::new(first, count);
    let mut begins = true;
    loop {
        watch.check()?;
        let bytes = buffer.get(..read).unwrap_or_default();
        match &mut decoder {
            None if begins => splitter.take(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
            None => splitter.take(bytes),
            Some(decoder) => {
                let (_, _, written, _) = decoder.decode_to_utf8(bytes, &mut decoded, read == 0);
                splitter.take(decoded.get(..written).unwrap_or_default());
            }
        }
        begins = false;
        if splitter.is_done() || read == 0 {
            break;
        }
        read = fill(&mut file, &mut buffer, path)?;
    }
    let total = splitter.finish();
    match total {
        Some(total) if first > total.max(1) => {
            let message = format!("{path} has {total} lines; line {first} is past its end");
            Err(FileError::new(FailureCode::InvalidArgument, message))
        }
        _ => Ok(Lines { lines: splitter.lines, total, encoding: encoding.name() }),
    }
}

pub(crate) fn not_text(path: &LogicalPath) -> FileError {
    FileError::new(FailureCode::UnsupportedMediaType, format!("{path} is a binary file, not text"))
}

/// Without a character of UTF-8 whose end was not read yet.
fn whole_characters(head: &[u8]) -> &[u8] {
    match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => head.get(..error.valid_up_to()).unwrap_or(head),
        _ => head,
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut impl Read, buffer: &mut [u8], path: &LogicalPath) -> Result<usize, FileError> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::io(path, "read", &error)),
        }
    }
    Ok(filled)
}

/// Splits a stream of UTF-8 into lines and keeps those that are wanted.
struct Splitter {
    first: u64,
    last: u64,
    /// The line that the next byte belongs to.
    number: u64,
    /// The beginning of that line.
    begun: Vec<u8>,
    length: u64,
    /// Its last byte so far is `\r`.
    returns: bool,
    lines: Vec<Line>,
    /// There is text after the last wanted line.
    more: bool,
}

impl Splitter {
    fn new(first: u64, count: u64) -> Self {
        let first = first.max(1);
        Self {
            first,
            last: first.saturating_add(count).saturating_sub(1),
            number: 1,
            begun: Vec::new(),
            length: 0,
            returns: false,
            lines: Vec::new(),
            more: false,
        }
    }

    fn is_done(&self) -> bool {
        self.more
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes) {
            if self.number > self.last {
                break;
            }
            self.extend(bytes.get(start..end).unwrap_or_default());
            self.end_line();
            start = end + 1;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        if self.number > self.last {
            self.more |= !rest.is_empty();
        } else {
            self.extend(rest);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.returns = bytes.last().map_or(self.returns, |last| *last == b'\r');
        if self.number >= self.first {
            // Two bytes more than are shown: the end of a line may be `\r`.
            let room = (LINE_BYTES + 2).saturating_sub(self.begun.len());
            self.begun.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
    }

    fn end_line(&mut self) {
        if self.number >= self.first {
            let line = self.line();
            self.lines.push(line);
        }
        self.number += 1;
        self.begun.clear();
        self.length = 0;
        self.returns = false;
    }

    fn line(&self) -> Line {
        let length = self.length - u64::from(self.returns);
        let bytes = self.begun.as_slice();
        let bytes = usize::try_from(length).ok().and_then(|length| bytes.get(..length)).unwrap_or(bytes);
        let text = cut_text(bytes);
        Line { number: self.number, cut: length.saturating_sub(shown_bytes(bytes) as u64), text }
    }

    /// The number of lines, when the end of the file was reached.
    fn finish(&mut self) -> Option<u64> {
        if self.more {
            return None;
        }
        if self.length > 0 {
            self.end_line();
        }
        Some(self.number - 1)
    }
}

/// How many bytes of a line are shown.
fn shown_bytes(bytes: &[u8]) -> usize {
    if bytes.len() <= LINE_BYTES {
        return bytes.len();
    }
    let mut end = LINE_BYTES;
    // A byte of the form 10xxxxxx continues a character.
    while end > LINE_BYTES - 4 && bytes.get(end).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {
        end -= 1;
    }
    end
}

/// The beginning of a line as text, cut at [`LINE_BYTES`]; bytes that are no UTF-8 are replaced.
pub(crate) fn cut_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..shown_bytes(bytes)).unwrap_or(bytes)).into_owned()
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
