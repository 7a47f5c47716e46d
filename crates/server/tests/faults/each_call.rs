//! Every single store call of a rich session fails once.

use std::{collections::BTreeMap, panic::AssertUnwindSafe};

use futures::FutureExt;
use testkit::faults::{Count, Effect, Method, When};
use tokio::task::JoinSet;

use crate::{Tally, rounds, script::Stage};

const AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_store_call_fails_once_and_nobody_is_left_with_half_an_answer() {
    each_call("each call once", None, &Effect::Fail).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_write_is_carried_out_once_although_it_says_it_failed() {
    each_call("each write, told late", Some(Method::Append), &Effect::FailLate).await;
}

/// Plays the script once for each call of this method, or of all methods, with this effect on it.
async fn each_call(name: &str, method: Option<Method>, effect: &Effect) {
    let mut calm = Stage::new().await;
    calm.play().await;
    let (tally, counts) = (calm.person.tally, calm.faults.counts());
    assert_eq!(tally.failed(), 0, "without faults nothing fails: {tally}");
    let total = method.map_or(calm.faults.total(), |method| counts[&method]).calls;
    calm.is_in_order().await;
    for method in Method::ALL.into_iter().filter(|method| method.is_of_a_chat()) {
        assert!(counts.contains_key(&method), "the script never calls {method:?}");
    }

    // Each call in the long run; in the everyday one every third, and the first of every method.
    let step = if rounds(1) > 1 { 1 } else { 3 };
    let mut left: Vec<_> = (0..total).step_by(step).map(|call| (method, call)).collect();
    if method.is_none() {
        left.extend(counts.keys().map(|method| (Some(*method), 0)));
    }
    let played = left.len();
    let (mut tally, mut failed) = (Tally::default(), BTreeMap::<Method, u64>::new());
    let (mut running, mut wrong) = (JoinSet::new(), Vec::new());
    loop {
        while running.len() < AT_ONCE
            && let Some((method, call)) = left.pop()
        {
            let effect = effect.clone();
            running.spawn(async move {
                ((method, call), AssertUnwindSafe(one(method, call, effect)).catch_unwind().await)
            });
        }
        let Some(done) = running.join_next().await else { break };
        let (call, outcome) = done.unwrap();
        let Ok((mine, counts)) = outcome else {
            wrong.push(call);
            continue;
        };
        tally += mine;
        for (method, count) in counts.into_iter().filter(|(_, count)| count.failed > 0) {
            *failed.entry(method).or_default() += count.failed;
        }
    }
    let fired: u64 = failed.values().sum();
    println!("{name}: {total} store calls, {played} sessions, {fired} calls failed: {failed:?}");
    println!("{name}: {tally}");
    assert!(
        wrong.is_empty(),
        "with these calls failing the session went wrong, see the panics above: {wrong:?}"
    );
    assert!(fired * 10 >= played as u64 * 9, "only {fired} of {played} faults happened");
    assert!(tally.succeeded > 20 * played as u64 && tally.failed() > 0, "{tally}");
}

/// The whole script with one call failing, and the checks after it.
async fn one(method: Option<Method>, call: u64, effect: Effect) -> (Tally, BTreeMap<Method, Count>) {
    let mut stage = Stage::new().await;
    match method {
        Some(method) => stage.faults.on(method, When::call(call), effect),
        None => stage.faults.on_any(When::call(call), effect),
    }
    stage.play().await;
    let counts = stage.faults.counts();
    stage.faults.clear_rules();
    stage.is_in_order().await;
    (stage.person.tally, counts)
}
