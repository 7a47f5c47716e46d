//! The hub: what one sub-agent found reaches the others' next context, through mailboxes that the host keeps.
//!
//! Sub-agents are made anew for each task and never see the hub. A mailbox belongs to a *role*, the name of an agent;
//! a delegation to that role takes what lies in it along, shortened, as `recent_events`. All mailboxes are views of one
//! board: a role that is called for the first time hears what was found before. The board is a fold of the run's log
//! (`resume.rs`), so that a pause or a crash loses nothing of it.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use protocol::{FrameEnd, SessionEvent, Timestamp};

use super::report;
use crate::run::frame::Frame;

/// Notes the board keeps, and characters of each; the oldest goes first.
const NOTES: usize = 64;
const PREVIEW: usize = 200;
/// The sender of what a person says to the main agent.
pub(crate) const PERSON: &str = "person";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) id: String,
    pub(crate) from: String,
    pub(crate) text: String,
    pub(crate) at: i64,
}

impl Note {
    /// What a sub-agent came to.
    pub(crate) fn of_result(frame: &Frame, role: &str, at: Timestamp) -> Self {
        let (id, from) = (frame.message().id.to_string(), role.to_owned());
        Self { id, from, text: report::said(frame), at: at.0 }
    }
}

pub(crate) struct Hub {
    state: Mutex<State>,
}

struct State {
    auto_broadcast: bool,
    board: VecDeque<Pinned>,
    /// How many notes there ever were.
    count: u64,
    roles: HashMap<String, Role>,
}

struct Pinned {
    number: u64,
    /// A person's words reach everybody, a result everybody but its sender.
    for_all: bool,
    note: Note,
}

#[derive(Default)]
struct Role {
    /// How many agents of this role are at work.
    at_work: usize,
    /// Notes up to this number it has had.
    heard: u64,
    removed: bool,
}

impl Default for Hub {
    fn default() -> Self {
        let state =
            State { auto_broadcast: true, board: VecDeque::new(), count: 0, roles: HashMap::default() };
        Self { state: Mutex::new(state) }
    }
}

impl Hub {
    /// An agent of this role begins; one that was removed takes part again, from now on.
    pub(crate) fn join(&self, role: &str) {
        let mut state = self.state.lock();
        let count = state.count;
        let role = state.role(role);
        role.at_work += 1;
        if std::mem::take(&mut role.removed) {
            role.heard = count;
        }
    }

    /// An agent of this role has ended by itself.
    pub(crate) fn leave(&self, role: &str) {
        let mut state = self.state.lock();
        let role = state.role(role);
        role.at_work = role.at_work.saturating_sub(1);
    }

    /// An agent was stopped: its role neither sends nor receives any more, unless another of it is at work.
    pub(crate) fn remove(&self, role: &str) {
        let mut state = self.state.lock();
        let role = state.role(role);
        role.at_work = role.at_work.saturating_sub(1);
        role.removed = role.at_work == 0;
    }

    /// Whether results flow by themselves, or only what a person says.
    pub(crate) fn set_auto_broadcast(&self, on: bool) {
        self.state.lock().auto_broadcast = on;
    }

    /// The result of a role: reaches every other role once.
    pub(crate) fn result(&self, note: Note) {
        let mut state = self.state.lock();
        if !state.role(&note.from).removed {
            state.pin(note, false);
        }
    }

    /// Reaches everybody who takes part.
    pub(crate) fn broadcast(&self, note: Note) {
        self.state.lock().pin(note, true);
    }

