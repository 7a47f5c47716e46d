//! The socket of a connection with bytes that were read ahead, and a deadline for writes that block.

use std::{
    io,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf, Bytes};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

use super::{client_closed::MAX_READ_AHEAD, request_service::RequestState};

pub(super) struct ClientSocket {
    pub(super) stream: TcpStream,
    /// Bytes of the next request that were read already; reads return them first.
    pub(super) read_ahead: Bytes,
    pub(super) request: Arc<RequestState>,
    /// How long the client may take none of the bytes that are ready for it.
    write_time: Duration,
    /// Set only while a write is blocked.
    write_deadline: Option<Pin<Box<Sleep>>>,
}

impl ClientSocket {
    pub(super) fn new(stream: TcpStream, write_time: Duration) -> Self {
        Self { stream, read_ahead: Bytes::new(), request: Arc::default(), write_time, write_deadline: None }
    }

    /// Appends bytes to those that were read ahead.
    pub(super) fn push_read_ahead(&mut self, more: Bytes) {
        if self.read_ahead.is_empty() {
            self.read_ahead = more;
        } else if !more.is_empty() {
            self.read_ahead = [std::mem::take(&mut self.read_ahead), more].concat().into();
        }
    }

    /// Resolves when the client has closed its sending side, or the connection is broken. Bytes that it sends meanwhile
    /// belong to its next request; a client that sends many of them is not watched any more.
    pub(super) fn poll_sending_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; 1024];
        while self.read_ahead.len() < MAX_READ_AHEAD {
            if ready!(self.stream.poll_read_ready(cx)).is_err() {
                return Poll::Ready(());
            }
            match self.stream.try_read(&mut bytes) {
                Ok(0) => return Poll::Ready(()),
                Ok(length) => self.push_read_ahead(Bytes::copy_from_slice(&bytes[..length])),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    /// Returns the result of a write, or an error when writes have been blocked for too long.
    fn check_deadline(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.request.write_blocked.store(written.is_pending(), Ordering::Relaxed);
        if written.is_ready() {
            self.write_deadline = None;
            return written;
        }
        let time = self.write_time;
        let deadline = self.write_deadline.get_or_insert_with(|| Box::pin(sleep(time)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client did not read its answer in time",
        )))
    }
}

impl AsyncRead for ClientSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read_ahead.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let length = self.read_ahead.len().min(buf.remaining());
        buf.put_slice(&self.read_ahead[..length]);
        self.read_ahead.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.check_deadline(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.check_deadline(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
