//! Caches histories that were sent to a model recently, so that a long chat is not read and converted again for each turn.
//!
//! Bounded in bytes over all sessions; the least recently used is dropped first. A history is identified by the message it
//! ends with, so a retry, an edit or another branch finds nothing or a shorter beginning.

use std::{collections::HashMap, panic::resume_unwind, sync::Arc};

use parking_lot::Mutex;
use protocol::MessageRef;
use store::{SessionKey, Store, StoreError};

use super::conversation::Conversation;

const MAX_BYTES: usize = 16 << 20;
/// A shorter history is cheaper to read than to keep.
const WORTH_KEEPING: usize = 16 << 10;
const SLOW_TO_FREE: usize = 1 << 20;
/// Messages of so many bytes are read on a thread for slow work.
const SLOW_TO_READ: usize = 256 << 10;

pub(crate) type History = Arc<Conversation>;

#[derive(Default)]
pub(crate) struct Histories {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sessions: HashMap<SessionKey, Entry>,
    bytes: usize,
    uses: u64,
}

struct Entry {
    leaf: MessageRef,
    history: History,
    bytes: usize,
    used: u64,
}

impl Histories {
    /// The branch that ends at `leaf`, as a model reads it.
    pub(crate) async fn up_to(
        &self,
        store: &Arc<dyn Store>,
        key: SessionKey,
        leaf: &MessageRef,
    ) -> Result<History, StoreError> {
        let known = self.recall(key);
        let stop = known.as_ref().map(|(leaf, _)| leaf);
        let records = store.branch_after(key, leaf, stop).await?;
        let meets = records.first().and_then(|first| first.parent.as_ref());
        let mut conversation = match known {
            Some((known, history)) if records.is_empty() && known == *leaf => return Ok(history),
            Some((known, history)) if meets == Some(&known) => Conversation::clone(&history),
            _ => Conversation::default(),
        };
        let large = records.iter().map(|record| record.body.len()).sum::<usize>() > SLOW_TO_READ;
        let mut fold = move || {
            for record in &records {
                conversation.push(&record.message()?, record.facts.as_ref());
            }
            Ok(Arc::new(std::mem::take(&mut conversation)))
        };
        let history = if large {
            // Files of a message may have to be decoded.
            let folded = tokio::task::spawn_blocking(fold).await;
            folded.unwrap_or_else(|gone| match gone.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(gone) => Err(StoreError::Unavailable(gone.into())),
            })
        } else {
            fold()
        };
        Ok(self.remember(key, leaf, history?))
    }

    /// Keeps a history that was built elsewhere.
    pub(crate) fn remember(&self, key: SessionKey, leaf: &MessageRef, history: History) -> History {
        self.keep(key, leaf, &history);
        history
    }

    /// Drops the history of a deleted session.
    pub(crate) fn forget(&self, key: SessionKey) {
        let gone = self.kept.lock().forget(key);
        free(gone.into_iter().collect());
    }

    fn recall(&self, key: SessionKey) -> Option<(MessageRef, History)> {
        let mut kept = self.kept.lock();
        kept.uses += 1;
        let now = kept.uses;
        let entry = kept.sessions.get_mut(&key)?;
        entry.used = now;
        Some((entry.leaf.clone(), Arc::clone(&entry.history)))
    }

    fn keep(&self, key: SessionKey, leaf: &MessageRef, history: &History) {
        let bytes = history.bytes();
        let mut kept = self.kept.lock();
        let mut gone: Vec<_> = kept.forget(key).into_iter().collect();
        if !(WORTH_KEEPING..=MAX_BYTES).contains(&bytes) {
            return;
        }
        while kept.bytes + bytes > MAX_BYTES {
            let oldest = kept.sessions.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            match oldest.and_then(|oldest| kept.forget(oldest)) {
                Some(entry) => gone.push(entry),
                None => break,
            }
        }
        let used = kept.uses;
        kept.bytes += bytes;
        kept.sessions.insert(key, Entry { leaf: leaf.clone(), history: Arc::clone(history), bytes, used });
        drop(kept);
        free(gone);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.kept.lock().bytes
    }
}

/// Frees large histories on a thread for blocking work: thousands of messages take milliseconds.
fn free(gone: Vec<Entry>) {
    if gone.iter().any(|entry| entry.bytes > SLOW_TO_FREE) {
        drop(tokio::task::spawn_blocking(move || drop(gone)));
    }
}

impl Kept {
    fn forget(&mut self, key: SessionKey) -> Option<Entry> {
        let entry = self.sessions.remove(&key)?;
        self.bytes -= entry.bytes;
        Some(entry)
    }
}
