//! Runs the parsing, checking and rendering of templates off the serving threads, a few at a time.

use tokio::{sync::Semaphore, task::spawn_blocking};

/// Templates that are worked on at the same time. Each takes a few milliseconds at most, so that further ones wait
/// instead of taking the processors from the streams.
const AT_A_TIME: usize = 2;

#[derive(Debug)]
pub(crate) struct TemplateThreads {
    permits: Semaphore,
}

impl Default for TemplateThreads {
    fn default() -> Self {
        Self { permits: Semaphore::new(AT_A_TIME) }
    }
}

impl TemplateThreads {
    /// Runs this on a thread where it may take its time; `None` when it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await.ok();
        match spawn_blocking(work).await {
            Ok(done) => Some(done),
            Err(error) => {
                tracing::error!(%error, "work on a template failed");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc, Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
    };

    use super::*;

    #[tokio::test]
    async fn a_few_work_at_the_same_time_and_never_on_the_callers_thread() {
        let threads = TemplateThreads::default();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        // Nobody goes on before as many as may have begun.
        let begun = Arc::new(Barrier::new(AT_A_TIME));
        let work = (0..8 * AT_A_TIME).map(|_| {
            let (now, most, begun) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&begun));
            threads.run(move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                begun.wait();
                now.fetch_sub(1, Ordering::SeqCst);
                thread::current().id()
            })
        });
        let caller = thread::current().id();
        let done = futures::future::join_all(work).await;
        assert!(done.iter().all(|thread| thread.is_some_and(|thread| thread != caller)));
        assert_eq!(most.load(Ordering::SeqCst), AT_A_TIME);
        let failed: Option<()> = threads.run(|| panic!("a defect")).await;
        assert_eq!(failed, None);
    }
}
