//! Runs all calls of one step together; none outlives the step.
//!
//! Results are settled in call order, regardless of which call ends first. What a running tool shows goes through one
//! bounded channel to the driver, the only writer of the agent's frame.

use std::{sync::Arc, time::Duration};

use protocol::{ToolCall, ToolOutcome};
use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
};
use tools::{Executor, Limits, Outcome, PreparedCall, ToolCtx};

use super::{
    call_files::call_files,
    loop_tools,
    notes::notes,
    progress::{CallOutput, SIGNALS, Signal, Snapshots},
};
use crate::{
    EngineError,
    jobs::CallCommands,
    mailbox::answer::PendingAnswer,
    run::{
        agent_inbox::AgentInbox,
        agent_log::AgentLog,
        agent_loop::{
            driver::{AgentWork, RunStop},
            turn::{Plan, PlannedCall},
        },
        context::AgentContext,
        delegation::{
            approval_relay::RelayedApproval,
            delegate::{Delegated, delegate},
            work_permit::WorkPermit,
        },
        frame::Frame,
        tool_calls::artifacts::CallArtifacts,
    },
};

/// How long the results of cancelled calls are waited for: the time that [`tools::execute`] gives each of them, and a
/// moment to store what it returned.
const GRACE: Duration = tools::GRACE.saturating_add(Duration::from_millis(500));

const UNKNOWN: &str = "The outcome of this call is unknown: the server restarted while it ran. \
     Check what happened before you repeat it.";

/// How the calls of a step ended.
pub(crate) enum Called {
    All,
    /// Sub-agents among them wait for a person; these are their frames. The other calls are settled.
    Parked(Vec<Frame>),
}

/// Runs the calls of one step until all are settled or sub-agents among them wait for a person.
pub(crate) async fn call_tools(work: &mut AgentWork, calls: Vec<PlannedCall>) -> Result<Called, RunStop> {
    let (signals, mut shown) = mpsc::channel(SIGNALS);
    let mut snapshots = Snapshots::default();
    let mut step = StepCalls::plan(work, calls)?;
    loop {
        step.start_ready(work, &signals);
        if step.is_idle() {
            step.fail_unfinished();
            if !step.parked.is_empty() {
                return step.park(work).await;
            }
        }
        step.settle_in_order(work)?;
        work.log.append(&mut work.frame).await?;
        if step.is_settled() {
            return Ok(Called::All);
        }
        step.release(&mut work.permit);
        match step.next_event(work, &mut shown, &snapshots).await {
            StepEvent::Cancelled => return Err(step.cancel(work, &mut shown).await?),
            StepEvent::Signal(signal) => snapshots.show(&mut work.frame, signal)?,
            StepEvent::SnapshotsDue => snapshots.show_due(&mut work.frame)?,
            StepEvent::Answer(answer) => {
                let AgentWork { context, frame, log, permit, .. } = work;
                take_answer(context, frame, log, *answer, permit).await?;
            }
            StepEvent::Relayed(relayed) => relayed.show(&mut work.frame, &*work.context.services.ids)?,
            StepEvent::ToolEnded(ended) => {
                if let Ok(RunningCall { place, outcome }) = ended {
                    step.outcomes[place] = Some(outcome);
                }
                // What the call showed before it ended belongs before its result.
                while let Ok(signal) = shown.try_recv() {
                    snapshots.show(&mut work.frame, signal)?;
                }
            }
            StepEvent::Delegated(Ok(DelegatedCall { place, delegated })) => {
                work.inbox.show_relayed(&mut work.frame, &*work.context.services.ids)?;
                if let Some(stop) = step.delegated(work, place, delegated).await? {
                    return Err(stop);
                }
            }
            StepEvent::Delegated(Err(error)) => {
                work.inbox.show_relayed(&mut work.frame, &*work.context.services.ids)?;
                tracing::error!(%error, "a delegation broke off");
            }
        }
    }
}

/// The calls of one step and their results so far. `place` is the position of a call in the step.
struct StepCalls {
    calls: Vec<PlannedCall>,
    /// Results that are not settled yet.
    outcomes: Vec<Option<ToolOutcome>>,
    /// How many calls are settled: all before this place.
    settled: usize,
    /// Calls that have not been started.
    pending: Vec<usize>,
    running: JoinSet<RunningCall>,
    delegated: JoinSet<DelegatedCall>,
    /// Delegations that wait for a person.
    parked: Vec<ParkedCall>,
}

struct RunningCall {
    place: usize,
    outcome: ToolOutcome,
}

