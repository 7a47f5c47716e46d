//! Who is next: one line per provider and key, fair between sessions. Pure: no time, no waking.
//!
//! Every session with calls waiting holds one turn; turns are served oldest first, calls of one session in the
//! order they came. A session that was served and still waits takes a new turn at the end. A call that the server
//! sent away takes its old turn again, so that bad luck does not send anybody to the end of the line.

use std::collections::{BTreeMap, HashMap, VecDeque};

/// A session, as far as the line cares. Two sessions with the same number share their turns, no more.
pub type Lane = u64;
/// A place in the order; lower is served earlier.
pub type Turn = u64;

#[derive(Debug)]
pub struct Line<T> {
    order: BTreeMap<Turn, Lane>,
    lanes: HashMap<Lane, Waiting<T>>,
    next_turn: Turn,
    next_place: Place,
    length: usize,
}

/// Tells the calls of a line apart.
pub type Place = u64;

#[derive(Debug)]
struct Waiting<T> {
    turn: Turn,
    calls: VecDeque<(Place, T)>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { order: BTreeMap::new(), lanes: HashMap::new(), next_turn: 0, next_place: 0, length: 0 }
    }
}

impl<T> Line<T> {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// How many calls of this session wait.
    pub fn waiting(&self, lane: Lane) -> usize {
        self.lanes.get(&lane).map_or(0, |waiting| waiting.calls.len())
    }

    /// A turn for a call that need not wait.
    pub fn turn(&mut self) -> Turn {
        self.next_turn += 1;
        self.next_turn
    }

    /// Behind the other calls of its session, or with a new turn at the end.
    pub fn join(&mut self, lane: Lane, call: T) -> Place {
        let place = self.place();
        match self.lanes.get_mut(&lane) {
            Some(waiting) => waiting.calls.push_back((place, call)),
            None => {
                let turn = self.turn();
                self.order.insert(turn, lane);
                self.lanes.insert(lane, Waiting { turn, calls: VecDeque::from([(place, call)]) });
            }
        }
        place
    }

    /// Before the other calls of its session, with the turn it had.
    pub fn rejoin(&mut self, lane: Lane, turn: Turn, call: T) -> Place {
        let place = self.place();
        // Two calls of one session may come back with turns of their own; the session keeps the older one.
        let turn = match self.lanes.get_mut(&lane) {
            Some(waiting) => {
                self.order.remove(&waiting.turn);
                waiting.turn = waiting.turn.min(turn);
                waiting.calls.push_front((place, call));
                waiting.turn
            }
            None => {
                self.lanes.insert(lane, Waiting { turn, calls: VecDeque::from([(place, call)]) });
                turn
            }
        };
        self.order.insert(turn, lane);
        place
    }

    /// The call whose turn it is.
    pub fn serve(&mut self) -> Option<(Lane, Turn, T)> {
        let (turn, lane) = self.order.pop_first()?;
        let waiting = self.lanes.get_mut(&lane)?;
        let (_, call) = waiting.calls.pop_front()?;
        self.length -= 1;
        if waiting.calls.is_empty() {
            self.lanes.remove(&lane);
        } else {
            self.next_turn += 1;
            waiting.turn = self.next_turn;
            self.order.insert(waiting.turn, lane);
        }
        Some((lane, turn, call))
    }

    /// A call that waits no more. One that was served already is not there, which is fine.
    pub fn leave(&mut self, lane: Lane, place: Place) {
        let Some(waiting) = self.lanes.get_mut(&lane) else { return };
        let before = waiting.calls.len();
        waiting.calls.retain(|(other, _)| *other != place);
        self.length -= before - waiting.calls.len();
        if waiting.calls.is_empty() {
            self.order.remove(&waiting.turn);
            self.lanes.remove(&lane);
        }
    }

    fn place(&mut self) -> Place {
        self.length += 1;
        self.next_place += 1;
        self.next_place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(line: &mut Line<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| line.serve()).map(|(_, _, call)| call).collect()
    }

    #[test]
    fn a_session_with_many_calls_does_not_hold_up_the_others() {
        let mut line = Line::default();
        for call in ["a1", "a2", "a3", "a4"] {
            line.join(1, call);
        }
        line.join(2, "b1");
        line.join(3, "c1");
        line.join(2, "b2");
        assert_eq!(line.len(), 7);
        assert_eq!(served(&mut line), ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
        assert!(line.is_empty());
    }

    #[test]
    fn a_call_that_was_sent_away_keeps_its_turn() {
        let mut line = Line::default();
        line.join(1, "a");
        line.join(2, "b");
        line.join(3, "c");
        let (lane_a, turn_a, a) = line.serve().unwrap();
        let (lane_b, turn_b, b) = line.serve().unwrap();
        line.join(4, "d");
        // They come back in another order than they were served.
        line.rejoin(lane_b, turn_b, b);
        line.rejoin(lane_a, turn_a, a);
        assert_eq!(served(&mut line), ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_session_that_comes_back_twice_keeps_its_older_turn_and_its_order() {
        let mut line = Line::default();
        line.join(1, "a1");
        line.join(1, "a2");
        line.join(2, "b");
        let (lane, first, a1) = line.serve().unwrap();
        line.rejoin(lane, first, a1);
        assert_eq!(line.waiting(1), 2);
        assert_eq!(served(&mut line), ["a1", "b", "a2"]);
        assert_eq!(line.waiting(1), 0);
    }

    #[test]
    fn who_leaves_frees_the_turn() {
        let mut line = Line::default();
        let a = line.join(1, "a");
        let b = line.join(2, "b1");
        line.join(2, "b2");
        line.leave(1, a);
        line.leave(1, a);
        line.leave(2, b);
        assert_eq!(line.len(), 1);
        assert_eq!(served(&mut line), ["b2"]);
        line.leave(2, b);
        assert_eq!(line.len(), 0);
    }
}
