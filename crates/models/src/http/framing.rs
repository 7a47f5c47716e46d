//! Parses the head of an HTTP/1.1 answer and the framing of its body. Pure and bounded: bytes in, bytes out.

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};

/// The largest head of an answer, in bytes.
const MAX_HEAD: usize = 64 * 1024;
const MAX_LINE: usize = 4 * 1024;
const MAX_TRAILERS: usize = 64 * 1024;
const MAX_HEADERS: usize = 128;

/// The answer is not HTTP or exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an answer in HTTP/1.1")]
pub struct Malformed;

#[derive(Debug, PartialEq)]
pub struct Head {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Whether the connection may be used again after the body.
    pub keep_alive: bool,
    pub framing: Framing,
}

/// The framing of a body, and how much of it is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked(Chunked),
    UntilClosed,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunked {
    Size,
    Data(u64),
    /// The line end after a chunk.
    DataEnd,
    /// The lines after the last chunk, with the number of bytes read so far.
    Trailers(usize),
}

/// Parses the head of an answer; `None` if more bytes are needed. Interim answers (1xx) are skipped.
pub fn read_head(buffer: &mut BytesMut) -> Result<Option<Head>, Malformed> {
    loop {
        let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut fields);
        let length = match parsed.parse(buffer).map_err(|_| Malformed)? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial if buffer.len() < MAX_HEAD => return Ok(None),
            httparse::Status::Partial => return Err(Malformed),
        };
        let status = StatusCode::from_u16(parsed.code.ok_or(Malformed)?).map_err(|_| Malformed)?;
        if status.is_informational() {
            if status == StatusCode::SWITCHING_PROTOCOLS {
                return Err(Malformed);
            }
            buffer.advance(length);
            continue;
        }
        let version = if parsed.version == Some(1) { Version::HTTP_11 } else { Version::HTTP_10 };
        let mut headers = HeaderMap::with_capacity(parsed.headers.len());
        for field in parsed.headers.iter() {
            let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Malformed)?;
            headers.append(name, HeaderValue::from_bytes(field.value).map_err(|_| Malformed)?);
        }
        let framing = framing(status, &headers)?;
        let keep_alive = framing != Framing::UntilClosed && keep_alive(version, &headers);
        buffer.advance(length);
        return Ok(Some(Head { status, headers, keep_alive, framing }));
    }
}

fn framing(status: StatusCode, headers: &HeaderMap) -> Result<Framing, Malformed> {
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        return Ok(Framing::Done);
    }
    if let Some(coding) = words(headers, header::TRANSFER_ENCODING).last() {
        return if coding.eq_ignore_ascii_case("chunked") {
            Ok(Framing::Chunked(Chunked::Size))
        } else {
            Ok(Framing::UntilClosed)
        };
    }
    let mut lengths = words(headers, header::CONTENT_LENGTH);
    let Some(first) = lengths.next() else { return Ok(Framing::UntilClosed) };
    if lengths.any(|other| other != first) || !first.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Malformed);
    }
    match first.parse().map_err(|_| Malformed)? {
        0 => Ok(Framing::Done),
        length => Ok(Framing::Length(length)),
    }
}

fn keep_alive(version: Version, headers: &HeaderMap) -> bool {
    let says = |word: &str| words(headers, header::CONNECTION).any(|said| said.eq_ignore_ascii_case(word));
    if version == Version::HTTP_11 { !says("close") } else { says("keep-alive") }
}

fn words(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .flat_map(|value| value.to_str().unwrap_or_default().split(','))
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

impl Framing {
    /// Removes the next piece of the body from the buffer; `None` if more bytes are needed or the body has ended.
    pub fn take(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Malformed> {
        loop {
            match self {
                Self::Done => return Ok(None),
                Self::UntilClosed => return Ok((!buffer.is_empty()).then(|| buffer.split().freeze())),
                Self::Length(left) => {
                    let Some(piece) = piece(buffer, left) else { return Ok(None) };
                    if *left == 0 {
                        *self = Self::Done;
                    }
                    return Ok(Some(piece));
                }
                Self::Chunked(Chunked::Data(left)) => {
                    let Some(piece) = piece(buffer, left) else { return Ok(None) };
                    if *left == 0 {
                        *self = Self::Chunked(Chunked::DataEnd);
                    }
                    return Ok(Some(piece));
                }
                Self::Chunked(Chunked::Size) => {
                    let Some(line) = line(buffer)? else { return Ok(None) };
                    *self = match size(&line)? {
                        0 => Self::Chunked(Chunked::Trailers(0)),
                        size => Self::Chunked(Chunked::Data(size)),
                    };
                }
                Self::Chunked(Chunked::DataEnd) => {
                    match line(buffer)? {
                        None => return Ok(None),
                        Some(line) if line.is_empty() => *self = Self::Chunked(Chunked::Size),
                        Some(_) => return Err(Malformed),
                    };
                }
                Self::Chunked(Chunked::Trailers(read)) => {
                    let Some(line) = line(buffer)? else { return Ok(None) };
                    *read += line.len() + 2;
                    if *read > MAX_TRAILERS {
                        return Err(Malformed);
                    }
                    if line.is_empty() {
                        *self = Self::Done;
                    }
                }
            }
        }
    }
}

fn piece(buffer: &mut BytesMut, left: &mut u64) -> Option<Bytes> {
    if buffer.is_empty() {
        return None;
    }
    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(buffer.len());
    *left -= length as u64;
    Some(buffer.split_to(length).freeze())
}

/// Removes a line from the buffer and returns it without its line end.
fn line(buffer: &mut BytesMut) -> Result<Option<Bytes>, Malformed> {
    let Some(end) = buffer.iter().take(MAX_LINE).position(|byte| *byte == b'\n') else {
        return if buffer.len() < MAX_LINE { Ok(None) } else { Err(Malformed) };
    };
    let mut line = buffer.split_to(end + 1).freeze();
    line.truncate(end - usize::from(end > 0 && line[end - 1] == b'\r'));
    Ok(Some(line))
}

/// The size of a chunk; extensions after a semicolon are ignored.
fn size(line: &[u8]) -> Result<u64, Malformed> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(Malformed);
    }
    let digits = std::str::from_utf8(digits).map_err(|_| Malformed)?;
    u64::from_str_radix(digits, 16).map_err(|_| Malformed)
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
