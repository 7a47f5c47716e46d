//! The router as hyper calls it. The response of a route that may stream is kept where `connection.rs` can take it from hyper.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, Version, header},
    response::Response,
};
use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::{
    body::{Frame, Incoming, SizeHint},
    service::Service,
};
use parking_lot::Mutex;
use tower::ServiceExt;

/// Responses below these paths may be streams.
const STREAM_PATHS: [&str; 2] = ["/api/chat", "/events"];

/// A response that the router is still working on.
pub(super) type ResponseFuture = BoxFuture<'static, Result<Response, Infallible>>;

/// The response of a chat route, until hyper has it or `connection.rs` takes it.
pub(super) type PendingResponse = Arc<Mutex<Option<ResponseFuture>>>;

/// What is known about the newest request of a connection and the socket it came from.
#[derive(Default)]
pub(super) struct RequestState {
    /// The request has been read to its end.
    pub(super) complete: AtomicBool,
    /// The client asked to close the connection after this request.
    pub(super) close_requested: AtomicBool,
    /// A write is pending because the client does not take more bytes.
    pub(super) write_blocked: AtomicBool,
    /// Requests whose response hyper has not read to its end.
    pub(super) unanswered: AtomicUsize,
    /// Hyper has passed at least one request to the router.
    pub(super) received: AtomicBool,
}

/// The router as a hyper service.
pub(super) struct RouterService {
    router: Router,
    request: Arc<RequestState>,
    pending: PendingResponse,
}

impl RouterService {
    pub(super) fn new(router: Router, request: Arc<RequestState>, pending: PendingResponse) -> Self {
        Self { router, request, pending }
    }
}

impl Service<Request<Incoming>> for RouterService {
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let unanswered = UnansweredRequest::count(&self.request);
        self.request.received.store(true, Ordering::Relaxed);
        let is_stream = request.version() == Version::HTTP_11
            && request.method() != Method::HEAD
            && STREAM_PATHS.iter().any(|path| request.uri().path().starts_with(path));
        if is_stream {
            self.request.close_requested.store(asks_to_close(request.headers()), Ordering::Relaxed);
        }
        let request = request.map(|incoming| Body::new(RequestBody::new(incoming, &self.request)));
        if !is_stream {
            let response = self.router.clone().oneshot(request);
            return Box::pin(async move { response.await.map(|response| unanswered.until_read(response)) });
        }
        *self.pending.lock() = Some(Box::pin(self.router.clone().oneshot(request)));
        let pending = Arc::clone(&self.pending);
        // Resolves only when hyper may write the response: one that `connection.rs` has taken stays pending here.
        let response = poll_fn(move |cx| {
            let mut pending = pending.lock();
            let Some(response) = pending.as_mut() else { return Poll::Pending };
            let response = ready!(response.as_mut().poll(cx));
            *pending = None;
            Poll::Ready(response)
        });
        Box::pin(async move { response.await.map(|response| unanswered.until_read(response)) })
    }
}

fn asks_to_close(headers: &HeaderMap) -> bool {
    let values =
        headers.get_all(header::CONNECTION).iter().filter_map(|value| HeaderValue::to_str(value).ok());
    values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("close"))
}

/// Counts a request until it is dropped.
struct UnansweredRequest(Arc<RequestState>);

impl UnansweredRequest {
    fn count(state: &Arc<RequestState>) -> Self {
        state.unanswered.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(state))
    }

    /// Keeps counting until the body of the response has been read.
    fn until_read(self, response: Response) -> Response {
        response.map(|body| Body::new(CountedBody { body, _unanswered: self }))
    }
}

impl Drop for UnansweredRequest {
    fn drop(&mut self) {
        self.0.unanswered.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a response that hyper writes.
struct CountedBody {
    body: Body,
    _unanswered: UnansweredRequest,
}

impl hyper::body::Body for CountedBody {
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

/// The body of a request; records in [`RequestState`] when it has been read to its end.
struct RequestBody {
    body: Incoming,
    request: Arc<RequestState>,
}

impl RequestBody {
    fn new(body: Incoming, request: &Arc<RequestState>) -> Self {
        let new = Self { body, request: Arc::clone(request) };
        // Reset too: a previous request may have set it.
        new.set_complete(hyper::body::Body::is_end_stream(&new.body));
        new
    }

    fn set_complete(&self, complete: bool) {
        self.request.complete.store(complete, Ordering::Relaxed);
    }
}

impl hyper::body::Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.set_complete(frame.is_none() || self.body.is_end_stream());
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
