//! State that all handlers share.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use engine::Engine;

use crate::{
    events::connections::{ConnectionLimits, Connections},
    limits::{Limits, Resources},
};

#[derive(Clone)]
pub struct ServerState {
    pub(crate) engine: Engine,
    pub(crate) settings: Arc<ServerSettings>,
    pub(crate) resources: Resources,
    /// The number of open chat streams.
    pub(crate) open_streams: Arc<AtomicUsize>,
    /// The open event connections.
    pub(crate) connections: Arc<Connections>,
}

#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub auth: Auth,
    /// Host names that requests may use, besides loopback names; without port.
    pub hosts: Vec<String>,
    /// Other origins whose pages may call the API, for example `https://app.example`.
    pub origins: Vec<String>,
    pub max_body_bytes: usize,
    /// After this long without an event a stream sends a comment, so that proxies keep it open.
    pub heartbeat: Duration,
    pub limits: Limits,
    pub event_connections: ConnectionLimits,
    /// Whether clients of the events surface may have calls run unasked (`yoloMode`).
    pub allow_yolo: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// A token or a browser's sign-in is required.
    Token,
    /// No authentication: every caller acts in the default workspace. Allowed on loopback only.
    Off,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            auth: Auth::Token,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_body_bytes: 32 << 20,
            heartbeat: Duration::from_secs(12),
            limits: Limits::default(),
            event_connections: ConnectionLimits::default(),
            allow_yolo: true,
        }
    }
}

impl ServerState {
    pub fn new(engine: Engine, settings: ServerSettings) -> Self {
        let resources = Resources::new(settings.limits.clone());
        let connections = Connections::new(settings.event_connections.clone());
        Self { engine, settings: Arc::new(settings), resources, open_streams: Arc::default(), connections }
    }

    /// Returns the limits and counters that [`crate::serve`] needs.
    pub fn resources(&self) -> Resources {
        self.resources.clone()
    }
}
