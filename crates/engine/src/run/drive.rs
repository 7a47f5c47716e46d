//! The loop around the turn: does what [`Turn::next`] says until the run is done or waits. Step 5.

use std::sync::Arc;

use models::{Model, ModelError, ModelMessage};
use protocol::{FinishReason, FoldError, RunId, RunOptions, SegmentKind, WorkspaceId};
use serde_json::json;
use store::StoreError;
use tokio_util::sync::CancellationToken;

use super::{
    call_model::call_model,
    call_tools::{Answers, call_tools, take_answer},
    frame::Frame,
    resume::{self, Why},
    stuck,
    turn::{Step, Turn},
};
use crate::{agents::AgentDefinition, engine::Parts, session::log::LogWriter};

/// What every step of a run needs.
#[derive(Clone)]
pub(crate) struct RunCtx {
    pub(crate) parts: Arc<Parts>,
    pub(crate) run: RunId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) agent: Arc<AgentDefinition>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) options: RunOptions,
    /// Role and preface: the same bytes in every call of the session.
    pub(crate) system: Arc<str>,
    /// The same for all calls of the session, so that a provider finds what it has in its cache.
    pub(crate) cache_key: Option<String>,
    /// The branch before this run's message.
    pub(crate) history: Arc<Vec<Arc<ModelMessage>>>,
    pub(crate) cancel: CancellationToken,
}

pub(crate) enum Driven {
    Done(FinishReason),
    Parked,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunStop {
    #[error("stopped")]
    Cancelled,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Events came in an order that makes no message.
    #[error(transparent)]
    Order(#[from] FoldError),
}

pub(crate) async fn drive(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    mut turn: Turn,
    answers: &mut Answers,
) -> Result<Driven, RunStop> {
    loop {
        match turn.next() {
            Step::CallModel(offer) => {
                if let Some(stuck) = stuck::find(frame.message()) {
                    tracing::info!(run = %run.run, tool = stuck.tool, "stopped a call that fails again and again");
                    frame.note(
                        "stopped",
                        json!({ "reason": "repeated_failure", "tool": stuck.tool, "times": stuck.times }),
                    )?;
                    frame.finish_step()?;
                    frame.say(SegmentKind::Text, stuck.text())?;
                    frame.finish_step()?;
                    return Ok(Driven::Done(FinishReason::Other));
                }
                frame.finish_step()?;
                turn.model_said(call_model(run, frame, writer, offer).await?);
            }
            // On the heap: most of the time a run waits for its model, and should be small then.
            Step::CallTools(calls) => Box::pin(call_tools(run, frame, writer, calls, answers)).await?,
            Step::Park(questions) => {
                for call in questions {
                    frame.ask(run.parts.ids.approval(), call)?;
                }
                while let Ok(answer) = answers.try_recv() {
                    take_answer(frame, writer, *answer).await?;
                }
                let calls = resume::plan(frame, &run.parts.tools, Why::Asked);
                if calls.iter().any(|call| call.plan.is_ready()) {
                    // Somebody answered while the other calls ran.
                    turn = Turn::resume(run.agent.max_steps, frame.steps(), calls);
                    continue;
                }
                frame.finish_step()?;
                return Ok(Driven::Parked);
            }
            Step::Done(reason) => {
                frame.finish_step()?;
                return Ok(Driven::Done(reason));
            }
        }
    }
}