struct DelegatedCall {
    place: usize,
    delegated: Delegated,
}

struct ParkedCall {
    place: usize,
    frames: Vec<Frame>,
}

/// What happens next while calls of a step are running.
enum StepEvent {
    Cancelled,
    Signal(Signal),
    SnapshotsDue,
    Answer(Box<PendingAnswer>),
    Relayed(Box<RelayedApproval>),
    ToolEnded(Result<RunningCall, JoinError>),
    Delegated(Result<DelegatedCall, JoinError>),
}

impl StepCalls {
    /// Calls that need no work have their outcome at once; the others are pending.
    fn plan(work: &mut AgentWork, calls: Vec<PlannedCall>) -> Result<Self, RunStop> {
        let mut pending = Vec::new();
        let mut outcomes = Vec::with_capacity(calls.len());
        for (place, planned) in calls.iter().enumerate() {
            outcomes.push(match &planned.plan {
                Plan::Run if planned.executor == Executor::Loop => {
                    Some(loop_tools::call(&work.context, &mut work.frame, &planned.call)?)
                }
                Plan::Run => {
                    pending.push(place);
                    None
                }
                Plan::Answered(output) => Some(ToolOutcome::Done { output: output.clone() }),
                Plan::Refuse(why) => Some(ToolOutcome::Failed { message: why.clone() }),
                Plan::Deny(reason) => Some(ToolOutcome::Denied { reason: reason.clone() }),
                // The turn never hands out calls to ask about or to wait for.
                Plan::Unknown | Plan::Ask(_) | Plan::Wait => {
                    Some(ToolOutcome::Failed { message: UNKNOWN.to_owned() })
                }
            });
        }
        Ok(Self {
            calls,
            outcomes,
            settled: 0,
            pending,
            running: JoinSet::new(),
            delegated: JoinSet::new(),
            parked: Vec::new(),
        })
    }

    /// Starts every pending call that need not wait for another call of the same tool.
    fn start_ready(&mut self, work: &AgentWork, signals: &mpsc::Sender<Signal>) {
        let run = &work.context;
        for place in std::mem::take(&mut self.pending) {
            let PlannedCall { call, executor, .. } = self.calls[place].clone();
            if executor == Executor::Delegation {
                // The sub-agent counts as active from here on.
                let delegating = delegate(run.clone(), call, work.log.share(), run.tree.activity.begin());
                self.delegated.spawn(async move { DelegatedCall { place, delegated: delegating.await } });
                continue;
            }
            let Some(tool) = run.agent.tools.get(&call.name) else {
                let message = format!("There is no tool named \"{}\" any more.", call.name);
                self.outcomes[place] = Some(ToolOutcome::Failed { message });
                continue;
            };
            if tool.one_at_a_time() && self.is_running_before(place) {
                self.pending.push(place);
                continue;
            }
            let prepared = match tool.prepare(&call.input) {
                Ok(prepared) => prepared,
                Err(error) => {
                    self.outcomes[place] = Some(ToolOutcome::Failed { message: error.to_string() });
                    continue;
                }
            };
            let limits = run.services.settings.tool_limits;
            let ctx = tool_ctx(work, call, signals.clone());
            self.running
                .spawn(async move { RunningCall { place, outcome: run_one(prepared, ctx, limits).await } });
        }
    }

    /// Whether an earlier call of the same tool has no result yet.
    fn is_running_before(&self, place: usize) -> bool {
        let name = &self.calls[place].call.name;
        (self.settled..place)
            .any(|before| self.outcomes[before].is_none() && self.calls[before].call.name == *name)
    }

    /// Whether no call is running.
    fn is_idle(&self) -> bool {
        self.running.is_empty() && self.delegated.is_empty()
    }

    fn is_settled(&self) -> bool {
        self.settled == self.calls.len()
    }

    /// A task that was aborted or panicked outside the tool left no outcome: its call has failed.
    fn fail_unfinished(&mut self) {
        for place in self.settled..self.outcomes.len() {
            let is_parked = self.parked.iter().any(|parked| parked.place == place);
            if self.outcomes[place].is_none() && !is_parked {
                self.outcomes[place] = Some(ToolOutcome::Failed { message: "the tool broke off".to_owned() });
            }
        }
    }

