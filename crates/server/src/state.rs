//! What handlers share.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use engine::Engine;

use crate::limits::{Limits, Resources};

#[derive(Clone)]
pub struct ServerState {
    pub(crate) engine: Engine,
    pub(crate) settings: Arc<ServerSettings>,
    pub(crate) resources: Resources,
    /// Open streams.
    pub(crate) connections: Arc<AtomicUsize>,
}

#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub auth: Auth,
    /// Names this server may be called by, beside loopback ones; without port.
    pub hosts: Vec<String>,
    /// Other origins whose pages may call the API.
    pub origins: Vec<String>,
    pub max_body_bytes: usize,
    /// A comment is sent on a stream that was silent for this long.
    pub heartbeat: Duration,
    pub limits: Limits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    Token,
    /// Everybody who reaches the socket is the default workspace; loopback only.
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
        }
    }
}

impl ServerState {
    pub fn new(engine: Engine, settings: ServerSettings) -> Self {
        let resources = Resources::new(settings.limits.clone());
        Self { engine, settings: Arc::new(settings), resources, connections: Arc::default() }
    }

    /// For [`crate::serve`]: the limits of this server, and what is in use of them.
    pub fn resources(&self) -> Resources {
        self.resources.clone()
    }
}
