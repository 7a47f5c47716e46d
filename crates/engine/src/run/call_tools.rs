//! All calls of one step run together and end together; nothing outlives the step. Step 7 of a chat request.
//!
//! Results are settled in call order, whatever finishes first. What a running tool shows goes through one bounded
//! channel to the driver, the only writer of the log.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use futures::future::BoxFuture;
use protocol::{ApprovalId, Artifact, FoldError, Part, ToolCall, ToolCallId, ToolOutcome, ToolState};
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tools::{Emit, Notes, Outcome, Place, ToolCtx, ToolError};

use super::{
    delegate::{Delegated, delegate},
    drive::{RunCtx, RunStop},
    frame::Frame,
    inline,
    mail::{Mail, next_raised},
    tree::{Busy, Seat},
    turn::{Plan, PlannedCall},
};
use crate::{
    EngineError,
    artifacts::Keep,
    session::{
        actor::Reply,
        log::{LogWriter, SessionLog},
        request::Decision,
    },
};

/// How long the results of cancelled calls are waited for: the time that [`tools::execute`] gives each of them, and a
/// moment to keep what it returned.
const GRACE: Duration = tools::GRACE.saturating_add(Duration::from_millis(500));
/// Snapshots of one call follow each other at least this far apart.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(150);
const SIGNALS: usize = 64;

const UNKNOWN: &str = "The outcome of this call is unknown: the server restarted while it ran. \
     Check what happened before you repeat it.";

/// How the calls of a step ended.
pub(crate) enum Called {
    All,
    /// Sub-agents among them wait for a person; these are their frames. The other calls are settled.
    Parked(Vec<Frame>),
}