    /// What an event of the log did to the board when it was written; `frame` is the one it belongs to, after it.
    pub(crate) fn replay(&self, event: &SessionEvent, frame: &Frame, is_root: bool, at: Timestamp) {
        let role = frame.facts().agent_name.as_deref().unwrap_or_default();
        match event {
            SessionEvent::FrameOpened { parent: Some(_), .. } => {
                self.take(role);
                self.join(role);
            }
            SessionEvent::FrameClosed { end, .. } if !is_root => match end {
                FrameEnd::Finished { .. } => {
                    self.result(Note::of_result(frame, role, at));
                    self.leave(role);
                }
                FrameEnd::Failed { .. } => self.leave(role),
                FrameEnd::Cancelled => self.remove(role),
            },
            event if is_root => {
                if let Some(text) = event.steering() {
                    let (id, text) = (frame.message().id.to_string(), text.to_owned());
                    self.broadcast(Note { id, from: PERSON.to_owned(), text, at: at.0 });
                }
            }
            _ => {}
        }
    }

    /// Empties a role's mailbox.
    pub(crate) fn take(&self, name: &str) -> Vec<Note> {
        let mut state = self.state.lock();
        let count = state.count;
        let role = state.role(name);
        if role.removed {
            return Vec::new();
        }
        let heard = std::mem::replace(&mut role.heard, count);
        let auto = state.auto_broadcast;
        let fresh = state.board.iter().filter(|pinned| pinned.number > heard);
        let fresh = fresh.filter(|pinned| pinned.for_all || (auto && pinned.note.from != name));
        fresh.map(|pinned| pinned.note.clone()).collect()
    }
}

impl State {
    fn role(&mut self, name: &str) -> &mut Role {
        self.roles.entry(name.to_owned()).or_default()
    }

    fn pin(&mut self, mut note: Note, for_all: bool) {
        if self.board.len() == NOTES {
            self.board.pop_front();
        }
        note.text = preview(&note.text);
        self.count += 1;
        self.board.push_back(Pinned { number: self.count, for_all, note });
    }
}

/// As much of a text as others are shown.
pub(crate) fn preview(text: &str) -> String {
    text.chars().take(PREVIEW).collect()
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
        for role in ["search", "browser", "browser"] {
            hub.join(role);
        }
        hub.result(note("search", "found"));
        assert_eq!(texts(&hub, "browser"), ["found"]);
        assert_eq!(texts(&hub, "browser"), Vec::<String>::new(), "once");
        assert_eq!(texts(&hub, "file"), ["found"], "also who was not called before");
        assert_eq!(texts(&hub, "search"), Vec::<String>::new());
    }

    #[test]
    fn item_112_manual_messages_reach_all_and_a_removed_role_is_out() {
        let hub = Hub::default();
        for role in ["a", "b", "c"] {
            hub.join(role);
        }
        hub.set_auto_broadcast(false);
        hub.result(note("a", "auto"));
        hub.broadcast(note("host", "manual"));
        for role in ["a", "b", "c"] {
            assert_eq!(texts(&hub, role), ["manual"]);
        }
        hub.set_auto_broadcast(true);
        hub.remove("c");
        hub.result(note("c", "from outside"));
        hub.result(note("a", "inside"));
        assert_eq!((texts(&hub, "b"), texts(&hub, "c")), (vec!["inside".to_owned()], Vec::new()));
        hub.join("c");
        assert_eq!(texts(&hub, "c"), Vec::<String>::new(), "what was said meanwhile is not made up for");
    }

    #[test]
    fn a_role_of_which_another_is_at_work_stays_when_one_is_stopped() {
        let hub = Hub::default();
        hub.join("a");
        hub.join("a");
        hub.remove("a");
        hub.result(note("a", "by the other"));
        assert_eq!(texts(&hub, "b"), ["by the other"]);
    }

    #[test]
    fn the_board_keeps_the_newest_and_not_more_of_each_than_is_shown() {
        let hub = Hub::default();
        for number in 0..70 {
            hub.broadcast(note("host", &format!("{number} {}", "字".repeat(500))));
        }
        let kept = texts(&hub, "a");
        assert_eq!((kept.len(), &kept[0][..2]), (64, "6 "));
        assert!(kept.iter().all(|text| text.chars().count() == 200));
    }
}
