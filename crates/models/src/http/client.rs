//! The connection pool of one model's server. A connection is opened when needed, used by one request at a time, and
//! kept for a minute.

use std::{
    error::Error,
    io,
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use url::Url;

use super::{
    SetupError,
    connect::Route,
    exchange::{Connection, ExchangeError, Response},
    idle_pool::{IDLE_TIME, IdlePool},
};
use crate::{
    model::{ModelError, TimeLimit},
    retry::Limits,
};

/// Clones share their connections: create one per server.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    origin: Uri,
    host: HeaderValue,
    route: Route,
    connect: Duration,
    idle: Mutex<IdlePool<Connection>>,
    /// Background tasks; they end with the client.
    tasks: Mutex<JoinSet<()>>,
}

impl Client {
    /// `direct` ignores the proxy of the environment.
    pub(super) fn new(base: &Url, limits: &Limits, direct: bool) -> Result<Self, SetupError> {
        let bad = || SetupError::BadUrl("the model".to_owned());
        let authority = &base[url::Position::BeforeHost..url::Position::AfterPort];
        let origin: Uri = format!("{}://{authority}", base.scheme()).parse().map_err(|_| bad())?;
        let host = HeaderValue::from_str(authority).map_err(|_| bad())?;
        let route = Route::new(&origin, limits.connect, direct)?;
        Ok(Self {
            shared: Arc::new(Shared {
                origin,
                host,
                route,
                connect: limits.connect,
                idle: Mutex::default(),
                tasks: Mutex::default(),
            }),
        })
    }

    /// A POST request to a URL of this client's server.
    pub fn post(&self, url: &Url) -> Request {
        self.request(Method::POST, url)
    }

    /// A GET request to a URL of this client's server.
    pub fn get(&self, url: &Url) -> Request {
        self.request(Method::GET, url)
    }

    fn request(&self, method: Method, url: &Url) -> Request {
        let path = url[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
        Request { client: self.clone(), method, path, headers: HeaderMap::new(), body: Bytes::new() }
    }

    fn take_idle(&self) -> Option<Connection> {
        loop {
            let mut connection = self.shared.idle.lock().take()?;
            if connection.is_reusable() {
                return Some(connection);
            }
        }
    }

    pub(super) fn return_connection(&self, mut connection: Connection) {
        if !connection.is_reusable() {
            return;
        }
        let must_start_closer = self.shared.idle.lock().put(connection);
        if must_start_closer {
            self.spawn(close_old(Arc::downgrade(&self.shared)));
        }
    }

    /// Runs a background task, at most as long as the client exists.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.shared.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    async fn open(&self) -> Result<Connection, ModelError> {
        match tokio::time::timeout(self.shared.connect, self.shared.route.open(&self.shared.origin)).await {
            Err(_) => Err(ModelError::TimedOut(TimeLimit::Connect)),
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(cause)) => {
                tracing::debug!(%cause, "a model's server could not be reached");
                let timed_out = is_time_out(&*cause);
                Err(if timed_out {
                    ModelError::TimedOut(TimeLimit::Connect)
                } else {
                    ModelError::Unreachable
                })
            }
        }
    }
}

fn is_time_out(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source())
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::TimedOut)
}

/// Closes connections that were idle for a minute; ends when none is left.
async fn close_old(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(IDLE_TIME).await;
        let Some(shared) = shared.upgrade() else { return };
        if !shared.idle.lock().close_old() {
            return;
        }
    }
}

/// A request to the client's server.
pub struct Request {
    client: Client,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Request {
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Replaces all headers.
    #[must_use]
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    #[must_use]
    pub fn body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    /// Sends the request once. An idle connection that the server has closed does not count as an attempt.
    pub(super) async fn send(self) -> Result<Response, ModelError> {
        let head = self.head();
        if let Some(connection) = self.client.take_idle() {
            match connection.exchange(head.clone(), &self.body, self.client.clone()).await {
                Ok(response) => return Ok(response),
                Err(ExchangeError::Broken) => return Err(ModelError::Cut),
                Err(ExchangeError::Closed) => tracing::debug!("an idle connection was closed by the server"),
            }
        }
        let connection = self.client.open().await?;
        connection.exchange(head, &self.body, self.client.clone()).await.map_err(|_| ModelError::Cut)
    }

    fn head(&self) -> Vec<u8> {
        let shared = &self.client.shared;
        let mut head = self.method.as_str().as_bytes().to_vec();
        head.push(b' ');
        if shared.route.needs_full_url() {
            head.extend_from_slice(shared.origin.to_string().trim_end_matches('/').as_bytes());
        }
        head.extend_from_slice(self.path.as_bytes());
        head.extend_from_slice(b" HTTP/1.1\r\n");
        let mut field = |name: &HeaderName, value: &[u8]| {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        };
        field(&header::HOST, shared.host.as_bytes());
        field(&header::USER_AGENT, concat!("concertino/", env!("CARGO_PKG_VERSION")).as_bytes());
        field(&header::CONTENT_LENGTH, self.body.len().to_string().as_bytes());
        if let Some(authorization) = shared.route.proxy_authorization() {
            field(&header::PROXY_AUTHORIZATION, authorization.as_bytes());
        }
        for (name, value) in &self.headers {
            field(name, value.as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}
