//! The order in which queued calls are admitted: one queue per provider and key, fair between sessions. Pure: no time,
//! no waking.
//!
//! Every session with queued calls holds one ticket. The oldest ticket is admitted first; calls of one session are
//! admitted in the order they came. A session with further calls takes a new ticket after each admission. A call that
//! was rate limited keeps its old ticket, so that it does not return to the end of the queue.

use std::collections::{BTreeMap, HashMap, VecDeque};

/// Whose turn it is: a number made from the session. Sessions with the same number share their turns, nothing else.
pub type FairnessKey = u64;
/// The position in the queue: the lowest number is admitted first.
pub type TicketNumber = u64;
/// Identifies a queued call.
pub type WaiterId = u64;

#[derive(Debug)]
pub struct FairQueue<T> {
    order: BTreeMap<TicketNumber, FairnessKey>,
    keys: HashMap<FairnessKey, KeyQueue<T>>,
    last_ticket: TicketNumber,
    last_id: WaiterId,
    length: usize,
}

/// The queued calls of one session.
#[derive(Debug)]
struct KeyQueue<T> {
    ticket: TicketNumber,
    calls: VecDeque<QueuedCall<T>>,
}

#[derive(Debug)]
struct QueuedCall<T> {
    id: WaiterId,
    call: T,
}

/// A call that is admitted.
#[derive(Debug, PartialEq, Eq)]
pub struct Admitted<T> {
    pub key: FairnessKey,
    pub ticket: TicketNumber,
    pub call: T,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { order: BTreeMap::new(), keys: HashMap::new(), last_ticket: 0, last_id: 0, length: 0 }
    }
}

impl<T> FairQueue<T> {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The number of queued calls of one session.
    pub fn count(&self, key: FairnessKey) -> usize {
        self.keys.get(&key).map_or(0, |queue| queue.calls.len())
    }

    /// Takes a ticket; also for a call that is admitted without being queued.
    pub fn take_ticket(&mut self) -> TicketNumber {
        self.last_ticket += 1;
        self.last_ticket
    }

    /// Appends a call after the others of its session; a session without calls gets a new ticket.
    pub fn push(&mut self, key: FairnessKey, call: T) -> WaiterId {
        let queued = self.queued(call);
        let id = queued.id;
        match self.keys.get_mut(&key) {
            Some(queue) => queue.calls.push_back(queued),
            None => {
                let ticket = self.take_ticket();
                self.order.insert(ticket, key);
                self.keys.insert(key, KeyQueue { ticket, calls: VecDeque::from([queued]) });
            }
        }
        id
    }

    /// Puts a call back before the others of its session, with the ticket it had.
    pub fn push_again(&mut self, key: FairnessKey, ticket: TicketNumber, call: T) -> WaiterId {
        let queued = self.queued(call);
        let id = queued.id;
        // Two calls of one session may come back with a ticket each; the session keeps the older one.
        let ticket = match self.keys.get_mut(&key) {
            Some(queue) => {
                self.order.remove(&queue.ticket);
                queue.ticket = queue.ticket.min(ticket);
                queue.calls.push_front(queued);
                queue.ticket
            }
            None => {
                self.keys.insert(key, KeyQueue { ticket, calls: VecDeque::from([queued]) });
                ticket
            }
        };
        self.order.insert(ticket, key);
        id
    }

    /// Removes the next call to admit.
    pub fn pop(&mut self) -> Option<Admitted<T>> {
        let (ticket, key) = self.order.pop_first()?;
        let queue = self.keys.get_mut(&key)?;
        let QueuedCall { call, .. } = queue.calls.pop_front()?;
        self.length -= 1;
        if queue.calls.is_empty() {
            self.keys.remove(&key);
        } else {
            self.last_ticket += 1;
            queue.ticket = self.last_ticket;
            self.order.insert(queue.ticket, key);
        }
        Some(Admitted { key, ticket, call })
    }

    /// Removes a call that is no longer waited for. Does nothing if it was admitted already.
    pub fn remove(&mut self, key: FairnessKey, id: WaiterId) {
        let Some(queue) = self.keys.get_mut(&key) else { return };
        let before = queue.calls.len();
        queue.calls.retain(|queued| queued.id != id);
        self.length -= before - queue.calls.len();
        if queue.calls.is_empty() {
            self.order.remove(&queue.ticket);
            self.keys.remove(&key);
        }
    }

    fn queued(&mut self, call: T) -> QueuedCall<T> {
        self.length += 1;
        self.last_id += 1;
        QueuedCall { id: self.last_id, call }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(queue: &mut FairQueue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).map(|admitted| admitted.call).collect()
    }

    #[test]
    fn a_session_with_many_calls_does_not_hold_up_the_others() {
        let mut queue = FairQueue::default();
        for call in ["a1", "a2", "a3", "a4"] {
            queue.push(1, call);
        }
        queue.push(2, "b1");
        queue.push(3, "c1");
        queue.push(2, "b2");
        assert_eq!(queue.len(), 7);
        assert_eq!(drained(&mut queue), ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_rate_limited_call_keeps_its_ticket() {
        let mut queue = FairQueue::default();
        queue.push(1, "a");
        queue.push(2, "b");
        queue.push(3, "c");
        let a = queue.pop().unwrap();
        let b = queue.pop().unwrap();
        queue.push(4, "d");
        // They come back in another order than they were admitted.
        queue.push_again(b.key, b.ticket, b.call);
        queue.push_again(a.key, a.ticket, a.call);
        assert_eq!(drained(&mut queue), ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_session_that_comes_back_twice_keeps_its_older_ticket_and_its_order() {
        let mut queue = FairQueue::default();
        queue.push(1, "a1");
        queue.push(1, "a2");
        queue.push(2, "b");
        let first = queue.pop().unwrap();
        queue.push_again(first.key, first.ticket, first.call);
        assert_eq!(queue.count(1), 2);
        assert_eq!(drained(&mut queue), ["a1", "b", "a2"]);
        assert_eq!(queue.count(1), 0);
    }

    #[test]
    fn a_removed_call_frees_its_ticket() {
        let mut queue = FairQueue::default();
        let a = queue.push(1, "a");
        let b = queue.push(2, "b1");
        queue.push(2, "b2");
        queue.remove(1, a);
        queue.remove(1, a);
        queue.remove(2, b);
        assert_eq!(queue.len(), 1);
        assert_eq!(drained(&mut queue), ["b2"]);
        queue.remove(2, b);
        assert_eq!(queue.len(), 0);
    }
}
