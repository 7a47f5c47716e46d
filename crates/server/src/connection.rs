//! One connection: requests are read by hyper; answers that may be streams are written by ourselves.
//!
//! A stream may be open for hours and say little, and hyper would hold two buffers of 8 KiB for it all the while. So
//! the socket is taken back from hyper as soon as a request for a chat has been read, the answer is written to it
//! directly, and hyper goes on with the next request. How long each may take: `limits.rs`.

use std::{
    convert::Infallible,
    future::poll_fn,
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, Version, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::Service,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use protocol::ErrorCode;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    sync::{Semaphore, SemaphorePermit},
    time::{Sleep, sleep},
};
use tower::ServiceExt;

use crate::{answer, error::ApiError, limits::Resources, peer, socket::Socket};

/// How often hyper is asked to go on with a request that has begun: it takes its time between the head and the body,
/// and what has arrived is better read at once than after everybody else's.
const AT_ONCE: usize = 4;
/// Where streams are.
const STREAMS: &str = "/api/chat";
/// The smallest buffer that hyper works with.
const SMALLEST_BUFFER: usize = 8 << 10;

/// Serves until the other side is done, or until the server ends and the answer that is on its way then.
pub(crate) async fn serve(
    stream: TcpStream,
    router: Router,
    turnstile: Arc<Semaphore>,
    resources: Resources,
) -> io::Result<()> {
    let limits = resources.limits();
    let mut socket = Socket::new(stream, limits.write_time);
    // A new connection is there to send a request at once.
    let mut silence = limits.head_time;
    loop {
        // On the heap, and gone while a stream is open.
        if socket.early.is_empty() && !Box::pin(begins(&socket.stream, silence, &resources)).await? {
            break;
        }
        let turn = turnstile.acquire().await.ok();
        let (back, next) = Box::pin(requests(socket, router.clone(), turn, &resources)).await?;
        socket = back;
        silence = limits.idle_time;
        let answer = match next {
            Next::Answer(answer) => answer,
            Next::Silence => {
                silence = silence.saturating_sub(limits.head_time);
                continue;
            }
            // Only a connection without a request is closed without a word.
            Next::HalfAHead if socket.early.is_empty() => break,
            Next::HalfAHead => {
                Box::pin(answer::write(&mut socket, too_slow(limits.head_time), false)).await?;
                break;
            }
            Next::Close => break,
        };
        let keeps = !socket.flags.closes.load(Ordering::Relaxed);
        let Some(response) = unless_gone(answer, &mut socket).await else { return Ok(()) };
        answer::write(&mut socket, response, keeps).await?;
        if !keeps || resources.ending().is_cancelled() {
            break;
        }
    }
    socket.stream.shutdown().await
}

/// Waits for a request to begin; `false` when none is to be expected any more. Hyper would hold its buffers meanwhile.
async fn begins(stream: &TcpStream, silence: Duration, resources: &Resources) -> io::Result<bool> {
    tokio::select! {
        biased;
        ready = stream.readable() => ready.map(|()| true),
        () = resources.ending().cancelled() => Ok(false),
        () = sleep(silence) => Ok(false),
    }
}

fn too_slow(time: Duration) -> Response {
    let text = format!("The head of the request did not arrive within {} seconds.", time.as_secs());
    ApiError::new(ErrorCode::RequestTimeout, text).into_response()
}

/// An answer that is on its way.
type Answer = BoxFuture<'static, Result<Response, Infallible>>;

/// The answer, or nothing when the client has closed its connection before there was one. What waits for it is dropped
/// then: a message that is stored and a run that has begun do not depend on it.
async fn unless_gone(mut answer: Answer, socket: &mut Socket) -> Option<Response> {
    if let Poll::Ready(response) = futures::poll!(&mut answer) {
        return Some(response.unwrap_or_else(|never| match never {}));
    }
    let mut ahead = Vec::new();
    let response = tokio::select! {
        biased;
        response = answer => Some(response.unwrap_or_else(|never| match never {})),
        () = Box::pin(peer::gone(&socket.stream, &mut ahead)) => None,
    };
    socket.keep(ahead.into());
    response
}

/// Why hyper has given the socket back.
enum Next {
    /// There is an answer that we write ourselves.
    Answer(Answer),
    /// Requests were answered, and no other has come for a while, at least not as a whole.
    Silence,
    /// The head of the first request was not complete in time.
    HalfAHead,
    Close,
}

