//! The events surface over a log: the frames that one connection receives of one session.
//!
//! A growing text is sent at most every 50 ms, whole or as what is new. A reader has no queue: a slow one costs its cursor.

use std::time::Duration;

use protocol::{
    MessageId, Seq, SessionEvent, SessionId,
    event::LogEntry,
    project::events::{EventsFold, Growth, needs_user_message},
    wire::events::ServerEvent,
};
use tokio::time::{Instant, sleep_until};

use super::{follow::Follower, viewer::ViewError};

/// Time between two states of a growing text.
const TEXT_INTERVAL: Duration = Duration::from_millis(50);

pub struct EventsReader {
    follower: Follower,
    fold: EventsFold,
    growth: Growth,
    /// Events up to this number are with the client.
    told: Seq,
    /// When the growing text may be sent again.
    text_due: Instant,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// What the run did before the client came is folded, up to this entry so far.
    CatchingUp(Seq),
    Reading,
    /// The session left the connection.
    Left,
}

impl EventsReader {
    /// `told` is the number of the last event that the client has; 0 if it has none.
    pub(crate) fn new(
        follower: Follower,
        session: SessionId,
        connection: String,
        growth: Growth,
        told: Seq,
    ) -> Self {
        let state = follower.run_began.map_or(State::Reading, State::CatchingUp);
        let fold = EventsFold::new(session, connection);
        Self { follower, fold, growth, told, text_due: Instant::now(), state }
    }

    /// The last entry that existed when the client came.
    pub fn edge(&self) -> Seq {
        self.follower.edge
    }

    /// The next frames, as many as are ready; `None` after the session left the connection. The future must be polled to its
    /// end: what it has read is lost with it.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, ViewError>> {
        loop {
            let step = match self.state {
                State::Left => return None,
                State::CatchingUp(at) => self.catch_up(at).await,
                State::Reading => self.read().await,
            };
            match step {
                Ok(bytes) if bytes.is_empty() => {}
                step => return Some(step),
            }
        }
    }

    async fn read(&mut self) -> Result<Vec<u8>, ViewError> {
        let mut out = Vec::new();
        let entries = if self.fold.has_grown() {
            tokio::select! {
                biased;
                entries = self.follower.next() => entries?,
                () = sleep_until(self.text_due) => {
                    self.send_growth(&mut out);
                    return Ok(out);
                }
            }
        } else {
            self.follower.next().await?
        };
        for entry in &entries {
            self.resolve(entry).await?;
            let is_live = entry.seq > self.follower.edge;
            let leaves = self.fold.leaves(&entry.event);
            for event in self.fold.take(entry, is_live) {
                self.put(&mut out, &event);
            }
            if leaves && is_live {
                self.state = State::Left;
                return Ok(out);
            }
        }
        if Instant::now() >= self.text_due {
            self.send_growth(&mut out);
        }
        Ok(out)
    }

    /// Folds what happened in the run before the cursor, without telling it.
    async fn catch_up(&mut self, at: Seq) -> Result<Vec<u8>, ViewError> {
        let end = self.follower.cursor();
        let entries = if at < end { self.follower.read(at, end).await? } else { Vec::new() };
        let mut reached = end;
        for entry in &entries {
            reached = entry.seq;
            if entry.seq <= end {
                self.resolve(entry).await?;
                self.fold.take(entry, false);
            } else {
                self.catch_up_in(entry, end).await?;
                break;
            }
        }
        self.state = if entries.is_empty() || reached >= end {
            // The client has the text up to here.
            self.fold.growing(self.growth);
            State::Reading
        } else {
            State::CatchingUp(reached)
        };
        Ok(Vec::new())
    }

    /// Folds the beginning of neighbouring deltas that are stored together, up to `end`.
    async fn catch_up_in(&mut self, entry: &LogEntry, end: Seq) -> Result<(), ViewError> {
        let rest = self.follower.read(end, entry.seq).await?;
        let mut beginning = entry.clone();
        if let (
            SessionEvent::SegmentDelta { delta, .. } | SessionEvent::ToolInputDelta { delta, .. },
            Some(
                SessionEvent::SegmentDelta { delta: rest, .. }
                | SessionEvent::ToolInputDelta { delta: rest, .. },
            ),
        ) = (&mut beginning.event, rest.first().map(|rest| &rest.event))
            && delta.ends_with(rest.as_str())
        {
            delta.truncate(delta.len() - rest.len());
            beginning.seq = end;
            self.fold.take(&beginning, false);
        }
        Ok(())
    }

    /// Gives the fold the message that a run answers, if it was written before what the fold has seen.
    async fn resolve(&mut self, entry: &LogEntry) -> Result<(), ViewError> {
        let Some(message) = needs_user_message(entry) else { return Ok(()) };
        if !self.fold.has_accepted(message)
            && let Some(message) = self.message(&message.clone()).await?
        {
            self.fold.set_accepted(message);
        }
        Ok(())
    }

    async fn message(&self, id: &MessageId) -> Result<Option<protocol::UiMessage>, ViewError> {
        let log = self.follower.log();
        let Some(key) = log.key() else { return Ok(None) };
        match log.store().message(key, id).await? {
            Some(record) => Ok(Some(record.message()?)),
            None => Ok(None),
        }
    }

    fn send_growth(&mut self, out: &mut Vec<u8>) {
        if let Some(event) = self.fold.growing(self.growth) {
            self.text_due = Instant::now() + TEXT_INTERVAL;
            self.put(out, &event);
        }
    }

    fn put(&mut self, out: &mut Vec<u8>, event: &ServerEvent) {
        if event.seq.is_some_and(|seq| seq <= self.told) {
            return;
        }
        if let Err(error) = event.write(out) {
            tracing::error!(%error, "an event could not be written");
        }
    }
}
