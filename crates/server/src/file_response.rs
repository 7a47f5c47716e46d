//! Responses with the bytes of a file, whole or a byte range. The content is not trusted: no script in it runs, and a browser
//! never shows it as a page of this server.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures::{Stream, stream};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::ErrorCode;

use crate::error::ApiError;

/// How many bytes of a file are read at once.
const CHUNK_BYTES: u64 = 64 * 1024;
/// Escapes all but letters, digits and `-._` in a file name.
const FILE_NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// A file to respond with.
pub(crate) struct FileResponse<'a> {
    pub(crate) file: File,
    pub(crate) bytes: u64,
    /// The name under which a browser saves it.
    pub(crate) name: &'a str,
    pub(crate) media_type: &'a str,
    /// Whether a browser may show it; otherwise it saves it.
    pub(crate) inline: bool,
}

impl FileResponse<'_> {
    /// Responds with the range that the request asks for, by default the whole file.
    pub(crate) fn respond(self, request: &HeaderMap) -> Result<Response, ApiError> {
        let size = self.bytes;
        let range = request.get(header::RANGE).and_then(|range| range.to_str().ok());
        let range = range.map_or(ByteRange::Whole, |range| ByteRange::parse(range, size));
        let (start, length) = match range {
            ByteRange::Whole => (0, size),
            ByteRange::Part { first, last } => (first, last + 1 - first),
            ByteRange::Unsatisfiable => {
                let text =
                    format!("The requested range starts after the end of the file, which has {size} bytes.");
                return Err(ApiError::new(ErrorCode::RangeNotSatisfiable, text));
            }
        };
        let mut headers = HeaderMap::new();
        self.set_safe_headers(&mut headers);
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        let mut response = Response::new(Body::from_stream(file_chunks(self.file, start, length)));
        if let ByteRange::Part { first, last } = range {
            if let Ok(range) = HeaderValue::from_str(&format!("bytes {first}-{last}/{size}")) {
                headers.insert(header::CONTENT_RANGE, range);
            }
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        *response.headers_mut() = headers;
        Ok(response)
    }

    fn set_safe_headers(&self, headers: &mut HeaderMap) {
        const FIXED: [(header::HeaderName, &str); 6] = [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "private, no-store"),
            (header::ACCEPT_RANGES, "bytes"),
        ];
        for (name, value) in FIXED {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let kind = HeaderValue::from_str(self.media_type)
            .unwrap_or(HeaderValue::from_static("application/octet-stream"));
        headers.insert(header::CONTENT_TYPE, kind);
        let how = if self.inline { "inline" } else { "attachment" };
        let disposition = HeaderValue::from_str(&disposition(how, self.name))
            .unwrap_or(HeaderValue::from_static("attachment"));
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
}

/// Returns the Content-Disposition header of RFC 6266: the name once reduced to ASCII, once escaped in full.
fn disposition(how: &str, name: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
    let ascii: String =
        name.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
    let exact = utf8_percent_encode(name, FILE_NAME);
    format!("{how}; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

/// Which bytes of a file a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteRange {
    Whole,
    /// Both ends are included.
    Part {
        first: u64,
        last: u64,
    },
    /// The range starts after the end of the file.
    Unsatisfiable,
}

impl ByteRange {
    /// Parses a Range header. Several ranges, and ranges that are not valid, are answered with the whole file, as RFC 9110
    /// allows.
    fn parse(range: &str, size: u64) -> Self {
        let Some((from, to)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
            return Self::Whole;
        };
        let end = size.saturating_sub(1);
        match (from.trim().parse::<u64>(), to.trim().parse::<u64>()) {
            (Ok(first), _) if first >= size => Self::Unsatisfiable,
            (Ok(first), Ok(last)) if first <= last => Self::Part { first, last: last.min(end) },
            (Ok(first), Err(_)) if to.trim().is_empty() => Self::Part { first, last: end },
            (Err(_), Ok(0)) if from.trim().is_empty() => Self::Unsatisfiable,
            (Err(_), Ok(count)) if from.trim().is_empty() && size > 0 => {
                Self::Part { first: size.saturating_sub(count), last: end }
            }
            _ => Self::Whole,
        }
    }
}

/// Reads a range of the file chunk by chunk, so that a slow client holds one chunk in memory.
fn file_chunks(file: File, start: u64, length: u64) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold((Some(file), start, length), |(file, position, left)| async move {
        let Some(mut file) = file.filter(|_| left > 0) else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; usize::try_from(left.min(CHUNK_BYTES)).unwrap_or(0)];
            file.seek(SeekFrom::Start(position))?;
            file.read_exact(&mut chunk)?;
            Ok::<_, io::Error>((file, chunk))
        });
        let (file, chunk) = read.await.map_err(io::Error::other)??;
        let count = chunk.len() as u64;
        Ok(Some((Bytes::from(chunk), (Some(file), position + count, left - count))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_as_the_standard_says() {
        let part = |first, last| ByteRange::Part { first, last };
        for (range, expected) in [
            ("bytes=0-", part(0, 9)),
            ("bytes=2-4", part(2, 4)),
            ("bytes=2-99", part(2, 9)),
            ("bytes=-3", part(7, 9)),
            ("bytes=-99", part(0, 9)),
            ("bytes=10-", ByteRange::Unsatisfiable),
            ("bytes=-0", ByteRange::Unsatisfiable),
            ("bytes=4-2", ByteRange::Whole),
            ("bytes=0-1,4-5", ByteRange::Whole),
            ("lines=1-2", ByteRange::Whole),
            ("bytes=x-", ByteRange::Whole),
        ] {
            assert_eq!(ByteRange::parse(range, 10), expected, "{range}");
        }
        assert_eq!(ByteRange::parse("bytes=-5", 0), ByteRange::Whole);
    }

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(
            disposition("attachment", "a\"; b/报.txt"),
            "attachment; filename=\"a___b__.txt\"; filename*=UTF-8''a%22%3B%20b%2F%E6%8A%A5.txt"
        );
    }
}
