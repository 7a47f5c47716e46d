//! An answer on the wire: its head, then what is ready together in one write. Nothing is held while nothing comes.

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
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// About how much leaves in one write.
const TOGETHER: usize = 64 * 1024;
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// How the other side knows where the answer ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Empty,
    Sized(u64),
    Chunked,
}

/// Writes the whole answer. After an error the connection is of no more use, and the other side sees an answer that was
/// cut, not one that ended.
pub(crate) async fn write(
    socket: &mut (impl AsyncWrite + Unpin),
    response: Response,
    keeps: bool,
) -> io::Result<()> {
    let (parts, mut body) = response.into_parts();
    let framing = match (parts.status, body.size_hint().exact()) {
        (StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED, _) => Framing::Empty,
        (_, Some(size)) => Framing::Sized(size),
        (_, None) => Framing::Chunked,
    };
    let mut out = head(&parts, framing, keeps);
    drop(parts);
    if framing != Framing::Empty {
        while gather(&mut body, framing, &mut out).await? == Gathered::Some {
            socket.write_all(&out).await?;
            out = Vec::new();
        }
    }
    // A body that has ended holds nothing back while the client takes its time.
    drop(body);
    if framing == Framing::Chunked {
        out.extend_from_slice(LAST_CHUNK);
    }
    socket.write_all(&out).await?;
    socket.flush().await
}

#[expect(clippy::disallowed_methods, reason = "the wire tells the real time")]
fn head(parts: &response::Parts, framing: Framing, keeps: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let mut line = |name: &str, between: &str, value: &[u8]| {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(between.as_bytes());
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    };
    line("HTTP/1.1", " ", parts.status.to_string().as_bytes());
    let framed = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION, header::DATE];
    for (name, value) in parts.headers.iter().filter(|(name, _)| !framed.contains(name)) {
        line(name.as_str(), ": ", value.as_bytes());
    }
    match framing {
        Framing::Empty => {}
        Framing::Sized(size) => line("content-length", ": ", size.to_string().as_bytes()),
        Framing::Chunked => line("transfer-encoding", ": ", b"chunked"),
    }
    if !keeps {
        line("connection", ": ", b"close");
    }
    line("date", ": ", date(SystemTime::now()).as_bytes());
    out.extend_from_slice(b"\r\n");
    out
}

/// A date cannot be written before 1970 or after 9999; a clock that shows such a time does not fail the answer.
fn date(now: SystemTime) -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    httpdate::fmt_http_date(now.clamp(UNIX_EPOCH, UNIX_EPOCH + LAST))
}

#[derive(PartialEq, Eq)]
enum Gathered {
    Some,
    All,
}

/// Takes what is ready, or waits for something if there is nothing to write yet.
async fn gather(body: &mut Body, framing: Framing, out: &mut Vec<u8>) -> io::Result<Gathered> {
    poll_fn(|cx| {
        while out.len() < TOGETHER {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        put(out, framing, &data)?;
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(io::Error::other(error))),
                Poll::Ready(None) => return Poll::Ready(Ok(Gathered::All)),
                Poll::Pending if out.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(Gathered::Some))
    })
    .await
}

fn put(out: &mut Vec<u8>, framing: Framing, data: &[u8]) -> io::Result<()> {
    if framing != Framing::Chunked {
        out.extend_from_slice(data);
    } else if !data.is_empty() {
        // An empty chunk would be the end.
        out.reserve(data.len() + 20);
        write!(out, "{:X}\r\n", data.len())?;
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_or_after_9999_does_not_fail_an_answer() {
        let last = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        assert_eq!(date(UNIX_EPOCH - Duration::from_secs(1)), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(date(last + Duration::from_secs(1)), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(date(UNIX_EPOCH + Duration::from_secs(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
