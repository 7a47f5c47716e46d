//! Sub-agents that work in the background: started, spoken to, waited for and stopped by the agent that started them.
//!
//! The same frames as any other delegation; only nobody waits at the call. Their caller does not end before they do: what
//! they report is handed to it before its last word.

use std::time::Duration;

use protocol::{ReportNote, SessionId, ToolCall, ToolOutcome};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tools::delegation::{self, AbortAgentInput, SendInputInput, WaitAgentInput};

use super::{
    delegate::Delegated,
    drive::{RunCtx, RunStop},
    frame::Frame,
    mail::{Mail, next_raised},
    order::Refusal,
    tree::{Busy, Seat},
};
use crate::session::log::LogWriter;

/// How long `wait-agent` waits when it is not told, and at most.
const WAIT: u64 = 30_000;
const LONGEST_WAIT: u64 = 600_000;

/// Whether this call is about a background agent that exists already.
pub(crate) fn is_about_one(tool: &str) -> bool {
    matches!(tool, delegation::SEND_INPUT | delegation::WAIT_AGENT | delegation::ABORT_AGENT)
}

pub(crate) async fn call(run: RunCtx, call: ToolCall, busy: Busy) -> Delegated {
    match call.name.as_str() {
        delegation::SEND_INPUT => send_input(&run, &call, busy),
        delegation::ABORT_AGENT => abort(&run, &call, busy).await,
        _ => wait(&run, &call, busy).await,
    }
}

/// What a call that started one gives: the agent is at work.
pub(crate) fn started(agent_id: &str) -> ToolOutcome {
    ToolOutcome::Done { output: json!({ "ok": true, "agentId": agent_id, "status": "running" }) }
}

/// What the caller is told about agents that ended without being waited for.
pub(crate) fn report(ended: &[(String, ToolOutcome)]) -> String {
    let lines: Vec<String> =
        ended.iter().map(|(agent_id, outcome)| ended_value(agent_id, outcome).to_string()).collect();
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

fn unknown(run: &RunCtx, agent_id: &str) -> ToolOutcome {
    let mine: Vec<String> =
        run.tree.below(&run.post.message).iter().map(|(_, one)| one.chat.to_string()).collect();
    let mine = if mine.is_empty() { "none".to_owned() } else { mine.join(", ") };
    let message = format!("You have no agent \"{agent_id}\" at work. Yours are: {mine}.");
    refuse(&Refusal { code: "not_found", message, unavailable: false })
}

fn send_input(run: &RunCtx, call: &ToolCall, busy: Busy) -> Delegated {
    let input: SendInputInput = match read(call) {
        Ok(input) => input,
        Err(outcome) => return Delegated::Done(outcome, Some(busy)),
    };
    let outcome = match run.tree.by_chat(&input.agent_id) {
        Some((message, handle))
            if handle.parent == run.post.message && run.tree.steer(&message, input.message) =>
        {
            ToolOutcome::Done { output: json!({ "ok": true, "agentId": input.agent_id }) }
        }
        _ => unknown(run, &input.agent_id),
    };
    Delegated::Done(outcome, Some(busy))
}

async fn abort(run: &RunCtx, call: &ToolCall, busy: Busy) -> Delegated {
    let input: AbortAgentInput = match read(call) {
        Ok(input) => input,
        Err(outcome) => return Delegated::Done(outcome, Some(busy)),
    };
    let outcome = match run.tree.by_chat(&input.agent_id) {
        Some((_, handle)) if handle.parent == run.post.message => {
            let mut ended = run.tree.watch_ended();
            handle.cancel.cancel();
            // It is bounded: a cancelled agent closes its message and ends.
            while run.tree.take_ended(&input.agent_id).is_none()
                && run.tree.by_chat(&input.agent_id).is_some()
            {
                if ended.changed().await.is_err() {
                    break;
                }
            }
            let output = json!({ "ok": true, "agentId": input.agent_id, "status": "aborted" });
            let (call, agent) = (call.id.clone(), SessionId::new(input.agent_id));
            let (outcome, busy) = (ToolOutcome::Done { output }, Some(busy));
            return Delegated::Reported { call, agent, outcome, busy };
        }
        _ => unknown(run, &input.agent_id),
    };
    Delegated::Done(outcome, Some(busy))
}

/// Until the first of these agents has ended; whoever waits is not at work.
async fn wait(run: &RunCtx, call: &ToolCall, busy: Busy) -> Delegated {
    let input: WaitAgentInput = match read(call) {
        Ok(input) => input,
        Err(outcome) => return Delegated::Done(outcome, Some(busy)),
    };
    let timeout = Duration::from_millis(input.timeout_ms.unwrap_or(WAIT).min(LONGEST_WAIT));
    let deadline = tokio::time::Instant::now() + timeout;
    let _listening = run.tree.listen(&run.post.message);
    let mut ended = run.tree.watch_ended();
    let mut busy = Some(busy);
    loop {
        ended.borrow_and_update();
        let at_work = input.agent_ids.iter().any(|agent_id| {
            run.tree.by_chat(agent_id).is_some_and(|(_, handle)| handle.parent == run.post.message)
        });
        for agent_id in &input.agent_ids {
            if let Some((outcome, its)) = run.tree.take_ended(agent_id) {
                let outcome = ToolOutcome::Done { output: ended_value(agent_id, &outcome) };
                let (call, agent) = (call.id.clone(), SessionId::new(agent_id.as_str()));
                return Delegated::Reported { call, agent, outcome, busy: its.or(busy) };
            }
        }
        if !at_work {
            let busy = busy.or_else(|| Some(run.tree.busy()));
            return Delegated::Done(unknown(run, &input.agent_ids.join(", ")), busy);
        }
        busy = None;
        drop(run.tree.take_guards(&run.post.message, &input.agent_ids));
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => {
                return Delegated::Done(ToolOutcome::Failed { message: "stopped before this call had a result".to_owned() }, None);
            }
            changed = ended.changed() => drop(changed),
            () = tokio::time::sleep_until(deadline) => {
                let output = json!({ "ok": true, "status": "running", "agentIds": input.agent_ids });
                return Delegated::Done(ToolOutcome::Done { output }, Some(run.tree.busy()));
            }
            () = run.tree.parking() => return Delegated::Parked(Vec::new()),
        }
    }
}

