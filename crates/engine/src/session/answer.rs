//! Answers of people and front ends: approvals, and the outputs of tools that the front end runs. For an active run an
//! approval is delivered to the agent that asked; a parked run is resumed.
//!
//! Nothing that a client sends here is trusted. What runs is the stored input of a question that was asked, once.

use protocol::{
    ApprovalId, CallPattern, MessageId, RuleEffect, RunEnd,
    interaction::{Interaction, InteractionKind, InteractionStatus},
    json::same,
    project::chat::View,
};
use store::{RunStatus, SessionInteraction, SessionRecord};
use tokio::sync::{mpsc::error::TrySendError, oneshot};

use super::{
    actor::Actor,
    request::{ClientOutput, ReturnedAnswer, SendKind, SendRequest},
    runner::{AnsweredApproval, Resume},
    viewer::Viewer,
};
use crate::{
    EngineError,
    mailbox::{
        answer::{Decision, PendingAnswer},
        directory::Undelivered,
    },
};

impl Actor {
    /// Resumes the run of an assistant message that a client sent back with answers in it.
    pub(super) async fn continue_message(
        &mut self,
        record: &SessionRecord,
        message: &MessageId,
        answers: Vec<ReturnedAnswer>,
        outputs: Vec<ClientOutput>,
    ) -> Result<Viewer, EngineError> {
        let run = self.services.store.run_of_message(record.key, message).await?;
        let run = run.ok_or_else(|| EngineError::MessageNotFound(message.clone()))?;
        let asked = self.services.store.interactions_of_message(record.key, &run.message).await?;
        let mut new = Vec::new();
        let (mut repeated, mut shown) = (false, false);
        for answer in answers {
            if answer.shown {
                shown = true;
                continue;
            }
            let question = asked
                .iter()
                .find(|question| question.id == answer.approval)
                .ok_or(EngineError::ApprovalNotFound)?;
            if answer.input.as_ref().is_some_and(|input| !same(input, &question.input)) {
                return Err(EngineError::ApprovalAltered);
            }
            check_kind(question, &answer.decision)?;
            if question.status == InteractionStatus::Pending {
                new.push(AnsweredApproval { approval: answer.approval, decision: answer.decision });
            } else {
                check_repeat(question, &answer.decision, |calls| has_rule(record, calls))?;
                repeated = true;
            }
        }
        match run.status {
            RunStatus::Parked => {
                let resume = Resume::Answer { decisions: new, outputs };
                match self.resume(record, run.clone(), resume).await? {
                    Some(viewer) => Ok(viewer),
                    None if repeated || shown => Ok(self.archived(record, &run, View::Continuation)),
                    None => Err(EngineError::NothingToContinue(
                        "This answer waits for an approval or for the output of a tool.",
                    )),
                }
            }
            RunStatus::Ended(_) if repeated => Ok(self.archived(record, &run, View::Continuation)),
            RunStatus::Ended(RunEnd::Cancelled | RunEnd::Failed)
                if record.active_leaf.as_ref().is_some_and(|leaf| leaf.id == *message) =>
            {
                let resumed = self.resume(record, run, Resume::Continue).await?;
                resumed.ok_or(EngineError::Busy)
            }
            RunStatus::Ended(_) if shown => Ok(self.archived(record, &run, View::Continuation)),
            RunStatus::Ended(_) => {
                Err(EngineError::NothingToContinue("This answer is complete. Send a new message."))
            }
            RunStatus::Running => Err(EngineError::Busy),
        }
    }

    /// Delivers the answers in a message that a client sent back while its run is active.
    pub(super) async fn deliver_answers(&mut self, request: &mut SendRequest) -> Result<(), EngineError> {
        let SendKind::Continue { answers, .. } = &mut request.kind else { return Ok(()) };
        for answer in std::mem::take(answers).into_iter().filter(|answer| !answer.shown) {
            let asked = self.services.store.interaction(&self.name.workspace, &answer.approval).await?;
            let asked = asked.ok_or(EngineError::ApprovalNotFound)?;
            if asked.session != self.name.session {
                return Err(EngineError::ApprovalNotFound);
            }
            if answer.input.as_ref().is_some_and(|input| !same(input, &asked.interaction.input)) {
                return Err(EngineError::ApprovalAltered);
            }
            check_kind(&asked.interaction, &answer.decision)?;
            // Nobody waits for the reply: the client follows the run and sees what becomes of its answer.
            let (reply, _) = oneshot::channel();
            let ReturnedAnswer { approval, decision, .. } = answer;
            self.answer_or_deliver(PendingAnswer { approval, decision, reply, activity: None }).await;
        }
        Ok(())
    }

