//! One connection: requests are read by hyper; answers that may be streams are written by ourselves.
//!
//! A stream may be open for hours and say little, and hyper would hold two buffers of 8 KiB for it all the while. So
//! the socket is taken back from hyper as soon as a request for a chat has been read, the answer is written to it
//! directly, and hyper goes on with the next request.

use std::{
    convert::Infallible,
    future::poll_fn,
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, Version, header},
    response::Response,
};
use bytes::{Buf, Bytes};
use futures::future::BoxFuture;
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::Service,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::TcpStream,
    sync::{Semaphore, SemaphorePermit},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::answer;

/// How long the head of a request may take, and how long a kept connection may be silent.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// How often hyper is asked to go on with a request that has begun: it takes its time between the head and the body,
/// and what has arrived is better read at once than after everybody else's.
const AT_ONCE: usize = 4;
/// Where streams are.
const STREAMS: &str = "/api/chat";

/// Serves until the other side is done, or until `end` and the answer that is on its way then.
pub(crate) async fn serve(
    stream: TcpStream,
    router: Router,
    turnstile: Arc<Semaphore>,
    end: CancellationToken,
) -> io::Result<()> {
    let mut socket = Socket { stream, early: Bytes::new(), flags: Arc::default() };
    loop {
        // On the heap, and gone while a stream is open.
        if socket.early.is_empty() && !Box::pin(begins(&socket.stream, &end)).await? {
            break;
        }
        let turn = turnstile.acquire().await.ok();
        let (back, taken) = Box::pin(requests(socket, router.clone(), turn, &end)).await?;
        socket = back;
        let Some(answer) = taken else { break };
        let keeps = !socket.flags.closes.load(Ordering::Relaxed);
        let response = answer.await.unwrap_or_else(|never| match never {});
        answer::write(&mut socket.stream, response, keeps).await?;
        if !keeps || end.is_cancelled() {
            break;
        }
    }
    socket.stream.shutdown().await
}

/// Waits for a request to begin; `false` when none is to be expected any more. Hyper would hold its buffers meanwhile.
async fn begins(stream: &TcpStream, end: &CancellationToken) -> io::Result<bool> {
    tokio::select! {
        biased;
        ready = stream.readable() => ready.map(|()| true),
        () = end.cancelled() => Ok(false),
        () = tokio::time::sleep(HEAD_TIME) => Ok(false),
    }
}

/// An answer that is on its way.
type Answer = BoxFuture<'static, Result<Response, Infallible>>;

/// Serves up to a request whose answer we write ourselves.
async fn requests(
    mut socket: Socket,
    router: Router,
    mut turn: Option<SemaphorePermit<'_>>,
    end: &CancellationToken,
) -> io::Result<(Socket, Option<Answer>)> {
    let flags = Arc::<Flags>::default();
    let answer = Arc::<Mutex<Option<Answer>>>::default();
    socket.flags = Arc::clone(&flags);
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // A client may say that it has said everything and go on listening.
        .half_close(true)
        .header_read_timeout(HEAD_TIME)
        .serve_connection(
            TokioIo::new(socket),
            Routed { router, flags: Arc::clone(&flags), answer: Arc::clone(&answer) },
        );
    let mut end = pin!(end.cancelled());
    let mut ending = false;
    let taken = poll_fn(|cx| {
        // What has arrived is read in this turn; what has not is waited for outside of it.
        let _turn = turn.take();
        if !ending && end.as_mut().poll(cx).is_ready() {
            ending = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        for _ in 0..AT_ONCE {
            if let Poll::Ready(result) = connection.poll_without_shutdown(cx) {
                return Poll::Ready(result.map(|()| None).map_err(io::Error::other));
            }
            let mut answer = answer.lock();
            // What was answered before leaves first.
            if answer.is_none() || flags.stuck.load(Ordering::Relaxed) {
                return Poll::Pending;
            }
            if flags.whole.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(answer.take()));
            }
        }
        Poll::Pending
    })
    .await?;
    let http1::Parts { io, read_buf, .. } = connection.into_parts();
    let mut socket = io.into_inner();
    // What was read ahead of its turn comes before what was not even read.
    if !read_buf.is_empty() {
        socket.early =
            if socket.early.is_empty() { read_buf } else { [read_buf, socket.early].concat().into() };
    }
    Ok((socket, taken))
}

/// What is known about the newest request and the socket it came from.
#[derive(Default)]
struct Flags {
    /// The request has been read to its end.
    whole: AtomicBool,
    /// It is the last one.
    closes: AtomicBool,
    /// Bytes wait until the other side takes more.
    stuck: AtomicBool,
}

/// The router as hyper calls it. An answer that we may have to write lies where we can take it.
struct Routed {
    router: Router,
    flags: Arc<Flags>,
    answer: Arc<Mutex<Option<Answer>>>,
}

impl Service<Request<Incoming>> for Routed {
    type Response = Response;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let is_ours = request.version() == Version::HTTP_11
            && request.method() != Method::HEAD
            && request.uri().path().starts_with(STREAMS);
        if !is_ours {
            return Box::pin(self.router.clone().oneshot(request.map(Body::new)));
        }
        self.flags.closes.store(closes(request.headers()), Ordering::Relaxed);
        let request = request.map(|incoming| Body::new(Arriving::new(incoming, &self.flags)));
        *self.answer.lock() = Some(Box::pin(self.router.clone().oneshot(request)));
        let answer = Arc::clone(&self.answer);
        Box::pin(poll_fn(move |cx| {
            let mut answer = answer.lock();
            let Some(polled) = answer.as_mut() else { return Poll::Pending };
            let response = ready!(polled.as_mut().poll(cx));
            *answer = None;
            Poll::Ready(response)
        }))
    }
}

fn closes(headers: &HeaderMap) -> bool {
    let values =
        headers.get_all(header::CONNECTION).iter().filter_map(|value| HeaderValue::to_str(value).ok());
    values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("close"))
}

/// A body that tells when it has been read.
struct Arriving {
    body: Incoming,
    flags: Arc<Flags>,
}

impl Arriving {
    fn new(body: Incoming, flags: &Arc<Flags>) -> Self {
        let arriving = Self { body, flags: Arc::clone(flags) };
        // Also when it is not: the request before may have been read and answered by hyper.
        arriving.note(hyper::body::Body::is_end_stream(&arriving.body));
        arriving
    }

    fn note(&self, whole: bool) {
        self.flags.whole.store(whole, Ordering::Relaxed);
    }
}

impl hyper::body::Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.note(frame.is_none() || self.body.is_end_stream());
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The socket, behind what was already read from it.
struct Socket {
    stream: TcpStream,
    early: Bytes,
    flags: Arc<Flags>,
}

impl Socket {
    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.flags.stuck.store(written.is_pending(), Ordering::Relaxed);
        written
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.early.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let length = self.early.len().min(buf.remaining());
        buf.put_slice(&self.early[..length]);
        self.early.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.note(written)
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
