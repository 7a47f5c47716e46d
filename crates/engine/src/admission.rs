//! The door that runs pass when they begin and when they end. Both are work; passed all at once, it would stand between
//! the words of others and their readers, and those that wait outside hold little.
//!
//! A few at a time share a commit. The more sessions are live, the more people wait for words, and the fewer pass.

use tokio::sync::{Semaphore, SemaphorePermit};

const PLACES: usize = 16;
/// With every so many live sessions, whoever passes takes one place more.
const CROWD: usize = 48;
const WIDEST: usize = 4;

pub(crate) struct Door(Semaphore);

impl Default for Door {
    fn default() -> Self {
        Self(Semaphore::new(PLACES))
    }
}

impl Door {
    /// Waits for room. What is given back makes room for the next.
    pub(crate) async fn pass(&self, live: usize) -> Option<SemaphorePermit<'_>> {
        // An error would mean that the door is closed; it never is.
        self.0.acquire_many(width(live)).await.ok()
    }
}

fn width(live: usize) -> u32 {
    u32::try_from((live / CROWD).clamp(1, WIDEST)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn fewer_pass_at_a_time_where_more_are_listening() {
        for (live, passing) in [(1, 16), (64, 16), (100, 8), (200, 4), (5_000, 4)] {
            let door = Door::default();
            let inside: Vec<_> = (0..64).map_while(|_| door.pass(live).now_or_never()).collect();
            assert_eq!(inside.len(), passing, "{live}");
            drop(inside);
            assert!(door.pass(live).now_or_never().is_some(), "there is room again");
        }
    }
}
