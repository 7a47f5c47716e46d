//! A sub-agent at work, from its slot to its result: the loop within its time limit, two more model calls for an agent
//! that wrote nothing, and the one end of its message.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
};

use futures::FutureExt;
use protocol::{AnsweredBy, ErrorCode, FinishReason, FrameEnd, Limit, MessageFacts, ToolOutcome};

use super::{
    delegate::{Delegated, SubAgent},
    hub::Note,
    report,
    request::DelegationRequest,
    tree::Place,
    work_permit::WorkPermit,
};
use crate::{
    mailbox::activity::ActivityGuard,
    run::agent_loop::{
        driver::{AgentWork, Driven, RunStop, drive},
        lifecycle::person_text,
        turn::Offer,
    },
};

pub(super) async fn work(
    sub_agent: SubAgent,
    request: DelegationRequest,
    activity: ActivityGuard,
) -> Delegated {
    let SubAgent { context, frame, log, turn, inbox, place, agent_id, result, .. } = sub_agent;
    let (slot, queued) = match place {
        Place::Slot(slot) => (Some(slot), None),
        Place::Queued(queued) => (None, Some(queued)),
    };
    let permit = WorkPermit::of_sub_agent(&context.tree, activity, slot);
    let mut work = AgentWork { context, frame, log, turn, inbox, permit };
    let cancel = work.context.cancel.clone();
    let driven = match work.permit.acquire(&cancel).await {
        Ok(()) => {
            let was_queued = queued.map(drop).is_some();
            AssertUnwindSafe(drive_to_result(&mut work, &request, was_queued)).catch_unwind().await
        }
        Err(stop) => Ok(Err(stop)),
    };
    let message = work.context.position.message.clone();
    let outcome = match driven {
        Ok(Ok(Driven::Parked(mut parked))) => {
            if !request.background {
                work.context.tree.agents.leave(&message);
            }
            parked.push(work.frame);
            return Delegated::Parked(parked);
        }
        Ok(Err(stop @ RunStop::Store(_))) => Err(stop),
        Ok(Ok(Driven::Done(reason))) => finish(&mut work, &agent_id, reason).await,
        Ok(Err(RunStop::Cancelled)) => cancelled(&mut work).await,
        Ok(Err(stop)) => {
            tracing::warn!(agent = work.context.agent.definition.name, error = %stop, "a sub-agent failed");
            fail(&mut work, ErrorCode::ModelUnavailable, "model_unavailable", person_text(&stop)).await
        }
        Err(_) => {
            tracing::error!(agent = work.context.agent.definition.name, "a sub-agent panicked");
            fail(&mut work, ErrorCode::Internal, "internal", "An internal error ended its work.".to_owned())
                .await
        }
    };
    if !request.background {
        work.context.tree.agents.leave(&message);
    }
    match outcome {
        Ok(outcome) => {
            // For requests that wait until this sub-agent has ended; often there are none.
            result.send_replace(Some(outcome.clone()));
            Delegated::Done(outcome, work.permit.into_activity())
        }
        Err(stop) => Delegated::Broken(stop),
    }
}

/// Runs the loop within the time limit, and twice more for an agent that wrote no result.
async fn drive_to_result(
    work: &mut AgentWork,
    request: &DelegationRequest,
    was_queued: bool,
) -> Result<Driven, RunStop> {
    if was_queued && work.frame.facts().status.is_some() {
        work.frame.start_delegation()?;
        work.log.append(&mut work.frame).await?;
    }
    let mut driven = drive_within_time(work).await?;
    for _ in 0..2 {
        if !matches!(driven, Driven::Done(_)) {
            break;
        }
        let message = work.frame.message();
        let offer = if request.output_schema.is_some() {
            Offer::Finish
        } else if report::has_calls(message) {
            Offer::Summarise
        } else {
            Offer::Nudge
        };
        let is_complete = match offer {
            Offer::Finish => work.frame.facts().structured_output.is_some(),
            _ => !report::summary(message).trim().is_empty(),
        };
        if is_complete {
            break;
        }
        work.turn.call_model_once_more(work.frame.steps(), offer);
        driven = drive_within_time(work).await?;
    }
    Ok(driven)
}

