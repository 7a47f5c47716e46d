//! One request and its answer on one connection, driven by whoever waits for the answer.
//!
//! No task stands between the socket and the reader: all that one read brings is there at once, and dropping the
//! reader closes the connection.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, response::Parts};
use http_body_util::Full;
use hyper::{
    body::{Body, Incoming},
    client::conn::http1::SendRequest,
};

use super::client::Client;

type Driver = Pin<Box<dyn Future<Output = Result<(), hyper::Error>> + Send>>;

/// A connection that is used by one request at a time.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
    open: bool,
}

impl Connection {
    pub(super) fn new(sender: SendRequest<Full<Bytes>>, driver: Driver) -> Self {
        Self { sender, driver, open: true }
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        if self.open && self.driver.as_mut().poll(cx).is_ready() {
            self.open = false;
        }
    }

    /// Whether another request may go over it, as far as is known without waiting.
    pub(super) fn is_free(&mut self) -> bool {
        self.drive(&mut Context::from_waker(std::task::Waker::noop()));
        self.open && self.sender.is_ready()
    }

    /// Sends the request and waits for the head of the answer.
    pub(super) async fn exchange(
        mut self,
        request: Request<Full<Bytes>>,
        client: Client,
    ) -> Result<Response, hyper::Error> {
        let mut answer = pin!(self.sender.send_request(request));
        let answer = poll_fn(|cx| {
            self.drive(cx);
            answer.as_mut().poll(cx)
        })
        .await?;
        let (head, body) = answer.into_parts();
        Ok(Response { head, body, connection: Some(self), client })
    }
}

/// An answer whose body is still to be read.
pub struct Response {
    head: Parts,
    body: Incoming,
    connection: Option<Connection>,
    client: Client,
}

impl Response {
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The next piece of the body; `None` at its end, and the connection is free for another request.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, hyper::Error>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(None)) };
        loop {
            connection.drive(cx);
            match Pin::new(&mut self.body).poll_frame(cx)? {
                Poll::Ready(Some(frame)) => {
                    // Trailers mean nothing here.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Ok(Some(data)));
                    }
                }
                Poll::Ready(None) => {
                    if let Some(connection) = self.connection.take() {
                        self.client.give_back(connection);
                    }
                    return Poll::Ready(Ok(None));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
