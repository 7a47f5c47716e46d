//! One model call: builds the request, streams the answer into the frame and the log, and checks the calls in it.

use std::sync::Arc;

use models::{ModelError, ModelEvent, ModelRequest, Purpose};
use protocol::{FinishReason, SegmentKind};
use serde_json::Value;

use super::{
    accept::{Refusal, WrittenCall, accept, meant},
    ask_again::{Verdict, ask_again},
    compact::{self, Compacted},
    event_batches::EventBatches,
    hints,
    usage_record::UsageRecord,
};
use crate::{
    agents::loop_tools::FINISH,
    context::{conversation::Sent, prompt},
    run::{
        agent_log::AgentLog,
        agent_loop::{
            driver::RunStop,
            turn::{ModelAnswer, Offer},
        },
        context::AgentContext,
        frame::Frame,
        tool_calls::loop_tools,
    },
};

pub(crate) async fn call_model(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
    offer: Offer,
    hints: &[String],
) -> Result<ModelAnswer, RunStop> {
    let mut usage = UsageRecord::start();
    let Streamed { calls, finish } = match stream_or_compact(run, frame, log, offer, hints, &mut usage).await
    {
        Ok(streamed) => streamed,
        Err(stop) => {
            usage.break_off(run, frame)?;
            return Err(stop);
        }
    };
    let mut verdicts: Vec<Verdict> = calls.iter().map(|call| verdict(run, frame, offer, call)).collect();
    let can_be_corrected = |verdict: &Verdict| matches!(verdict, Err(refusal) if refusal.can_be_corrected);
    let mut usage = Some(usage);
    if verdicts.iter().any(can_be_corrected) {
        if let Some(usage) = usage.take() {
            usage.settle(run, frame)?;
        }
        log.append(frame).await?;
        // Boxed: it is rare, and the future of a run that waits for its model should be small.
        let SizedRequest { request, .. } = request(run, frame, log, offer, hints);
        Box::pin(ask_again(run, frame, request, &calls, &mut verdicts)).await?;
    }
    let mut answer = ModelAnswer { calls: Vec::new(), rejected: 0, finish };
    for (call, verdict) in calls.iter().zip(verdicts) {
        match verdict {
            Ok(planned) => {
                frame.request(planned.call.clone(), call.provider.clone())?;
                answer.calls.push(planned);
            }
            Err(Refusal { input, error, .. }) => {
                frame.reject(&call.id, &call.tool, input, error)?;
                answer.rejected += 1;
            }
        }
    }
    if let Some(usage) = usage {
        usage.settle(run, frame)?;
    }
    if offer == Offer::NoTools && answer.rejected > 0 && !frame.has_text_in_step() {
        frame.finish_step()?;
        frame.say(SegmentKind::Text, hints::limit_reached(run.agent.definition.max_steps))?;
    }
    // A final answer is stored together with the end of its run.
    if !answer.calls.is_empty() || answer.rejected > 0 {
        log.append(frame).await?;
    }
    Ok(answer)
}

/// A streamed answer: the calls in it, and why it ended. Its text is in the frame.
struct Streamed {
    calls: Vec<WrittenCall>,
    finish: FinishReason,
}

/// Streams the answer. Compacts the conversation before the call if the window is full, and once more if the server
/// refuses the request as too long.
async fn stream_or_compact(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
    offer: Offer,
    hints: &[String],
    usage: &mut UsageRecord,
) -> Result<Streamed, RunStop> {
    let mut sized = request(run, frame, log, offer, hints);
    // Boxed, as everything that is rare: the future of a run that waits for its model should be small.
    if compact::can_be_full(run, frame, sized.bytes, sized.of_turn)
        && Box::pin(compact::if_full(run, frame, log)).await? == Compacted::Done
    {
        sized = request(run, frame, log, offer, hints);
    }
    let parts = frame.message().parts.len();
    let refused = match stream(run, frame, log, sized, usage).await {
        Err(RunStop::Model(error)) if frame.message().parts.len() == parts => match error.too_long() {
            Some(refused) => (refused, error),
            None => return Err(error.into()),
        },
        streamed => return streamed,
    };
    // Once: a second refusal is an error that the person sees.
    match Box::pin(compact::after_refusal(run, frame, log, refused.0)).await? {
        Compacted::Done => {
            let sized = request(run, frame, log, offer, hints);
            stream(run, frame, log, sized, usage).await
        }
        Compacted::Nothing | Compacted::Failed => Err(refused.1.into()),
    }
}

