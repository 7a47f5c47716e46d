//! A sub-agent from the call that starts it to its result: opened, queued, at work, closed, reported.
//!
//! It is a frame like the main agent's, driven by the same loop, writing into the same log under its own message id.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering},
};

use futures::{FutureExt, future::BoxFuture};
use models::{ModelMessage, UserContent};
use protocol::{
    AgentRef, ErrorCode, FinishReason, FrameEnd, FrameParent, MessageId, SessionId, ToolCall, ToolOutcome,
    ToolState,
};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};
use tools::delegation::SPAWN_AGENT;

use super::{
    background,
    budget::{Budget, Limit},
    drive::{Driven, Mail, Post, RunCtx, RunStop, drive},
    frame::Frame,
    inline,
    lifecycle::person_text,
    order::{self, Order, Refusal},
    raise::Mirror,
    report,
    resume::{self, Why},
    tree::{Busy, Handle, Revived, Seat},
    turn::{Offer, Turn},
};
use crate::{
    agents::kit::Kit,
    context::{delegation, prompt},
    session::log::LogWriter,
};

/// Answers that may wait for a sub-agent.
const ANSWERS: usize = 16;

/// How a delegation came back.
pub(crate) enum Delegated {
    Done(ToolOutcome, Option<Busy>),
    /// It works in the background: the call is settled, the work goes on.
    Started(ToolOutcome, BoxFuture<'static, Delegated>, Busy),
    /// It waits for a person, with these frames.
    Parked(Vec<Frame>),
    /// Nothing can be stored any more.
    Broken(RunStop),
}

/// Runs one delegation; boxed, because a sub-agent may delegate in turn.
pub(crate) fn delegate(
    run: RunCtx,
    call: ToolCall,
    writer: LogWriter,
    busy: Busy,
) -> BoxFuture<'static, Delegated> {
    Box::pin(async move {
        if background::is_about_one(&call.name) {
            return background::call(run, call, busy).await;
        }
        let revived = run.tree.take_revived(&run.post.message, &call.id);
        let order = match &revived {
            // It passed the gate when it began.
            Some(_) => order::read(&run, &call),
            None => order::admit(&run, &call),
        };
        match order {
            Ok(order) => match begin(&run, &call, &order, revived, &writer).await {
                Ok(Begun::Open(child)) if order.background => {
                    let started = background::started(&child.agent_id);
                    let own = run.tree.busy();
                    Delegated::Started(started, in_background(*child, order, own), busy)
                }
                Ok(Begun::Open(child)) => work(*child, order, busy).await,
                Ok(Begun::Closed(outcome)) => Delegated::Done(outcome, Some(busy)),
                Err(Failed::Refused(refusal)) => Delegated::Done(refused(&refusal), Some(busy)),
                Err(Failed::Stop(stop)) => Delegated::Broken(stop),
            },
            Err(refusal) => Delegated::Done(refused(&refusal), Some(busy)),
        }
    })
}

/// Takes up the background agents of a frame that a restart or a pause interrupted. Boxed, as [`delegate`] is.
pub(crate) fn revive_background<'a>(
    run: &'a RunCtx,
    frame: &'a Frame,
    writer: &'a LogWriter,
) -> BoxFuture<'a, Result<Vec<BoxFuture<'static, Delegated>>, RunStop>> {
    Box::pin(async move {
        let mut works = Vec::new();
        for revived in run.tree.take_background(&run.post.message) {
            let asked = frame.message().tool_parts().find(|part| part.call == revived.parent.call);
            let input = asked.and_then(|part| part.state.input().cloned()).unwrap_or_default();
            let call = ToolCall { id: revived.parent.call.clone(), name: SPAWN_AGENT.to_owned(), input };
            // An agent that is not defined any more cannot go on; its frame stays as it is.
            let Ok(order) = order::read(run, &call) else { continue };
            match begin(run, &call, &order, Some(revived), writer).await {
                Ok(Begun::Open(child)) => works.push(in_background(*child, order, run.tree.busy())),
                Ok(Begun::Closed(_)) => {}
                Err(Failed::Refused(refusal)) => {
                    tracing::warn!(%refusal, "a background agent was not taken up")
                }
                Err(Failed::Stop(stop)) => return Err(stop),
            }
        }
        Ok(works)
    })
}

