//! A sub-agent from the call that starts it to its result: opened, queued, at work, closed, reported.
//!
//! It is a frame like the main agent's, driven by the same loop, writing into the same log under its own message id.

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use models::{ChoiceError, Model, ModelMessage, UserContent};
use protocol::{
    AgentRef, ErrorCode, FrameEnd, FrameParent, MessageFacts, MessageId, MessageStatus, RunOptions,
    SessionId, ToolCall, ToolCallId, ToolOutcome, ToolState,
};
use tokio::sync::{mpsc, watch};
use tools::delegation::SPAWN_AGENT;

use super::{
    attend::{cancelled_text, failed_text, work},
    background,
    budget::Budget,
    choose_model::{Gone, choose_model},
    drive::{RunCtx, RunStop},
    frame::Frame,
    mail::Mail,
    order::{self, Order, Refusal},
    post::Post,
    raise::Mirror,
    report,
    resume::{self, Why},
    tree::{Busy, Handle, Place, Revived},
    turn::Turn,
};
use crate::{
    agents::{
        AgentDefinition,
        kit::{Kit, Scene},
    },
    context::{conversation::Conversation, delegation, prompt},
    session::log::LogWriter,
};

/// Answers that may wait for a sub-agent.
const ANSWERS: usize = 16;

/// How a delegation came back.
pub(crate) enum Delegated {
    Done(ToolOutcome, Option<Busy>),
    /// The call is done, with the result of a background agent.
    Reported {
        call: ToolCallId,
        agent: SessionId,
        outcome: ToolOutcome,
        busy: Option<Busy>,
    },
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
            Some(_) => Ok(order::again(&run, &call)),
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
            let chat = revived.parent.chat.clone();
            let order = order::again(run, &call);
            match begin(run, &call, &order, Some(revived), writer).await {
                Ok(Begun::Open(child)) => works.push(in_background(*child, order, run.tree.busy())),
                Ok(Begun::Closed(outcome)) => run.tree.end(chat, run.post.message.clone(), outcome, None),
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
    let (tree, parent) = (Arc::clone(&child.run.tree), child.caller.clone());
    tree.start_background(&parent);
    Box::pin(async move {
        let (chat, message) = (SessionId::new(child.agent_id.as_str()), child.run.post.message.clone());
        let ended = match work(child, order, busy).await {
            Delegated::Done(outcome, busy) => {
                tree.end(chat, parent, outcome.clone(), busy);
                Delegated::Done(outcome, None)
            }
            other => {
                tree.stop_background(&parent);
                other
            }
        };
        tree.leave(&message);
        ended
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
    pub(super) run: RunCtx,
    pub(super) frame: Frame,
    pub(super) writer: LogWriter,
    pub(super) turn: Turn,
    pub(super) mail: Mail,
    pub(super) place: Option<Place>,
    pub(super) agent_id: String,
    /// The message that delegated.
    caller: MessageId,
    pub(super) result: watch::Sender<Option<ToolOutcome>>,
}

async fn begin(
    caller: &RunCtx,
    call: &ToolCall,
    order: &Order,
    revived: Option<Revived>,
    writer: &LogWriter,
) -> Result<Begun, Failed> {
    let place = caller.tree.queue(revived.is_some());
    let place = place.map_err(|limit| Failed::Refused(Refusal::queue_full(limit)))?;
    let is_new = revived.is_none();
    let task = revived.as_ref().map_or(&order.task, |revived| &revived.parent.task);
    let mut agent = order.agent.as_ref().clone();
    agent.prompt = agent.prompt_for(task).clone();
    let scene = Scene::of(&caller.workspace, &caller.options);
    let kit = Kit::of(&agent, scene, &caller.parts.agents, &caller.parts.tools)
        .finishing(order.output_schema.clone());
    let (model, system) = match voice(caller, order, &agent, &kit).await {
        Ok(voice) => voice,
        Err(refusal) if is_new => return Err(Failed::Refused(refusal)),
        // It is open in the log: it must end there.
        Err(refusal) => (Arc::new(Gone(ChoiceError::Unknown(refusal.message))) as _, String::new()),
    };
    let Revived { mut frame, parent } = match revived {
        Some(revived) => revived,
        None => open(caller, call, order, &*model, matches!(place, Place::Queued(_)))?,
    };
    if frame.is_closed() {
        return Ok(Begun::Closed(outcome_of_closed(&frame, &agent.name, parent.chat.as_str())));
    }
    let cancel = caller.cancel.child_token();
    let mut run = caller.clone();
    run.post = Arc::new(Post::below(&caller.post, &agent, frame.message().id.clone()));
    run.kit = Arc::new(kit);
    run.history = Arc::new(Conversation::of_task(&run.post.message, task_message(&parent)));
    run.written = None;
    run.cancel = cancel.clone();
    run.model = model;
    run.system = run.parts.texts.share(system);
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
        let calls = resume::plan(&frame, &run.parts.tools, &run.tree.grants, Why::Asked);
        Turn::resume(run.agent.max_steps, frame.steps(), calls)
    };
    let (result, results) = watch::channel(None);
    run.tree.enter(
        &run.post.message,
        Handle { chat: parent.chat.clone(), parent: parent.message.clone(), cancel, result: results },
    );
    if is_new {
        run.tree.hub.join(&run.agent.name);
    }
    let agent_id = parent.chat.to_string();
    let caller = parent.message.clone();
    Ok(Begun::Open(Box::new(Child {
        run,
        frame,
        writer,
        turn,
        mail,
        place: Some(place),
        agent_id,
        caller,
        result,
    })))
}

/// What the agent thinks with and what it is told about its role.
async fn voice(
    caller: &RunCtx,
    order: &Order,
    agent: &AgentDefinition,
    kit: &Kit,
) -> Result<(Arc<dyn Model>, String), Refusal> {
    let model = model_of(caller, order)?;
    let name = Some(caller.agent.name.as_str());
    let threads = &caller.parts.template_threads;
    let system = prompt::system(agent, kit, &caller.workspace, &caller.options, name, "", threads).await;
    let system = system.map_err(|message| Refusal { code: "unavailable", message, unavailable: true })?;
    Ok((model, system))
}

/// The caller's model, unless the agent has its own.
fn model_of(caller: &RunCtx, order: &Order) -> Result<Arc<dyn Model>, Refusal> {
    if let Some(reason) = &order.gone {
        return Ok(Arc::new(Gone(ChoiceError::Unknown(reason.clone()))));
    }
    if order.agent.model.is_none() {
        return Ok(Arc::clone(&caller.model));
    }
    let turn = (caller.workspace.clone(), SessionId::new(caller.tree.root.as_str()));
    let chosen = choose_model(&caller.parts.catalog, &turn, &RunOptions::default(), &order.agent);
    chosen.map_err(|error| Refusal {
        code: "model_unavailable",
        message: error.to_string(),
        unavailable: true,
    })
}

/// A new frame: its id is fixed from here on.
fn open(
    caller: &RunCtx,
    call: &ToolCall,
    order: &Order,
    model: &dyn Model,
    queued: bool,
) -> Result<Revived, RunStop> {
    let ids = &caller.parts.ids;
    let mut frame = Frame::new(ids.message());
    let chat = ids.sub_chat();
    let agent = AgentRef::sub(&order.agent.name, &order.agent.display_name, &caller.post.path);
    let facts = MessageFacts {
        agent: Some(agent),
        agent_name: Some(order.agent.name.clone()),
        agent_id: Some(chat.clone()),
        parent_tool_call_id: Some(call.id.clone()),
        parent_message_id: Some(caller.post.message.clone()),
        chat_id: Some(chat.clone()),
        model: Some(model.name().to_owned()),
        created_at: Some(caller.parts.clock.now()),
        status: queued.then_some(MessageStatus::Queued),
        ..MessageFacts::default()
    };
    let parent = FrameParent {
        message: caller.post.message.clone(),
        call: call.id.clone(),
        root: caller.tree.root.clone(),
        chat,
        task: order.task.clone(),
        context: delegation::context(caller, order),
        background: order.background,
    };
    frame.open(facts, Some(Box::new(parent.clone())))?;
    Ok(Revived { frame, parent })
}

/// The task as the sub-agent reads it, with what its caller handed over.
fn task_message(parent: &FrameParent) -> ModelMessage {
    let mut content = vec![UserContent::Text(parent.task.clone())];
    if let Some(text) = delegation::text(&parent.context) {
        content.push(UserContent::Text(text));
    }
    ModelMessage::User { content }
}

/// The result of a sub-agent that had ended when the server went down.
fn outcome_of_closed(frame: &Frame, agent: &str, chat: &str) -> ToolOutcome {
    match frame.end() {
        Some(FrameEnd::Failed { message }) => {
            let code = frame.facts().error_code.unwrap_or(ErrorCode::Internal);
            ToolOutcome::Failed { message: failed_text(agent, code.as_str(), message) }
        }
        Some(FrameEnd::Cancelled) => ToolOutcome::Failed { message: cancelled_text(agent) },
        Some(FrameEnd::Finished { .. }) | None => ToolOutcome::Done { output: report::result(frame, chat) },
    }
}

impl Post {
    /// The place of a sub-agent of `caller`.
    fn below(caller: &Self, agent: &AgentDefinition, message: MessageId) -> Self {
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
