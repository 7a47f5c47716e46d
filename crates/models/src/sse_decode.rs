//! Server-sent events out of the chunks of a body: bytes in, the data of each event out.
//!
//! Works on bytes, so a character split over two chunks is no special case. An event that lies whole in one
//! chunk is handed out as a slice of it, without a copy. Lines end with LF or CRLF. What is held back is bounded
//! by [`MAX_EVENT_BYTES`]. Only `data` counts: event names, ids, retry hints and comments are dropped.

use std::io::BufRead;

use bytes::Bytes;

/// The largest event that is accepted. Far above any answer, far below what hurts.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event larger than {} MiB", MAX_EVENT_BYTES / 1024 / 1024)]
pub struct EventTooLarge;

#[derive(Debug, Default)]
pub struct SseDecoder {
    chunk: Bytes,
    /// How much of `chunk` has been read.
    position: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// The data lines of the event being read, joined with LF.
    data: Vec<u8>,
    has_data: bool,
    /// `data` was given out by the last call and is to be cleared by the next.
    given_out: bool,
    after_first_line: bool,
}

impl SseDecoder {
    /// Takes the next chunk of the body. Call [`Self::next_event`] until it is dry before the next chunk.
    pub fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.position == self.chunk.len(), "a chunk was pushed before the last one was read");
        self.chunk = chunk;
        self.position = 0;
    }

    /// The data of the next event, or `None` when another chunk is needed.
    pub fn next_event(&mut self) -> Result<Option<&[u8]>, EventTooLarge> {
        self.forget_given_out();
        loop {
            if self.line.is_empty()
                && !self.has_data
                && let Some((start, end, next)) = whole_event(&self.chunk, self.position)
            {
                self.position = next;
                self.after_first_line = true;
                return Ok(Some(&self.chunk[start..end]));
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
                self.given_out = true;
                return Ok(Some(&self.data));
            }
        }
    }

    /// After the last chunk: the data of an event whose closing blank line never came.
    pub fn last_event(&mut self) -> Option<&[u8]> {
        self.forget_given_out();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.read_line(&line);
        }
        if !self.has_data {
            return None;
        }
        self.given_out = true;
        Some(&self.data)
    }

    /// Takes one line with its line end; true when it closes an event that has data.
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

    fn forget_given_out(&mut self) {
        if self.given_out {
            self.given_out = false;
            self.has_data = false;
            self.data.clear();
        }
    }

    fn check_size(&self) -> Result<(), EventTooLarge> {
        if self.line.len() + self.data.len() > MAX_EVENT_BYTES { Err(EventTooLarge) } else { Ok(()) }
    }
}

/// The common case: one data line and its blank line, all in this chunk. Start and end of the data, and where
/// the next event begins.
fn whole_event(chunk: &[u8], position: usize) -> Option<(usize, usize, usize)> {
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
    (end - start <= MAX_EVENT_BYTES).then_some((start, end, next))
}

/// The length of the first line with its line end, if it has one. `skip_until` searches as fast as the platform can.
fn line_length(mut bytes: &[u8]) -> Option<usize> {
    let all = bytes;
    let length = bytes.skip_until(b'\n').ok()?;
    (length > 0 && all[length - 1] == b'\n').then_some(length)
}

#[cfg(test)]
#[path = "sse_decode_tests.rs"]
mod tests;
