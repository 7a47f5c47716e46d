//! Every way a call can end, and that nothing is emitted after it. Time is tokio's paused clock.

use std::{future, io, sync::Mutex as StdMutex};

use serde_json::json;
use tokio::{sync::oneshot, task::JoinSet, time::Instant};

use super::*;
use crate::testing::{Recorder, ctx};

fn prepared<F>(run: impl FnOnce(ToolCtx) -> F + Send + 'static) -> Box<dyn PreparedCall>
where
    F: Future<Output = Result<Value, ToolError>> + Send + 'static,
{
    crate::closure_call(policy::Need::Nothing, run)
}

async fn run<F>(run: impl FnOnce(ToolCtx) -> F + Send + 'static) -> Outcome
where
    F: Future<Output = Result<Value, ToolError>> + Send + 'static,
{
    execute(prepared(run), ctx(&Arc::default()), Limits::default()).await
}

fn failure(outcome: Outcome) -> String {
    match outcome {
        Outcome::Failed(message) => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn output_and_reports_come_back_as_they_are() {
    assert!(
        matches!(run(|_| async { Ok(json!({"a": 1})) }).await, Outcome::Done(output) if output == json!({"a": 1}))
    );
    assert_eq!(
        failure(run(|_| async { Err(ToolError::Report("no such file".to_owned())) }).await),
        "no such file"
    );
    assert!(matches!(run(|_| async { Err(ToolError::Cancelled) }).await, Outcome::Cancelled));
}

#[tokio::test]
async fn long_output_becomes_a_preview_and_a_long_report_is_cut() {
    let Outcome::Done(output) = run(|_| async { Ok("é".repeat(60_000).into()) }).await else { panic!() };
    assert_eq!((&output["truncated"], &output["characters"]), (&json!(true), &json!(60_002)));
    assert!(output.to_string().chars().count() <= 50_000);
    let report = failure(run(|_| async { Err(ToolError::Report("é".repeat(60_000))) }).await);
    assert!(report.ends_with("é… (the first 50000 of 60000 characters)"));
}

#[tokio::test]
async fn a_panic_is_a_defect_and_the_model_hears_no_details() {
    let during = run(|_| async { panic!("index {} out of range", 7) }).await;
    let before = run(|_| -> future::Ready<Result<Value, ToolError>> { panic!("at once") }).await;
    for (outcome, message) in [(during, "index 7 out of range"), (before, "at once")] {
        let Outcome::Defect(source) = outcome else { panic!("{outcome:?}") };
        assert_eq!(source.to_string(), format!("the tool panicked: {message}"));
        let told = ToolOutcome::from(Outcome::Defect(source));
        let text = "the tool failed because of an internal error, not because of your call".to_owned();
        assert_eq!(told, ToolOutcome::Failed { message: text });
    }
}

#[tokio::test]
async fn an_inner_failure_keeps_its_source() {
    let outcome = run(|_| async { Err(ToolError::Fatal(Box::new(io::Error::other("disk full")))) }).await;
    let Outcome::Defect(source) = outcome else { panic!("{outcome:?}") };
    assert_eq!(source.to_string(), "disk full");
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_cancels_the_work_and_is_named() {
    let (told, heard) = oneshot::channel();
    let began = Instant::now();
    let outcome = run(|ctx| async move {
        ctx.cancel.cancelled().await;
        told.send("tidied up").ok();
        Err(ToolError::Cancelled)
    });
    assert_eq!(
        failure(outcome.await),
        "the tool did not finish within its time limit of 120s and was stopped"
    );
    assert_eq!(heard.await, Ok("tidied up"));
    assert_eq!(began.elapsed().as_secs(), 120);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_the_cancel_is_dropped_after_a_grace_period() {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let began = Instant::now();
    let outcome = run(|_| async move {
        future::pending::<()>().await;
        drop(inside);
        Ok(Value::Null)
    });
    assert!(failure(outcome.await).contains("time limit"));
    assert_eq!(began.elapsed(), Duration::from_secs(120) + GRACE);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test(start_paused = true)]
async fn work_completed_in_the_grace_period_counts() {
    let outcome = run(|ctx| async move {
        ctx.cancel.cancelled().await;
        Ok(json!("written"))
    });
    assert!(matches!(outcome.await, Outcome::Done(output) if output == "written"));
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_run_cancels_the_call_and_not_the_other_way_round() {
    let shown = Arc::default();
    let ctx = ctx(&shown);
    let token = ctx.cancel.clone();
    let call = prepared(|ctx| async move {
        ctx.cancel.cancelled().await;
        Err(ToolError::Report("the child process was killed".to_owned()))
    });
    let (outcome, ()) = tokio::join!(execute(call, ctx.clone(), Limits::default()), async { token.cancel() });
    assert!(matches!(outcome, Outcome::Cancelled));

    let later = execute(prepared(|_| async { panic!("must not start") }), ctx, Limits::default()).await;
    assert!(matches!(later, Outcome::Cancelled));

    let fresh = crate::testing::ctx(&shown);
    execute(prepared(|_| async { Ok(Value::Null) }), fresh.clone(), Limits::default()).await;
    assert!(!fresh.cancel.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_execution_cancels_what_the_tool_started() {
    let inner = Arc::new(StdMutex::new(None));
    let seen = Arc::clone(&inner);
    let execution = run(move |ctx| async move {
        *seen.lock().unwrap() = Some(ctx.cancel.clone());
        future::pending().await
    });
    assert!(time::timeout(Duration::from_secs(1), execution).await.is_err());
    assert!(inner.lock().unwrap().as_ref().is_some_and(CancellationToken::is_cancelled));
}

#[tokio::test]
async fn what_a_tool_shows_is_passed_on_in_order_and_bounded() {
    let shown = Arc::<Recorder>::default();
    let call = prepared(|ctx| async move {
        ctx.emit.progress(json!("é".repeat(40_000) + "end")).await;
        ctx.emit.data("plan", Some("plan"), json!(1)).await;
        ctx.emit.transient("step", json!(2)).await;
        Ok(Value::Null)
    });
    execute(call, ctx(&shown), Limits::default()).await;
    let all = shown.all();
    let progress = all[0]["progress"].as_str().unwrap();
    assert!(progress.len() <= 64 * 1024 && progress.ends_with("éend"));
    assert_eq!(
        all[1..],
        [json!({"data": "plan", "id": "plan", "value": 1}), json!({"transient": "step", "value": 2})]
    );
}

#[tokio::test]
async fn nothing_is_shown_after_the_result() {
    let shown = Arc::<Recorder>::default();
    let (lend, lent) = oneshot::channel();
    let call = prepared(|ctx| async move {
        lend.send(Arc::clone(&ctx.emit)).ok();
        Ok(Value::Null)
    });
    execute(call, ctx(&shown), Limits::default()).await;
    let late = lent.await.unwrap();
    late.progress(json!("late")).await;
    late.data("plan", None, json!("late")).await;
    late.transient("step", json!("late")).await;
    assert_eq!(shown.all(), Vec::<Value>::new());
}

/// A reader that never accepts anything.
struct Stuck;

#[async_trait]
impl Emit for Stuck {
    async fn progress(&self, _: Value) {
        future::pending().await
    }
    async fn data(&self, _: &str, _: Option<&str>, _: Value) {
        future::pending().await
    }
    async fn transient(&self, _: &str, _: Value) {
        future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_stuck_reader_holds_up_neither_the_limit_nor_the_end() {
    let stuck = ToolCtx { emit: Arc::new(Stuck), ..ctx(&Arc::default()) };
    let itself = prepared(|ctx| async move {
        ctx.emit.progress(json!(1)).await;
        Ok(Value::Null)
    });
    let execution = execute(itself, stuck.clone(), Limits::default());
    let outcome = time::timeout(Duration::from_secs(3600), execution).await.unwrap();
    assert!(failure(outcome).contains("time limit"));

    let mut helpers = JoinSet::new();
    let (lend, lent) = oneshot::channel::<Arc<dyn Emit>>();
    let (started, start) = oneshot::channel();
    helpers.spawn(async move {
        let emit = lent.await.unwrap();
        started.send(()).ok();
        emit.progress(json!("from a helper task")).await;
    });
    let with_helper = prepared(|ctx| async move {
        lend.send(ctx.emit).ok();
        start.await.ok();
        Ok(json!("done"))
    });
    let outcome = execute(with_helper, stuck, Limits::default()).await;
    assert!(matches!(outcome, Outcome::Done(output) if output == "done"));
    let released = time::timeout(Duration::from_secs(1), helpers.join_next()).await;
    assert!(matches!(released, Ok(Some(Ok(())))), "the end of the call releases who still waits");
}