pub(crate) async fn call_tools(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    calls: Vec<PlannedCall>,
    mail: &mut Mail,
    seat: &mut Seat,
) -> Result<Called, RunStop> {
    let (show, mut shown) = mpsc::channel(SIGNALS);
    let mut running = JoinSet::new();
    let mut delegated = JoinSet::new();
    let mut parked = Vec::new();
    let mut waiting: VecDeque<usize> = VecDeque::new();
    let mut outcomes: Vec<Option<ToolOutcome>> = Vec::with_capacity(calls.len());
    for (place, planned) in calls.iter().enumerate() {
        outcomes.push(match &planned.plan {
            Plan::Run => match inline::call(run, frame, &planned.call)? {
                Some(outcome) => Some(outcome),
                // It was accepted, perhaps before a question or a restart, and has been revoked since.
                None if !run.kit.has(&planned.call.name) => Some(revoked(&planned.call.name)),
                None => {
                    waiting.push_back(place);
                    None
                }
            },
            Plan::Deny(reason) => Some(ToolOutcome::Denied { reason: reason.clone() }),
            Plan::Unknown | Plan::Ask | Plan::Wait => {
                Some(ToolOutcome::Failed { message: UNKNOWN.to_owned() })
            }
        });
    }

    let hooks = &run.parts.settings.hooks;
    let mut snapshots = Snapshots::default();
    let mut settled = 0;
    loop {
        waiting.retain(|&place| {
            let planned = &calls[place];
            let tool = run.parts.tools.get(&planned.call.name);
            if tool.as_ref().is_some_and(|tool| tool.place() == Place::Engine) {
                let work = agent_call(run, planned.call.clone(), writer);
                delegated.spawn(async move { (place, work.await) });
                return false;
            }
            let must_wait = tool.is_some_and(|tool| tool.one_at_a_time())
                && calls[..place].iter().zip(&outcomes).enumerate().any(|(before, (other, done))| {
                    before >= settled && done.is_none() && other.call.name == planned.call.name
                });
            if !must_wait {
                let task = run_one(run.clone(), planned.clone(), show.clone(), notes(run, frame, writer));
                running.spawn(async move { (place, task.await) });
            }
            must_wait
        });
        if running.is_empty() && delegated.is_empty() {
            // A task that was aborted or panicked outside the tool left its place open.
            for (place, outcome) in outcomes.iter_mut().enumerate().skip(settled) {
                if outcome.is_none() && !parked.iter().any(|(waits, _)| *waits == place) {
                    *outcome = Some(ToolOutcome::Failed { message: "the tool broke off".to_owned() });
                }
            }
            if !parked.is_empty() {
                for (planned, outcome) in calls.iter().zip(&mut outcomes).skip(settled) {
                    if let Some(outcome) = outcome.take() {
                        frame.settle(&planned.call.id, outcome)?;
                    }
                }
                mail.show_raised(run, frame)?;
                writer.append(frame.take(), Vec::new()).await?;
                return Ok(Called::Parked(parked.into_iter().flat_map(|(_, frames)| frames).collect()));
            }
        }
        while let Some(mut outcome) = outcomes.get_mut(settled).and_then(Option::take) {
            if !hooks.is_empty() {
                hooks.post_acting(&run.point(frame), &calls[settled].call, &mut outcome);
            }
            frame.settle(&calls[settled].call.id, outcome)?;
            settled += 1;
        }
        writer.append(frame.take(), Vec::new()).await?;
        if settled == calls.len() {
            return Ok(Called::All);
        }
        if !delegated.is_empty() {
            seat.give_slot();
            if running.is_empty() {
                seat.rest();
            }
        }
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => {
                parked.iter_mut().for_each(|(_, frames)| run.tree.orphan(frames));
                wind_down(run, frame, mail, &mut running, &mut delegated, &mut outcomes).await?;
                while let Ok(signal) = shown.try_recv() {
                    if let Signal::Artifact(artifact) = signal {
                        frame.artifact(artifact)?;
                    }
                }
                for (planned, outcome) in calls.iter().zip(outcomes).skip(settled) {
                    // What has happened has happened, and a denial stays one; the rest is closed as stopped.
                    if let Some(outcome @ (ToolOutcome::Done { .. } | ToolOutcome::Denied { .. })) = outcome {
                        frame.settle(&planned.call.id, outcome)?;
                    }
                }
                return Err(RunStop::Cancelled);
            }
            Some(signal) = shown.recv() => show_signal(frame, &mut snapshots, signal)?,
            () = snapshots.due() => {
                for (call, output) in snapshots.drain() {
                    frame.progress(&call, output)?;
                }
            }
            Some(answer) = mail.answers.recv() => take_answer(run, frame, writer, *answer, seat).await?,
            raised = next_raised(&mut mail.raised) => raised.show(frame, &*run.parts.ids)?,
            Some(done) = running.join_next() => {
                if let Ok((place, outcome)) = done {
                    outcomes[place] = Some(outcome);
                }
                // What the call pushed before it ended belongs before its result.
                while let Ok(signal) = shown.try_recv() {
                    show_signal(frame, &mut snapshots, signal)?;
                }
            }
            Some(done) = delegated.join_next() => {
                mail.show_raised(run, frame)?;
                match done {
                    Ok((place, Delegated::Done(outcome, busy))) => {
                        seat.take_over(busy);
                        outcomes[place] = Some(outcome);
                    }
                    Ok((place, Delegated::Reported { call, agent, outcome, busy })) => {
                        seat.take_over(busy);
                        frame.will_report(call, agent);
                        outcomes[place] = Some(outcome);
                    }
                    Ok((place, Delegated::Started(outcome, work, busy))) => {
                        seat.take_over(Some(busy));
                        outcomes[place] = Some(outcome);
                        mail.background.spawn(work);
                    }
                    Ok((place, Delegated::Parked(frames))) => parked.push((place, frames)),
                    Ok((_, Delegated::Broken(stop))) => {
                        run.cancel.cancel();
                        wind_down(run, frame, mail, &mut running, &mut delegated, &mut outcomes).await?;
                        return Err(stop);
                    }
                    Err(error) => tracing::error!(%error, "a delegation broke off"),
                }
            }
        }
    }
}

fn revoked(tool: &str) -> ToolOutcome {
    let message = format!(
        "The tool \"{tool}\" was revoked from this agent after the call was made. The call was not run; go on without it."
    );
    ToolOutcome::Failed { message }
}

/// What a delegating call does; the sub-agent is at work from here on.
fn agent_call(run: &RunCtx, call: ToolCall, writer: &LogWriter) -> BoxFuture<'static, Delegated> {
    delegate(run.clone(), call, writer.another(), run.tree.busy())
}

pub(crate) struct LiveAnswer {
    pub(crate) approval: ApprovalId,
    pub(crate) decision: Decision,
    pub(crate) reply: Reply<()>,
    /// The one who asked is at work again from the moment the answer was handed over.
    pub(crate) busy: Option<Busy>,
}

