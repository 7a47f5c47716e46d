//! One model call, streamed into the frame and the log. Step 6 of a chat request.

use std::sync::Arc;

use models::{ModelError, ModelEvent, ModelRequest, Purpose};
use protocol::{FinishReason, SegmentKind};
use serde_json::Value;

use super::{
    accept::{Refusal, WrittenCall, accept, meant},
    ask_again::{Verdict, ask_again},
    bill::Bill,
    compact::{self, Compacted},
    drive::{RunCtx, RunStop},
    frame::Frame,
    heard::Heard,
    inline,
    turn::{Offer, Said},
};
use crate::{
    context::{conversation::Sent, prompt},
    session::log::LogWriter,
};

pub(crate) async fn call_model(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    offer: Offer,
    hints: &[String],
) -> Result<Said, RunStop> {
    let mut bill = Bill::open();
    let (calls, finish) = match hear(run, frame, writer, offer, hints, &mut bill).await {
        Ok(heard) => heard,
        Err(stop) => {
            bill.break_off(run, frame)?;
            return Err(stop);
        }
    };
    let mut verdicts: Vec<Verdict> = calls.iter().map(|call| verdict(run, offer, call)).collect();
    let can_be_corrected = |verdict: &Verdict| matches!(verdict, Err(refusal) if refusal.can_be_corrected);
    let mut bill = Some(bill);
    if verdicts.iter().any(can_be_corrected) {
        if let Some(bill) = bill.take() {
            bill.settle(run, frame)?;
        }
        writer.append(frame.take(), Vec::new()).await?;
        // On the heap: it is rare, and a run that waits for its model should be small.
        let Asked { request, .. } = request(run, frame, writer, offer, hints);
        Box::pin(ask_again(run, frame, request, &calls, &mut verdicts)).await?;
    }
    let mut said = Said { calls: Vec::new(), rejected: 0, finish };
    for (call, verdict) in calls.iter().zip(verdicts) {
        match verdict {
            Ok(planned) => {
                frame.request(planned.call.clone(), call.provider.clone())?;
                said.calls.push(planned);
            }
            Err(Refusal { input, error, .. }) => {
                frame.reject(&call.id, &call.tool, input, error)?;
                said.rejected += 1;
            }
        }
    }
    if let Some(bill) = bill {
        bill.settle(run, frame)?;
    }
    if offer == Offer::NoTools && said.rejected > 0 && !frame.has_text_in_step() {
        frame.finish_step()?;
        frame.say(SegmentKind::Text, prompt::limit_reached(run.agent.max_steps))?;
    }
    // A final answer is stored together with the end of its run.
    if !said.calls.is_empty() || said.rejected > 0 {
        writer.append(frame.take(), Vec::new()).await?;
    }
    Ok(said)
}

/// Streams the answer into the frame; gives the calls in it and why it ended.
async fn hear(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    offer: Offer,
    hints: &[String],
    bill: &mut Bill,
) -> Result<(Vec<WrittenCall>, FinishReason), RunStop> {
    let mut asked = request(run, frame, writer, offer, hints);
    // On the heap, as everything that is rare: a run that waits for its model should be small.
    if compact::can_be_full(run, frame, asked.bytes, asked.of_turn)
        && Box::pin(compact::if_full(run, frame, writer)).await? == Compacted::Done
    {
        asked = request(run, frame, writer, offer, hints);
    }
    let parts = frame.message().parts.len();
    let refused = match listen(run, frame, writer, asked, bill).await {
        Err(RunStop::Model(error)) if frame.message().parts.len() == parts => match error.too_long() {
            Some(refused) => (refused, error),
            None => return Err(error.into()),
        },
        heard => return heard,
    };
    // Once: what is refused again is told to the person.
    match Box::pin(compact::after_refusal(run, frame, writer, refused.0)).await? {
        Compacted::Done => {
            let asked = request(run, frame, writer, offer, hints);
            listen(run, frame, writer, asked, bill).await
        }
        Compacted::Nothing | Compacted::Failed => Err(refused.1.into()),
    }
}

/// No more than this comes at once from a model that speaks word by word: a word, what the call used, and that it is
/// over.
const FEW: usize = 3;

async fn listen(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    asked: Asked,
    bill: &mut Bill,
) -> Result<(Vec<WrittenCall>, FinishReason), RunStop> {
    let mut heard = Heard::new(run.model.stream(asked.request));
    let mut calls: Vec<WrittenCall> = Vec::new();
    loop {
        let events = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
            events = heard.next() => events,
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
                    let tool = meant(&run.kit.specs, &name).unwrap_or(&name);
                    let id = frame.start_call(id.as_deref(), tool, &name, &*run.parts.ids)?;
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
                ModelEvent::Usage(more) => bill.usage += more,
                ModelEvent::FellBack(note) => frame.note_fallback(&note)?,
                ModelEvent::Finished(reason) => {
                    // The last words of whoever speaks word by word are not held back while the end is stored.
                    if one_by_one {
                        writer.append(frame.take(), Vec::new()).await?;
                    }
                    return Ok((calls, reason));
                }
            }
        }
        writer.append(frame.take(), Vec::new()).await?;
    }
}

/// Whether a call can be made now. At a limit none can, but the one that gives a structured answer.
fn verdict(run: &RunCtx, offer: Offer, call: &WrittenCall) -> Verdict {
    match offer {
        Offer::NoTools | Offer::Summarise if call.tool != inline::FINISH => Err(Refusal {
            input: Value::String(call.raw.clone()),
            error: prompt::NO_MORE_CALLS.to_owned(),
            can_be_corrected: false,
        }),
        _ => accept(run, call),
    }
}

/// A request, and about how many bytes of conversation are in it, in all and of this turn.
struct Asked {
    request: ModelRequest,
    bytes: usize,
    of_turn: usize,
}

/// Everything before the newest step is what the request before held, to the byte; only a compaction breaks that.
fn request(run: &RunCtx, frame: &Frame, writer: &LogWriter, offer: Offer, hints: &[String]) -> Asked {
    let Sent { mut messages, bytes, of_turn } = run.history.sent(frame.message());
    messages.extend(hints.iter().cloned().map(prompt::facts).chain(prompt::hint(offer)).map(Arc::new));
    let request = ModelRequest {
        system: Arc::clone(&run.system),
        messages,
        tools: inline::equipped(run, frame),
        answer: None,
        cache_key: writer.log().key().map(|session| format!("concertino-session-{}", session.0)),
        // The model itself knows what it is asked with.
        params: Arc::default(),
        purpose: Purpose::Answer,
    };
    Asked { request, bytes, of_turn }
}
