//! A sub-agent at work, from its slot to its result: the loop within its time, the two chances of an agent that says
//! nothing, and the one end of its message.

use std::{panic::AssertUnwindSafe, sync::atomic::Ordering};

use futures::FutureExt;
use protocol::{ErrorCode, FinishReason, FrameEnd, Limit, MessageFacts, ToolOutcome};

use super::{
    delegate::{Child, Delegated},
    drive::{Driven, RunStop, drive},
    hub::Note,
    lifecycle::person_text,
    order::Order,
    report,
    tree::{Busy, Place, Seat},
    turn::{Offer, Turn},
};

pub(super) async fn work(mut child: Child, order: Order, busy: Busy) -> Delegated {
    let seat = Seat::new(&child.run.tree, busy, true);
    let (mut seat, queued) = match child.place.take() {
        Some(Place::Slot(slot)) => (seat.with_slot(Some(slot)), None),
        Some(Place::Queued(queued)) => (seat, Some(queued)),
        None => (seat, None),
    };
    let driven = match seat.sit(&child.run.cancel).await {
        Ok(()) => {
            let was_queued = queued.map(drop).is_some();
            AssertUnwindSafe(attend(&mut child, &mut seat, &order, was_queued)).catch_unwind().await
        }
        Err(stop) => Ok(Err(stop)),
    };
    let message = child.run.post.message.clone();
    let outcome = match driven {
        Ok(Ok(Driven::Parked(mut below))) => {
            if !order.background {
                child.run.tree.leave(&message);
            }
            below.push(child.frame);
            return Delegated::Parked(below);
        }
        Ok(Err(stop @ RunStop::Store(_))) => Err(stop),
        Ok(Ok(Driven::Done(reason))) => finish(&mut child, reason).await,
        Ok(Err(RunStop::Cancelled)) => cancelled(&mut child).await,
        Ok(Err(stop)) => {
            tracing::warn!(agent = child.run.agent.name, error = %stop, "a sub-agent failed");
            fail(&mut child, ErrorCode::ModelUnavailable, "model_unavailable", person_text(&stop)).await
        }
        Err(_) => {
            tracing::error!(agent = child.run.agent.name, "a sub-agent panicked");
            fail(&mut child, ErrorCode::Internal, "internal", "An internal error ended its work.".to_owned())
                .await
        }
    };
    if !order.background {
        child.run.tree.leave(&message);
    }
    match outcome {
        Ok(outcome) => {
            // Whoever waits for it in the background; often nobody does.
            child.result.send_replace(Some(outcome.clone()));
            Delegated::Done(outcome, seat.hand_on())
        }
        Err(stop) => Delegated::Broken(stop),
    }
}

/// The loop, with the time limit and the two chances of an agent that says nothing.
async fn attend(
    child: &mut Child,
    seat: &mut Seat,
    order: &Order,
    was_queued: bool,
) -> Result<Driven, RunStop> {
    if was_queued && child.frame.facts().status.is_some() {
        child.frame.start_delegation()?;
        child.writer.append(child.frame.take(), Vec::new()).await?;
    }
    let mut driven = timed(child, seat).await?;
    for _ in 0..2 {
        if !matches!(driven, Driven::Done(_)) {
            break;
        }
        let message = child.frame.message();
        let offer = if order.output_schema.is_some() {
            Offer::Finish
        } else if report::has_calls(message) {
            Offer::Summarise
        } else {
            Offer::Nudge
        };
        let complete = match offer {
            Offer::Finish => child.frame.facts().structured_output.is_some(),
            _ => !report::summary(message).trim().is_empty(),
        };
        if complete {
            break;
        }
        child.turn = Turn::once(child.run.agent.max_steps, child.frame.steps(), offer);
        driven = timed(child, seat).await?;
    }
    Ok(driven)
}

/// Drives the frame; when its time is up, what it does is broken off and it says what it has.
async fn timed(child: &mut Child, seat: &mut Seat) -> Result<Driven, RunStop> {
    let whole = child.run.cancel.clone();
    let mut run = child.run.clone();
    run.cancel = whole.child_token();
    let turn = std::mem::replace(&mut child.turn, Turn::new(0));
    let mut over = false;
    let driven = {
        let work = drive(&run, &mut child.frame, &mut child.writer, turn, &mut child.mail, seat);
        tokio::pin!(work);
        let mut deadline = run.post.budget.deadline();
        loop {
            tokio::select! {
                driven = &mut work => break driven,
                () = until(deadline), if !over => {
                    if run.post.waits.load(Ordering::Relaxed) {
                        // A person may take as long as they like.
                        deadline = deadline.map(|_| tokio::time::Instant::now() + PATIENCE);
                    } else {
                        over = true;
                        run.cancel.cancel();
                    }
                }
            }
        }
    };
    match driven {
        Err(RunStop::Cancelled) if over && !whole.is_cancelled() => {
            run.cancel = whole;
            child.frame.settle_open_calls("the time limit was reached before this call had a result")?;
            child.frame.note(MessageFacts { limit: Some(Limit::Time), ..MessageFacts::default() })?;
            let turn = Turn::once(run.agent.max_steps, child.frame.steps(), Offer::NoTools);
            drive(&run, &mut child.frame, &mut child.writer, turn, &mut child.mail, seat).await
        }
        driven => driven,
    }
}

/// How often a time limit looks again while a person is asked.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn finish(child: &mut Child, reason: FinishReason) -> Result<ToolOutcome, RunStop> {
    let said = report::summary(child.frame.message());
    let structured = child.frame.facts().structured_output.is_some();
    if child.run.kit.finish.is_some() && !structured {
        let why = "It gave no answer in the form that was asked for.".to_owned();
        return fail(child, ErrorCode::ModelUnavailable, "no_structured_output", why).await;
    }
    if said.trim().is_empty() && !structured {
        let why = "It said nothing, even when asked again.".to_owned();
        return fail(child, ErrorCode::ModelUnavailable, "empty_result", why).await;
    }
    child.frame.close(FrameEnd::Finished { reason })?;
    store(child).await?;
    let result = report::result(&child.frame, &child.agent_id);
    let hub = &child.run.tree.hub;
    hub.result(Note::of_result(&child.frame, &child.run.agent.name, child.run.parts.clock.now()));
    hub.leave(&child.run.agent.name);
    Ok(ToolOutcome::Done { output: result })
}

async fn cancelled(child: &mut Child) -> Result<ToolOutcome, RunStop> {
    child.frame.close(FrameEnd::Cancelled)?;
    store(child).await?;
    child.run.tree.hub.remove(&child.run.agent.name);
    Ok(ToolOutcome::Failed { message: cancelled_text(&child.run.agent.name) })
}

pub(super) fn cancelled_text(agent: &str) -> String {
    format!(
        "cancelled: The sub-agent \"{agent}\" was stopped before it had a result. What it said so far is kept."
    )
}

async fn fail(
    child: &mut Child,
    code: ErrorCode,
    name: &str,
    reason: String,
) -> Result<ToolOutcome, RunStop> {
    let message = failed_text(&child.run.agent.name, name, &reason);
    child.frame.fail(code, reason)?;
    store(child).await?;
    child.run.tree.hub.leave(&child.run.agent.name);
    Ok(ToolOutcome::Failed { message })
}

pub(super) fn failed_text(agent: &str, code: &str, reason: &str) -> String {
    format!("unavailable ({code}): The sub-agent \"{agent}\" failed. {reason}")
}

async fn store(child: &mut Child) -> Result<(), RunStop> {
    let message = child.frame.message().clone();
    child.writer.append(child.frame.take(), vec![message]).await?;
    Ok(())
}
