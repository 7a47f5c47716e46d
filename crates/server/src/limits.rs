//! What all clients together may hold, and how long each may take; ADR 22.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections. A connection beyond it is answered 503 and closed.
    pub connections: usize,
    /// The first line and the headers of a request.
    pub head_bytes: usize,
    /// From the first byte of a head to its last one; also the silence of a new connection.
    pub head_time: Duration,
    /// The silence of a connection between two requests.
    pub idle_time: Duration,
    /// What a body has from the start; each byte that arrives adds to it as `body_rate` says.
    pub body_time: Duration,
    /// Bytes a second below which a body is too slow.
    pub body_rate: u64,
    /// The longest that a body may take at any rate.
    pub body_longest: Duration,
    /// Bodies that are being read or parsed, all together.
    pub bodies_bytes: usize,
    /// How long a body waits for room among the others.
    pub bodies_wait: Duration,
    /// How long a client may take none of the bytes that are ready for it.
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

/// What is in use of the limits. The listener and the handlers share it.
#[derive(Clone)]
pub struct Resources(Arc<Inner>);

struct Inner {
    limits: Limits,
    connections: AtomicUsize,
    bodies: Arc<Semaphore>,
    ending: CancellationToken,
}

impl Resources {
    pub fn new(limits: Limits) -> Self {
        let bodies = Arc::new(Semaphore::new(limits.bodies_bytes.min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(Inner {
            limits,
            connections: AtomicUsize::new(0),
            bodies,
            ending: CancellationToken::new(),
        }))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Cancelled when the server ends.
    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.0.ending
    }

    /// Open connections.
    pub(crate) fn connections(&self) -> usize {
        self.0.connections.load(Ordering::Relaxed)
    }

    /// Bytes of bodies that are held.
    pub(crate) fn bodies_bytes(&self) -> usize {
        self.0.limits.bodies_bytes.saturating_sub(self.0.bodies.available_permits())
    }

    /// A place for one more connection, unless all are taken.
    pub(crate) fn admit(&self) -> Option<Admitted> {
        let admitted = Admitted(Arc::clone(&self.0));
        let before = self.0.connections.fetch_add(1, Ordering::Relaxed);
        // Dropping it takes the count back.
        (before < self.0.limits.connections).then_some(admitted)
    }

    /// Room for so many more bytes of a body. `None`: there was none in time.
    pub(crate) async fn hold(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).ok()?;
        let bodies = &self.0.bodies;
        match Arc::clone(bodies).try_acquire_many_owned(bytes) {
            Ok(held) => Some(held),
            Err(_) => {
                let waiting = Arc::clone(bodies).acquire_many_owned(bytes);
                tokio::time::timeout(self.0.limits.bodies_wait, waiting).await.ok()?.ok()
            }
        }
    }
}

/// Counts a connection while it is open.
pub(crate) struct Admitted(Arc<Inner>);

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
