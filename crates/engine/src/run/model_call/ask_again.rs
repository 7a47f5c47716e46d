//! Asks the model once to correct calls that cannot be made: it is shown each with its error and the schema. The
//! corrected call replaces the first one, and later requests do not contain the attempt.
//!
//! This never ends a run: if the model fails or answers something else, the refusals stay.

use std::sync::Arc;

use futures::StreamExt;
use models::{ModelEvent, ModelMessage, ModelRequest};

use super::{
    accept::{Refusal, WrittenCall, accept, meant},
    usage_record::UsageRecord,
};
use crate::run::{
    agent_loop::{driver::RunStop, turn::PlannedCall},
    context::AgentContext,
    frame::Frame,
};

/// How many characters of a refused call are shown again.
const SHOWN: usize = 4_000;
/// The most argument bytes that are read of an answer.
const MOST_BYTES: usize = 2 << 20;
const MOST_CALLS: usize = 64;

pub(crate) type Verdict = Result<PlannedCall, Refusal>;

/// Asks once for every call that can be corrected, and replaces the refusals of those that are accepted then.
pub(crate) async fn ask_again(
    run: &AgentContext,
    frame: &mut Frame,
    request: ModelRequest,
    calls: &[WrittenCall],
    verdicts: &mut [Verdict],
) -> Result<(), RunStop> {
    let mut usage = UsageRecord::start();
    let answer = listen(run, question(run, request, calls, verdicts), &mut usage).await;
    let mut answered = match answer {
        Some(answered) => {
            usage.settle(run, frame)?;
            answered
        }
        None => {
            usage.break_off(run, frame)?;
            if run.cancel.is_cancelled() {
                return Err(RunStop::Cancelled);
            }
            return Ok(());
        }
    };
    for (call, verdict) in calls.iter().zip(verdicts.iter_mut()) {
        let Err(refusal) = verdict else { continue };
        if !refusal.can_be_corrected {
            continue;
        }
        let Some(place) = answered.iter().position(|(tool, _)| *tool == call.tool) else { continue };
        let (tool, raw) = answered.remove(place);
        let again = WrittenCall { raw, ..WrittenCall::new(call.index, call.id.clone(), &tool) };
        match accept(run, &again) {
            Ok(planned) => *verdict = Ok(planned),
            Err(second) => {
                refusal.error =
                    format!("{} (You were asked again, and wrote: {})", refusal.error, second.error);
            }
        }
    }
    Ok(())
}

/// The request that led to the calls, followed by the calls and what is wrong with each.
fn question(
    run: &AgentContext,
    mut request: ModelRequest,
    calls: &[WrittenCall],
    verdicts: &[Verdict],
) -> ModelRequest {
    for message in &mut request.messages {
        let ModelMessage::Tool { call, tool, .. } = &**message else { continue };
        let Some(place) = calls.iter().position(|written| written.id == *call) else { continue };
        let text = match &verdicts[place] {
            Ok(_) => "This call is right and will be made. Do not repeat it.".to_owned(),
            Err(refusal) if !refusal.can_be_corrected => refusal.error.clone(),
            Err(refusal) => correction(run, &calls[place], refusal),
        };
        let (call, tool) = (call.clone(), tool.clone());
        *message = Arc::new(ModelMessage::Tool { call, tool, text, is_error: true });
    }
    request
}

fn correction(run: &AgentContext, call: &WrittenCall, refusal: &Refusal) -> String {
    let schema = run.agent.tools.get(&call.tool).map(|tool| tool.spec().input_schema.to_string());
    let written = match call.raw.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &call.raw[..end]),
        None => call.raw.clone(),
    };
    format!(
        "This call was not made: {}\nYou wrote: {written}\nCall `{}` once more with corrected arguments, and nothing \
         else. They must fit this JSON schema: {}",
        refusal.error,
        call.tool,
        schema.unwrap_or_default()
    )
}

/// The calls of the answer with the tool that each means; `None` if the answer is not complete.
async fn listen(
    run: &AgentContext,
    request: ModelRequest,
    usage: &mut UsageRecord,
) -> Option<Vec<(String, String)>> {
    let mut stream = run.agent.model.stream(request);
    let mut calls: Vec<(u32, String, String)> = Vec::new();
    let mut bytes = 0;
    loop {
        let event = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return None,
            event = stream.next() => event?,
        };
        match event {
            Ok(ModelEvent::ToolStarted { index, name, .. }) if calls.len() < MOST_CALLS => {
                let name = meant(&run.agent.tools.specs, &name).map_or(name.clone(), str::to_owned);
                calls.push((index, name, String::new()));
            }
            Ok(ModelEvent::ToolDelta { index, delta }) => {
                bytes += delta.len();
                let call = calls.iter_mut().rfind(|(known, ..)| *known == index);
                call.filter(|_| bytes <= MOST_BYTES)?.2.push_str(&delta);
            }
            Ok(ModelEvent::Usage(more)) => usage.usage += more,
            Ok(ModelEvent::Finished(_)) => {
                return Some(calls.into_iter().map(|(_, tool, raw)| (tool, raw)).collect());
            }
            // Text beside the calls is not part of the answer to the person.
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "the model could not be asked for a corrected call");
                return None;
            }
        }
    }
}