    /// Settles what has a result, and returns the frames of the sub-agents that wait for a person.
    async fn park(mut self, work: &mut AgentWork) -> Result<Called, RunStop> {
        for (planned, outcome) in self.calls.iter().zip(&mut self.outcomes).skip(self.settled) {
            if let Some(outcome) = outcome.take() {
                work.frame.settle(&planned.call.id, outcome)?;
            }
        }
        work.inbox.show_relayed(&mut work.frame, &*work.context.services.ids)?;
        work.log.append(&mut work.frame).await?;
        Ok(Called::Parked(self.parked.into_iter().flat_map(|parked| parked.frames).collect()))
    }

    /// Settles the calls that have a result, up to the first that has none.
    fn settle_in_order(&mut self, work: &mut AgentWork) -> Result<(), RunStop> {
        let hooks = &work.context.services.settings.hooks;
        while let Some(mut outcome) = self.outcomes.get_mut(self.settled).and_then(Option::take) {
            let call = &self.calls[self.settled].call;
            if !hooks.is_empty() {
                hooks.post_acting(&work.context.hook_point(&work.frame), call, &mut outcome);
            }
            work.frame.settle(&call.id, outcome)?;
            self.settled += 1;
        }
        Ok(())
    }

    /// While sub-agents work for this agent, it holds no slot; while only they work, it is not active itself.
    fn release(&self, permit: &mut WorkPermit) {
        if !self.delegated.is_empty() {
            permit.release_slot();
            if self.running.is_empty() {
                permit.release();
            }
        }
    }

    async fn next_event(
        &mut self,
        work: &mut AgentWork,
        shown: &mut mpsc::Receiver<Signal>,
        snapshots: &Snapshots,
    ) -> StepEvent {
        let AgentInbox { answers, relayed, .. } = &mut work.inbox;
        tokio::select! {
            biased;
            () = work.context.cancel.cancelled() => StepEvent::Cancelled,
            Some(signal) = shown.recv() => StepEvent::Signal(signal),
            () = snapshots.due() => StepEvent::SnapshotsDue,
            Some(answer) = answers.recv() => StepEvent::Answer(answer),
            relayed = AgentInbox::next_relayed(relayed) => StepEvent::Relayed(relayed),
            Some(ended) = self.running.join_next() => StepEvent::ToolEnded(ended),
            Some(ended) = self.delegated.join_next() => StepEvent::Delegated(ended),
        }
    }