/// Writes an answer down, once; the call it allows runs when the present ones have ended.
pub(crate) async fn take_answer(
    run: &RunCtx,
    frame: &mut Frame,
    writer: &mut LogWriter,
    answer: LiveAnswer,
    seat: &mut Seat,
) -> Result<(), RunStop> {
    let LiveAnswer { approval, decision, reply, busy } = answer;
    seat.take_over(busy);
    let asked = |state: &ToolState| matches!(state, ToolState::ApprovalRequested { approval: id, .. } if *id == approval);
    if !frame.own_open_calls().iter().any(|(_, _, state)| asked(state)) {
        let is_repeat = frame.has_decided(&approval, &decision)
            && decision.grant.as_ref().is_none_or(|grant| run.tree.grants.has(grant));
        drop(reply.send(if is_repeat { Ok(()) } else { Err(EngineError::ApprovalSettled) }));
        return Ok(());
    }
    let grant = decision.grant.clone();
    frame.decide(approval, decision)?;
    writer.append(frame.take(), Vec::new()).await?;
    if let Some(grant) = grant {
        run.tree.grants.add(grant);
    }
    drop(reply.send(Ok(())));
    Ok(())
}

fn show_signal(frame: &mut Frame, snapshots: &mut Snapshots, signal: Signal) -> Result<(), FoldError> {
    match signal {
        Signal::Progress { call, output } => match snapshots.take_in(&call, output) {
            Some(output) => frame.progress(&call, output),
            None => Ok(()),
        },
        Signal::Data { name, id, data, transient } => frame.data(name, id, data, transient),
        Signal::Artifact(artifact) => frame.artifact(artifact),
    }
}

async fn run_one(
    run: RunCtx,
    planned: PlannedCall,
    show: mpsc::Sender<Signal>,
    notes: Arc<dyn Notes>,
) -> ToolOutcome {
    let call = planned.call;
    protocol::crash_point!("tool", call.input.to_string());
    let failed = |message: String| ToolOutcome::Failed { message };
    let Some(tool) = run.parts.tools.get(&call.name) else {
        return failed(format!("There is no tool named \"{}\" any more.", call.name));
    };
    let prepared = match tool.prepare(&call.input) {
        Ok(prepared) => prepared,
        Err(error) => return failed(error.to_string()),
    };
    let ctx = ToolCtx {
        call: call.id.clone(),
        tool: call.name.clone(),
        cancel: run.cancel.child_token(),
        clock: Arc::clone(&run.parts.clock),
        timezone: run.options.timezone.clone(),
        artifacts: Arc::new(Keep {
            store: Arc::clone(&run.parts.store),
            ids: Arc::clone(&run.parts.ids),
            workspace: run.workspace.clone(),
            call: call.id.clone(),
            show: show.clone(),
        }),
        emit: Arc::new(Show { call: call.id.clone(), show }),
        notes,
    };
    match tools::execute(prepared, ctx, run.parts.settings.tool_limits).await {
        Outcome::Done(output) => ToolOutcome::Done { output },
        Outcome::Failed(message) => failed(message),
        Outcome::Cancelled => failed("stopped before this call had a result".to_owned()),
        Outcome::Defect(error) => {
            tracing::error!(tool = call.name, %error, "a tool failed inside");
            failed("The tool failed inside; this is a defect of the tool, not of your call.".to_owned())
        }
    }
}

/// Cancelled calls get a moment to clean up, then they are dropped. Sub-agents close their messages by themselves, with
/// the same moment for their own calls.
async fn wind_down(
    run: &RunCtx,
    frame: &mut Frame,
    mail: &mut Mail,
    running: &mut JoinSet<(usize, ToolOutcome)>,
    delegated: &mut JoinSet<(usize, Delegated)>,
    outcomes: &mut [Option<ToolOutcome>],
) -> Result<(), RunStop> {
    let all = async {
        while let Some(done) = running.join_next().await {
            if let Ok((place, outcome)) = done {
                outcomes[place] = Some(outcome);
            }
        }
    };
    if tokio::time::timeout(GRACE, all).await.is_err() {
        running.abort_all();
    }
    loop {
        tokio::select! {
            biased;
            raised = next_raised(&mut mail.raised) => raised.show(frame, &*run.parts.ids)?,
            done = delegated.join_next() => match done {
                None => return Ok(()),
                Some(Ok((place, Delegated::Done(outcome, _)))) => outcomes[place] = Some(outcome),
                Some(Ok((place, Delegated::Reported { call, agent, outcome, .. }))) => {
                    frame.will_report(call, agent);
                    outcomes[place] = Some(outcome);
                }
                Some(Ok((place, Delegated::Started(outcome, work, _)))) => {
                    outcomes[place] = Some(outcome);
                    mail.background.spawn(work);
                }
                Some(Ok((_, Delegated::Broken(stop)))) => return Err(stop),
                Some(Ok((_, Delegated::Parked(mut frames)))) => {
                    run.tree.orphan(&mut frames);
                }
                Some(Err(error)) => tracing::error!(%error, "a delegation broke off"),
            },
        }
    }
}

