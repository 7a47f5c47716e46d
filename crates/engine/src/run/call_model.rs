//! One model call, streamed into the frame and the log. Step 6 of a chat request.

use std::{sync::Arc, time::Instant};

use futures::StreamExt;
use models::{ModelError, ModelEvent, ModelRequest};
use protocol::{SegmentKind, ToolCall, ToolCallId, Usage};
use serde_json::Value;
use tools::{Approval, Place};

use super::{
    drive::{RunCtx, RunStop},
    frame::Frame,
    turn::{Offer, Plan, PlannedCall, Said},
};
use crate::{
    context::{history, prompt},
    session::log::LogWriter,
};

/// What is ready together is appended together, and neighbouring deltas of it are one.
const READY: usize = 256;

/// A call whose arguments are still arriving.
struct OpenCall {
    index: u32,
    id: ToolCallId,
    name: String,
    raw: String,
}

pub(crate) async fn call_model(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    offer: Offer,
) -> Result<Said, RunStop> {
    let started = Instant::now();
    let mut stream = run.parts.model.stream(request(run, frame, offer)).ready_chunks(READY);
    let mut calls: Vec<OpenCall> = Vec::new();
    let mut usage = Usage::default();
    let mut finish = None;
    while finish.is_none() {
        let events = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(RunStop::Cancelled),
            events = stream.next() => events.ok_or(ModelError::Cut)?,
        };
        for event in joined(events) {
            match event? {
                ModelEvent::Text(delta) => frame.say(SegmentKind::Text, delta)?,
                ModelEvent::Reasoning(delta) => frame.say(SegmentKind::Reasoning, delta)?,
                ModelEvent::ToolStarted { index, id, name } => {
                    let id = frame.start_call(id.as_deref(), &name, &*run.parts.ids)?;
                    calls.push(OpenCall { index, id, name, raw: String::new() });
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
                ModelEvent::Usage(more) => usage += more,
                ModelEvent::Finished(reason) => {
                    finish = Some(reason);
                    break;
                }
            }
        }
        if finish.is_none() {
            writer.append(frame.take(), Vec::new()).await?;
        }
    }
    let mut said =
        Said { calls: Vec::new(), rejected: 0, finish: finish.unwrap_or(protocol::FinishReason::Other) };
    for call in calls {
        match accept(run, &call) {
            Ok(planned) => {
                frame.request(planned.call.clone())?;
                said.calls.push(planned);
            }
            Err((input, error)) => {
                frame.reject(&call.id, &call.name, input, error)?;
                said.rejected += 1;
            }
        }
    }
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    frame.end_model_turn(run.parts.model.name(), usage, took)?;
    // A final answer is stored together with the end of its run.
    if !said.calls.is_empty() || said.rejected > 0 {
        writer.append(frame.take(), Vec::new()).await?;
    }
    Ok(said)
}

/// Deltas that arrived together and continue each other, as one: told, stored and read once instead of many times.
fn joined(
    events: Vec<Result<ModelEvent, ModelError>>,
) -> impl Iterator<Item = Result<ModelEvent, ModelError>> {
    let mut events = events.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut event = events.next()?;
        if let Ok(event) = &mut event {
            while events.next_if(|next| next.as_ref().is_ok_and(|next| event.join(next))).is_some() {}
        }
        Some(event)
    })
}

fn request(run: &RunCtx, frame: &Frame, offer: Offer) -> ModelRequest {
    let mut messages = Vec::clone(&run.history);
    let mut turn = Vec::new();
    history::add(&mut turn, frame.message());
    messages.extend(turn.into_iter().map(Arc::new));
    ModelRequest {
        system: prompt::system(&run.agent, offer),
        messages,
        tools: match offer {
            Offer::Tools => run.parts.tool_specs.clone(),
            Offer::NoTools => [].into(),
        },
    }
}

/// Checks a call before anything happens; an error names what is wrong, for the model.
fn accept(run: &RunCtx, call: &OpenCall) -> Result<PlannedCall, (Value, String)> {
    let raw = || Value::String(call.raw.clone());
    let Some(tool) = run.parts.tools.get(&call.name) else {
        let names = run.parts.tool_specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err((raw(), format!("There is no tool named \"{}\". The tools are: {names}.", call.name)));
    };
    let input = tools::parse_arguments(&call.raw).map_err(|error| (raw(), error))?;
    let plan = match tool.clone().prepare(&input) {
        Err(error) => return Err((input, error.to_string())),
        Ok(_) if tool.place() == Place::Client => Plan::Wait,
        Ok(prepared) => match prepared.approval {
            Approval::Ask => Plan::Ask,
            Approval::NotNeeded => Plan::Run,
        },
    };
    Ok(PlannedCall { call: ToolCall { id: call.id.clone(), name: call.name.clone(), input }, plan })
}
