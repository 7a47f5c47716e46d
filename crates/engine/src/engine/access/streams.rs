//! Open streams end when what they were opened with is revoked, by this process or by another.
//!
//! One task looks at the store's count of revocations twice a second while any stream is open. A stream costs it
//! nothing: only when the count has changed is it looked up who is still valid.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Weak,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use protocol::Clock;
use store::{Store, StoreError};
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::Credential;

const EVERY: Duration = Duration::from_millis(500);

#[derive(Default)]
pub(crate) struct OpenStreams {
    streams: Mutex<Streams>,
    /// The count of revocations that was looked at last.
    seen: AtomicI64,
    /// The first stream was opened, or something was revoked here.
    wake: Notify,
}

#[derive(Default)]
struct Streams {
    next: u64,
    open: HashMap<u64, (Credential, oneshot::Sender<()>)>,
    /// Look who is still valid, whatever the count says.
    check: bool,
}

/// One stream, while it is open.
pub struct OpenStream {
    id: u64,
    revoked: Option<oneshot::Receiver<()>>,
    all: Arc<OpenStreams>,
}

impl OpenStream {
    /// Resolves when the stream has to end; never for one that nobody can revoke.
    pub async fn revoked(&mut self) {
        match &mut self.revoked {
            // The other side is dropped only when it has told, or together with the engine.
            Some(revoked) => revoked.await.unwrap_or_default(),
            None => std::future::pending().await,
        }
        self.revoked = None;
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.all.streams.lock().open.remove(&self.id);
    }
}

impl OpenStreams {
    pub(super) fn seen(&self) -> i64 {
        self.seen.load(Ordering::Acquire)
    }

    pub(super) fn add(self: &Arc<Self>, credential: Credential, seen: i64) -> OpenStream {
        if credential == Credential::None {
            return OpenStream { id: 0, revoked: None, all: Arc::clone(self) };
        }
        let (tell, revoked) = oneshot::channel();
        let mut streams = self.streams.lock();
        streams.next += 1;
        let id = streams.next;
        streams.open.insert(id, (credential, tell));
        // Something was revoked since the caller was found valid: it may have been this.
        let late = self.seen() != seen;
        streams.check |= late;
        let wakes = late || streams.open.len() == 1;
        drop(streams);
        if wakes {
            self.wake.notify_one();
        }
        OpenStream { id, revoked: Some(revoked), all: Arc::clone(self) }
    }

    /// Something was revoked here: look at once.
    pub(super) fn check(&self) {
        self.streams.lock().check = true;
        self.wake.notify_one();
    }

    /// Until the end of the process.
    pub(crate) async fn watch(&self, store: Weak<dyn Store>, clock: Arc<dyn Clock>, end: CancellationToken) {
        let mut next = Instant::now();
        loop {
            let idle = self.streams.lock().open.is_empty();
            tokio::select! {
                () = end.cancelled() => return,
                () = self.wake.notified() => {
                    if !self.streams.lock().check {
                        continue;
                    }
                }
                () = tokio::time::sleep_until(next), if !idle => {}
            }
            next = Instant::now() + EVERY;
            let Some(store) = store.upgrade() else { return };
            if let Err(error) = self.look(&*store, &*clock).await {
                // The next look tries again.
                tracing::warn!(%error, "revoked tokens could not be looked up");
                self.streams.lock().check = true;
            }
        }
    }

    async fn look(&self, store: &dyn Store, clock: &dyn Clock) -> Result<(), StoreError> {
        let forced = {
            let mut streams = self.streams.lock();
            if streams.open.is_empty() {
                return Ok(());
            }
            std::mem::take(&mut streams.check)
        };
        let count = store.revocations().await?;
        if count == self.seen() && !forced {
            return Ok(());
        }
        self.seen.store(count, Ordering::Release);
        // Who is added after this compares with the new count; who was added before is on the lists, if still valid.
        let last = self.streams.lock().next;
        let tokens: HashSet<i64> = store.tokens().await?.into_iter().map(|token| token.id).collect();
        let sign_ins = store.sign_ins(clock.now()).await?;
        let sign_ins: HashSet<i64> = sign_ins.into_iter().map(|sign_in| sign_in.id).collect();
        let is_valid = |credential: Credential| {
            credential.token().is_none_or(|token| tokens.contains(&token))
                && credential.sign_in().is_none_or(|sign_in| sign_ins.contains(&sign_in))
        };
        let mut streams = self.streams.lock();
        let over = streams.open.iter().filter(|(id, (credential, _))| **id <= last && !is_valid(*credential));
        let over: Vec<u64> = over.map(|(id, _)| *id).collect();
        for id in over {
            if let Some((_, tell)) = streams.open.remove(&id) {
                // A stream that has just been closed needs to be told nothing.
                tell.send(()).unwrap_or_default();
            }
        }
        Ok(())
    }
}
