//! SharedTexts that many sessions have in common are in memory once: above all the system prompts, which are long.
//!
//! Bounded in number and in bytes: what a client puts into a prompt may be long and different each time.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;

/// How many different texts are known at a time, and how many bytes they have together.
const MOST: usize = 256;
const MOST_BYTES: usize = 4 << 20;

#[derive(Default)]
pub(crate) struct SharedTexts {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    texts: HashSet<Arc<str>>,
    bytes: usize,
}

impl SharedTexts {
    /// The one copy of this text.
    pub(crate) fn share(&self, text: String) -> Arc<str> {
        let mut known = self.known.lock();
        if let Some(shared) = known.texts.get(text.as_str()) {
            return Arc::clone(shared);
        }
        if !known.has_room(text.len()) {
            known.texts.retain(|text| Arc::strong_count(text) > 1);
            known.bytes = known.texts.iter().map(|text| text.len()).sum();
        }
        let shared: Arc<str> = text.into();
        if known.has_room(shared.len()) {
            known.bytes += shared.len();
            known.texts.insert(Arc::clone(&shared));
        }
        shared
    }
}

impl Known {
    fn has_room(&self, bytes: usize) -> bool {
        self.texts.len() < MOST && self.bytes + bytes <= MOST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_kept_once_and_forgotten_when_nobody_needs_it() {
        let texts = SharedTexts::default();
        let (one, two) = (texts.share("a".to_owned()), texts.share("a".to_owned()));
        assert!(Arc::ptr_eq(&one, &two));
        drop((one, two));
        let in_use: Vec<_> = (0..MOST).map(|n| texts.share(n.to_string())).collect();
        assert_eq!(texts.known.lock().texts.len(), MOST, "what nobody needs made room");
        assert_eq!(&*texts.share("one too many".to_owned()), "one too many");
        assert_eq!((texts.known.lock().texts.len(), in_use.len()), (MOST, MOST));
    }

    #[test]
    fn long_texts_that_nobody_needs_do_not_stay() {
        let texts = SharedTexts::default();
        for n in 0..64 {
            let long = format!("{n} {}", "x".repeat(MOST_BYTES / 4));
            assert_eq!(&*texts.share(long.clone()), long);
            assert!(texts.known.lock().bytes <= MOST_BYTES);
        }
        assert!(texts.known.lock().texts.len() <= 4);
        assert_eq!(texts.share("y".repeat(MOST_BYTES + 1)).len(), MOST_BYTES + 1, "used, not kept");
        assert!(texts.known.lock().bytes <= MOST_BYTES);
    }
}