/// What became of the agents in the background when their caller would have ended.
pub(crate) enum Background {
    None,
    /// They have ended, and the caller has their reports.
    Told,
    Parked(Vec<Frame>),
}

pub(crate) async fn wait_for_all(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    mail: &mut Mail,
    seat: &mut Seat,
) -> Result<Background, RunStop> {
    let _listening = run.tree.listen(&run.post.message);
    let mut parked = Vec::new();
    if !mail.background.is_empty() {
        writer.append(frame.take(), Vec::new()).await?;
    }
    while !mail.background.is_empty() {
        // Those still at work hold the run up until this frame has their results.
        if run.tree.has_background(&run.post.message) {
            seat.rest();
        }
        let ended = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
            raised = next_raised(&mut mail.raised) => {
                raised.show(frame, &*run.parts.ids)?;
                writer.append(frame.take(), Vec::new()).await?;
                continue;
            }
            ended = mail.background.join_next() => ended,
        };
        match ended {
            Some(Ok(Delegated::Parked(frames))) => parked.extend(frames),
            Some(Ok(Delegated::Broken(stop))) => return Err(stop),
            Some(Err(error)) => tracing::error!(%error, "a background agent broke off"),
            _ => {}
        }
        for busy in run.tree.take_guards(&run.post.message, &[]) {
            seat.take_over(Some(busy));
        }
    }
    mail.show_raised(run, frame)?;
    if !parked.is_empty() {
        return Ok(Background::Parked(parked));
    }
    let untold = run.tree.take_untold(&run.post.message);
    if untold.is_empty() {
        return Ok(Background::None);
    }
    let mut reports = Vec::with_capacity(untold.len());
    for (agent_id, outcome, busy) in untold {
        seat.take_over(busy);
        reports.push((agent_id, outcome));
    }
    let (id, text) = (run.parts.ids.time_ordered(), report(&reports));
    let agents = reports.into_iter().map(|(agent_id, _)| SessionId::new(agent_id)).collect();
    frame.report_background(agents, ReportNote { id, text })?;
    Ok(Background::Told)
}
