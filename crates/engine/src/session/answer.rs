//! Answers to a run that waits: approvals and the outputs of tools that the front end runs.
//!
//! Everything a client sends here is a claim. What runs is the stored input of a question that was asked, once.

use protocol::{
    ApprovalId, Grant, MessageId, RunEnd, ToolOutcome, ToolState,
    interaction::{Interaction, InteractionStatus},
    json::same,
    project::chat::View,
};
use store::{RunStatus, SessionRecord};
use tokio::sync::mpsc::error::TrySendError;
use tools::Executor;

use super::{
    actor::Actor,
    request::{ApprovalAnswer, ClientOutput, Decision},
    subscribe::Viewer,
};
use crate::{
    EngineError,
    run::{
        call_tools::LiveAnswer,
        frame::Frame,
        resume::{self, Rebuilt, Why},
        tree::{Revived, Undelivered},
    },
};

impl Rebuilt {
    /// Writes an answer where the question stands: in the frame that asked, and where it was shown as well.
    fn answer(&mut self, approval: &ApprovalId, decision: &Decision) -> Result<(), protocol::FoldError> {
        let write = |frame: &mut Frame| frame.decide(approval.clone(), decision.clone());
        let asks = |frame: &Frame| {
            let open = frame.open_calls();
            open.iter().any(|(_, _, state)| {
                matches!(state, ToolState::ApprovalRequested { approval: id, .. } if id == approval)
            })
        };
        for Revived { frame, .. } in self.below.iter_mut().filter(|below| asks(&below.frame)) {
            write(frame)?;
        }
        write(&mut self.frame)
    }
}

impl Actor {
    /// An assistant message handed back with answers in it: the run goes on in the same message.
    pub(super) async fn go_on(
        &mut self,
        record: &SessionRecord,
        message: &MessageId,
        answers: Vec<ApprovalAnswer>,
        outputs: Vec<ClientOutput>,
    ) -> Result<Viewer, EngineError> {
        let run = self.parts.store.run_of_message(record.key, message).await?;
        let run = run.ok_or_else(|| EngineError::MessageNotFound(message.clone()))?;
        let asked = self.parts.store.interactions_of_message(record.key, &run.message).await?;
        let mut new = Vec::new();
        let mut repeated = false;
        for answer in answers {
            let question = asked
                .iter()
                .find(|question| question.id == answer.approval)
                .ok_or(EngineError::ApprovalNotFound)?;
            if answer.input.as_ref().is_some_and(|input| !same(input, &question.input)) {
                return Err(EngineError::ApprovalAltered);
            }
            if question.status == InteractionStatus::Pending {
                new.push((answer.approval, answer.decision));
            } else {
                check_repeat(question, &answer.decision, |grant| record.grants.contains(grant))?;
                repeated = true;
            }
        }
        match run.status {
            RunStatus::Parked => {
                let outputs = self.wanted(record, &run, outputs).await?;
                if new.is_empty() && outputs.is_empty() {
                    if repeated {
                        return Ok(self.archived(record, &run, View::Continuation));
                    }
                    return Err(EngineError::NothingToContinue(
                        "This answer waits for an approval or for the output of a tool.",
                    ));
                }
                self.resume(record, run, Why::Asked, |rebuilt| {
                    for (approval, decision) in new {
                        rebuilt.answer(&approval, &decision)?;
                    }
                    for output in outputs {
                        let outcome = match output.result {
                            Ok(output) => ToolOutcome::Done { output },
                            Err(message) => ToolOutcome::Failed { message },
                        };
                        rebuilt.frame.settle(&output.call, outcome)?;
                    }
                    Ok(())
                })
                .await
            }
            RunStatus::Ended(_) if repeated => Ok(self.archived(record, &run, View::Continuation)),
            RunStatus::Ended(RunEnd::Cancelled | RunEnd::Failed)
                if record.active_leaf.as_ref().is_some_and(|leaf| leaf.id == *message) =>
            {
                self.resume(record, run, Why::Asked, |_| Ok(())).await
            }
            RunStatus::Ended(_) => {
                Err(EngineError::NothingToContinue("This answer is complete. Send a new message."))
            }
            RunStatus::Running => Err(EngineError::Busy),
        }
    }

