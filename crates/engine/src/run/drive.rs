//! The loop around the turn: does what [`Turn::next`] says until the frame is done or waits. Step 5.
//!
//! The main agent and every sub-agent run this same loop, each with its own frame, post and mail.

use std::sync::{Arc, atomic::Ordering};

use models::{Model, ModelError, Written};
use protocol::{
    FinishReason, FoldError, MessageFacts, RunId, RunOptions, SegmentKind, ToolCall, WorkspaceId,
};
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::{
    background::{self, Background},
    budget::{Limit, Reserved},
    call_model::call_model,
    call_tools::{Called, call_tools, take_answer},
    delegate::{Delegated, revive_background},
    frame::Frame,
    hub::{Note, PERSON},
    mail::{Mail, next_raised},
    post::Post,
    resume::{self, Why},
    stuck,
    tree::{Seat, Tree},
    turn::{Offer, Step, Turn},
};
use crate::{
    agents::{AgentDefinition, kit::Kit},
    context::cache::History,
    engine::Parts,
    hooks::HookPoint,
    session::log::LogWriter,
};

/// What every step of a frame needs.
#[derive(Clone)]
pub(crate) struct RunCtx {
    pub(crate) parts: Arc<Parts>,
    pub(crate) workspace: WorkspaceId,
    pub(crate) run: RunId,
    pub(crate) agent: Arc<AgentDefinition>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) options: RunOptions,
    /// Role and preface: the same bytes in every call of the session.
    pub(crate) system: Arc<str>,
    /// The branch before this run's message; for a sub-agent, its task.
    pub(crate) history: History,
    /// What was written down of it for the model already.
    pub(crate) written: Option<Arc<Written>>,
    pub(crate) cancel: CancellationToken,
    /// What the frames of the run share.
    pub(crate) tree: Arc<Tree>,
    pub(crate) kit: Arc<Kit>,
    pub(crate) post: Arc<Post>,
}

impl RunCtx {
    /// Where the loop is, for hooks.
    pub(crate) fn point(&self, frame: &Frame) -> HookPoint {
        HookPoint {
            agent: self.agent.name.clone(),
            path: self.post.path.clone(),
            message: self.post.message.clone(),
            step: frame.steps(),
        }
    }
}

pub(crate) enum Driven {
    Done(FinishReason),
    /// It waits for a person, and so do these frames below it.
    Parked(Vec<Frame>),
}

/// Why a frame ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunStop {
    #[error("stopped")]
    Cancelled,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Events came in an order that makes no message.
    #[error(transparent)]
    Order(#[from] FoldError),
}

pub(crate) async fn drive(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    mut turn: Turn,
    mail: &mut Mail,
    seat: &mut Seat,
) -> Result<Driven, RunStop> {
    if run.tree.is_grown() {
        for work in revive_background(run, frame, writer).await? {
            mail.background.spawn(work);
        }
        if !mail.background.is_empty() {
            turn.rest_if_idle();
        }
    }
    let driven = steps(run, frame, writer, turn, mail, seat).await;
    match driven {
        Ok(Driven::Parked(mut below)) => {
            // Those in the background may ask in the very moment they park.
            while !mail.background.is_empty() {
                tokio::select! {
                    biased;
                    raised = next_raised(&mut mail.raised) => raised.show(frame, &*run.parts.ids)?,
                    ended = mail.background.join_next() => match ended {
                        Some(Ok(Delegated::Parked(frames))) => below.extend(frames),
                        Some(Ok(Delegated::Broken(stop))) => return Err(stop),
                        _ => {}
                    }
                }
            }
            mail.show_raised(run, frame)?;
            Ok(Driven::Parked(below))
        }
        Ok(done) => Ok(done),
        Err(stop) => {
            for (_, handle) in run.tree.below(&run.post.message) {
                handle.cancel.cancel();
            }
            while !mail.background.is_empty() {
                tokio::select! {
                    biased;
                    raised = next_raised(&mut mail.raised) => raised.show(frame, &*run.parts.ids)?,
                    ended = mail.background.join_next() => {
                        if let Some(Ok(Delegated::Parked(mut frames))) = ended {
                            run.tree.orphan(&mut frames);
                        }
                    }
                }
            }
            drop(run.tree.take_untold(&run.post.message));
            Err(stop)
        }
    }
}

