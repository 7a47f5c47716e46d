//! The gate: limits, turns, pauses, bounds, and those who go away.

use std::future::Future;

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::*;

fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// Polls once; a call that must wait is now in the line.
fn begin<F: Future>(future: &mut std::pin::Pin<Box<F>>) -> Option<F::Output> {
    future.as_mut().now_or_never()
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_limit_wait_and_take_turns_between_sessions() {
    let gate = Gate::new(Some(1));
    let first = gate.try_enter(0).unwrap();
    assert!(gate.try_enter(0).is_none());
    let mut waiting = FuturesUnordered::new();
    for (lane, name) in [(1, "a1"), (1, "a2"), (1, "a3"), (2, "b1"), (2, "b2")] {
        let mut entering = Box::pin(Arc::clone(&gate).enter(lane, None, far()));
        assert!(begin(&mut entering).is_none());
        waiting.push(entering.map(move |permit| (name, permit.unwrap())));
    }
    assert_eq!(gate.load(), GateLoad { on: 1, waiting: 5, paused: false });
    drop(first);
    let mut order = Vec::new();
    while let Some((name, permit)) = waiting.next().await {
        order.push(name);
        drop(permit);
    }
    assert_eq!(order, ["a1", "b1", "a2", "b2", "a3"]);
    assert_eq!(gate.load(), GateLoad { on: 0, waiting: 0, paused: false });
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_sent_away_waits_as_long_as_the_server_says_and_keeps_its_turn() {
    let gate = Gate::new(Some(1));
    let permit = gate.try_enter(7).unwrap();
    let mut later = Box::pin(Arc::clone(&gate).enter(8, None, far()));
    assert!(begin(&mut later).is_none());
    let turn = permit.sent_away(Some(Duration::from_secs(5)));
    let started = Instant::now();
    assert!(gate.load().paused);
    let again = Arc::clone(&gate).enter(7, Some(turn), far());
    tokio::pin!(again);
    let permit = tokio::select! {
        permit = &mut again => permit.unwrap(),
        _ = &mut later => panic!("the later call went first"),
    };
    assert_eq!(started.elapsed().as_secs(), 5);
    permit.answered();
    drop(permit);
    later.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_waits_grow_while_nothing_gets_through_and_begin_anew_after_an_answer() {
    let gate = Gate::new(None);
    let mut turn = None;
    let mut waits = Vec::new();
    for _ in 0..9 {
        let started = Instant::now();
        let permit = Arc::clone(&gate).enter(1, turn, far()).await.unwrap();
        waits.push(started.elapsed());
        turn = Some(permit.sent_away(None));
    }
    assert!(waits[0].is_zero());
    assert!(waits[5] >= 8 * PAUSE, "{waits:?}");
    assert!(waits[8] <= LONGEST_PAUSE + Duration::from_millis(2), "{waits:?}");
    let permit = Arc::clone(&gate).enter(1, turn, far()).await.unwrap();
    permit.answered();
    turn = Some(permit.sent_away(None));
    let started = Instant::now();
    drop(Arc::clone(&gate).enter(1, turn, far()).await.unwrap());
    assert!(started.elapsed() <= PAUSE + Duration::from_millis(2));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_sends_calls_away_gets_fewer_at_once_until_it_answers() {
    let gate = Gate::new(None);
    let mut permits: Vec<_> = (0..40).map(|lane| gate.try_enter(lane).unwrap()).collect();
    permits.pop().unwrap().sent_away(Some(Duration::from_millis(10)));
    drop(permits);
    tokio::time::advance(Duration::from_millis(11)).await;
    let mut permits: Vec<_> = std::iter::from_fn(|| gate.try_enter(1)).collect();
    assert_eq!(permits.len(), 20);
    permits[0].answered();
    permits.extend(std::iter::from_fn(|| gate.try_enter(1)));
    assert_eq!(permits.len(), 21);
    drop(permits);
    tokio::time::advance(FORGET * 2).await;
    let permits: Vec<_> = (0..100).map_while(|_| gate.try_enter(1)).collect();
    assert_eq!(permits.len(), 100, "after a quiet while the gate is wide open again");
}

#[tokio::test(start_paused = true)]
async fn who_stops_waiting_leaves_the_line_and_loses_no_permit() {
    let gate = Gate::new(Some(1));
    let permit = gate.try_enter(1).unwrap();
    let mut gone = Box::pin(Arc::clone(&gate).enter(2, None, far()));
    let mut granted_but_gone = Box::pin(Arc::clone(&gate).enter(3, None, far()));
    let mut stays = Box::pin(Arc::clone(&gate).enter(4, None, far()));
    assert!(begin(&mut gone).is_none() && begin(&mut granted_but_gone).is_none());
    assert!(begin(&mut stays).is_none());
    drop(gone);
    assert_eq!(gate.load().waiting, 2);
    drop(permit);
    drop(granted_but_gone);
    drop(stays.await.unwrap());
    assert_eq!(gate.load(), GateLoad { on: 0, waiting: 0, paused: false });
}

#[tokio::test(start_paused = true)]
async fn the_line_is_bounded_and_nobody_waits_longer_than_allowed() {
    let gate = Gate::new(Some(1));
    let _permit = gate.try_enter(1).unwrap();
    let soon = Instant::now() + Duration::from_secs(2);
    assert_eq!(Arc::clone(&gate).enter(1, None, soon).await.unwrap_err(), Refused::Late);
    let mut waiting = Vec::new();
    for _ in 0..LONGEST_LANE {
        let mut entering = Box::pin(Arc::clone(&gate).enter(1, None, far()));
        assert!(begin(&mut entering).is_none());
        waiting.push(entering);
    }
    assert_eq!(Arc::clone(&gate).enter(1, None, far()).await.unwrap_err(), Refused::Full);
    let mut other = Box::pin(Arc::clone(&gate).enter(2, None, far()));
    assert!(begin(&mut other).is_none(), "another session still finds room");
}
