//! Texts that many sessions have in common are in memory once: above all the system prompts, which are long.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;

/// How many different texts are known at a time.
const MOST: usize = 256;

#[derive(Default)]
pub(crate) struct Texts {
    known: Mutex<HashSet<Arc<str>>>,
}

impl Texts {
    /// The one copy of this text.
    pub(crate) fn share(&self, text: String) -> Arc<str> {
        let mut known = self.known.lock();
        if let Some(shared) = known.get(text.as_str()) {
            return Arc::clone(shared);
        }
        if known.len() >= MOST {
            known.retain(|text| Arc::strong_count(text) > 1);
        }
        let shared: Arc<str> = text.into();
        if known.len() < MOST {
            known.insert(Arc::clone(&shared));
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_kept_once_and_forgotten_when_nobody_needs_it() {
        let texts = Texts::default();
        let (one, two) = (texts.share("a".to_owned()), texts.share("a".to_owned()));
        assert!(Arc::ptr_eq(&one, &two));
        drop((one, two));
        let in_use: Vec<_> = (0..MOST).map(|n| texts.share(n.to_string())).collect();
        assert_eq!(texts.known.lock().len(), MOST, "what nobody needs made room");
        assert_eq!(&*texts.share("one too many".to_owned()), "one too many");
        assert_eq!((texts.known.lock().len(), in_use.len()), (MOST, MOST));
    }
}