/// Serves up to a request whose answer we write ourselves.
async fn requests(
    mut socket: Socket,
    router: Router,
    mut turn: Option<SemaphorePermit<'_>>,
    resources: &Resources,
) -> io::Result<(Socket, Next)> {
    let limits = resources.limits();
    let flags = Arc::<Flags>::default();
    let answer = Arc::<Mutex<Option<Answer>>>::default();
    socket.flags = Arc::clone(&flags);
    let mut connection = http1::Builder::new()
        // A client may say that it has said everything and go on listening.
        .half_close(true)
        .max_buf_size(limits.head_bytes.max(SMALLEST_BUFFER))
        .serve_connection(
            TokioIo::new(socket),
            Routed { router, flags: Arc::clone(&flags), answer: Arc::clone(&answer) },
        );
    let mut end = pin!(resources.ending().cancelled());
    let mut ending = false;
    // Only there while no request is being answered.
    let mut head: Option<Pin<Box<Sleep>>> = None;
    let next = poll_fn(|cx| {
        // What has arrived is read in this turn; what has not is waited for outside of it.
        let _turn = turn.take();
        if !ending && end.as_mut().poll(cx).is_ready() {
            ending = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        for _ in 0..AT_ONCE {
            if let Poll::Ready(result) = connection.poll_without_shutdown(cx) {
                return Poll::Ready(result.map(|()| Next::Close).map_err(io::Error::other));
            }
            // What was answered before leaves first.
            if flags.stuck.load(Ordering::Relaxed) {
                return Poll::Pending;
            }
            if flags.active.load(Ordering::Relaxed) == 0 {
                if ending {
                    // What is not a whole request yet is not waited for.
                    return Poll::Ready(Ok(Next::Close));
                }
                let head = head.get_or_insert_with(|| Box::pin(sleep(limits.head_time)));
                return head.as_mut().poll(cx).map(|()| Ok(flags.after_silence()));
            }
            head = None;
            let mut answer = answer.lock();
            if answer.is_none() {
                return Poll::Pending;
            }
            if flags.whole.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(answer.take().map_or(Next::Close, Next::Answer)));
            }
        }
        Poll::Pending
    })
    .await?;
    let http1::Parts { io, read_buf, .. } = connection.into_parts();
    let mut socket = io.into_inner();
    // What was read ahead of its turn comes before what was not even read.
    let behind = std::mem::replace(&mut socket.early, read_buf);
    socket.keep(behind);
    Ok((socket, next))
}

/// What is known about the newest request and the socket it came from.
#[derive(Default)]
pub(crate) struct Flags {
    /// The request has been read to its end.
    whole: AtomicBool,
    /// It is the last one.
    closes: AtomicBool,
    /// Bytes wait until the other side takes more.
    pub(crate) stuck: AtomicBool,
    /// Requests that hyper has handed over and whose answer it has not read to its end.
    active: AtomicUsize,
    /// Hyper has handed over a request.
    served: AtomicBool,
}

impl Flags {
    /// No request has been handed over for as long as a head may take.
    fn after_silence(&self) -> Next {
        match (self.served.load(Ordering::Relaxed), self.whole.load(Ordering::Relaxed)) {
            (false, _) => Next::HalfAHead,
            (true, true) => Next::Silence,
            // What comes next would be the rest of a body.
            (true, false) => Next::Close,
        }
    }
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
        let active = Active::count(&self.flags);
        self.flags.served.store(true, Ordering::Relaxed);
        let is_ours = request.version() == Version::HTTP_11
            && request.method() != Method::HEAD
            && request.uri().path().starts_with(STREAMS);
        if is_ours {
            self.flags.closes.store(closes(request.headers()), Ordering::Relaxed);
        }
        let request = request.map(|incoming| Body::new(Arriving::new(incoming, &self.flags)));
        if !is_ours {
            let answer = self.router.clone().oneshot(request);
            return Box::pin(async move { answer.await.map(|response| active.until_read(response)) });
        }
        *self.answer.lock() = Some(Box::pin(self.router.clone().oneshot(request)));
        let answer = Arc::clone(&self.answer);
        let response = poll_fn(move |cx| {
            let mut answer = answer.lock();
            let Some(polled) = answer.as_mut() else { return Poll::Pending };
            let response = ready!(polled.as_mut().poll(cx));
            *answer = None;
            Poll::Ready(response)
        });
        Box::pin(async move { response.await.map(|response| active.until_read(response)) })
    }
}

fn closes(headers: &HeaderMap) -> bool {
    let values =
        headers.get_all(header::CONNECTION).iter().filter_map(|value| HeaderValue::to_str(value).ok());
    values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("close"))
}

/// Counts a request until its answer has been read.
struct Active(Arc<Flags>);

impl Active {
    fn count(flags: &Arc<Flags>) -> Self {
        flags.active.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(flags))
    }

    fn until_read(self, response: Response) -> Response {
        response.map(|body| Body::new(Leaving { body, _active: self }))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer that hyper writes.
struct Leaving {
    body: Body,
    _active: Active,
}

impl hyper::body::Body for Leaving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that tells when it has been read.
struct Arriving {
    body: Incoming,
    flags: Arc<Flags>,
}

impl Arriving {
    fn new(body: Incoming, flags: &Arc<Flags>) -> Self {
        let arriving = Self { body, flags: Arc::clone(flags) };
        // Reset too: a previous request may have set it.
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
