//! Limits on what all clients together may use and on how long each may take; ADR 22.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The limits themselves; `concertino` reads them from the settings.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections. Connections beyond it are answered 503 and closed.
    pub connections: usize,
    /// Size of the request line and the headers of a request.
    pub head_bytes: usize,
    /// Time from the first to the last byte of a head. Also how long a new connection may send nothing.
    pub head_time: Duration,
    /// How long a connection may be silent between two requests.
    pub idle_time: Duration,
    /// The time a body may take at first. Each byte that arrives adds to it, at `body_rate`.
    pub body_time: Duration,
    /// Bytes per second below which a body is too slow.
    pub body_rate: u64,
    /// The longest time that a body may take at any rate.
    pub body_longest: Duration,
    /// Bytes of all bodies that are being read or parsed at the same time.
    pub bodies_bytes: usize,
    /// How long a body waits until `bodies_bytes` has room for it.
    pub bodies_wait: Duration,
    /// How long a client may read none of the bytes that are ready for it.
    pub write_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            head_bytes: 64 << 10,
            head_time: Duration::from_secs(15),
            idle_time: Duration::from_secs(60),
            body_time: Duration::from_secs(20),
            body_rate: 16 << 10,
            body_longest: Duration::from_secs(600),
            bodies_bytes: 128 << 20,
            bodies_wait: Duration::from_secs(3),
            write_time: Duration::from_secs(60),
        }
    }
}

/// Counts what is in use. Shared by the listener and the handlers.
#[derive(Clone)]
pub struct Resources(Arc<ResourceCounters>);

struct ResourceCounters {
    limits: Limits,
    connections: AtomicUsize,
    bodies: Arc<Semaphore>,
    shutdown: CancellationToken,
}

impl Resources {
    pub fn new(limits: Limits) -> Self {
        let bodies = Arc::new(Semaphore::new(limits.bodies_bytes.min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(ResourceCounters {
            limits,
            connections: AtomicUsize::new(0),
            bodies,
            shutdown: CancellationToken::new(),
        }))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Cancelled when the server shuts down.
    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.0.shutdown
    }

    /// Open connections.
    pub(crate) fn connections(&self) -> usize {
        self.0.connections.load(Ordering::Relaxed)
    }

    /// Bytes of bodies that are being read or parsed.
    pub(crate) fn bodies_bytes(&self) -> usize {
        self.0.limits.bodies_bytes.saturating_sub(self.0.bodies.available_permits())
    }

    /// Counts one more connection; returns `None` when the limit is reached.
    pub(crate) fn admit_connection(&self) -> Option<ConnectionPermit> {
        let permit = ConnectionPermit(Arc::clone(&self.0));
        let before = self.0.connections.fetch_add(1, Ordering::Relaxed);
        // Dropping the permit lowers the count again.
        (before < self.0.limits.connections).then_some(permit)
    }

    /// Reserves room for this many more bytes of a body. Returns `None` when there is no room in time.
    pub(crate) async fn reserve_body_bytes(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).ok()?;
        let bodies = &self.0.bodies;
        match Arc::clone(bodies).try_acquire_many_owned(bytes) {
            Ok(reserved) => Some(reserved),
            Err(_) => {
                let room = Arc::clone(bodies).acquire_many_owned(bytes);
                tokio::time::timeout(self.0.limits.bodies_wait, room).await.ok()?.ok()
            }
        }
    }
}

/// Counts a connection until it is dropped.
pub(crate) struct ConnectionPermit(Arc<ResourceCounters>);

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
