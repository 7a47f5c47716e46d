//! Starts and resumes sub-agents: from the delegating call to the result.
//!
//! A sub-agent has a frame like the main agent, runs the same loop, and writes to the same log under its own message id.

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use models::{ChoiceError, Model, ModelMessage, UserContent};
use protocol::{
    AgentRef, ErrorCode, FrameEnd, FrameParent, MessageFacts, MessageId, MessageStatus, RunOptions,
    SessionId, ToolCall, ToolCallId, ToolOutcome,
};
use tokio::sync::watch;
use tools::{Tool as _, delegation::SPAWN_AGENT, read_file::ReadFile};

use super::{
    approval_relay::ApprovalRelay,
    background, handover,
    position::Position,
    report,
    request::{self, DelegationRequest, Refusal},
    sub_agent::{cancelled_text, failed_text, work},
    tree::{Place, RestoredAgent},
};
use crate::{
    agents::tool_set::{ToolScope, ToolSet},
    context::{conversation::Conversation, prompt},
    mailbox::{activity::ActivityGuard, directory::SubAgentHandle},
    model_choice::{UnavailableModel, choose_model},
    run::{
        agent_inbox::AgentInbox,
        agent_log::AgentLog,
        agent_loop::{driver::RunStop, turn::Turn},
        context::{AgentContext, AgentSetup},
        frame::Frame,
        tool_calls::{
            plan::{self, Cause},
            verdict::Judge,
        },
    },
    session_name::SessionName,
};

/// How a delegation ended.
pub(crate) enum Delegated {
    Done(ToolOutcome, Option<ActivityGuard>),
    /// The call is done, with the result of a background agent.
    Reported {
        call: ToolCallId,
        agent: SessionId,
        outcome: ToolOutcome,
        activity: Option<ActivityGuard>,
    },
    /// The sub-agent works in the background: the call is settled, the future is the work.
    Started(ToolOutcome, BoxFuture<'static, Delegated>, ActivityGuard),
    /// The sub-agent waits for a person, with these frames.
    Parked(Vec<Frame>),
    /// The store failed: the run must stop.
    Broken(RunStop),
}

/// Runs one delegation. Boxed, because a sub-agent may delegate in turn.
pub(crate) fn delegate(
    run: AgentContext,
    call: ToolCall,
    log: AgentLog,
    activity: ActivityGuard,
) -> BoxFuture<'static, Delegated> {
    Box::pin(async move {
        if background::is_about_one(&call.name) {
            return background::call(run, call, activity).await;
        }
        let restored = run.tree.take_restored(&run.position.message, &call.id);
        let request = match &restored {
            // It was admitted when it began.
            Some(_) => Ok(request::read_again(&run, &call)),
            None => request::admit(&run, &call),
        };
        match request {
            Ok(request) => match begin(&run, &call, &request, restored, &log).await {
                Ok(Begun::Open(sub_agent)) if request.background => {
                    let started = background::started(&sub_agent.agent_id);
                    let own = run.tree.activity.begin();
                    Delegated::Started(started, in_background(*sub_agent, request, own), activity)
                }
                Ok(Begun::Open(sub_agent)) => work(*sub_agent, request, activity).await,
                Ok(Begun::Closed(outcome)) => Delegated::Done(outcome, Some(activity)),
                Err(Failed::Refused(refusal)) => Delegated::Done(refused(&refusal), Some(activity)),
                Err(Failed::Stop(stop)) => Delegated::Broken(stop),
            },
            Err(refusal) => Delegated::Done(refused(&refusal), Some(activity)),
        }
    })
}

/// Resumes the background agents of an agent after a restart or a pause. Boxed, as [`delegate`] is.
pub(crate) fn resume_background<'a>(
    run: &'a AgentContext,
    frame: &'a Frame,
    log: &'a AgentLog,
) -> BoxFuture<'a, Result<Vec<BoxFuture<'static, Delegated>>, RunStop>> {
    Box::pin(async move {
        let mut works = Vec::new();
        for restored in run.tree.take_restored_background(&run.position.message) {
            let asked = frame.message().tool_parts().find(|part| part.call == restored.parent.call);
            let input = asked.and_then(|part| part.state.input().cloned()).unwrap_or_default();
            let call = ToolCall { id: restored.parent.call.clone(), name: SPAWN_AGENT.to_owned(), input };
            let chat = restored.parent.chat.clone();
            let request = request::read_again(run, &call);
            match begin(run, &call, &request, Some(restored), log).await {
                Ok(Begun::Open(sub_agent)) => {
                    works.push(in_background(*sub_agent, request, run.tree.activity.begin()));
                }
                Ok(Begun::Closed(outcome)) => {
                    run.tree.end_background(chat, run.position.message.clone(), outcome, None);
                }
                Err(Failed::Refused(refusal)) => {
                    tracing::warn!(%refusal, "a background agent was not resumed")
                }
                Err(Failed::Stop(stop)) => return Err(stop),
            }
        }
        Ok(works)
    })
}

