//! One connection: hyper reads requests, and responses of chat routes are written by `write_response.rs`.
//!
//! The socket is taken back from hyper as soon as a request for a chat route has been read. The response is written to it
//! directly, and a new hyper connection reads the next request. How long each step may take: `limits.rs`.

use std::{
    future::poll_fn,
    io,
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use axum::{
    Router,
    response::{IntoResponse, Response},
};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use protocol::ErrorCode;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    sync::{Semaphore, SemaphorePermit},
    time::{Sleep, sleep},
};

use super::{
    client_closed::client_closed,
    client_socket::ClientSocket,
    request_service::{PendingResponse, RequestState, ResponseFuture, RouterService},
    write_response::write_response,
};
use crate::{error::ApiError, limits::Resources};

/// How often hyper is polled in a row for a request that has begun. Hyper yields between head and body; polling again
/// reads what has already arrived without waiting for other connections.
const MAX_POLLS: usize = 4;
/// The smallest buffer that hyper accepts.
const MIN_BUFFER_BYTES: usize = 8 << 10;

/// Serves one connection until the client closes it, a deadline passes, or the server shuts down. On shutdown a response
/// that has begun is written to its end.
pub(crate) async fn serve_connection(
    stream: TcpStream,
    router: Router,
    read_slots: Arc<Semaphore>,
    resources: Resources,
) -> io::Result<()> {
    let limits = resources.limits();
    let mut socket = ClientSocket::new(stream, limits.write_time);
    // A client opens a connection to send a request at once.
    let mut max_silence = limits.head_time;
    loop {
        // Boxed, so that its memory is freed while a stream is open.
        if socket.read_ahead.is_empty()
            && !Box::pin(wait_for_request(&socket.stream, max_silence, &resources)).await?
        {
            break;
        }
        let read_slot = read_slots.acquire().await.ok();
        let served = Box::pin(serve_with_hyper(socket, router.clone(), read_slot, &resources)).await?;
        socket = served.socket;
        max_silence = limits.idle_time;
        let response = match served.next {
            NextStep::WriteResponse(response) => response,
            NextStep::AwaitRequest => {
                max_silence = max_silence.saturating_sub(limits.head_time);
                continue;
            }
            // A connection that never sent a byte is closed without an answer.
            NextStep::RefuseSlowHead if socket.read_ahead.is_empty() => break,
            NextStep::RefuseSlowHead => {
                Box::pin(write_response(&mut socket, head_too_slow(limits.head_time), false)).await?;
                break;
            }
            NextStep::Close => break,
        };
        let keep_alive = !socket.request.close_requested.load(Ordering::Relaxed);
        let Some(response) = response_unless_closed(response, &mut socket).await else { return Ok(()) };
        write_response(&mut socket, response, keep_alive).await?;
        if !keep_alive || resources.shutdown().is_cancelled() {
            break;
        }
    }
    socket.stream.shutdown().await
}

/// Waits for the first byte of a request, without hyper and its buffers. Returns `false` after `max_silence` and when the
/// server shuts down.
async fn wait_for_request(
    stream: &TcpStream,
    max_silence: Duration,
    resources: &Resources,
) -> io::Result<bool> {
    tokio::select! {
        biased;
        ready = stream.readable() => ready.map(|()| true),
        () = resources.shutdown().cancelled() => Ok(false),
        () = sleep(max_silence) => Ok(false),
    }
}

fn head_too_slow(time: Duration) -> Response {
    let text = format!("The head of the request did not arrive within {} seconds.", time.as_secs());
    ApiError::new(ErrorCode::RequestTimeout, text).into_response()
}

/// Awaits the response; returns `None` when the client closes its connection first. The handler is dropped then, but a
/// message that is stored and a run that has begun do not depend on it.
async fn response_unless_closed(mut response: ResponseFuture, socket: &mut ClientSocket) -> Option<Response> {
    if let Poll::Ready(response) = futures::poll!(&mut response) {
        return Some(response.unwrap_or_else(|never| match never {}));
    }
    let mut read_ahead = Vec::new();
    let response = tokio::select! {
        biased;
        response = response => Some(response.unwrap_or_else(|never| match never {})),
        () = Box::pin(client_closed(&socket.stream, &mut read_ahead)) => None,
    };
    socket.push_read_ahead(read_ahead.into());
    response
}

