//! Messages that [`Model::prepare`](crate::Model::prepare) serialises for a later [`Model::stream`](crate::Model::stream).
//!
//! An entry is found by the identity of its messages and removed by the first request that starts with them. An entry
//! that no request uses is removed once its messages are gone, or when newer entries need the space (ADR 27).

use std::{
    ptr,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use crate::model::ModelMessage;

/// The most text that is kept at a time, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// The prepared messages of one model.
#[derive(Debug, Default)]
pub struct PreparedMessages {
    /// The newest last.
    entries: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    /// Weak, so that an entry does not keep a deleted chat in memory. The allocation of a dropped message stays
    /// reserved while the reference exists: its address cannot be taken for that of another message.
    messages: Vec<Weak<ModelMessage>>,
    text: Vec<u8>,
}

/// The serialised beginning of a request.
#[derive(Debug, Default, PartialEq)]
pub struct SerializedPrefix {
    /// The number of messages in it.
    pub count: usize,
    pub text: Vec<u8>,
}

impl Entry {
    fn is_prefix_of(&self, messages: &[Arc<ModelMessage>]) -> bool {
        let same = |(ours, theirs): (&Weak<_>, &Arc<_>)| ptr::eq(ours.as_ptr(), Arc::as_ptr(theirs));
        messages.len() >= self.messages.len() && self.messages.iter().zip(messages).all(same)
    }

    /// No request can start with a message that is gone.
    fn is_dead(&self) -> bool {
        self.messages.first().is_none_or(|first| first.strong_count() == 0)
    }
}

impl PreparedMessages {
    pub fn insert(&self, messages: &[Arc<ModelMessage>], text: Vec<u8>) {
        if messages.is_empty() || text.len() > MAX_BYTES {
            return;
        }
        let messages = messages.iter().map(Arc::downgrade).collect();
        let mut entries = self.entries.lock();
        entries.retain(|entry| !entry.is_dead());
        let mut bytes = text.len() + entries.iter().map(|entry| entry.text.len()).sum::<usize>();
        while bytes > MAX_BYTES {
            bytes -= entries.remove(0).text.len();
        }
        entries.push(Entry { messages, text });
    }

    /// How many of the messages at the start are prepared.
    pub fn count(&self, messages: &[Arc<ModelMessage>]) -> usize {
        let entries = self.entries.lock();
        let found = entries.iter().filter(|entry| entry.is_prefix_of(messages));
        found.map(|entry| entry.messages.len()).max().unwrap_or(0)
    }

    /// Removes and returns the longest prepared beginning of the messages; empty when there is none.
    pub fn take(&self, messages: &[Arc<ModelMessage>]) -> SerializedPrefix {
        let mut entries = self.entries.lock();
        let found = entries.iter().enumerate().filter(|(_, entry)| entry.is_prefix_of(messages));
        let longest = found.max_by_key(|(_, entry)| entry.messages.len()).map(|(index, _)| index);
        match longest.map(|index| entries.remove(index)) {
            Some(entry) => SerializedPrefix { count: entry.messages.len(), text: entry.text },
            None => SerializedPrefix::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(count: usize) -> Vec<Arc<ModelMessage>> {
        (0..count).map(|_| Arc::new(ModelMessage::User { content: Vec::new() })).collect()
    }

    #[test]
    fn a_prepared_beginning_is_used_once() {
        let prepared = PreparedMessages::default();
        let history = messages(3);
        prepared.insert(&history[..2], b"two".to_vec());
        assert_eq!(prepared.count(&history), 2);
        assert_eq!(prepared.take(&history), SerializedPrefix { count: 2, text: b"two".to_vec() });
        assert_eq!(prepared.take(&history), SerializedPrefix::default());
    }

    #[test]
    fn other_messages_with_the_same_content_do_not_match() {
        let prepared = PreparedMessages::default();
        let history = messages(3);
        prepared.insert(&history, b"three".to_vec());
        assert_eq!(prepared.count(&messages(3)), 0);
        assert_eq!(prepared.count(&history[..2]), 0);
        assert_eq!(prepared.count(&history), 3);
    }

    #[test]
    fn what_nobody_can_use_is_dropped_and_the_rest_is_bounded() {
        let prepared = PreparedMessages::default();
        prepared.insert(&messages(1), b"gone".to_vec());
        let chats: Vec<_> = (0..5).map(|_| messages(1)).collect();
        for chat in &chats {
            prepared.insert(chat, vec![0; MAX_BYTES / 4]);
        }
        assert_eq!(prepared.entries.lock().len(), 4);
        assert_eq!(prepared.count(&chats[0]), 0, "the oldest made room");
        prepared.insert(&chats[0], vec![0; MAX_BYTES + 1]);
        assert_eq!(prepared.count(&chats[0]), 0, "too long to be kept");
    }
}
