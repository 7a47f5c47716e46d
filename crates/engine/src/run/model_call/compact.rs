//! Compacts a conversation: announces it in the log, has the model summarise the older part, and writes the result into
//! the message. This is the one place that decides when; `context/cut.rs` decides where to cut.
//!
//! At most one compaction before each model call, and one more if the server refuses the request as too long. If the model
//! cannot write a summary, nothing changes while there is room; otherwise a digest is made by rules.

use models::TooLong;
use protocol::ToolState;
use serde_json::Value;

use super::summarise::{NoSummary, summarise};
use crate::{
    context::{
        compaction::{Compaction, Method, Status, Trigger},
        conversation::Conversation,
        cut::{self, Keep, Room},
        transcript,
    },
    run::{
        agent_log::AgentLog, agent_loop::driver::RunStop, context::AgentContext, frame::Frame,
        tool_calls::loop_tools,
    },
    token_estimate,
};

/// An upper estimate of the tools of an agent, in bytes.
const TOOLS: usize = 32 << 10;
/// The share of an unknown window that is tried after a refusal, in percent.
const NEXT_TRY: u64 = 75;
/// Characters of one token, for upper bounds.
const CHARACTERS: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compacted {
    Done,
    /// Nothing can be left out.
    Nothing,
    /// The summary could not be written; nothing has changed.
    Failed,
}

/// Whether the next model call can fill the window. A cheap check that is mostly negative: there are never more tokens
/// than bytes.
pub(crate) fn can_be_full(run: &AgentContext, frame: &Frame, bytes: usize, of_turn: usize) -> bool {
    let settings = run.services.settings.context;
    let known = run.agent.model.context_window();
    let full = Room { window: known.unwrap_or(settings.default_window), fixed: 0 }.full();
    if !settings.auto_compact || (bytes + run.agent.system_prompt.len() + TOOLS) as u64 <= full {
        return false;
    }
    let counted = frame.context_tokens().map(|tokens| tokens + of_turn as u64);
    match counted.or_else(|| run.history.at_most_with(of_turn)) {
        Some(at_most) => at_most > full,
        None => known.is_some(),
    }
}

/// Before a model call: compacts when the window fills.
pub(crate) async fn if_full(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
) -> Result<Compacted, RunStop> {
    let known = run.agent.model.context_window();
    let window = known.unwrap_or(run.services.settings.context.default_window);
    let conversation = conversation(run, frame);
    if known.is_none() && conversation.measured().is_none() {
        return Ok(Compacted::Nothing);
    }
    let room = room(run, frame, window);
    let expected = cut::expected(&conversation, room.fixed);
    let failed_before = frame.newest_compaction().is_some_and(|(_, it)| it.status == Status::Failed);
    if expected <= room.full() || (failed_before && expected <= room.brim()) {
        return Ok(Compacted::Nothing);
    }
    compact(run, frame, log, &conversation, room, Trigger::Window, "").await
}

/// After the server refused a request as too long.
pub(crate) async fn after_refusal(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
    refused: TooLong,
) -> Result<Compacted, RunStop> {
    let conversation = conversation(run, frame);
    let known = run.agent.model.context_window().unwrap_or(run.services.settings.context.default_window);
    let mut room = room(run, frame, known);
    let tried = known.min(cut::expected(&conversation, room.fixed)) * NEXT_TRY / 100;
    room.window = refused.limit.unwrap_or(tried).min(known).max(1);
    compact(run, frame, log, &conversation, room, Trigger::Refused, "").await
}

/// Because a person asked for it.
pub(crate) async fn on_command(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
    wish: &str,
) -> Result<Compacted, RunStop> {
    let conversation = conversation(run, frame);
    let window = run.agent.model.context_window().unwrap_or(run.services.settings.context.default_window);
    let room = room(run, frame, window);
    compact(run, frame, log, &conversation, room, Trigger::Command, wish).await
}

