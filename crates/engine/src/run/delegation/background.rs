//! Sub-agents that work in the background: started, spoken to, waited for and stopped by the agent that started them.
//!
//! The same frames as any other delegation; only nobody waits at the call. Their caller does not end before they do: what
//! they report is handed to it before its last word.

use std::time::Duration;

use protocol::{ReportNote, SessionId, ToolCall, ToolOutcome};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tools::delegation::{self, AbortAgentInput, SendInputInput, WaitAgentInput};

use super::{delegate::Delegated, request::Refusal, tree::EndedAgent};
use crate::{
    mailbox::activity::ActivityGuard,
    run::{
        agent_inbox::AgentInbox,
        agent_loop::driver::{AgentWork, RunStop},
        context::AgentContext,
        frame::Frame,
    },
};

/// How long `wait-agent` waits when it is not told, and at most.
const WAIT: u64 = 30_000;
const LONGEST_WAIT: u64 = 600_000;

/// Whether this call is about a background agent that exists already.
pub(crate) fn is_about_one(tool: &str) -> bool {
    matches!(tool, delegation::SEND_INPUT | delegation::WAIT_AGENT | delegation::ABORT_AGENT)
}

pub(crate) async fn call(run: AgentContext, call: ToolCall, activity: ActivityGuard) -> Delegated {
    match call.name.as_str() {
        delegation::SEND_INPUT => send_input(&run, &call, activity),
        delegation::ABORT_AGENT => abort(&run, &call, activity).await,
        _ => wait(&run, &call, activity).await,
    }
}

/// What a call that started one gives: the agent is at work.
pub(crate) fn started(agent_id: &str) -> ToolOutcome {
    ToolOutcome::Done { output: json!({ "ok": true, "agentId": agent_id, "status": "running" }) }
}

/// What the caller is told about agents that ended without being waited for.
fn report(ended: &[EndedAgent]) -> String {
    let line = |ended: &EndedAgent| ended_value(ended.chat.as_str(), &ended.outcome).to_string();
    let lines: Vec<String> = ended.iter().map(line).collect();
    format!("Agents you started in the background have ended:\n{}", lines.join("\n"))
}

fn ended_value(agent_id: &str, outcome: &ToolOutcome) -> Value {
    match outcome {
        ToolOutcome::Done { output } => {
            json!({ "ok": true, "agentId": agent_id, "status": "ended", "result": output })
        }
        ToolOutcome::Failed { message } => {
            json!({ "ok": false, "agentId": agent_id, "status": "ended", "error": message })
        }
        ToolOutcome::Denied { reason } => {
            json!({ "ok": false, "agentId": agent_id, "status": "ended", "error": reason })
        }
    }
}

fn read<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolOutcome> {
    serde_json::from_value(call.input.clone()).map_err(|error| refuse(&Refusal::invalid(error.to_string())))
}

fn refuse(refusal: &Refusal) -> ToolOutcome {
    ToolOutcome::Done { output: refusal.to_value() }
}

fn unknown(run: &AgentContext, agent_id: &str) -> ToolOutcome {
    let mine: Vec<String> =
        run.tree.agents.sub_agents_of(&run.position.message).iter().map(|one| one.chat.to_string()).collect();
    let mine = if mine.is_empty() { "none".to_owned() } else { mine.join(", ") };
    let message = format!("You have no agent \"{agent_id}\" at work. Yours are: {mine}.");
    refuse(&Refusal { code: "not_found", message, unavailable: false })
}

fn send_input(run: &AgentContext, call: &ToolCall, activity: ActivityGuard) -> Delegated {
    let input: SendInputInput = match read(call) {
        Ok(input) => input,
        Err(outcome) => return Delegated::Done(outcome, Some(activity)),
    };
    let outcome = match run.tree.agents.by_chat(&input.agent_id) {
        Some((message, handle))
            if handle.parent == run.position.message && run.tree.agents.steer(&message, input.message) =>
        {
            ToolOutcome::Done { output: json!({ "ok": true, "agentId": input.agent_id }) }
        }
        _ => unknown(run, &input.agent_id),
    };
    Delegated::Done(outcome, Some(activity))
}

async fn abort(run: &AgentContext, call: &ToolCall, activity: ActivityGuard) -> Delegated {
    let input: AbortAgentInput = match read(call) {
        Ok(input) => input,
        Err(outcome) => return Delegated::Done(outcome, Some(activity)),
    };
    let outcome = match run.tree.agents.by_chat(&input.agent_id) {
        Some((_, handle)) if handle.parent == run.position.message => {
            let mut ended = run.tree.watch_endings();
            handle.cancel.cancel();
            // It is bounded: a cancelled agent closes its message and ends.
            while run.tree.take_ended(&input.agent_id).is_none()
                && run.tree.agents.by_chat(&input.agent_id).is_some()
            {
                if ended.changed().await.is_err() {
                    break;
                }
            }
            let output = json!({ "ok": true, "agentId": input.agent_id, "status": "aborted" });
            let (call, agent) = (call.id.clone(), SessionId::new(input.agent_id));
            let (outcome, activity) = (ToolOutcome::Done { output }, Some(activity));
            return Delegated::Reported { call, agent, outcome, activity };
        }
        _ => unknown(run, &input.agent_id),
    };
    Delegated::Done(outcome, Some(activity))
}

