//! Limits, order, pauses, bounds, and calls that stop waiting.

use std::future::Future;

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::*;

fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// Polls once; a call that must wait is now in the queue.
fn begin<F: Future>(future: &mut std::pin::Pin<Box<F>>) -> Option<F::Output> {
    future.as_mut().now_or_never()
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_limit_wait_and_take_turns_between_sessions() {
    let limiter = ProviderLimiter::new(Some(1));
    let first = limiter.try_acquire(0).unwrap();
    assert!(limiter.try_acquire(0).is_none());
    let mut waiting = FuturesUnordered::new();
    for (key, name) in [(1, "a1"), (1, "a2"), (1, "a3"), (2, "b1"), (2, "b2")] {
        let mut acquiring = Box::pin(Arc::clone(&limiter).acquire(key, None, far()));
        assert!(begin(&mut acquiring).is_none());
        waiting.push(acquiring.map(move |permit| (name, permit.unwrap())));
    }
    assert_eq!(limiter.load(), ProviderLoad { active: 1, queued: 5, paused: false });
    drop(first);
    let mut order = Vec::new();
    while let Some((name, permit)) = waiting.next().await {
        order.push(name);
        drop(permit);
    }
    assert_eq!(order, ["a1", "b1", "a2", "b2", "a3"]);
    assert_eq!(limiter.load(), ProviderLoad { active: 0, queued: 0, paused: false });
}

#[tokio::test(start_paused = true)]
async fn a_rate_limited_call_waits_as_long_as_the_server_says_and_keeps_its_ticket() {
    let limiter = ProviderLimiter::new(Some(1));
    let permit = limiter.try_acquire(7).unwrap();
    let mut later = Box::pin(Arc::clone(&limiter).acquire(8, None, far()));
    assert!(begin(&mut later).is_none());
    let ticket = permit.rate_limited(Some(Duration::from_secs(5)));
    let started = Instant::now();
    assert!(limiter.load().paused);
    let again = Arc::clone(&limiter).acquire(7, Some(ticket), far());
    tokio::pin!(again);
    let permit = tokio::select! {
        permit = &mut again => permit.unwrap(),
        _ = &mut later => panic!("the later call went first"),
    };
    assert_eq!(started.elapsed().as_secs(), 5);
    permit.answer_started();
    drop(permit);
    later.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_waits_grow_while_nothing_gets_through_and_begin_anew_after_an_answer() {
    let limiter = ProviderLimiter::new(None);
    let mut ticket = None;
    let mut waits = Vec::new();
    for _ in 0..9 {
        let started = Instant::now();
        let permit = Arc::clone(&limiter).acquire(1, ticket, far()).await.unwrap();
        waits.push(started.elapsed());
        ticket = Some(permit.rate_limited(None));
    }
    assert!(waits[0].is_zero());
    assert!(waits[5] >= 8 * FIRST_PAUSE, "{waits:?}");
    assert!(waits[8] <= MAX_PAUSE + Duration::from_millis(2), "{waits:?}");
    let permit = Arc::clone(&limiter).acquire(1, ticket, far()).await.unwrap();
    permit.answer_started();
    ticket = Some(permit.rate_limited(None));
    let started = Instant::now();
    drop(Arc::clone(&limiter).acquire(1, ticket, far()).await.unwrap());
    assert!(started.elapsed() <= FIRST_PAUSE + Duration::from_millis(2));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_429_gets_fewer_calls_at_once_until_it_answers() {
    let limiter = ProviderLimiter::new(None);
    let mut permits: Vec<_> = (0..40).map(|key| limiter.try_acquire(key).unwrap()).collect();
    permits.pop().unwrap().rate_limited(Some(Duration::from_millis(10)));
    drop(permits);
    tokio::time::advance(Duration::from_millis(11)).await;
    let mut permits: Vec<_> = std::iter::from_fn(|| limiter.try_acquire(1)).collect();
    assert_eq!(permits.len(), 20);
    permits[0].answer_started();
    permits.extend(std::iter::from_fn(|| limiter.try_acquire(1)));
    assert_eq!(permits.len(), 21);
    drop(permits);
    tokio::time::advance(RESET_AFTER * 2).await;
    let permits: Vec<_> = (0..100).map_while(|_| limiter.try_acquire(1)).collect();
    assert_eq!(permits.len(), 100, "after a quiet while the limit of the settings applies again");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_stops_waiting_leaves_the_queue_and_loses_no_permit() {
    let limiter = ProviderLimiter::new(Some(1));
    let permit = limiter.try_acquire(1).unwrap();
    let mut gone = Box::pin(Arc::clone(&limiter).acquire(2, None, far()));
    let mut granted_but_gone = Box::pin(Arc::clone(&limiter).acquire(3, None, far()));
    let mut stays = Box::pin(Arc::clone(&limiter).acquire(4, None, far()));
    assert!(begin(&mut gone).is_none() && begin(&mut granted_but_gone).is_none());
    assert!(begin(&mut stays).is_none());
    drop(gone);
    assert_eq!(limiter.load().queued, 2);
    drop(permit);
    drop(granted_but_gone);
    drop(stays.await.unwrap());
    assert_eq!(limiter.load(), ProviderLoad { active: 0, queued: 0, paused: false });
}

#[tokio::test(start_paused = true)]
async fn the_queue_is_bounded_and_no_call_waits_longer_than_allowed() {
    let limiter = ProviderLimiter::new(Some(1));
    let _permit = limiter.try_acquire(1).unwrap();
    let soon = Instant::now() + Duration::from_secs(2);
    assert_eq!(Arc::clone(&limiter).acquire(1, None, soon).await.unwrap_err(), AcquireError::TimedOut);
    let mut waiting = Vec::new();
    for _ in 0..MAX_QUEUED_PER_KEY {
        let mut acquiring = Box::pin(Arc::clone(&limiter).acquire(1, None, far()));
        assert!(begin(&mut acquiring).is_none());
        waiting.push(acquiring);
    }
    assert_eq!(Arc::clone(&limiter).acquire(1, None, far()).await.unwrap_err(), AcquireError::QueueFull);
    let mut other = Box::pin(Arc::clone(&limiter).acquire(2, None, far()));
    assert!(begin(&mut other).is_none(), "another session still finds room");
}