    /// Of the outputs a client sent, those that a front-end tool is really waiting for.
    async fn wanted(
        &self,
        record: &SessionRecord,
        run: &store::RunRecord,
        outputs: Vec<ClientOutput>,
    ) -> Result<Vec<ClientOutput>, EngineError> {
        let rebuilt = resume::rebuild(&self.parts.store, record.key, run).await?;
        let open = rebuilt.frame.own_open_calls();
        let is_wanted = |output: &ClientOutput| {
            open.iter().any(|(call, tool, state)| {
                *call == output.call
                    && matches!(state, ToolState::InputAvailable { .. })
                    && self.parts.tools.get(tool).is_some_and(|tool| tool.executor() == Executor::Client)
            })
        };
        Ok(outputs.into_iter().filter(is_wanted).collect())
    }

    /// One answer, from any surface: to a run that waits, or to one whose other calls are still running.
    pub(super) async fn answer_or_hand_over(&mut self, answer: LiveAnswer) {
        if self.live.is_some()
            && let Some(known) = self.answered_before(&answer.approval, &answer.decision).await
        {
            return drop(answer.reply.send(known));
        }
        let answer = match &self.live {
            Some(live) => match live.tree.deliver(answer) {
                Ok(()) => return,
                Err(Undelivered::Parking(answer)) => return self.late.push(*answer),
                Err(Undelivered::NotAsked(answer)) => *answer,
            },
            None => answer,
        };
        let answer = match &self.live {
            Some(live) => match live.answers.try_send(Box::new(answer)) {
                Ok(()) => return,
                Err(TrySendError::Full(answer)) => {
                    return drop(answer.reply.send(Err(EngineError::Busy)));
                }
                Err(TrySendError::Closed(answer)) => *answer,
            },
            None => answer,
        };
        let result = self.answer(&answer.approval, answer.decision).await;
        drop(answer.reply.send(result));
    }

    /// What to say to an answer that is stored already, whatever the run is doing now.
    async fn answered_before(
        &self,
        approval: &ApprovalId,
        decision: &Decision,
    ) -> Option<Result<(), EngineError>> {
        match self.parts.store.interaction(&self.name.0, approval).await {
            Ok(Some((_, question))) if question.status == InteractionStatus::Pending => None,
            Ok(Some((_, question))) => {
                let given =
                    |grant: &Grant| self.live.as_ref().is_some_and(|live| live.tree.grants.has(grant));
                Some(check_repeat(&question, decision, given))
            }
            Ok(None) => Some(Err(EngineError::ApprovalNotFound)),
            Err(error) => Some(Err(error.into())),
        }
    }

    pub(super) async fn answer(
        &mut self,
        approval: &ApprovalId,
        decision: Decision,
    ) -> Result<(), EngineError> {
        let Some(mut record) = self.record().await? else { return Err(EngineError::ApprovalNotFound) };
        let found = self.parts.store.interaction(&record.workspace, approval).await?;
        let (session, question) = found.ok_or(EngineError::ApprovalNotFound)?;
        if session != record.id {
            return Err(EngineError::ApprovalNotFound);
        }
        if question.status != InteractionStatus::Pending {
            return check_repeat(&question, &decision, |grant| record.grants.contains(grant));
        }
        let run = self.parts.store.run_of_message(record.key, &question.message).await?;
        let run = run.ok_or(EngineError::ApprovalNotFound)?;
        if run.status != RunStatus::Parked {
            return Err(EngineError::Busy);
        }
        // What the run is to know when it goes on; the log says it with the answer.
        record.grants.extend(decision.grant.clone());
        let approval = approval.clone();
        self.resume(&record, run, Why::Asked, |rebuilt| rebuilt.answer(&approval, &decision)).await?;
        Ok(())
    }
}

/// The same answer again is no mistake; another one comes too late.
fn check_repeat(
    question: &Interaction,
    decision: &Decision,
    given: impl Fn(&Grant) -> bool,
) -> Result<(), EngineError> {
    let new_grant = decision.grant.as_ref().is_some_and(|grant| !given(grant));
    if new_grant || (decision.input.is_some() && decision.input != question.edited) {
        return Err(EngineError::ApprovalSettled);
    }
    match (question.status, decision.approved) {
        (InteractionStatus::Approved, true) | (InteractionStatus::Denied, false) => Ok(()),
        _ => Err(EngineError::ApprovalSettled),
    }
}