    /// Takes in how a delegation ended; returns the reason if the whole run must stop.
    async fn delegated(
        &mut self,
        work: &mut AgentWork,
        place: usize,
        delegated: Delegated,
    ) -> Result<Option<RunStop>, RunStop> {
        match delegated {
            Delegated::Done(outcome, activity) => {
                work.permit.adopt(activity);
                self.outcomes[place] = Some(outcome);
            }
            Delegated::Reported { call, agent, outcome, activity } => {
                work.permit.adopt(activity);
                work.frame.will_report(call, agent);
                self.outcomes[place] = Some(outcome);
            }
            Delegated::Started(outcome, background, activity) => {
                work.permit.adopt(Some(activity));
                self.outcomes[place] = Some(outcome);
                work.inbox.background.spawn(background);
            }
            Delegated::Parked(frames) => self.parked.push(ParkedCall { place, frames }),
            Delegated::Broken(stop) => {
                work.context.cancel.cancel();
                self.wind_down(work).await?;
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    /// The run was stopped: waits for the calls to end and settles those that have really happened.
    async fn cancel(
        mut self,
        work: &mut AgentWork,
        shown: &mut mpsc::Receiver<Signal>,
    ) -> Result<RunStop, RunStop> {
        for parked in &mut self.parked {
            work.context.tree.add_orphans(&mut parked.frames);
        }
        self.wind_down(work).await?;
        while let Ok(signal) = shown.try_recv() {
            if let Signal::Artifact(artifact) = signal {
                work.frame.artifact(artifact)?;
            }
        }
        for (planned, outcome) in self.calls.iter().zip(self.outcomes).skip(self.settled) {
            // A result or a denial stays; the other calls are closed as stopped with the message.
            if let Some(outcome @ (ToolOutcome::Done { .. } | ToolOutcome::Denied { .. })) = outcome {
                work.frame.settle(&planned.call.id, outcome)?;
            }
        }
        Ok(RunStop::Cancelled)
    }

    /// Waits for cancelled calls to clean up, then aborts them. Sub-agents close their messages themselves, and wait for
    /// their own calls in the same way.
    async fn wind_down(&mut self, work: &mut AgentWork) -> Result<(), RunStop> {
        let (running, outcomes) = (&mut self.running, &mut self.outcomes);
        let all = async {
            while let Some(ended) = running.join_next().await {
                if let Ok(RunningCall { place, outcome }) = ended {
                    outcomes[place] = Some(outcome);
                }
            }
        };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            self.running.abort_all();
        }
        work.context.run.files.settled().await;
        let AgentWork { context: run, frame, inbox, .. } = work;
        loop {
            tokio::select! {
                biased;
                relayed = AgentInbox::next_relayed(&mut inbox.relayed) => {
                    relayed.show(frame, &*run.services.ids)?;
                }
                ended = self.delegated.join_next() => match ended {
                    None => return Ok(()),
                    Some(Err(error)) => tracing::error!(%error, "a delegation broke off"),
                    Some(Ok(DelegatedCall { place, delegated })) => match delegated {
                        Delegated::Done(outcome, _) => self.outcomes[place] = Some(outcome),
                        Delegated::Reported { call, agent, outcome, .. } => {
                            frame.will_report(call, agent);
                            self.outcomes[place] = Some(outcome);
                        }
                        Delegated::Started(outcome, background, _) => {
                            self.outcomes[place] = Some(outcome);
                            inbox.background.spawn(background);
                        }
                        Delegated::Broken(stop) => return Err(stop),
                        Delegated::Parked(mut frames) => run.tree.add_orphans(&mut frames),
                    },
                },
            }
        }
    }
}

/// Writes an answer, once. The call that it allows runs when the calls of the present step have ended.
pub(crate) async fn take_answer(
    run: &AgentContext,
    frame: &mut Frame,
    log: &mut AgentLog,
    answer: PendingAnswer,
    permit: &mut WorkPermit,
) -> Result<(), RunStop> {
    let PendingAnswer { approval, decision, reply, activity } = answer;
    permit.adopt(activity);
    if !frame.waits_for(&approval, &frame.own_open_calls()) {
        let is_repeat = frame.has_decided(&approval, &decision)
            && decision.grant.as_ref().is_none_or(|grant| run.tree.rules.allows(&grant.calls));
        drop(reply.send(if is_repeat { Ok(()) } else { Err(EngineError::ApprovalSettled) }));
        return Ok(());
    }
    let grant = decision.grant.clone();
    frame.decide(approval, decision)?;
    log.append(frame).await?;
    if let Some(grant) = grant {
        run.tree.rules.give(grant).await?;
    }
    drop(reply.send(Ok(())));
    Ok(())
}

/// The handles of one call.
fn tool_ctx(work: &AgentWork, call: ToolCall, signals: mpsc::Sender<Signal>) -> ToolCtx {
    protocol::crash_point!("tool", call.input.to_string());
    let run = &work.context;
    let artifacts = Arc::new(CallArtifacts {
        store: Arc::clone(&run.services.store),
        ids: Arc::clone(&run.services.ids),
        workspace: run.run.workspace.clone(),
        call: call.id.clone(),
        signals: signals.clone(),
    });
    ToolCtx {
        tool: call.name.clone(),
        cancel: run.cancel.child_token(),
        clock: Arc::clone(&run.services.clock),
        timezone: run.run.options.timezone.clone(),
        commands: Arc::new(CallCommands {
            jobs: Arc::clone(&run.services.tools.jobs),
            workspace: Arc::clone(&run.run.files.workspace),
            chat: run.run.chat.clone(),
            call: call.id.clone(),
            ids: Arc::clone(&run.services.ids),
            clock: Arc::clone(&run.services.clock),
            artifacts: Arc::clone(&artifacts) as Arc<dyn tools::Artifacts>,
            run: run.cancel.clone(),
            read_only: run.position.edit_limit.is_limited(),
        }),
        artifacts,
        files: call_files(run, &work.log, &call),
        notes: notes(run, &work.frame, &work.log),
        emit: Arc::new(CallOutput { call: call.id.clone(), signals }),
        call: call.id,
    }
}

async fn run_one(prepared: Box<dyn PreparedCall>, ctx: ToolCtx, limits: Limits) -> ToolOutcome {
    let failed = |message: String| ToolOutcome::Failed { message };
    let tool = ctx.tool.clone();
    match tools::execute(prepared, ctx, limits).await {
        Outcome::Done(output) => ToolOutcome::Done { output },
        Outcome::Failed(message) => failed(message),
        Outcome::Cancelled => failed("stopped before this call had a result".to_owned()),
        Outcome::Defect(error) => {
            tracing::error!(tool, %error, "a tool failed inside");
            failed("The tool failed inside; this is a defect of the tool, not of your call.".to_owned())
        }
    }
}
