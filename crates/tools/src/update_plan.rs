//! `update-plan`: the plan of a longer task, shown to the person. Never asks.
//!
//! The plan is stored as the `plan` part of the session, so a patch in a later request finds it. Success is reported only
//! if the plan was changed; at most one step is in progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Effect, Tool, ToolCtx, ToolError, instant::iso_utc};

/// Name and id of the part: there is one plan.
const PLAN: &str = "plan";

/// Keep a plan for work of several steps, and keep it current: write the plan once (mode `full`), then report each
/// change (mode `patch`). At most one step is `in_progress`. Not for a task of a single step.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// `full` replaces the whole plan, every entry with its `step`; `patch` changes single steps of the current
    /// plan by their `index`. Default: `full`.
    mode: Option<Mode>,
    /// Why the plan is as it is or what changed, in a sentence.
    #[schemars(length(max = 2000))]
    explanation: Option<String>,
    /// The steps, or the changes to steps.
    #[schemars(length(min = 1, max = 50))]
    plan: Vec<Entry>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Full,
    Patch,
}

#[derive(Deserialize, JsonSchema)]
struct Entry {
    /// What is to be done, in a few words. Needed in mode `full`; in mode `patch` it rewords the step.
    #[schemars(length(max = 500))]
    step: Option<String>,
    /// Which step of the current plan, counted from 1. Needed in mode `patch`.
    #[schemars(range(min = 1))]
    index: Option<u32>,
    /// How far the step is.
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Step {
    step: String,
    status: Status,
}

#[derive(Serialize)]
pub struct Output {
    ok: bool,
    plan: Vec<Step>,
}

pub struct UpdatePlan;

impl Tool for UpdatePlan {
    const NAME: &'static str = "update-plan";
    type Input = Input;
    type Output = Output;

    /// Both modes set absolute values: the same call made twice leaves the same plan.
    fn effect(&self) -> Effect {
        Effect::ReadOnly
    }

    fn one_at_a_time(&self) -> bool {
        true
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<Output, ToolError> {
        let steps = match input.mode.unwrap_or(Mode::Full) {
            Mode::Full => written(input.plan)?,
            Mode::Patch => patched(current(&ctx).await?, input.plan)?,
        };
        one_in_progress(&steps)?;
        let mut data = serde_json::Map::new();
        if let Some(explanation) = input.explanation.filter(|text| !text.trim().is_empty()) {
            data.insert("explanation".to_owned(), explanation.into());
        }
        data.insert("steps".to_owned(), json!(steps));
        data.insert("updatedAt".to_owned(), iso_utc(ctx.clock.now())?.into());
        ctx.emit.data(PLAN, Some(PLAN), Value::Object(data)).await;
        Ok(Output { ok: true, plan: steps })
    }
}

/// The stored plan; a part of another form, which a client may have planted, is ignored.
async fn current(ctx: &ToolCtx) -> Result<Option<Vec<Step>>, ToolError> {
    let kept = ctx.notes.latest(PLAN).await?;
    let steps = kept.and_then(|kept| Vec::<Step>::deserialize(kept.get("steps")?).ok());
    Ok(steps.filter(|steps| !steps.is_empty()))
}

fn written(entries: Vec<Entry>) -> Result<Vec<Step>, ToolError> {
    let step_of = |(index, entry): (usize, Entry)| match text_of(&entry) {
        Some(step) => Ok(Step { step, status: entry.status }),
        None => Err(ToolError::Report(format!(
            "field `plan[{index}].step`: is required in mode `full`; to change the status of a step of the current plan use mode `patch`"
        ))),
    };
    entries.into_iter().enumerate().map(step_of).collect()
}

fn patched(current: Option<Vec<Step>>, entries: Vec<Entry>) -> Result<Vec<Step>, ToolError> {
    let Some(base) = current else {
        return Err(ToolError::Report(
            "there is no plan yet that could be patched; write one with mode `full`".to_owned(),
        ));
    };
    let mut steps = base.clone();
    let mut changed = Vec::new();
    for (place, entry) in entries.into_iter().enumerate() {
        let refuse = |reason: &str| {
            let plan = listed(&base);
            ToolError::Report(format!("field `plan[{place}].index`: {reason}; the current plan is: {plan}"))
        };
        let index = entry.index.ok_or_else(|| refuse("is required in mode `patch`"))?;
        let step = usize::try_from(index).ok().and_then(|index| steps.get_mut(index.checked_sub(1)?));
        let step = step.ok_or_else(|| {
            refuse(&format!("there is no step {index}, the steps are counted from 1 to {}", base.len()))
        })?;
        if changed.contains(&index) {
            return Err(refuse(&format!("step {index} is changed twice in one call")));
        }
        changed.push(index);
        if let Some(text) = text_of(&entry) {
            step.step = text;
        }
        step.status = entry.status;
    }
    Ok(steps)
}

fn text_of(entry: &Entry) -> Option<String> {
    entry.step.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn one_in_progress(steps: &[Step]) -> Result<(), ToolError> {
    let running: Vec<String> = (1..)
        .zip(steps)
        .filter(|(_, step)| step.status == Status::InProgress)
        .map(|(index, _)| index.to_string())
        .collect();
    if running.len() < 2 {
        return Ok(());
    }
    Err(ToolError::Report(format!(
        "at most one step may be `in_progress`, but steps {} would be; nothing was changed; the plan would be: {}",
        running.join(", "),
        listed(steps)
    )))
}

fn listed(steps: &[Step]) -> String {
    let line = |(index, step): (usize, &Step)| format!("{index}. {} ({})", step.step, step.status.name());
    (1..).zip(steps).map(line).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
#[path = "update_plan_tests.rs"]
mod tests;
