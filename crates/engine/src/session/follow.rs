//! A client that follows a whole session, with or without an active run: where it begins to read, and what it is told again
//! because it was away.

use protocol::{
    Announcement, ApprovalId, Seq, SessionEvent, UnboundReason, event::LogEntry,
    interaction::InteractionStatus,
};
use store::{LastRun, RunStatus, SessionRecord};
use tokio::sync::watch;

use std::sync::Arc;

use super::{actor::Actor, log_end::LogEnd, viewer::ViewError};
use crate::{
    EngineError,
    log::session_log::{BATCH_BYTES, SessionLog, Visible},
};

/// How many questions one announcement names.
const QUESTIONS: usize = 32;
/// The `data-<name>` part with the plan.
const PLAN: &str = "plan";

/// Where a client begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowFrom {
    /// With what happens from now on.
    Now,
    /// After this entry of the log, which the client has.
    After(Seq),
    /// In this entry of the log, of which the client has a part.
    Within(Seq),
}

pub(crate) struct FollowRequest {
    pub(crate) from: FollowFrom,
    /// The connection that the session is taken from.
    pub(crate) taken_from: Option<String>,
}

/// A cursor over the log of a session.
pub struct Follower {
    log: Arc<SessionLog>,
    visible: watch::Receiver<Visible>,
    cursor: Seq,
    /// Entries up to this one were written before the client came.
    pub(crate) edge: Seq,
    /// The run that the cursor is in began after this entry: what it did so far must be read first.
    pub(crate) run_began: Option<Seq>,
}

impl Follower {
    pub(crate) fn cursor(&self) -> Seq {
        self.cursor
    }

    pub(crate) fn log(&self) -> &Arc<SessionLog> {
        &self.log
    }

    /// The entries after the cursor, as many as are ready; waits until there are some. The future may be dropped and
    /// called again.
    pub(crate) async fn next(&mut self) -> Result<Vec<LogEntry>, ViewError> {
        loop {
            let visible = *self.visible.borrow_and_update();
            if self.cursor < visible.seq {
                let entries = self.read(self.cursor, visible.seq).await?;
                self.cursor = entries.last().map_or(visible.seq, |last| last.seq);
                if !entries.is_empty() {
                    return Ok(entries);
                }
                continue;
            }
            if visible.broken {
                return Err(ViewError::BrokenOff);
            }
            self.visible.changed().await.map_err(|_| ViewError::BrokenOff)?;
            // Yield, so that other events that are ready are returned together with this one.
            tokio::task::yield_now().await;
        }
    }

    /// Some entries after `cursor`; none if the numbers up to the visible edge were left unused.
    pub(crate) async fn read(&self, cursor: Seq, visible: Seq) -> Result<Vec<LogEntry>, ViewError> {
        if let Some(entries) = self.log.entries(cursor, visible) {
            return Ok(entries);
        }
        let Some(key) = self.log.key() else { return Ok(Vec::new()) };
        Ok(self.log.store().read_log(key, cursor, BATCH_BYTES).await?)
    }
}

impl Actor {
    /// Follows the session; `None` if the entry that the client has is not in the log.
    pub(super) async fn follow_session(
        &mut self,
        request: FollowRequest,
    ) -> Result<Option<Follower>, EngineError> {
        self.recover().await?;
        if self.live.is_none() && self.queue.backlog {
            self.begin_next().await;
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let log = match &self.live {
            Some(live) => Arc::clone(&live.log),
            None => LogEnd::from(&record).open(&self.services),
        };
        let visible = log.watch();
        let last = visible.borrow().seq;
        let store = &self.services.store;
        let (mut cursor, run) = match request.from {
            FollowFrom::Now => {
                let run = record.last_run.as_ref().filter(|run| !matches!(run.status, RunStatus::Ended(_)));
                let run = match run {
                    Some(run) => store.run_of_message(record.key, &run.message).await?,
                    None => None,
                };
                (last, run)
            }
            FollowFrom::After(after) | FollowFrom::Within(after) => {
                let known = after == 0
                    || (after <= last
                        && (log.remembers(after) || store.is_stored(record.key, after).await?));
                if !known {
                    return Ok(None);
                }
                let within = request.from == FollowFrom::Within(after);
                let cursor = if within { after.saturating_sub(1) } else { after };
                (cursor, store.run_at(record.key, after).await?)
            }
        };
        let mut edge = last;
        if let Some(connection) = request.taken_from {
            // A run may have written since: the other connection is told up to here, this one from here on.
            edge = self
                .announce(vec![Announcement::Unbound { connection, reason: UnboundReason::TakenOver }])
                .await?;
            if request.from == FollowFrom::Now {
                cursor = edge;
            }
        }
        let mut told = self.unanswered(&record).await?;
        if let Some(steps) = store.latest_data(record.key, PLAN).await? {
            told.push(Announcement::Plan { steps });
        }
        if !told.is_empty() {
            self.announce(told).await?;
        }
        let run_began = run.map(|run| run.first_seq.saturating_sub(1)).filter(|began| *began < cursor);
        Ok(Some(Follower { log, visible, cursor, edge, run_began }))
    }

    /// The questions that wait, to be told again.
    async fn unanswered(&self, record: &SessionRecord) -> Result<Vec<Announcement>, EngineError> {
        let Some(LastRun { message, status: RunStatus::Running | RunStatus::Parked }) = &record.last_run
        else {
            return Ok(Vec::new());
        };
        let asked = self.services.store.interactions_of_message(record.key, message).await?;
        let waiting: Vec<ApprovalId> = asked
            .into_iter()
            .filter(|asked| asked.status == InteractionStatus::Pending)
            .map(|asked| asked.id)
            .collect();
        let some = waiting.chunks(QUESTIONS);
        Ok(some.map(|requests| Announcement::StillPending { requests: requests.to_vec() }).collect())
    }

    /// Appends what clients are told; returns the number of the last entry.
    pub(super) async fn announce(&self, told: Vec<Announcement>) -> Result<Seq, EngineError> {
        let event = |announcement| SessionEvent::Announced { announcement: Box::new(announcement) };
        self.append(told.into_iter().map(event).collect()).await
    }
}