async fn compact(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
    conversation: &Conversation,
    room: Room,
    trigger: Trigger,
    wish: &str,
) -> Result<Compacted, RunStop> {
    let keep = if trigger == Trigger::Command { Keep::Little } else { Keep::Much };
    let Some(plan) = cut::plan(conversation, &room, keep) else { return Ok(Compacted::Nothing) };
    // One that a crash or a time limit interrupted is taken up under its id.
    let unfinished = frame.newest_compaction().filter(|(_, it)| it.status == Status::Running);
    let unfinished = unfinished.and_then(|(id, _)| id.map(str::to_owned));
    let id = unfinished.unwrap_or_else(|| run.services.ids.time_ordered());
    let mut it = Compaction::running(trigger, plan.tokens_before, room.window);
    frame.compaction(&id, &it)?;
    log.append_durably(frame).await?;
    tracing::info!(run = %run.run.id, tokens = plan.tokens_before, window = room.window, ?trigger, "compacting");

    let left_out = &conversation.messages()[..plan.replaced];
    let characters = usize::try_from(room.summary() * CHARACTERS).unwrap_or(usize::MAX);
    let written = match left_out {
        [] => Ok(String::new()),
        left_out => Box::pin(summarise(run, frame, left_out, &room, wish)).await,
    };
    match written {
        Ok(summary) => {
            it.method = (!summary.is_empty()).then_some(Method::Summary);
            it.summary = transcript::clip(&summary, characters).unwrap_or(summary);
        }
        Err(NoSummary::Stop(stop)) => return Err(stop),
        Err(NoSummary::Because(why)) => {
            tracing::warn!(run = %run.run.id, why, "a conversation could not be summarised");
            it.error = Some(why);
            let has_room = trigger == Trigger::Command
                || (trigger == Trigger::Window && plan.tokens_before <= room.brim());
            if has_room {
                it.status = Status::Failed;
                frame.compaction(&id, &it)?;
                log.append_durably(frame).await?;
                return Ok(Compacted::Failed);
            }
            it.method = Some(Method::Digest);
            it.summary = transcript::digest(left_out, characters);
        }
    }
    it.status = Status::Done;
    it.plan = conversation.plan().cloned();
    it.open = open(run, frame);
    it.keep = plan.keep;
    it.clip = plan.clip;
    it.replaced = Some(plan.replaced);
    it.tokens_after = Some(plan.tokens_after);
    frame.compaction(&id, &it)?;
    log.append_durably(frame).await?;
    Ok(Compacted::Done)
}

fn conversation(run: &AgentContext, frame: &Frame) -> Conversation {
    run.history.with_turn(frame.message(), frame.context_tokens())
}

fn room(run: &AgentContext, frame: &Frame, window: u64) -> Room {
    let fixed = token_estimate::of_text(&run.agent.system_prompt)
        + token_estimate::of_tools(&loop_tools::equipped(run, frame));
    Room { window, fixed }
}

/// What is pending now: background agents and questions, which the agent must still know after the compaction.
fn open(run: &AgentContext, frame: &Frame) -> Vec<String> {
    let mut lines = Vec::new();
    for handle in run.tree.agents.sub_agents_of(&run.position.message) {
        let chat = handle.chat.as_str();
        let started = frame.message().tool_parts().find(|part| match &part.state {
            ToolState::OutputAvailable { output, .. } => {
                output.get("agentId").and_then(Value::as_str) == Some(chat)
            }
            _ => false,
        });
        let input = started.and_then(|part| part.state.input());
        let field =
            |name: &str| input.and_then(|input| input.get(name)).and_then(Value::as_str).unwrap_or("");
        let task: String = field("task").chars().take(200).collect();
        lines.push(format!("The agent {} works in the background (agentId {chat}): {task}", field("name")));
    }
    let own: Vec<_> = frame.own_open_calls().into_iter().map(|(call, ..)| call).collect();
    for (call, tool, state) in frame.open_calls() {
        if let Some(approval) = frame.pending_question(&call, &state)
            && !own.contains(&call)
        {
            let what = match state {
                ToolState::ApprovalRequested { .. } => "approve",
                _ => "answer",
            };
            lines.push(format!("A sub-agent waits for the person to {what} {tool} ({approval})."));
        }
    }
    lines
}
