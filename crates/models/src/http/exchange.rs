//! One request and its answer on one connection, read by whoever waits for the answer.
//!
//! No task stands between the socket and the reader: all that one read brings is there at once, and dropping the
//! reader closes the connection. A connection that waits holds no buffer.

use std::{
    cell::RefCell,
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::{
    client::Client,
    framing::{Framing, Head, read_head},
};

/// How much one read may bring.
const READ: usize = 64 * 1024;
/// A body up to this size is sent in one write with its head.
const TOGETHER: usize = 64 * 1024;

thread_local! {
    /// Where reads land before it is known how much they brought.
    static LANDING: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ].into());
}

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for S {}

/// A connection that is used by one request at a time.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    /// What has arrived and was not read.
    buffer: BytesMut,
}

/// Why there is no answer.
pub(super) enum Unanswered {
    /// The connection was closed before a byte of the answer came.
    Closed,
    Broken,
}

impl Connection {
    pub(super) fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, buffer: BytesMut::new() }
    }

    /// Whether another request may go over it, as far as is known without waiting: a server that has something to
    /// say before it was asked is leaving.
    pub(super) fn is_free(&mut self) -> bool {
        self.buffer.is_empty() && self.poll_read(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// `true` at the end of the stream.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        LANDING.with_borrow_mut(|landing| {
            let mut landed = ReadBuf::new(landing);
            ready!(Pin::new(&mut *self.stream).poll_read(cx, &mut landed))?;
            self.buffer.extend_from_slice(landed.filled());
            Poll::Ready(Ok(landed.filled().is_empty()))
        })
    }

    /// Sends the request and waits for the head of the answer.
    pub(super) async fn exchange(
        mut self,
        mut head: Vec<u8>,
        body: &Bytes,
        client: Client,
    ) -> Result<Response, Unanswered> {
        let sent = if body.len() <= TOGETHER {
            head.extend_from_slice(body);
            self.stream.write_all(&head).await
        } else {
            match self.stream.write_all(&head).await {
                Ok(()) => self.stream.write_all(body).await,
                Err(error) => Err(error),
            }
        };
        drop(head);
        let sent = match sent {
            Ok(()) => self.stream.flush().await,
            Err(error) => Err(error),
        };
        // A server that refuses a request early may stop reading it; its answer counts all the same.
        let mut ended = false;
        loop {
            match read_head(&mut self.buffer) {
                Ok(Some(head)) => return Ok(Response { head, connection: Some(self), client }),
                Ok(None) if ended && self.buffer.is_empty() => return Err(Unanswered::Closed),
                Ok(None) if !ended => {}
                Ok(None) | Err(_) => return Err(Unanswered::Broken),
            }
            ended = match poll_fn(|cx| self.poll_read(cx)).await {
                Ok(ended) => ended,
                Err(_) if sent.is_err() || self.buffer.is_empty() => return Err(Unanswered::Closed),
                Err(_) => return Err(Unanswered::Broken),
            };
        }
    }
}

/// An answer whose body is still to be read.
pub struct Response {
    head: Head,
    connection: Option<Connection>,
    client: Client,
}

/// The body ended before its end.
#[derive(Debug)]
pub struct Cut;

impl Response {
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// The next piece of the body; `None` at its end, and the connection is free for another request.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Cut> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Cut>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(None)) };
        loop {
            match self.head.framing.take(&mut connection.buffer) {
                Ok(Some(piece)) => {
                    if connection.buffer.is_empty() {
                        // Nothing is held while nothing comes.
                        connection.buffer = BytesMut::new();
                    }
                    return Poll::Ready(Ok(Some(piece)));
                }
                Ok(None) if self.head.framing == Framing::Over => {
                    if let Some(connection) = self.connection.take()
                        && self.head.keeps
                    {
                        self.client.give_back(connection);
                    }
                    return Poll::Ready(Ok(None));
                }
                Ok(None) => {}
                Err(_) => return self.cut(),
            }
            match ready!(connection.poll_read(cx)) {
                Ok(false) => {}
                Ok(true) if self.head.framing == Framing::UntilClosed => {
                    self.head.framing = Framing::Over;
                }
                Ok(true) | Err(_) => return self.cut(),
            }
        }
    }

    fn cut(&mut self) -> Poll<Result<Option<Bytes>, Cut>> {
        self.connection = None;
        Poll::Ready(Err(Cut))
    }
}
