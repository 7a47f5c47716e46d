//! Performs what [`Turn::next`] decides, until the agent is done or waits for a person.
//!
//! The main agent and every sub-agent run this same loop, each with its own [`AgentWork`].

use std::sync::atomic::Ordering;

use models::ModelError;
use protocol::{FinishReason, FoldError, Limit, MessageFacts, SegmentKind};
use store::StoreError;

use super::{
    repeated_failure,
    turn::{NextAction, Offer, PlannedCall, Turn},
};
use crate::run::{
    agent_inbox::AgentInbox,
    agent_log::AgentLog,
    context::AgentContext,
    delegation::{
        background::{self, Background},
        budget::Reserved,
        delegate::resume_background,
        hub::{Note, PERSON},
        work_permit::WorkPermit,
    },
    frame::Frame,
    model_call::call::call_model,
    tool_calls::{
        call::{Called, call_tools, take_answer},
        plan::{self, Cause},
        questions::ask,
        verdict::Judge,
    },
};

/// One agent at work: what its loop reads, writes and decides with.
pub(crate) struct AgentWork {
    pub(crate) context: AgentContext,
    pub(crate) frame: Frame,
    pub(crate) log: AgentLog,
    pub(crate) turn: Turn,
    pub(crate) inbox: AgentInbox,
    pub(crate) permit: WorkPermit,
}

/// How the loop ended.
pub(crate) enum Driven {
    Done(FinishReason),
    /// The agent waits for a person, and so do these frames of its sub-agents.
    Parked(Vec<Frame>),
}

/// Why an agent ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunStop {
    #[error("stopped")]
    Cancelled,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Events came in an order that folds to no message.
    #[error(transparent)]
    Order(#[from] FoldError),
}

pub(crate) async fn drive(work: &mut AgentWork) -> Result<Driven, RunStop> {
    if work.context.tree.agents.had_sub_agents() {
        for resumed in resume_background(&work.context, &work.frame, &work.log).await? {
            work.inbox.background.spawn(resumed);
        }
        if !work.inbox.background.is_empty() {
            work.turn.wait_for_background();
        }
    }
    match run_steps(work).await {
        Ok(Driven::Parked(mut parked)) => {
            // Background agents may still ask questions while they park.
            parked.extend(background::join_parked(work).await?);
            work.inbox.show_relayed(&mut work.frame, &*work.context.services.ids)?;
            Ok(Driven::Parked(parked))
        }
        Ok(done) => Ok(done),
        Err(stop) => {
            background::cancel_all(work).await?;
            Err(stop)
        }
    }
}

async fn run_steps(work: &mut AgentWork) -> Result<Driven, RunStop> {
    let hooks = work.context.services.settings.hooks.clone();
    if !hooks.is_empty() && work.frame.steps() == 0 {
        hooks.pre_reply(&work.context.hook_point(&work.frame));
    }
    loop {
        work.inbox.show_relayed(&mut work.frame, &*work.context.services.ids)?;
        match work.turn.next() {
            NextAction::CallModel(offer) => {
                work.permit.acquire(&work.context.cancel).await?;
                if stop_repeated_failure(work)? {
                    return Ok(Driven::Done(FinishReason::Other));
                }
                work.frame.finish_step()?;
                take_steering(&work.context, &mut work.frame)?;
                let (offer, _reserved) = within_limits(work, offer)?;
                let AgentWork { context, frame, log, turn, .. } = work;
                let hints = if hooks.is_empty() {
                    Vec::new()
                } else {
                    hooks.pre_reasoning(&context.hook_point(frame))
                };
                turn.model_answered(call_model(context, frame, log, offer, &hints).await?);
                if !hooks.is_empty() {
                    hooks.post_reasoning(&context.hook_point(frame));
                }
            }
            // Boxed: a run waits for its model most of the time, and its future should be small then.
            NextAction::CallTools(calls) => match Box::pin(call_tools(work, calls)).await? {
                Called::All if work.frame.facts().structured_output.is_some() => work.turn.finish(),
                Called::All => {}
                Called::Parked(parked) => {
                    if let NextAction::AwaitPerson(questions) = work.turn.next() {
                        ask(work, questions).await?;
                        // Appended here and not with the pause, which the main agent appends: only this log relays.
                        work.log.append(&mut work.frame).await?;
                    }
                    work.frame.finish_step()?;
                    return Ok(Driven::Parked(parked));
                }
            },
            NextAction::AwaitPerson(questions) => {
                ask(work, questions).await?;
                match wait_for_answer(work).await? {
                    Some(calls) => work.turn.answered(work.frame.steps(), calls),
                    None => {
                        work.frame.finish_step()?;
                        return Ok(Driven::Parked(Vec::new()));
                    }
                }
            }
            NextAction::Done(reason) => {
                if take_steering(&work.context, &mut work.frame)? {
                    work.turn.call_model_once_more(work.frame.steps(), Offer::Tools);
                    continue;
                }
                work.frame.finish_step()?;
                match background::wait_for_all(work).await? {
                    Background::None => return Ok(Driven::Done(reason)),
                    Background::Reported => {
                        work.turn.call_model_once_more(work.frame.steps(), Offer::Tools);
                    }
                    Background::Parked(parked) => return Ok(Driven::Parked(parked)),
                }
            }
        }
    }
}

