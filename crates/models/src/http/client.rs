//! The connections to one model's server: opened when needed, kept for a minute, used by one request at a time.

use std::{
    error::Error,
    io,
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use http_body_util::Full;
use parking_lot::Mutex;
use tokio::{task::JoinSet, time::Instant};
use url::Url;

use super::{
    SetupError,
    connect::Route,
    exchange::{Connection, Response},
};
use crate::{
    model::{ModelError, TimeLimit},
    retry::Limits,
};

/// How many connections wait for their next request, and for how long.
const IDLE: usize = 256;
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Clones share their connections: make one per server.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    origin: Uri,
    host: HeaderValue,
    route: Route,
    connect: Duration,
    idle: Mutex<Vec<(Connection, Instant)>>,
    /// What tidies up; ends with the client.
    tasks: Mutex<JoinSet<()>>,
}

impl Client {
    /// `direct`: whatever proxy the environment names, it is not used.
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

    /// A request to an address of this client's server.
    pub fn post(&self, url: &Url) -> Request {
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        Request { client: self.clone(), path: path.to_owned(), headers: HeaderMap::new(), body: Bytes::new() }
    }

    fn take_idle(&self) -> Option<Connection> {
        loop {
            let (mut connection, since) = self.shared.idle.lock().pop()?;
            if since.elapsed() < IDLE_TIME && connection.is_free() {
                return Some(connection);
            }
        }
    }

    pub(super) fn give_back(&self, mut connection: Connection) {
        if !connection.is_free() {
            return;
        }
        let mut idle = self.shared.idle.lock();
        let first = idle.is_empty();
        if idle.len() < IDLE {
            idle.push((connection, Instant::now()));
        }
        drop(idle);
        if first {
            self.spawn(close_old(Arc::downgrade(&self.shared)));
        }
    }

    /// Runs something that nobody waits for, at most as long as the client lives.
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

/// Closes connections nobody asked for in a minute; ends when none is left.
async fn close_old(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(IDLE_TIME).await;
        let Some(shared) = shared.upgrade() else { return };
        let mut idle = shared.idle.lock();
        idle.retain(|(_, since)| since.elapsed() < IDLE_TIME);
        if idle.is_empty() {
            return;
        }
    }
}

/// What is sent.
pub struct Request {
    client: Client,
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

    #[must_use]
    pub fn body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    /// One attempt; a connection that turns out to be closed already is no attempt.
    pub(super) async fn send(self) -> Result<Response, ModelError> {
        let request = self.write()?;
        if let Some(connection) = self.client.take_idle() {
            match connection.exchange(request.clone(), self.client.clone()).await {
                Err(error) if error.is_canceled() || error.is_incomplete_message() || error.is_closed() => {
                    tracing::debug!("a kept connection was closed by the server");
                }
                result => return result.map_err(|error| cut(&error)),
            }
        }
        let connection = self.client.open().await?;
        connection.exchange(request, self.client.clone()).await.map_err(|error| cut(&error))
    }

    fn write(&self) -> Result<http::Request<Full<Bytes>>, ModelError> {
        let shared = &self.client.shared;
        let mut request = http::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = Method::POST;
        let forwards = shared.route.forwards();
        let uri = match forwards {
            Some(_) => format!("{}{}", shared.origin.to_string().trim_end_matches('/'), self.path).parse(),
            None => self.path.parse(),
        };
        *request.uri_mut() = uri.map_err(|_| ModelError::Unreachable)?;
        let headers = request.headers_mut();
        headers.insert(header::HOST, shared.host.clone());
        headers.insert(
            header::USER_AGENT,
            HeaderValue::from_static(concat!("concertino/", env!("CARGO_PKG_VERSION"))),
        );
        if let Some(Some(authorization)) = forwards {
            headers.insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        headers.extend(self.headers.clone());
        Ok(request)
    }
}

fn cut(error: &hyper::Error) -> ModelError {
    tracing::debug!(%error, "a model's server gave no answer");
    ModelError::Cut
}
