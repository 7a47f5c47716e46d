//! Writes a response to the socket: the head, then the body, everything that is ready together in one write. Holds no
//! buffer while the body has nothing to send.

use std::{
    future::poll_fn,
    io,
    io::Write as _,
    pin::Pin,
    task::Poll,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{
    body::Body,
    http::{StatusCode, header, response},
    response::Response,
};
use hyper::body::Body as _;
use tokio::io::AsyncWriteExt;

use super::client_socket::ClientSocket;

/// About how many bytes are sent in one write.
const BATCH_BYTES: usize = 64 * 1024;
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Marks a response that ends as soon as the client closes its sending side. Without it a client may do so and still read.
#[derive(Clone, Copy)]
pub(crate) struct EndsWithClient;

/// How the client knows where the body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyLength {
    /// There is no body.
    None,
    Known(u64),
    Chunked,
}

/// Writes the whole response. After an error the connection cannot be used any more: the client sees a response that was
/// cut off, not one that ended.
pub(super) async fn write_response(
    socket: &mut ClientSocket,
    response: Response,
    keep_alive: bool,
) -> io::Result<()> {
    let (parts, mut body) = response.into_parts();
    let ends_with_client = parts.extensions.get::<EndsWithClient>().is_some();
    let length = match (parts.status, body.size_hint().exact()) {
        (StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED, _) => BodyLength::None,
        (_, Some(size)) => BodyLength::Known(size),
        (_, None) => BodyLength::Chunked,
    };
    let mut out = head(&parts, length, keep_alive);
    drop(parts);
    if length != BodyLength::None {
        while append_ready(&mut body, length, &mut out, socket, ends_with_client).await? == BodyState::Open {
            socket.write_all(&out).await?;
            out = Vec::new();
        }
    }
    // The body has ended: what it holds is freed before the last write, which a slow client may delay.
    drop(body);
    if length == BodyLength::Chunked {
        out.extend_from_slice(LAST_CHUNK);
    }
    socket.write_all(&out).await?;
    socket.flush().await
}

#[expect(clippy::disallowed_methods, reason = "the date header must have the real time")]
fn head(parts: &response::Parts, length: BodyLength, keep_alive: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let mut line = |name: &str, between: &str, value: &[u8]| {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(between.as_bytes());
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    };
    line("HTTP/1.1", " ", parts.status.to_string().as_bytes());
    let written_here = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION, header::DATE];
    for (name, value) in parts.headers.iter().filter(|(name, _)| !written_here.contains(name)) {
        line(name.as_str(), ": ", value.as_bytes());
    }
    match length {
        BodyLength::None => {}
        BodyLength::Known(size) => line("content-length", ": ", size.to_string().as_bytes()),
        BodyLength::Chunked => line("transfer-encoding", ": ", b"chunked"),
    }
    if !keep_alive {
        line("connection", ": ", b"close");
    }
    line("date", ": ", date(SystemTime::now()).as_bytes());
    out.extend_from_slice(b"\r\n");
    out
}

/// Formats the date header. The format has no dates before 1970 or after 9999, so a clock outside of that is clamped
/// instead of failing the response.
fn date(now: SystemTime) -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    httpdate::fmt_http_date(now.clamp(UNIX_EPOCH, UNIX_EPOCH + LAST))
}

#[derive(PartialEq, Eq)]
enum BodyState {
    Open,
    Ended,
}

/// Appends everything of the body that is ready to `out`, up to about one batch. Waits only while `out` is empty.
async fn append_ready(
    body: &mut Body,
    length: BodyLength,
    out: &mut Vec<u8>,
    socket: &mut ClientSocket,
    ends_with_client: bool,
) -> io::Result<BodyState> {
    poll_fn(|cx| {
        while out.len() < BATCH_BYTES {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        append_data(out, length, &data)?;
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(io::Error::other(error))),
                Poll::Ready(None) => return Poll::Ready(Ok(BodyState::Ended)),
                Poll::Pending if out.is_empty() && ends_with_client => {
                    let gone = || io::Error::new(io::ErrorKind::ConnectionAborted, "the client has gone");
                    return socket.poll_sending_ended(cx).map(|()| Err(gone()));
                }
                Poll::Pending if out.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(BodyState::Open))
    })
    .await
}

fn append_data(out: &mut Vec<u8>, length: BodyLength, data: &[u8]) -> io::Result<()> {
    if length != BodyLength::Chunked {
        out.extend_from_slice(data);
    } else if !data.is_empty() {
        // An empty chunk would end the body.
        out.reserve(data.len() + 20);
        write!(out, "{:X}\r\n", data.len())?;
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_clock_before_1970_or_after_9999_does_not_fail_a_response() {
        let last = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        assert_eq!(date(UNIX_EPOCH - Duration::from_secs(1)), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(date(last + Duration::from_secs(1)), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(date(UNIX_EPOCH + Duration::from_secs(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
