//! Approvals over `/api/approvals`: which are pending, why they were asked, and what an answer may contain.
//!
//! Answers are checked here: an edited input must be one that the tool accepts, an "always" must have been offered. The
//! session's actor then accepts the answer (`session/answer.rs`). Answers in a chat message go there directly.

use std::sync::Arc;

use protocol::{
    ApprovalId, Grant, SessionId, WorkspaceId,
    interaction::{Interaction, Question},
    json::{disarm, same},
    wire::rest::{ApprovalAnswer, ApprovalList, AskedApproval, WaitingApproval},
};

use store::SessionInteraction;

use crate::{
    Engine, EngineError, mailbox::answer::Decision, run::tool_calls::approval, session::actor::Command,
};

/// How many pending questions one "always" answers at once.
const MOST_COVERED: u32 = 200;

impl Engine {
    /// All pending questions of the workspace.
    pub async fn waiting(&self, workspace: &WorkspaceId, limit: u32) -> Result<ApprovalList, EngineError> {
        let waiting = self.services.store.pending_interactions(workspace, limit).await?;
        let approvals = waiting
            .into_iter()
            .map(|one| WaitingApproval {
                chat_id: one.session,
                title: one.title,
                question: self.question(&one.interaction),
                approval: one.interaction,
            })
            .collect();
        Ok(ApprovalList { approvals })
    }

    pub async fn asked(
        &self,
        workspace: &WorkspaceId,
        approval: &ApprovalId,
    ) -> Result<AskedApproval, EngineError> {
        let SessionInteraction { session: chat_id, interaction: approval } =
            self.interaction(workspace, approval).await?;
        Ok(AskedApproval { chat_id, question: self.question(&approval), approval })
    }

    /// Answers a question, once. An "always" also answers the other pending questions of the session that it covers.
    pub async fn answer(
        &self,
        workspace: WorkspaceId,
        approval: ApprovalId,
        answer: ApprovalAnswer,
    ) -> Result<Interaction, EngineError> {
        let SessionInteraction { session, interaction: asked } =
            self.interaction(&workspace, &approval).await?;
        let decision = self.check(&asked, answer)?;
        let grant = decision.grant.clone();
        self.tell(&workspace, &session, approval.clone(), decision).await?;
        if let Some(grant) = grant {
            self.answer_covered(&workspace, &session, &grant).await?;
        }
        Ok(self.interaction(&workspace, &approval).await?.interaction)
    }

    async fn tell(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        approval: ApprovalId,
        decision: Decision,
    ) -> Result<(), EngineError> {
        self.ask(workspace.clone(), session.clone(), |reply| Command::Answer { approval, decision, reply })
            .await
    }

    async fn answer_covered(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        grant: &Grant,
    ) -> Result<(), EngineError> {
        let waiting = self.services.store.pending_interactions(workspace, MOST_COVERED).await?;
        for other in waiting.into_iter().filter(|other| other.session == *session) {
            let other = other.interaction;
            if self.question(&other).and_then(|question| question.always).as_ref() != Some(grant) {
                continue;
            }
            match self.tell(workspace, session, other.id, Decision::new(true, None)).await {
                // It was answered in the meantime, or the run has ended.
                Ok(()) | Err(EngineError::ApprovalSettled | EngineError::Busy) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Checks an answer against the question that was asked.
    fn check(&self, asked: &Interaction, answer: ApprovalAnswer) -> Result<Decision, EngineError> {
        let refuse = |text: String| Err(EngineError::InvalidMessage(text));
        let ApprovalAnswer { approved, reason, always, input } = answer;
        if !approved && (always || input.is_some()) {
            return refuse("A denied call takes neither always nor input.".to_owned());
        }
        let input = input
            .map(|mut input| {
                disarm(&mut input);
                input
            })
            .filter(|input| !same(input, &asked.input));
        if let Some(input) = &input {
            let Some(tool) = self.services.tools.get(&asked.tool) else {
                return refuse(format!("There is no tool named {} any more.", asked.tool));
            };
            if let Err(error) = Arc::clone(&tool).prepare(input) {
                let error = error.to_string().replace('\n', "; ");
                return refuse(format!("The edited input does not fit: {}.", error.trim_end_matches('.')));
            }
        }
        let grant = if always {
            let runs = input.as_ref().unwrap_or(&asked.input);
            let question = approval::question(&self.services.tools, &asked.tool, runs);
            match question.and_then(|question| question.always) {
                Some(grant) => Some(grant),
                None => {
                    return refuse(
                        "This call is asked about every time; approve it without always.".to_owned(),
                    );
                }
            }
        } else {
            None
        };
        Ok(Decision { approved, reason, input, grant })
    }

    fn question(&self, asked: &Interaction) -> Option<Question> {
        approval::question(&self.services.tools, &asked.tool, &asked.input)
    }

    async fn interaction(
        &self,
        workspace: &WorkspaceId,
        approval: &ApprovalId,
    ) -> Result<SessionInteraction, EngineError> {
        let found = self.services.store.interaction(workspace, approval).await?;
        found.ok_or(EngineError::ApprovalNotFound)
    }
}