/// A model that streams word by word sends at most this many events at once: a word, the usage, and the end.
const FEW: usize = 3;

async fn stream(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
    sized: SizedRequest,
    usage: &mut UsageRecord,
) -> Result<Streamed, RunStop> {
    let mut batches = EventBatches::new(run.agent.model.stream(sized.request));
    let mut calls: Vec<WrittenCall> = Vec::new();
    loop {
        let events = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
            events = batches.next() => events,
        };
        if events.is_empty() {
            return Err(ModelError::Cut.into());
        }
        let one_by_one = events.len() <= FEW;
        for event in events {
            match event? {
                ModelEvent::Text(delta) => frame.say(SegmentKind::Text, delta)?,
                ModelEvent::Reasoning(delta) => frame.say(SegmentKind::Reasoning, delta)?,
                ModelEvent::ReasoningEnded(provider) => frame.end_reasoning(provider)?,
                ModelEvent::Source(source) => frame.cite(source)?,
                ModelEvent::ToolStarted { index, id, name } => {
                    let tool = meant(&run.agent.tools.specs, &name).unwrap_or(&name);
                    let id = frame.start_call(id.as_deref(), tool, &name, &*run.services.ids)?;
                    calls.push(WrittenCall::new(index, id, tool));
                }
                ModelEvent::ToolSigned { index, provider } => {
                    if let Some(call) = calls.iter_mut().rfind(|call| call.index == index) {
                        call.provider = Some(provider);
                    }
                }
                ModelEvent::ToolDelta { index, delta } => {
                    let Some(call) = calls.iter_mut().rfind(|call| call.index == index) else {
                        return Err(
                            ModelError::Garbage("arguments for a call that was not begun".into()).into()
                        );
                    };
                    call.raw.push_str(&delta);
                    frame.call_input(&call.id, delta)?;
                }
                ModelEvent::Usage(more) => usage.usage += more,
                ModelEvent::FellBack(note) => frame.note_fallback(&note)?,
                ModelEvent::Finished(reason) => {
                    // The last words of a model that streams word by word are published before the end is stored.
                    if one_by_one {
                        log.append(frame).await?;
                    }
                    return Ok(Streamed { calls, finish: reason });
                }
            }
        }
        log.append(frame).await?;
    }
}

/// Whether a call can be made. At a limit only the one that gives a structured answer can.
fn verdict(run: &AgentContext, frame: &Frame, offer: Offer, call: &WrittenCall) -> Verdict {
    if let Some(group) = loop_tools::inactive_group(run, frame, &call.tool) {
        return Err(Refusal {
            input: Value::String(call.raw.clone()),
            error: hints::inactive(&call.tool, group),
            can_be_corrected: false,
        });
    }
    match offer {
        Offer::NoTools | Offer::Summarise if call.tool != FINISH => Err(Refusal {
            input: Value::String(call.raw.clone()),
            error: hints::NO_MORE_CALLS.to_owned(),
            can_be_corrected: false,
        }),
        _ => accept(run, call),
    }
}

/// A request, and about how many bytes of conversation are in it, in all and of this turn.
struct SizedRequest {
    request: ModelRequest,
    bytes: usize,
    of_turn: usize,
}

/// Everything before the newest step is what the request before held, to the byte; only a compaction breaks that.
fn request(
    run: &AgentContext,
    frame: &Frame,
    log: &AgentLog,
    offer: Offer,
    hook_hints: &[String],
) -> SizedRequest {
    let Sent { mut messages, bytes, of_turn } = run.history.sent(frame.message());
    messages.extend(hook_hints.iter().cloned().map(prompt::facts).chain(hints::of(offer)).map(Arc::new));
    let request = ModelRequest {
        system: Arc::clone(&run.agent.system_prompt),
        messages,
        tools: loop_tools::equipped(run, frame),
        answer: None,
        cache_key: log.session_log().key().map(|session| format!("concertino-session-{}", session.0)),
        // The model itself knows what it is asked with.
        params: Arc::default(),
        purpose: Purpose::Answer,
    };
    SizedRequest { request, bytes, of_turn }
}