/// Runs a sub-agent in the background; its result is kept until the caller asks for it or is done itself.
fn in_background(
    sub_agent: SubAgent,
    request: DelegationRequest,
    activity: ActivityGuard,
) -> BoxFuture<'static, Delegated> {
    let (tree, parent) = (Arc::clone(&sub_agent.context.tree), sub_agent.caller.clone());
    tree.start_background(&parent);
    Box::pin(async move {
        let chat = SessionId::new(sub_agent.agent_id.as_str());
        let message = sub_agent.context.position.message.clone();
        let ended = match work(sub_agent, request, activity).await {
            Delegated::Done(outcome, activity) => {
                tree.end_background(chat, parent, outcome.clone(), activity);
                Delegated::Done(outcome, None)
            }
            other => {
                tree.park_background(&parent);
                other
            }
        };
        tree.agents.leave(&message);
        ended
    })
}

fn refused(refusal: &Refusal) -> ToolOutcome {
    ToolOutcome::Done { output: refusal.to_value() }
}

enum Begun {
    Open(Box<SubAgent>),
    /// It had ended before a restart, and its caller did not know yet.
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

/// A sub-agent that is open in the log and about to work.
pub(crate) struct SubAgent {
    pub(super) context: AgentContext,
    pub(super) frame: Frame,
    pub(super) log: AgentLog,
    pub(super) turn: Turn,
    pub(super) inbox: AgentInbox,
    pub(super) place: Place,
    pub(super) agent_id: String,
    /// The message of the agent that delegated.
    caller: MessageId,
    pub(super) result: watch::Sender<Option<ToolOutcome>>,
}

async fn begin(
    caller: &AgentContext,
    call: &ToolCall,
    request: &DelegationRequest,
    restored: Option<RestoredAgent>,
    log: &AgentLog,
) -> Result<Begun, Failed> {
    let place = caller.tree.queue(restored.is_some());
    let place = place.map_err(|limit| Failed::Refused(Refusal::queue_full(limit)))?;
    let is_new = restored.is_none();
    let task = restored.as_ref().map_or(&request.task, |restored| &restored.parent.task);
    let setup = match set_up(caller, request, task).await {
        Ok(setup) => setup,
        Err((refusal, _)) if is_new => return Err(Failed::Refused(refusal)),
        // It is open in the log: it must end there, with this reason.
        Err((refusal, setup)) => setup.with_unavailable_model(refusal.message),
    };
    let RestoredAgent { mut frame, parent, cause } = match restored {
        Some(restored) => restored,
        None => open(caller, call, request, &*setup.model, matches!(place, Place::Queued(_)))?,
    };
    if frame.is_closed() {
        let name = &setup.definition.name;
        return Ok(Begun::Closed(outcome_of_closed(&frame, name, parent.chat.as_str())));
    }
    let cancel = caller.cancel.child_token();
    let message = frame.message().id.clone();
    let context = AgentContext {
        services: Arc::clone(&caller.services),
        run: Arc::clone(&caller.run),
        position: Arc::new(Position::below(&caller.position, &setup.definition, message.clone())),
        history: Arc::new(Conversation::of_task(&message, task_message(&parent))),
        agent: setup,
        cancel: cancel.clone(),
        tree: Arc::clone(&caller.tree),
    };
    let inbox = AgentInbox::of_sub_agent();
    let mut open_approvals = HashMap::new();
    for (call, _, state) in frame.own_open_calls() {
        if let Some(approval) = frame.pending_question(&call, &state) {
            context.tree.agents.asked(approval, inbox.sender());
        }
        if let Some(approval) = frame.question_of(&call, &state) {
            open_approvals.insert(call, approval);
        }
    }
    let name = &context.agent.definition.name;
    let mut log = log.for_sub_agent(ApprovalRelay::new(context.tree.relayed.clone(), name, open_approvals));
    let turn = if is_new {
        log.append(&mut frame).await?;
        Turn::new(context.agent.definition.max_steps)
    } else {
        let calls = plan::plan(&frame, Judge::of(&context), cause);
        Turn::resume(context.agent.definition.max_steps, frame.steps(), calls)
    };
    let (result, results) = watch::channel(None);
    context.tree.agents.enter(
        &message,
        SubAgentHandle { chat: parent.chat.clone(), parent: parent.message.clone(), cancel, result: results },
    );
    if is_new {
        context.tree.hub.join(&context.agent.definition.name);
    }
    let (agent_id, caller) = (parent.chat.to_string(), parent.message.clone());
    let sub_agent = SubAgent { context, frame, log, turn, inbox, place, agent_id, caller, result };
    Ok(Begun::Open(Box::new(sub_agent)))
}

/// Sets up the agent. The error also has what could be set up, for an agent that is open in the log and must end there.
async fn set_up(
    caller: &AgentContext,
    request: &DelegationRequest,
    task: &str,
) -> Result<AgentSetup, (Refusal, AgentSetup)> {
    let mut agent = request.agent.as_ref().clone();
    agent.prompt = agent.prompt_for(task).clone();
    let scope = ToolScope::of(&caller.run.workspace, &caller.run.options);
    let services = &caller.services;
    let tools = ToolSet::of(&agent, scope, &services.agents.registry, &services.tools.registry)
        .with_structured_answer(request.output_schema.clone());
    let name = Some(caller.agent.definition.name.as_str());
    let threads = &services.agents.template_threads;
    let (workspace, options) = (&caller.run.workspace, &caller.run.options);
    let mut setup = AgentSetup {
        model: Arc::clone(&caller.agent.model),
        tools: Arc::new(tools),
        system_prompt: Arc::default(),
        project_notes: Arc::clone(&caller.agent.project_notes),
        definition: Arc::new(agent),
    };
    match model_of(caller, request) {
        Ok(model) => setup.model = model,
        Err(refusal) => return Err((refusal, setup)),
    }
    let notes = if setup.tools.has(ReadFile::NAME) { &*setup.project_notes } else { "" };
    match prompt::system(&setup.definition, &setup.tools, workspace, options, name, notes, threads).await {
        Ok(system) => {
            setup.system_prompt = services.caches.texts.share(system);
            Ok(setup)
        }
        Err(message) => Err((Refusal { code: "unavailable", message, unavailable: true }, setup)),
    }
}

impl AgentSetup {
    fn with_unavailable_model(self, reason: String) -> Self {
        let model = Arc::new(UnavailableModel(ChoiceError::Unknown(reason)));
        Self { model, system_prompt: Arc::default(), ..self }
    }
}

/// The caller's model, unless the agent has its own.
fn model_of(caller: &AgentContext, request: &DelegationRequest) -> Result<Arc<dyn Model>, Refusal> {
    if let Some(reason) = &request.gone {
        return Ok(Arc::new(UnavailableModel(ChoiceError::Unknown(reason.clone()))));
    }
    if request.agent.model.is_none() {
        return Ok(Arc::clone(&caller.agent.model));
    }
    let main = SessionId::new(caller.tree.agents.main.as_str());
    let session = SessionName::new(caller.run.workspace.clone(), main);
    let chosen = choose_model(&caller.services.catalog, &session, &RunOptions::default(), &request.agent);
    chosen.map_err(|error| Refusal {
        code: "model_unavailable",
        message: error.to_string(),
        unavailable: true,
    })
}

/// Opens a new frame; its message id is fixed from here on.
fn open(
    caller: &AgentContext,
    call: &ToolCall,
    request: &DelegationRequest,
    model: &dyn Model,
    queued: bool,
) -> Result<RestoredAgent, RunStop> {
    let ids = &caller.services.ids;
    let mut frame = Frame::new(ids.message());
    let chat = ids.sub_chat();
    let agent = AgentRef::sub(&request.agent.name, &request.agent.display_name, &caller.position.path);
    let facts = MessageFacts {
        agent: Some(agent),
        agent_name: Some(request.agent.name.clone()),
        agent_id: Some(chat.clone()),
        parent_tool_call_id: Some(call.id.clone()),
        parent_message_id: Some(caller.position.message.clone()),
        chat_id: Some(chat.clone()),
        model: Some(model.name().to_owned()),
        created_at: Some(caller.services.clock.now()),
        status: queued.then_some(MessageStatus::Queued),
        ..MessageFacts::default()
    };
    let parent = FrameParent {
        message: caller.position.message.clone(),
        call: call.id.clone(),
        root: caller.tree.agents.main.clone(),
        chat,
        task: request.task.clone(),
        context: handover::context(caller, request),
        background: request.background,
    };
    frame.open(facts, Some(Box::new(parent.clone())))?;
    Ok(RestoredAgent { frame, parent, cause: Cause::Person })
}

/// The task as the sub-agent reads it, with the context from its caller.
fn task_message(parent: &FrameParent) -> ModelMessage {
    let mut content = vec![UserContent::Text(parent.task.clone())];
    if let Some(text) = handover::text(&parent.context) {
        content.push(UserContent::Text(text));
    }
    ModelMessage::User { content }
}

/// The result of a sub-agent that had ended before a restart.
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
