//! The idle connections of a client. Pure: the client owns the task that closes old ones.

use std::time::Duration;

use tokio::time::Instant;

/// The most idle connections.
const MAX_IDLE: usize = 256;
/// How long an idle connection is kept.
pub(super) const IDLE_TIME: Duration = Duration::from_secs(60);

pub(super) struct IdlePool<T> {
    connections: Vec<Idle<T>>,
    /// Whether a task is running that closes old connections. There is at most one: a busy client empties and fills its
    /// pool many times a second.
    has_closer: bool,
}

struct Idle<T> {
    connection: T,
    since: Instant,
}

impl<T> Default for IdlePool<T> {
    fn default() -> Self {
        Self { connections: Vec::new(), has_closer: false }
    }
}

impl<T> IdlePool<T> {
    /// The connection that was used last, unless it has been idle for too long.
    pub(super) fn take(&mut self) -> Option<T> {
        let Idle { connection, since } = self.connections.pop()?;
        (since.elapsed() < IDLE_TIME).then_some(connection)
    }

    /// Keeps a connection; returns whether the caller must start the task that closes old ones.
    #[must_use]
    pub(super) fn put(&mut self, connection: T) -> bool {
        if self.connections.len() < MAX_IDLE {
            self.connections.push(Idle { connection, since: Instant::now() });
        }
        !std::mem::replace(&mut self.has_closer, true)
    }

    /// Closes old connections; returns whether any is left. If not, the task that calls this must end.
    pub(super) fn close_old(&mut self) -> bool {
        self.connections.retain(|idle| idle.since.elapsed() < IDLE_TIME);
        self.has_closer = !self.connections.is_empty();
        self.has_closer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_task_closes_old_connections_however_often_the_pool_was_empty() {
        let mut pool = IdlePool::default();
        assert!(pool.put(1), "the first connection starts the task");
        for _ in 0..1_000 {
            assert_eq!(pool.take(), Some(1));
            assert!(!pool.put(1), "the task is running");
        }
        tokio::time::advance(IDLE_TIME).await;
        assert!(!pool.close_old(), "nothing is left, and the task ends");
        assert!(pool.put(2), "the next connection starts it again");
    }

    #[tokio::test(start_paused = true)]
    async fn connections_are_reused_until_they_are_old_and_not_more_than_the_limit_are_kept() {
        let mut pool = IdlePool::default();
        let started: Vec<bool> = (0..2 * MAX_IDLE).map(|connection| pool.put(connection)).collect();
        assert_eq!(started.iter().filter(|started| **started).count(), 1);
        assert_eq!(pool.take(), Some(MAX_IDLE - 1));
        tokio::time::advance(IDLE_TIME / 2).await;
        assert!(pool.close_old());
        assert!(!pool.put(9_999));
        tokio::time::advance(IDLE_TIME / 2).await;
        assert!(pool.close_old(), "the newest is young enough");
        assert_eq!((pool.take(), pool.take()), (Some(9_999), None));
    }
}
