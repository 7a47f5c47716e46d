//! `/api/artifacts`: files that were made: list them, and download one, whole or in part.
//!
//! A file is somebody's output and never a page of ours: it is saved, not shown, and whatever it is, nothing in it runs.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use engine::Principal;
use futures::{Stream, stream};
use protocol::{ArtifactId, ArtifactInfo, ArtifactList, ErrorCode};
use serde::Deserialize;

use crate::{
    chat::{bad_id, session_id},
    error::ApiError,
    state::ServerState,
};

const PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 200;
/// How much is read at once.
const PIECE: u64 = 64 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page {
    chat_id: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

pub(crate) async fn list(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Query(page): Query<Page>,
) -> Result<Json<ArtifactList>, ApiError> {
    let limit = match page.limit.as_deref().map(str::parse::<u32>) {
        None => PAGE,
        Some(Ok(limit @ 1..=LARGEST_PAGE)) => limit,
        Some(_) => {
            return Err(ApiError::invalid(format!("limit must be a number from 1 to {LARGEST_PAGE}.")));
        }
    };
    let session = page.chat_id.as_deref().map(session_id).transpose()?;
    let cursor = page.cursor.as_deref();
    Ok(Json(state.engine.artifacts(&principal.workspace, session.as_ref(), cursor, limit).await?))
}

pub(crate) async fn download(
    State(state): State<ServerState>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = ArtifactId::from_outside(&id).map_err(|error| bad_id("The artifact id", error))?;
    let (info, file) = state.engine.open_artifact(&principal.workspace, &id).await?;
    let whole = info.artifact.bytes;
    let asked = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let part = match asked.map_or(Asked::Whole, |range| Asked::read(range, whole)) {
        Asked::Whole => None,
        Asked::Part(from, to) => Some((from, to)),
        Asked::Nothing => {
            let text =
                format!("The file has {whole} bytes; the part that was asked for lies behind its end.");
            return Err(ApiError::new(ErrorCode::RangeNotSatisfiable, text));
        }
    };
    let (from, length) = part.map_or((0, whole), |(from, to)| (from, to + 1 - from));
    let mut response = Response::new(Body::from_stream(pieces(file, from, length)));
    let headers = response.headers_mut();
    safe(headers, &info);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if let Some((from, to)) = part {
        if let Ok(range) = HeaderValue::from_str(&format!("bytes {from}-{to}/{whole}")) {
            headers.insert(header::CONTENT_RANGE, range);
        }
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// What keeps a browser from taking the file for anything but a file.
fn safe(headers: &mut HeaderMap, info: &ArtifactInfo) {
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
    let kind = HeaderValue::from_str(&info.artifact.media_type)
        .unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_TYPE, kind);
    let disposition = HeaderValue::from_str(&disposition(&info.artifact.name))
        .unwrap_or(HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_DISPOSITION, disposition);
}

/// RFC 6266: the name once in ASCII and once as it is.
fn disposition(name: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
    let ascii: String =
        name.chars().map(|character| if plain(character) { character } else { '_' }).collect();
    let mut exact = String::new();
    for byte in name.bytes() {
        if plain(char::from(byte)) {
            exact.push(char::from(byte));
        } else {
            exact.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

/// Which part of a file a request asks for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Whole,
    /// From this byte to that one, both included.
    Part(u64, u64),
    /// A part behind the end.
    Nothing,
}

impl Asked {
    /// One range; what is several or not understood is answered with the whole, as RFC 9110 allows.
    fn read(range: &str, whole: u64) -> Self {
        let Some((from, to)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
            return Self::Whole;
        };
        let last = whole.saturating_sub(1);
        match (from.trim().parse::<u64>(), to.trim().parse::<u64>()) {
            (Ok(from), _) if from >= whole => Self::Nothing,
            (Ok(from), Ok(to)) if from <= to => Self::Part(from, to.min(last)),
            (Ok(from), Err(_)) if to.trim().is_empty() => Self::Part(from, last),
            (Err(_), Ok(0)) if from.trim().is_empty() => Self::Nothing,
            (Err(_), Ok(count)) if from.trim().is_empty() && whole > 0 => {
                Self::Part(whole.saturating_sub(count), last)
            }
            _ => Self::Whole,
        }
    }
}

/// A part of the file, a piece at a time: a slow reader holds one piece.
fn pieces(file: File, from: u64, length: u64) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold((Some(file), from, length), |(file, from, left)| async move {
        let Some(mut file) = file.filter(|_| left > 0) else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; usize::try_from(left.min(PIECE)).unwrap_or(0)];
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(&mut piece)?;
            Ok::<_, io::Error>((file, piece))
        });
        let (file, piece) = read.await.map_err(io::Error::other)??;
        let count = piece.len() as u64;
        Ok(Some((Bytes::from(piece), (Some(file), from + count, left - count))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (range, asked) in [
            ("bytes=0-", Asked::Part(0, 9)),
            ("bytes=2-4", Asked::Part(2, 4)),
            ("bytes=2-99", Asked::Part(2, 9)),
            ("bytes=-3", Asked::Part(7, 9)),
            ("bytes=-99", Asked::Part(0, 9)),
            ("bytes=10-", Asked::Nothing),
            ("bytes=-0", Asked::Nothing),
            ("bytes=4-2", Asked::Whole),
            ("bytes=0-1,4-5", Asked::Whole),
            ("lines=1-2", Asked::Whole),
            ("bytes=x-", Asked::Whole),
        ] {
            assert_eq!(Asked::read(range, 10), asked, "{range}");
        }
        assert_eq!(Asked::read("bytes=-5", 0), Asked::Whole);
    }

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(
            disposition("a\"; b/报.txt"),
            "attachment; filename=\"a___b__.txt\"; filename*=UTF-8''a%22%3B%20b%2F%E6%8A%A5.txt"
        );
    }
}