async fn steps(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    mut turn: Turn,
    mail: &mut Mail,
    seat: &mut Seat,
) -> Result<Driven, RunStop> {
    let hooks = &run.parts.settings.hooks;
    if !hooks.is_empty() && frame.steps() == 0 {
        hooks.pre_reply(&run.point(frame));
    }
    loop {
        mail.show_raised(run, frame)?;
        match turn.next() {
            Step::CallModel(offer) => {
                seat.sit(&run.cancel).await?;
                if let Some(stuck) = stuck::find(frame) {
                    tracing::info!(run = %run.run, tool = stuck.tool, "stopped a call that fails again and again");
                    frame.stuck(stuck.tool.clone(), stuck.times)?;
                    frame.finish_step()?;
                    frame.say(SegmentKind::Text, stuck.text())?;
                    frame.finish_step()?;
                    return Ok(Driven::Done(FinishReason::Other));
                }
                frame.finish_step()?;
                take_steering(run, frame)?;
                let (offer, _reserved) = within_limits(run, frame, &mut turn, offer)?;
                let hints =
                    if hooks.is_empty() { Vec::new() } else { hooks.pre_reasoning(&run.point(frame)) };
                turn.model_said(call_model(run, frame, writer, offer, &hints).await?);
                if !hooks.is_empty() {
                    hooks.post_reasoning(&run.point(frame));
                }
            }
            // On the heap: most of the time a run waits for its model, and should be small then.
            Step::CallTools(calls) => {
                match Box::pin(call_tools(run, frame, writer, calls, mail, seat)).await? {
                    Called::All if frame.facts().structured_output.is_some() => turn = Turn::finished(),
                    Called::All => {}
                    Called::Parked(below) => {
                        if let Step::Park(questions) = turn.next() {
                            ask(run, frame, mail, questions)?;
                            // By this frame itself, so that the question is raised.
                            writer.append(frame.take(), Vec::new()).await?;
                        }
                        frame.finish_step()?;
                        return Ok(Driven::Parked(below));
                    }
                }
            }
            Step::Park(questions) => {
                ask(run, frame, mail, questions)?;
                match wait_for_answer(run, frame, writer, mail, seat).await? {
                    Some(calls) => turn = Turn::resume(run.agent.max_steps, frame.steps(), calls),
                    None => {
                        frame.finish_step()?;
                        return Ok(Driven::Parked(Vec::new()));
                    }
                }
            }
            Step::Done(reason) => {
                if take_steering(run, frame)? {
                    turn = Turn::once(run.agent.max_steps, frame.steps(), Offer::Tools);
                    continue;
                }
                frame.finish_step()?;
                match background::wait_for_all(run, frame, writer, mail, seat).await? {
                    Background::None => return Ok(Driven::Done(reason)),
                    Background::Told => turn = Turn::once(run.agent.max_steps, frame.steps(), Offer::Tools),
                    Background::Parked(below) => return Ok(Driven::Parked(below)),
                }
            }
        }
    }
}

/// Reserves the model call, or makes it the last one.
fn within_limits(
    run: &RunCtx,
    frame: &mut Frame,
    turn: &mut Turn,
    offer: Offer,
) -> Result<(Offer, Option<Reserved>), FoldError> {
    let limit = match offer {
        Offer::Tools | Offer::Nudge | Offer::Finish => match run.post.budget.reserve() {
            Ok(reserved) => return Ok((offer, Some(reserved))),
            Err(limit) => limit,
        },
        Offer::NoTools => Limit::Steps,
        Offer::Summarise => return Ok((offer, None)),
    };
    turn.end_here();
    if frame.facts().limit.is_none() {
        frame.note(MessageFacts { limit: Some(limit), ..MessageFacts::default() })?;
    }
    Ok((Offer::NoTools, None))
}

/// What a person said to this agent since it last spoke.
fn take_steering(run: &RunCtx, frame: &mut Frame) -> Result<bool, FoldError> {
    let said = run.tree.take_steered(&run.post.message);
    let any = !said.is_empty();
    for text in said {
        if run.post.is_root() {
            // What is said to the main agent, those it delegates to hear as well.
            let (id, from, at) = (frame.message().id.to_string(), PERSON.to_owned(), run.parts.clock.now().0);
            run.tree.hub.broadcast(Note { id, from, text: text.clone(), at });
        }
        frame.finish_step()?;
        frame.steer(run.parts.ids.time_ordered(), text)?;
    }
    Ok(any)
}

fn ask(run: &RunCtx, frame: &mut Frame, mail: &Mail, questions: Vec<ToolCall>) -> Result<(), FoldError> {
    for call in questions {
        let approval = run.parts.ids.approval();
        run.tree.asked(approval.clone(), mail.address());
        frame.ask(approval, call)?;
    }
    Ok(())
}

/// Waits as long as somebody else in the run is at work; gives the calls once one of them can go on, or nothing when
/// the whole run waits.
async fn wait_for_answer(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    mail: &mut Mail,
    seat: &mut Seat,
) -> Result<Option<Vec<super::turn::PlannedCall>>, RunStop> {
    loop {
        while let Ok(answer) = mail.answers.try_recv() {
            take_answer(run, frame, writer, *answer, seat).await?;
        }
        mail.show_raised(run, frame)?;
        let calls = resume::plan(frame, &run.parts.tools, &run.tree.grants, Why::Asked);
        if calls.iter().any(|call| call.plan.is_ready()) {
            return Ok(Some(calls));
        }
        if run.post.is_root() && !run.tree.is_grown() {
            return Ok(None);
        }
        writer.append(frame.take(), Vec::new()).await?;
        run.post.waits.store(true, Ordering::Relaxed);
        seat.rest();
        let answer = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
            Some(answer) = mail.answers.recv() => answer,
            raised = next_raised(&mut mail.raised) => {
                raised.show(frame, &*run.parts.ids)?;
                continue;
            }
            () = run.tree.parking() => return Ok(None),
        };
        run.post.waits.store(false, Ordering::Relaxed);
        take_answer(run, frame, writer, *answer, seat).await?;
    }
}