    /// Accepts one answer from any surface: for a parked run, or for an active one whose other calls are still running.
    pub(super) async fn answer_or_deliver(&mut self, answer: PendingAnswer) {
        if self.live.is_some()
            && let Some(known) = self.answered_before(&answer.approval, &answer.decision).await
        {
            return drop(answer.reply.send(known));
        }
        let answer = match &self.live {
            Some(live) => match live.agents.deliver(answer) {
                Ok(()) => return,
                Err(Undelivered::Parking(answer)) => return self.late_answers.push(*answer),
                Err(Undelivered::NotAsked(answer)) => *answer,
            },
            None => answer,
        };
        // No agent has registered this question: it is the main agent's own, from before a restart.
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

    /// The reply to an answer that is already stored, regardless of what the run does now.
    async fn answered_before(
        &self,
        approval: &ApprovalId,
        decision: &Decision,
    ) -> Option<Result<(), EngineError>> {
        match self.services.store.interaction(&self.name.workspace, approval).await {
            Ok(Some(SessionInteraction { interaction: question, .. }))
                if question.status == InteractionStatus::Pending =>
            {
                None
            }
            Ok(Some(SessionInteraction { interaction: question, .. })) => {
                let given =
                    |calls: &CallPattern| self.live.as_ref().is_some_and(|live| live.rules.allows(calls));
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
        let Some(record) = self.record().await? else { return Err(EngineError::ApprovalNotFound) };
        let found = self.services.store.interaction(&record.workspace, approval).await?;
        let SessionInteraction { session, interaction: question, .. } =
            found.ok_or(EngineError::ApprovalNotFound)?;
        if session != record.id {
            return Err(EngineError::ApprovalNotFound);
        }
        if question.status != InteractionStatus::Pending {
            return check_repeat(&question, &decision, |calls| has_rule(&record, calls));
        }
        let run = self.services.store.run_of_message(record.key, &question.message).await?;
        let run = run.ok_or(EngineError::ApprovalNotFound)?;
        if run.status != RunStatus::Parked {
            return Err(EngineError::Busy);
        }
        let decisions = vec![AnsweredApproval { approval: approval.clone(), decision }];
        self.resume(&record, run, Resume::Answer { decisions, outputs: Vec::new() }).await?;
        Ok(())
    }
}

/// Whether the person has allowed these calls for the session.
fn has_rule(record: &SessionRecord, calls: &CallPattern) -> bool {
    record.rules.iter().any(|rule| rule.effect == RuleEffect::Allow && rule.calls == *calls)
}

/// A yes alone does not answer a request for input.
fn check_kind(question: &Interaction, decision: &Decision) -> Result<(), EngineError> {
    if question.kind == InteractionKind::Input && decision.approved && decision.answers.is_none() {
        return Err(EngineError::InvalidMessage(
            "This is a request for input, not an approval: answer it with answers, or with cancelled."
                .to_owned(),
        ));
    }
    Ok(())
}

/// Accepts an answer that repeats the stored one and refuses any other.
fn check_repeat(
    question: &Interaction,
    decision: &Decision,
    given: impl Fn(&CallPattern) -> bool,
) -> Result<(), EngineError> {
    let new_grant = decision.grant.as_ref().is_some_and(|grant| !given(&grant.calls));
    if new_grant
        || decision.answers.as_deref() != question.answers.as_ref()
        || (decision.input.is_some() && decision.input != question.edited)
    {
        return Err(EngineError::ApprovalSettled);
    }
    match (question.status, decision.approved) {
        (InteractionStatus::Approved, true) | (InteractionStatus::Denied, false) => Ok(()),
        _ => Err(EngineError::ApprovalSettled),
    }
}