/// The same work, with a result that waits until the caller asks or ends.
fn in_background(child: Child, order: Order, busy: Busy) -> BoxFuture<'static, Delegated> {
    Box::pin(async move {
        let (tree, chat, parent) =
            (Arc::clone(&child.run.tree), child.agent_id.clone(), child.caller.clone());
        match work(child, order, busy).await {
            Delegated::Done(outcome, busy) => {
                tree.end(SessionId::new(chat), parent, outcome.clone(), busy);
                Delegated::Done(outcome, None)
            }
            other => other,
        }
    })
}

fn refused(refusal: &Refusal) -> ToolOutcome {
    ToolOutcome::Done { output: refusal.to_value() }
}

enum Begun {
    Open(Box<Child>),
    /// It had ended before a restart; only its caller did not know yet.
    Closed(ToolOutcome),
}

enum Failed {
    Refused(Refusal),
    Stop(RunStop),
}

impl<E: Into<RunStop>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Stop(error.into())
    }
}

/// A sub-agent that is open in the log.
pub(crate) struct Child {
    run: RunCtx,
    frame: Frame,
    writer: LogWriter,
    turn: Turn,
    mail: Mail,
    queued: Option<super::tree::Queued>,
    agent_id: String,
    /// The message that delegated.
    caller: MessageId,
    result: watch::Sender<Option<ToolOutcome>>,
}

async fn begin(
    caller: &RunCtx,
    call: &ToolCall,
    order: &Order,
    revived: Option<Revived>,
    writer: &LogWriter,
) -> Result<Begun, Failed> {
    let queued = caller.tree.queue().map_err(|limit| Failed::Refused(Refusal::queue_full(limit)))?;
    let is_new = revived.is_none();
    let Revived { mut frame, parent } = match revived {
        Some(revived) => revived,
        None => open(caller, call, order, queued.is_some())?,
    };
    if frame.is_closed() {
        return Ok(Begun::Closed(outcome_of_closed(&frame, &parent)));
    }
    let mode = caller.options.mode.as_deref();
    let cancel = caller.cancel.child_token();
    let mut agent = order.agent.as_ref().clone();
    agent.prompt = agent.prompt_for(&parent.task).to_owned();
    let kit = Kit::of(&agent, mode, &caller.workspace, &caller.parts.agents, &caller.parts.tools)
        .finishing(order.output_schema.clone());
    let mut run = caller.clone();
    run.post = Arc::new(Post::below(&caller.post, &agent, frame.message().id.clone()));
    run.kit = Arc::new(kit);
    run.history = Arc::new(vec![Arc::new(task(&parent))]);
    run.cancel = cancel.clone();
    run.system = prompt::system(&agent, "").into();
    run.agent = Arc::new(agent);

    let asked: HashMap<_, _> = frame
        .own_open_calls()
        .into_iter()
        .filter_map(|(call, _, state)| state.approval().map(|approval| (call, approval.id)))
        .collect();
    let mail = Mail::for_sub_agent(ANSWERS);
    for (call, _, state) in frame.own_open_calls() {
        if let ToolState::ApprovalRequested { approval, .. } = state {
            tracing::debug!(%call, "a question is still open");
            run.tree.asked(approval, mail.address());
        }
    }
    let mut writer = writer.shared(Mirror::new(run.tree.raised.clone(), &run.agent.name, asked));
    let turn = if is_new {
        writer.append(frame.take(), Vec::new()).await?;
        Turn::new(run.agent.max_steps)
    } else {
        let calls = resume::plan(&frame, &run.parts.tools, Why::Asked);
        Turn::resume(run.agent.max_steps, frame.steps(), calls)
    };
    let (result, results) = watch::channel(None);
    run.tree.enter(
        &run.post.message,
        Handle { chat: parent.chat.clone(), parent: parent.message.clone(), cancel, result: results },
    );
    run.tree.hub.join(&run.agent.name);
    let agent_id = parent.chat.to_string();
    let caller = parent.message.clone();
    Ok(Begun::Open(Box::new(Child { run, frame, writer, turn, mail, queued, agent_id, caller, result })))
}