/// Runs the loop; when its time is up, interrupts it and asks the agent once for what it has.
async fn drive_within_time(work: &mut AgentWork) -> Result<Driven, RunStop> {
    let whole = work.context.cancel.clone();
    let limited = whole.child_token();
    work.context.cancel = limited.clone();
    let position = Arc::clone(&work.context.position);
    let mut is_over = false;
    let driven = {
        let driving = drive(work);
        tokio::pin!(driving);
        let mut deadline = position.budget.deadline();
        loop {
            tokio::select! {
                driven = &mut driving => break driven,
                () = until(deadline), if !is_over => {
                    if position.awaits_person.load(Ordering::Relaxed) {
                        // The time of a person does not count.
                        deadline = deadline.map(|_| tokio::time::Instant::now() + PERSON_INTERVAL);
                    } else {
                        is_over = true;
                        limited.cancel();
                    }
                }
            }
        }
    };
    work.context.cancel = whole;
    match driven {
        Err(RunStop::Cancelled) if is_over && !work.context.cancel.is_cancelled() => {
            work.frame.settle_open_calls(
                "the time limit was reached before this call had a result",
                AnsweredBy::Server,
            )?;
            work.frame.note(MessageFacts { limit: Some(Limit::Time), ..MessageFacts::default() })?;
            work.turn.call_model_once_more(work.frame.steps(), Offer::NoTools);
            drive(work).await
        }
        driven => driven,
    }
}

/// How often a time limit is checked again while the agent waits for a person.
const PERSON_INTERVAL: std::time::Duration = std::time::Duration::from_secs(30);

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn finish(work: &mut AgentWork, agent_id: &str, reason: FinishReason) -> Result<ToolOutcome, RunStop> {
    let said = report::summary(work.frame.message());
    let structured = work.frame.facts().structured_output.is_some();
    if work.context.agent.tools.finish.is_some() && !structured {
        let why = "It gave no answer in the form that was asked for.".to_owned();
        return fail(work, ErrorCode::ModelUnavailable, "no_structured_output", why).await;
    }
    if said.trim().is_empty() && !structured {
        let why = "It said nothing, even when asked again.".to_owned();
        return fail(work, ErrorCode::ModelUnavailable, "empty_result", why).await;
    }
    work.frame.close(FrameEnd::Finished { reason })?;
    store(work).await?;
    let result = report::result(&work.frame, agent_id);
    let hub = &work.context.tree.hub;
    hub.result(Note::of_result(
        &work.frame,
        &work.context.agent.definition.name,
        work.context.services.clock.now(),
    ));
    hub.leave(&work.context.agent.definition.name);
    Ok(ToolOutcome::Done { output: result })
}

async fn cancelled(work: &mut AgentWork) -> Result<ToolOutcome, RunStop> {
    work.frame.close(FrameEnd::Cancelled)?;
    store(work).await?;
    work.context.tree.hub.remove(&work.context.agent.definition.name);
    Ok(ToolOutcome::Failed { message: cancelled_text(&work.context.agent.definition.name) })
}

pub(super) fn cancelled_text(agent: &str) -> String {
    format!(
        "cancelled: The sub-agent \"{agent}\" was stopped before it had a result. What it said so far is kept."
    )
}

async fn fail(
    work: &mut AgentWork,
    code: ErrorCode,
    name: &str,
    reason: String,
) -> Result<ToolOutcome, RunStop> {
    let message = failed_text(&work.context.agent.definition.name, name, &reason);
    work.frame.fail(code, reason)?;
    store(work).await?;
    work.context.tree.hub.leave(&work.context.agent.definition.name);
    Ok(ToolOutcome::Failed { message })
}

pub(super) fn failed_text(agent: &str, code: &str, reason: &str) -> String {
    format!("unavailable ({code}): The sub-agent \"{agent}\" failed. {reason}")
}

async fn store(work: &mut AgentWork) -> Result<(), RunStop> {
    let message = work.frame.message().clone();
    work.log.append_events(work.frame.take(), vec![message]).await?;
    Ok(())
}