/// Waits until the first of these agents has ended. The caller does not count as at work meanwhile.
async fn wait(run: &AgentContext, call: &ToolCall, activity: ActivityGuard) -> Delegated {
    let input: WaitAgentInput = match read(call) {
        Ok(input) => input,
        Err(outcome) => return Delegated::Done(outcome, Some(activity)),
    };
    let timeout = Duration::from_millis(input.timeout_ms.unwrap_or(WAIT).min(LONGEST_WAIT));
    let deadline = tokio::time::Instant::now() + timeout;
    let _listening = run.tree.listen(&run.position.message);
    let mut ended = run.tree.watch_endings();
    let mut activity = Some(activity);
    loop {
        ended.borrow_and_update();
        let at_work = input.agent_ids.iter().any(|agent_id| {
            run.tree.agents.by_chat(agent_id).is_some_and(|(_, handle)| handle.parent == run.position.message)
        });
        for agent_id in &input.agent_ids {
            if let Some(ended) = run.tree.take_ended(agent_id) {
                let outcome = ToolOutcome::Done { output: ended_value(agent_id, &ended.outcome) };
                let (call, agent) = (call.id.clone(), SessionId::new(agent_id.as_str()));
                return Delegated::Reported { call, agent, outcome, activity: ended.activity.or(activity) };
            }
        }
        if !at_work {
            let activity = activity.or_else(|| Some(run.tree.activity.begin()));
            return Delegated::Done(unknown(run, &input.agent_ids.join(", ")), activity);
        }
        activity = None;
        drop(run.tree.take_activity(&run.position.message, &input.agent_ids));
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => {
                return Delegated::Done(ToolOutcome::Failed { message: "stopped before this call had a result".to_owned() }, None);
            }
            changed = ended.changed() => drop(changed),
            () = tokio::time::sleep_until(deadline) => {
                let output = json!({ "ok": true, "status": "running", "agentIds": input.agent_ids });
                return Delegated::Done(ToolOutcome::Done { output }, Some(run.tree.activity.begin()));
            }
            () = run.tree.activity.parking() => return Delegated::Parked(Vec::new()),
        }
    }
}

/// What the background agents of an agent have come to when the agent itself is done.
pub(crate) enum Background {
    /// There were none, or their results are known.
    None,
    /// They have ended, and their reports are written into the message.
    Reported,
    Parked(Vec<Frame>),
}

/// Waits until all background agents have ended or parked, and reports their results to their caller.
pub(crate) async fn wait_for_all(work: &mut AgentWork) -> Result<Background, RunStop> {
    let AgentWork { context: run, frame, log, inbox, permit, .. } = work;
    let _listening = run.tree.listen(&run.position.message);
    let mut parked = Vec::new();
    if !inbox.background.is_empty() {
        log.append(frame).await?;
    }
    while !inbox.background.is_empty() {
        // The run stays active until this agent has the results of those still at work.
        if run.tree.has_background(&run.position.message) {
            permit.release();
        }
        let ended = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
            relayed = AgentInbox::next_relayed(&mut inbox.relayed) => {
                relayed.show(frame, &*run.services.ids)?;
                log.append(frame).await?;
                continue;
            }
            ended = inbox.background.join_next() => ended,
        };
        match ended {
            Some(Ok(Delegated::Parked(frames))) => parked.extend(frames),
            Some(Ok(Delegated::Broken(stop))) => return Err(stop),
            Some(Err(error)) => tracing::error!(%error, "a background agent broke off"),
            _ => {}
        }
        for activity in run.tree.take_activity(&run.position.message, &[]) {
            permit.adopt(Some(activity));
        }
    }
    inbox.show_relayed(frame, &*run.services.ids)?;
    if !parked.is_empty() {
        return Ok(Background::Parked(parked));
    }
    let unreported = run.tree.take_unreported(&run.position.message);
    if unreported.is_empty() {
        return Ok(Background::None);
    }
    let note = ReportNote { id: run.services.ids.time_ordered(), text: report(&unreported) };
    let agents = unreported.iter().map(|ended| ended.chat.clone()).collect();
    unreported.into_iter().for_each(|ended| permit.adopt(ended.activity));
    frame.report_background(agents, note)?;
    Ok(Background::Reported)
}

/// Waits for the background agents of an agent that parks; returns the frames of those that park too.
pub(crate) async fn join_parked(work: &mut AgentWork) -> Result<Vec<Frame>, RunStop> {
    let AgentWork { context: run, frame, inbox, .. } = work;
    let mut parked = Vec::new();
    while !inbox.background.is_empty() {
        tokio::select! {
            biased;
            relayed = AgentInbox::next_relayed(&mut inbox.relayed) => relayed.show(frame, &*run.services.ids)?,
            ended = inbox.background.join_next() => match ended {
                Some(Ok(Delegated::Parked(frames))) => parked.extend(frames),
                Some(Ok(Delegated::Broken(stop))) => return Err(stop),
                _ => {}
            }
        }
    }
    Ok(parked)
}

/// Stops all sub-agents of an agent that ends early, and waits for those in the background.
pub(crate) async fn cancel_all(work: &mut AgentWork) -> Result<(), RunStop> {
    let AgentWork { context: run, frame, inbox, .. } = work;
    for sub_agent in run.tree.agents.sub_agents_of(&run.position.message) {
        sub_agent.cancel.cancel();
    }
    while !inbox.background.is_empty() {
        tokio::select! {
            biased;
            relayed = AgentInbox::next_relayed(&mut inbox.relayed) => relayed.show(frame, &*run.services.ids)?,
            ended = inbox.background.join_next() => {
                if let Some(Ok(Delegated::Parked(mut frames))) = ended {
                    run.tree.add_orphans(&mut frames);
                }
            }
        }
    }
    drop(run.tree.take_unreported(&run.position.message));
    Ok(())
}