/// The socket as hyper returned it, and what to do next.
struct ServedByHyper {
    socket: ClientSocket,
    next: NextStep,
}

enum NextStep {
    /// Write this response ourselves.
    WriteResponse(ResponseFuture),
    /// All requests so far are answered and no complete one followed in time: wait for the next.
    AwaitRequest,
    /// The head of the first request was not complete in time: answer 408.
    RefuseSlowHead,
    Close,
}

impl NextStep {
    /// What to do when hyper has received no request for as long as a head may take.
    fn after_silence(request: &RequestState) -> Self {
        let received = request.received.load(Ordering::Relaxed);
        let complete = request.complete.load(Ordering::Relaxed);
        match (received, complete) {
            (false, _) => Self::RefuseSlowHead,
            (true, true) => Self::AwaitRequest,
            // The next bytes would be the rest of a body that nobody reads.
            (true, false) => Self::Close,
        }
    }
}

/// Lets hyper read and answer requests, up to one whose response we write ourselves.
async fn serve_with_hyper(
    mut socket: ClientSocket,
    router: Router,
    mut read_slot: Option<SemaphorePermit<'_>>,
    resources: &Resources,
) -> io::Result<ServedByHyper> {
    let limits = resources.limits();
    let request = Arc::<RequestState>::default();
    let pending = PendingResponse::default();
    socket.request = Arc::clone(&request);
    let mut connection = http1::Builder::new()
        // A client may close its sending side and still read the answer.
        .half_close(true)
        .max_buf_size(limits.head_bytes.max(MIN_BUFFER_BYTES))
        .serve_connection(
            TokioIo::new(socket),
            RouterService::new(router, Arc::clone(&request), Arc::clone(&pending)),
        );
    let mut shutdown = pin!(resources.shutdown().cancelled());
    let mut shutting_down = false;
    // Set only while no request is being answered.
    let mut head_deadline: Option<Pin<Box<Sleep>>> = None;
    let next = poll_fn(|cx| {
        // The slot covers only this poll: bytes that have arrived are read with it, waiting for more is not limited.
        let _read_slot = read_slot.take();
        if !shutting_down && shutdown.as_mut().poll(cx).is_ready() {
            shutting_down = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        for _ in 0..MAX_POLLS {
            if let Poll::Ready(result) = connection.poll_without_shutdown(cx) {
                return Poll::Ready(result.map(|()| NextStep::Close).map_err(io::Error::other));
            }
            // Hyper still has bytes of an earlier response to write.
            if request.write_blocked.load(Ordering::Relaxed) {
                return Poll::Pending;
            }
            if request.unanswered.load(Ordering::Relaxed) == 0 {
                if shutting_down {
                    // A request that is not complete yet is not awaited.
                    return Poll::Ready(Ok(NextStep::Close));
                }
                let deadline = head_deadline.get_or_insert_with(|| Box::pin(sleep(limits.head_time)));
                return deadline.as_mut().poll(cx).map(|()| Ok(NextStep::after_silence(&request)));
            }
            head_deadline = None;
            let mut pending = pending.lock();
            if pending.is_none() {
                return Poll::Pending;
            }
            if request.complete.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(pending.take().map_or(NextStep::Close, NextStep::WriteResponse)));
            }
        }
        Poll::Pending
    })
    .await?;
    let http1::Parts { io, read_buf, .. } = connection.into_parts();
    let mut socket = io.into_inner();
    // Hyper read its buffer before the bytes that the socket still holds.
    let later = std::mem::replace(&mut socket.read_ahead, read_buf);
    socket.push_read_ahead(later);
    Ok(ServedByHyper { socket, next })
}