/// A new frame: its id is fixed from here on.
fn open(caller: &RunCtx, call: &ToolCall, order: &Order, queued: bool) -> Result<Revived, RunStop> {
    let ids = &caller.parts.ids;
    let mut frame = Frame::new(ids.message());
    let chat = ids.sub_chat();
    let agent = AgentRef::sub(&order.agent.name, &order.agent.display_name, &caller.post.path);
    let mut metadata = Map::from_iter([
        ("agent".to_owned(), json!(agent)),
        ("agentName".to_owned(), json!(order.agent.name)),
        ("agentId".to_owned(), json!(chat)),
        ("parentToolCallId".to_owned(), json!(call.id)),
        ("parentMessageId".to_owned(), json!(caller.post.message)),
        ("chatId".to_owned(), json!(chat)),
        ("model".to_owned(), json!(caller.parts.model.name())),
        ("createdAt".to_owned(), json!(caller.parts.clock.now())),
    ]);
    if queued {
        metadata.insert("status".to_owned(), json!("queued"));
    }
    let parent = FrameParent {
        message: caller.post.message.clone(),
        call: call.id.clone(),
        root: caller.tree.root.clone(),
        chat,
        task: order.task.clone(),
        context: delegation::context(caller, order),
        background: order.background,
    };
    frame.open(metadata, Some(Box::new(parent.clone())))?;
    Ok(Revived { frame, parent })
}

/// The task as the sub-agent reads it, with what its caller handed over.
fn task(parent: &FrameParent) -> ModelMessage {
    let mut content = vec![UserContent::Text(parent.task.clone())];
    if let Some(text) = delegation::text(&parent.context) {
        content.push(UserContent::Text(text));
    }
    ModelMessage::User { content }
}

async fn work(mut child: Child, order: Order, busy: Busy) -> Delegated {
    let mut seat = Seat::new(&child.run.tree, busy, true);
    let driven = match seat.sit(&child.run.cancel).await {
        Ok(()) => AssertUnwindSafe(attend(&mut child, &mut seat, &order)).catch_unwind().await,
        Err(stop) => Ok(Err(stop)),
    };
    let message = child.run.post.message.clone();
    let outcome = match driven {
        Ok(Ok(Driven::Parked(mut below))) => {
            child.run.tree.leave(&message);
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
    child.run.tree.leave(&message);
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
async fn attend(child: &mut Child, seat: &mut Seat, order: &Order) -> Result<Driven, RunStop> {
    if child.queued.take().is_some() {
        child.frame.note("status", json!("running"))?;
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
            Offer::Finish => child.frame.fact(inline::STRUCTURED).is_some(),
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
            child.frame.note("limit", json!(Limit::Time.name()))?;
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
    let structured = child.frame.fact(inline::STRUCTURED).is_some();
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
    child.run.tree.hub.result(&super::hub::Note {
        id: child.frame.message().id.to_string(),
        from: child.run.agent.name.clone(),
        text: said,
        at: child.run.parts.clock.now().0,
    });
    Ok(ToolOutcome::Done { output: result })
}

async fn cancelled(child: &mut Child) -> Result<ToolOutcome, RunStop> {
    child.frame.close(FrameEnd::Cancelled)?;
    store(child).await?;
    Ok(ToolOutcome::Failed { message: cancelled_text(&child.run.agent.name) })
}

fn cancelled_text(agent: &str) -> String {
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
    Ok(ToolOutcome::Failed { message })
}

fn failed_text(agent: &str, code: &str, reason: &str) -> String {
    format!("unavailable ({code}): The sub-agent \"{agent}\" failed. {reason}")
}

async fn store(child: &mut Child) -> Result<(), RunStop> {
    let message = child.frame.message().clone();
    child.writer.append(child.frame.take(), vec![message]).await?;
    Ok(())
}

/// The result of a sub-agent that had ended when the server went down.
fn outcome_of_closed(frame: &Frame, parent: &FrameParent) -> ToolOutcome {
    let fact = |name: &str| {
        let metadata = frame.message().metadata.as_ref();
        metadata
            .and_then(|metadata| metadata.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    match fact("status").as_str() {
        "failed" => {
            let message = failed_text(&fact("agentName"), &fact("errorCode"), &fact("error"));
            ToolOutcome::Failed { message }
        }
        "cancelled" => ToolOutcome::Failed { message: cancelled_text(&fact("agentName")) },
        _ => ToolOutcome::Done { output: report::result(frame, parent.chat.as_str()) },
    }
}

impl Post {
    /// The place of a sub-agent of `caller`.
    fn below(caller: &Self, agent: &crate::agents::AgentDefinition, message: MessageId) -> Self {
        let mut path = caller.path.clone();
        path.push(agent.name.clone());
        Self {
            message,
            path,
            depth: caller.depth + 1,
            max_depth: caller.max_depth.min(caller.depth + 1 + agent.max_depth),
            budget: Budget::new(Some(Arc::clone(&caller.budget)), agent.budget),
            waits: false.into(),
        }
    }
}

impl Mail {
    fn for_sub_agent(room: usize) -> Self {
        let (address, answers) = mpsc::channel(room);
        Self::new(address, answers, None)
    }
}
