//! Spreads work over the processor's cores.

use std::{
    num::NonZero,
    panic::resume_unwind,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

const MAX_THREADS: usize = 8;
/// A thread takes so many items at a time; fewer are not worth a second thread.
const AT_A_TIME: usize = 16;

/// Does the same work for each item, on several threads when there are many, and returns the results in the order of the
/// items. Each thread has a state of its own. When some items fail, the error of the first of them is returned.
pub fn in_parallel<T: Sync, S, R: Send, E: Send>(
    items: &[T],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    on_threads(cores().min(MAX_THREADS), AT_A_TIME, items, state, work)
}

/// The number of cores, asked for once: the answer takes longer than small pieces of work.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// As [`in_parallel`] with a chosen number of threads, which is more than there are cores for work that waits for the disk.
pub(crate) fn on_threads<T: Sync, S, R: Send, E: Send>(
    most: usize,
    at_a_time: usize,
    items: &[T],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let parts: Vec<&[T]> = items.chunks(at_a_time.max(1)).collect();
    let threads = most.min(parts.len());
    if threads <= 1 {
        let mut state = state();
        return items.iter().map(|item| work(&mut state, item)).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run = || {
        let mut state = state();
        let mut results = Vec::new();
        // Parts are taken in order and a part that was begun is finished: the first failure is always among the results.
        while !failed.load(Relaxed) {
            let number = next.fetch_add(1, Relaxed);
            let Some(part) = parts.get(number) else { break };
            let result: Result<Vec<R>, E> = part.iter().map(|item| work(&mut state, item)).collect();
            if result.is_err() {
                failed.store(true, Relaxed);
            }
            results.push((number, result));
        }
        results
    };
    let mut results = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for helper in helpers {
            results.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(number, _)| *number);
    let mut all = Vec::with_capacity(items.len());
    for (_, result) in results {
        all.extend(result?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_failure_counts() {
        for count in [0, 1, 15, 16, 17, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled = in_parallel(&items, || (), |(), item| Ok::<_, usize>(item * 2)).unwrap();
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
        let items: Vec<usize> = (0..1000).collect();
        for first in [0, 17, 400, 999] {
            let fail = |(): &mut (), item: &usize| if *item >= first { Err(*item) } else { Ok(()) };
            assert_eq!(on_threads(4, 3, &items, || (), fail), Err(first));
        }
    }
}