/// Ends the answer with an explanation if a call has failed too often with the same input; returns whether it did.
fn stop_repeated_failure(work: &mut AgentWork) -> Result<bool, FoldError> {
    let frame = &mut work.frame;
    let Some(failure) = repeated_failure::find(frame) else { return Ok(false) };
    tracing::info!(run = %work.context.run.id, tool = failure.tool, "stopped a call that keeps failing");
    frame.stuck(failure.tool.clone(), failure.times)?;
    frame.finish_step()?;
    frame.say(SegmentKind::Text, failure.text())?;
    frame.finish_step()?;
    Ok(true)
}

/// Reserves the model call, or makes it the last one.
fn within_limits(work: &mut AgentWork, offer: Offer) -> Result<(Offer, Option<Reserved>), FoldError> {
    let limit = match offer {
        Offer::Tools | Offer::Nudge | Offer::Finish => match work.context.position.budget.reserve() {
            Ok(reserved) => return Ok((offer, Some(reserved))),
            Err(limit) => limit,
        },
        Offer::NoTools => Limit::Steps,
        Offer::Summarise => return Ok((offer, None)),
    };
    work.turn.limit_reached();
    if work.frame.facts().limit.is_none() {
        work.frame.note(MessageFacts { limit: Some(limit), ..MessageFacts::default() })?;
    }
    Ok((Offer::NoTools, None))
}

/// Writes the texts that people or callers sent to this agent since its last step; returns whether there were any.
fn take_steering(run: &AgentContext, frame: &mut Frame) -> Result<bool, FoldError> {
    let texts = run.tree.agents.take_steering(&run.position.message);
    let any = !texts.is_empty();
    for text in texts {
        if run.position.is_main() {
            // Sub-agents read what was said to the main agent as well.
            let (id, from, at) =
                (frame.message().id.to_string(), PERSON.to_owned(), run.services.clock.now().0);
            run.tree.hub.broadcast(Note { id, from, text: text.clone(), at });
        }
        frame.finish_step()?;
        frame.steer(run.services.ids.time_ordered(), text)?;
    }
    Ok(any)
}

/// Waits for an answer while other agents of the run are at work. Returns the calls once one of them can run, or `None`
/// if the whole run waits for a person.
async fn wait_for_answer(work: &mut AgentWork) -> Result<Option<Vec<PlannedCall>>, RunStop> {
    let AgentWork { context: run, frame, log, inbox, permit, .. } = work;
    loop {
        while let Ok(answer) = inbox.answers.try_recv() {
            take_answer(run, frame, log, *answer, permit).await?;
        }
        inbox.show_relayed(frame, &*run.services.ids)?;
        let calls = plan::plan(frame, Judge::of(run), Cause::Person);
        if calls.is_empty() || calls.iter().any(|call| call.plan.is_ready()) {
            return Ok(Some(calls));
        }
        if run.position.is_main() && !run.tree.agents.had_sub_agents() {
            return Ok(None);
        }
        log.append(frame).await?;
        run.position.awaits_person.store(true, Ordering::Relaxed);
        permit.release();
        let answer = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
            Some(answer) = inbox.answers.recv() => answer,
            relayed = AgentInbox::next_relayed(&mut inbox.relayed) => {
                relayed.show(frame, &*run.services.ids)?;
                continue;
            }
            () = run.tree.activity.parking() => return Ok(None),
        };
        run.position.awaits_person.store(false, Ordering::Relaxed);
        take_answer(run, frame, log, *answer, permit).await?;
    }
}
