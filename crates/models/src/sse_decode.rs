//! Decodes server-sent events from the chunks of a body. It is our own instead of a library's, for speed and for its
//! bound (ADR 26).
//!
//! Works on bytes, so a character that is split over two chunks is no special case. An event that is complete in one
//! chunk is returned as a slice of it, without a copy. Lines end with LF or CRLF. The buffered bytes are bounded by
//! [`MAX_EVENT_BYTES`]. Only `data` is read: event names, ids, retry hints and comments are ignored.

use std::{io::BufRead, ops::Range};

use bytes::Bytes;

/// The largest event that is accepted, far above the size of real answers.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event larger than {} MiB", MAX_EVENT_BYTES / 1024 / 1024)]
pub struct EventTooLarge;

#[derive(Debug, Default)]
pub struct SseDecoder {
    chunk: Bytes,
    /// How much of `chunk` has been read.
    position: usize,
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    /// The data lines of the event being read, joined with LF.
    data: Vec<u8>,
    has_data: bool,
    /// The last call returned `data`; the next one clears it.
    returned: bool,
    after_first_line: bool,
}

impl SseDecoder {
    /// Adds the next chunk of the body, after [`Self::next_event`] has returned `None`.
    pub fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.position == self.chunk.len(), "a chunk was pushed before the last one was read");
        self.chunk = chunk;
        self.position = 0;
    }

    /// The data of the next event, or `None` if another chunk is needed.
    pub fn next_event(&mut self) -> Result<Option<&[u8]>, EventTooLarge> {
        self.clear_returned();
        loop {
            if self.line.is_empty()
                && !self.has_data
                && let Some(event) = whole_event(&self.chunk, self.position)
            {
                self.position = event.next;
                self.after_first_line = true;
                return Ok(Some(&self.chunk[event.data]));
            }
            let rest = &self.chunk[self.position..];
            let Some(length) = line_length(rest) else {
                self.line.extend_from_slice(rest);
                self.position = self.chunk.len();
                self.check_size()?;
                return Ok(None);
            };
            let start = self.position;
            self.position += length;
            let ends_event = if self.line.is_empty() {
                let chunk = self.chunk.clone();
                self.read_line(&chunk[start..start + length])
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&self.chunk[start..start + length]);
                let ends_event = self.read_line(&line);
                line.clear();
                self.line = line;
                ends_event
            };
            self.check_size()?;
            if ends_event {
                self.returned = true;
                return Ok(Some(&self.data));
            }
        }
    }

    /// The data of an event without its final blank line, after the last chunk.
    pub fn last_event(&mut self) -> Option<&[u8]> {
        self.clear_returned();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.read_line(&line);
        }
        if !self.has_data {
            return None;
        }
        self.returned = true;
        Some(&self.data)
    }

    /// Reads one line with its line end; returns whether it ends an event that has data.
    fn read_line(&mut self, line: &[u8]) -> bool {
        let mut line = line.strip_suffix(b"\n").unwrap_or(line);
        line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.after_first_line {
            self.after_first_line = true;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.has_data;
        }
        let value = if line == b"data" { Some(&b""[..]) } else { line.strip_prefix(b"data:") };
        if let Some(value) = value {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        false
    }

    fn clear_returned(&mut self) {
        if self.returned {
            self.returned = false;
            self.has_data = false;
            self.data.clear();
        }
    }

    fn check_size(&self) -> Result<(), EventTooLarge> {
        if self.line.len() + self.data.len() > MAX_EVENT_BYTES { Err(EventTooLarge) } else { Ok(()) }
    }
}

/// An event that is complete in one chunk.
struct WholeEvent {
    /// Where its data is.
    data: Range<usize>,
    /// Where the next event starts.
    next: usize,
}

/// Finds the common case: one data line and its blank line in this chunk.
fn whole_event(chunk: &[u8], position: usize) -> Option<WholeEvent> {
    let rest = &chunk[position..];
    let value = rest.strip_prefix(b"data:")?;
    let length = line_length(value)?;
    let blank = match &value[length..] {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => return None,
    };
    let mut start = position + b"data:".len();
    let next = start + length + blank;
    let mut end = start + length - 1;
    if value.first() == Some(&b' ') {
        start += 1;
    }
    if end > start && chunk[end - 1] == b'\r' {
        end -= 1;
    }
    (end - start <= MAX_EVENT_BYTES).then_some(WholeEvent { data: start..end, next })
}

/// The length of the first line with its line end, if it has one. `skip_until` uses the platform's fast search.
fn line_length(mut bytes: &[u8]) -> Option<usize> {
    let all = bytes;
    let length = bytes.skip_until(b'\n').ok()?;
    (length > 0 && all[length - 1] == b'\n').then_some(length)
}

#[cfg(test)]
#[path = "sse_decode_tests.rs"]
mod tests;
