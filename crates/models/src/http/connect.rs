//! Opens connections to a model's server: plain or encrypted, directly or through the proxy of the environment.

use std::time::Duration;

use http::{HeaderValue, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::connect::{HttpConnector, proxy::Tunnel},
        proxy::matcher::{Intercept, Matcher},
    },
    rt::TokioIo,
};
use tower::{Service, ServiceExt};

use super::{SetupError, exchange::Connection};

/// How connections reach the server.
pub(super) enum Route {
    Plain(HttpConnector),
    /// Through a proxy that gets the full URL of each request.
    Forwarded {
        connector: HttpConnector,
        proxy: Uri,
        authorization: Option<HeaderValue>,
    },
    Encrypted(HttpsConnector<HttpConnector>),
    Tunnelled(HttpsConnector<Tunnel<HttpConnector>>),
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Route {
    pub(super) fn new(origin: &Uri, limit: Duration, direct: bool) -> Result<Self, SetupError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(limit));
        let proxy = if direct { None } else { Matcher::from_env().intercept(origin) };
        if origin.scheme() == Some(&http::uri::Scheme::HTTP) {
            return Ok(match proxy {
                None => Self::Plain(connector),
                Some(proxy) => Self::Forwarded {
                    connector,
                    authorization: proxy.basic_auth().cloned(),
                    proxy: proxy.uri().clone(),
                },
            });
        }
        let builder = HttpsConnectorBuilder::new().try_with_platform_verifier().map_err(|error| {
            tracing::warn!(%error, "the root certificates could not be read");
            SetupError::Client
        })?;
        let builder = builder.https_only().enable_http1();
        Ok(match proxy {
            None => Self::Encrypted(builder.wrap_connector(connector)),
            Some(proxy) => Self::Tunnelled(builder.wrap_connector(tunnel(&proxy, connector))),
        })
    }

    /// Whether requests must contain the full URL.
    pub(super) fn needs_full_url(&self) -> bool {
        matches!(self, Self::Forwarded { .. })
    }

    /// The authorization that is sent to the proxy with each request.
    pub(super) fn proxy_authorization(&self) -> Option<&HeaderValue> {
        match self {
            Self::Forwarded { authorization, .. } => authorization.as_ref(),
            Self::Plain(_) | Self::Encrypted(_) | Self::Tunnelled(_) => None,
        }
    }

    pub(super) async fn open(&self, origin: &Uri) -> Result<Connection, BoxError> {
        Ok(Connection::new(match self {
            Self::Plain(connector) => Box::new(call(connector, origin).await?.into_inner()),
            Self::Forwarded { connector, proxy, .. } => Box::new(call(connector, proxy).await?.into_inner()),
            Self::Encrypted(connector) => Box::new(TokioIo::new(call(connector, origin).await?)),
            Self::Tunnelled(connector) => Box::new(TokioIo::new(call(connector, origin).await?)),
        }))
    }
}

fn tunnel(proxy: &Intercept, connector: HttpConnector) -> Tunnel<HttpConnector> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connector);
    match proxy.basic_auth() {
        Some(authorization) => tunnel.with_auth(authorization.clone()),
        None => tunnel,
    }
}

async fn call<C>(connector: &C, to: &Uri) -> Result<C::Response, BoxError>
where
    C: Service<Uri> + Clone,
    C::Error: Into<BoxError>,
{
    connector.clone().oneshot(to.clone()).await.map_err(Into::into)
}