/// What a running call hands to the driver.
pub(crate) enum Signal {
    Progress {
        call: ToolCallId,
        output: Value,
    },
    Data {
        name: String,
        id: Option<String>,
        data: Value,
        transient: bool,
    },
    /// It is on disk.
    Artifact(Artifact),
}

/// Coalesces snapshots: the first at once, then one per interval, the newest wins, none is left behind.
#[derive(Default)]
struct Snapshots {
    next: HashMap<ToolCallId, Instant>,
    held: HashMap<ToolCallId, Value>,
}

impl Snapshots {
    fn take_in(&mut self, call: &ToolCallId, output: Value) -> Option<Value> {
        let now = Instant::now();
        match self.next.get(call) {
            Some(next) if *next > now => {
                self.held.insert(call.clone(), output);
                None
            }
            _ => {
                self.next.insert(call.clone(), now + SNAPSHOT_INTERVAL);
                Some(output)
            }
        }
    }

    async fn due(&self) {
        match self.held.keys().filter_map(|call| self.next.get(call)).min() {
            Some(next) => tokio::time::sleep_until(*next).await,
            None => std::future::pending().await,
        }
    }

    fn drain(&mut self) -> Vec<(ToolCallId, Value)> {
        let now = Instant::now();
        let due: Vec<_> = self
            .held
            .keys()
            .filter(|call| self.next.get(*call).is_none_or(|next| *next <= now))
            .cloned()
            .collect();
        due.into_iter()
            .filter_map(|call| {
                self.next.insert(call.clone(), now + SNAPSHOT_INTERVAL);
                self.held.remove(&call).map(|output| (call, output))
            })
            .collect()
    }
}

struct Show {
    call: ToolCallId,
    show: mpsc::Sender<Signal>,
}

impl Show {
    async fn send(&self, signal: Signal) {
        // After the step nobody listens, and nothing is shown any more.
        drop(self.show.send(signal).await);
    }
}

#[async_trait]
impl Emit for Show {
    async fn progress(&self, output: Value) {
        self.send(Signal::Progress { call: self.call.clone(), output }).await;
    }

    async fn data(&self, name: &str, id: Option<&str>, data: Value) {
        let (name, id) = (name.to_owned(), id.map(str::to_owned));
        self.send(Signal::Data { name, id, data, transient: false }).await;
    }

    async fn transient(&self, name: &str, data: Value) {
        self.send(Signal::Data { name: name.to_owned(), id: None, data, transient: true }).await;
    }
}

/// What a call can look up: the session's notes for the main agent, its own for a sub-agent.
fn notes(run: &RunCtx, frame: &Frame, writer: &LogWriter) -> Arc<dyn Notes> {
    if run.post.depth == 0 {
        return Arc::new(SessionNotes { log: Arc::clone(writer.log()) });
    }
    let mut latest = HashMap::new();
    for part in &frame.message().parts {
        if let Part::Data { name, data, .. } = part {
            latest.insert(name.clone(), data.clone());
        }
    }
    Arc::new(OwnNotes { latest })
}

struct OwnNotes {
    latest: HashMap<String, Value>,
}

#[async_trait]
impl Notes for OwnNotes {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError> {
        Ok(self.latest.get(name).cloned())
    }
}

struct SessionNotes {
    log: Arc<SessionLog>,
}

#[async_trait]
impl Notes for SessionNotes {
    async fn latest(&self, name: &str) -> Result<Option<Value>, ToolError> {
        let read = async {
            // A part pushed a moment ago may still wait for the flusher.
            self.log.flush(false).await?;
            match self.log.key() {
                Some(key) => self.log.store().latest_data(key, name).await,
                None => Ok(None),
            }
        };
        read.await.map_err(|error| ToolError::Fatal(Box::new(error)))
    }
}
