//! The hub: what one sub-agent found reaches the others' next context, through mailboxes that the host keeps.
//!
//! Sub-agents are made anew for each task and never see the hub. A mailbox belongs to a *role*, the name of an agent;
//! a delegation to that role takes what lies in it along, shortened, as `recent_events`.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

/// Messages a mailbox keeps; the oldest goes first.
const MAILBOX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) id: String,
    pub(crate) from: String,
    pub(crate) text: String,
    pub(crate) at: i64,
}

pub(crate) struct Hub {
    state: Mutex<State>,
}

struct State {
    auto_broadcast: bool,
    mailboxes: HashMap<String, VecDeque<Note>>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { state: Mutex::new(State { auto_broadcast: true, mailboxes: HashMap::new() }) }
    }
}

impl Hub {
    /// A role takes part; a second time changes nothing.
    pub(crate) fn join(&self, role: &str) {
        let mut state = self.state.lock();
        if !state.mailboxes.contains_key(role) {
            state.mailboxes.insert(role.to_owned(), VecDeque::new());
        }
    }

    /// A role neither sends nor receives any more; `false` when it did not take part.
    pub(crate) fn remove(&self, role: &str) -> bool {
        self.state.lock().mailboxes.remove(role).is_some()
    }

    pub(crate) fn set_auto_broadcast(&self, on: bool) {
        self.state.lock().auto_broadcast = on;
    }

    /// The result of a role: reaches every other role's mailbox once, unless only manual messages flow.
    pub(crate) fn result(&self, note: &Note) {
        let mut state = self.state.lock();
        if !state.auto_broadcast || !state.mailboxes.contains_key(&note.from) {
            return;
        }
        for (_, mailbox) in state.mailboxes.iter_mut().filter(|(role, _)| **role != note.from) {
            put(mailbox, note.clone());
        }
    }

    /// Reaches everybody who takes part.
    pub(crate) fn broadcast(&self, note: &Note) {
        for mailbox in self.state.lock().mailboxes.values_mut() {
            put(mailbox, note.clone());
        }
    }

    /// Empties a role's mailbox.
    pub(crate) fn take(&self, role: &str) -> Vec<Note> {
        self.state
            .lock()
            .mailboxes
            .get_mut(role)
            .map(|mailbox| mailbox.drain(..).collect())
            .unwrap_or_default()
    }
}

fn put(mailbox: &mut VecDeque<Note>, note: Note) {
    if mailbox.len() == MAILBOX {
        mailbox.pop_front();
    }
    mailbox.push_back(note);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(from: &str, text: &str) -> Note {
        Note { id: "m".to_owned(), from: from.to_owned(), text: text.to_owned(), at: 0 }
    }

    fn texts(hub: &Hub, role: &str) -> Vec<String> {
        hub.take(role).into_iter().map(|note| note.text).collect()
    }

    #[test]
    fn item_111_a_result_reaches_every_other_role_once_and_never_its_sender() {
        let hub = Hub::default();
        for role in ["search", "browser", "file", "browser"] {
            hub.join(role);
        }
        hub.result(&note("search", "found"));
        assert_eq!(texts(&hub, "browser"), ["found"]);
        assert_eq!(texts(&hub, "browser"), Vec::<String>::new(), "once");
        assert_eq!(texts(&hub, "file"), ["found"]);
        assert_eq!(texts(&hub, "search"), Vec::<String>::new());
    }

    #[test]
    fn item_112_manual_messages_reach_all_and_a_removed_role_is_out() {
        let hub = Hub::default();
        for role in ["a", "b", "c"] {
            hub.join(role);
        }
        hub.set_auto_broadcast(false);
        hub.result(&note("a", "auto"));
        hub.broadcast(&note("host", "manual"));
        for role in ["a", "b", "c"] {
            assert_eq!(texts(&hub, role), ["manual"]);
        }
        hub.set_auto_broadcast(true);
        assert!(hub.remove("c") && !hub.remove("c"));
        hub.result(&note("c", "from outside"));
        hub.result(&note("a", "inside"));
        assert_eq!((texts(&hub, "b"), texts(&hub, "c")), (vec!["inside".to_owned()], Vec::new()));
    }

    #[test]
    fn a_mailbox_keeps_the_newest() {
        let hub = Hub::default();
        hub.join("a");
        for number in 0..20 {
            hub.broadcast(&note("host", &number.to_string()));
        }
        let kept = texts(&hub, "a");
        assert_eq!((kept.len(), kept[0].as_str()), (16, "4"));
    }
}
