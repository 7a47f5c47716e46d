//! One request and its answer on one connection, read by the task that waits for the answer.
//!
//! There is no task between the socket and the reader: everything that one read returns is available at once, and
//! dropping the reader closes the connection. An idle connection holds no buffer.

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

/// The most bytes of one read.
const READ_SIZE: usize = 64 * 1024;
/// A body up to this size is sent in one write with its head.
const MAX_JOINED_BODY: usize = 64 * 1024;

thread_local! {
    /// The buffer of a read, shared by the connections of a thread, because most reads return much less.
    static READ_BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_SIZE].into());
}

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for S {}

/// A connection that is used by one request at a time.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    /// Received bytes that were not read yet.
    buffer: BytesMut,
}

/// Why a request got no answer.
pub(super) enum ExchangeError {
    /// The connection was closed before the first byte of the answer.
    Closed,
    Broken,
}

impl Connection {
    pub(super) fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, buffer: BytesMut::new() }
    }

    /// Whether another request may be sent, as far as is known without waiting. A server that sends bytes without a
    /// request is closing the connection.
    pub(super) fn is_reusable(&mut self) -> bool {
        self.buffer.is_empty() && self.poll_read(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Reads into the buffer; returns `true` at the end of the stream.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        READ_BUFFER.with_borrow_mut(|buffer| {
            let mut read = ReadBuf::new(buffer);
            ready!(Pin::new(&mut *self.stream).poll_read(cx, &mut read))?;
            self.buffer.extend_from_slice(read.filled());
            Poll::Ready(Ok(read.filled().is_empty()))
        })
    }

    /// Sends the request and waits for the head of the answer.
    pub(super) async fn exchange(
        mut self,
        mut head: Vec<u8>,
        body: &Bytes,
        client: Client,
    ) -> Result<Response, ExchangeError> {
        let sent = if body.len() <= MAX_JOINED_BODY {
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
        // A server that refuses a request early may stop reading it; its answer is read nevertheless.
        let mut ended = false;
        loop {
            match read_head(&mut self.buffer) {
                Ok(Some(head)) => return Ok(Response { head, connection: Some(self), client }),
                Ok(None) if ended && self.buffer.is_empty() => return Err(ExchangeError::Closed),
                Ok(None) if !ended => {}
                Ok(None) | Err(_) => return Err(ExchangeError::Broken),
            }
            ended = match poll_fn(|cx| self.poll_read(cx)).await {
                Ok(ended) => ended,
                Err(_) if sent.is_err() || self.buffer.is_empty() => return Err(ExchangeError::Closed),
                Err(_) => return Err(ExchangeError::Broken),
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

/// The connection was closed in the middle of the body.
#[derive(Debug)]
pub struct TruncatedBody;

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

    /// The next chunk of the body. Returns `None` at its end and returns the connection to the pool.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, TruncatedBody> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, TruncatedBody>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(None)) };
        loop {
            match self.head.framing.take(&mut connection.buffer) {
                Ok(Some(piece)) => {
                    if connection.buffer.is_empty() {
                        // An idle stream holds no memory.
                        connection.buffer = BytesMut::new();
                    }
                    return Poll::Ready(Ok(Some(piece)));
                }
                Ok(None) if self.head.framing == Framing::Done => {
                    if let Some(connection) = self.connection.take()
                        && self.head.keep_alive
                    {
                        self.client.return_connection(connection);
                    }
                    return Poll::Ready(Ok(None));
                }
                Ok(None) => {}
                Err(_) => return self.truncated(),
            }
            match ready!(connection.poll_read(cx)) {
                Ok(false) => {}
                Ok(true) if self.head.framing == Framing::UntilClosed => {
                    self.head.framing = Framing::Done;
                }
                Ok(true) | Err(_) => return self.truncated(),
            }
        }
    }

    fn truncated(&mut self) -> Poll<Result<Option<Bytes>, TruncatedBody>> {
        self.connection = None;
        Poll::Ready(Err(TruncatedBody))
    }
}
