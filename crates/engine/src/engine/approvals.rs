//! Approvals: which are pending, and what an answer may contain.
//!
//! Answers are checked here against the question that was stored: an edited input must be one that the tool accepts and the
//! rules do not refuse, an "always" must have been offered. The session's actor then accepts the answer
//! (`session/answer.rs`).

use std::{sync::Arc, time::Duration};

use protocol::{
    AnsweredBy, ApprovalId, CallPattern, GrantScope, InteractionKind, Question, SessionId, Verdict,
    WorkspaceId,
    interaction::{Interaction, InteractionStatus},
    json::{disarm, same},
    wire::rest::{ApprovalAnswer, ApprovalList, AskedApproval, WaitingApproval},
};
use serde_json::Value;
use store::{MAX_WORKSPACE_RULES, SessionInteraction};

use crate::{
    Engine, EngineError,
    mailbox::answer::{Decision, GivenGrant},
    session::{
        actor::Command,
        request::{ApprovalPayload, SendKind, SendRequest},
        rules::SessionRules,
    },
};

/// How often, and how long apart, an answer is sent to a session whose mailbox is full.
const MOST_TRIES: u32 = 200;
const RETRY_AFTER: Duration = Duration::from_millis(20);
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
                question: Some(question_of(&one.interaction, one.question)),
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
        let SessionInteraction { session: chat_id, interaction, question } =
            self.interaction(workspace, approval).await?;
        let question = Some(question_of(&interaction, question));
        Ok(AskedApproval { chat_id, question, approval: interaction })
    }

    /// Answers a question, once. An "always" also answers the other pending questions that it covers.
    pub async fn answer(
        &self,
        workspace: WorkspaceId,
        approval: ApprovalId,
        answer: ApprovalAnswer,
        by: AnsweredBy,
    ) -> Result<Interaction, EngineError> {
        let asked = self.interaction(&workspace, &approval).await?;
        if asked.interaction.kind == InteractionKind::Input {
            return Err(EngineError::InvalidMessage(
                "This is a request for input, not an approval: answer it with answers, or with cancelled."
                    .to_owned(),
            ));
        }
        let ApprovalAnswer { approved, reason, always, input } = answer;
        let payload = ApprovalPayload { input, always };
        let decision = self
            .check(&workspace, &asked, Decision { by, ..Decision::new(approved, reason) }, payload)
            .await?;
        let grant = decision.grant.clone();
        self.tell(&workspace, &asked.session, approval.clone(), decision).await?;
        if let Some(grant) = grant {
            self.answer_covered(&workspace, &asked.session, &grant).await?;
        }
        Ok(self.interaction(&workspace, &approval).await?.interaction)
    }

    /// Checks the answers in a chat message; what was given with them becomes part of the decision.
    pub(super) async fn check_answers(&self, request: &mut SendRequest) -> Result<(), EngineError> {
        self.take_inputs(request).await?;
        let SendKind::Continue { answers, .. } = &mut request.kind else { return Ok(()) };
        for answer in answers.iter_mut() {
            if let Some(payload) = answer.payload.take() {
                let asked = self.interaction(&request.workspace, &answer.approval).await?;
                let decision = answer.decision.clone();
                answer.decision = self.check(&request.workspace, &asked, decision, payload).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn tell(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        approval: ApprovalId,
        decision: Decision,
    ) -> Result<(), EngineError> {
        let mut tries = 0;
        loop {
            let (approval, decision) = (approval.clone(), decision.clone());
            let command = |reply| Command::Answer { approval, decision, reply };
            match self.command(workspace.clone(), session.clone(), command).await {
                // Many answers at once: this one waits for its turn.
                Err(EngineError::QueueFull(_)) if tries < MOST_TRIES => tries += 1,
                result => return result,
            }
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }

    async fn answer_covered(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        grant: &GivenGrant,
    ) -> Result<(), EngineError> {
        let waiting = self.services.store.pending_interactions(workspace, MOST_COVERED).await?;
        let is_meant = |other: &SessionId| grant.scope == GrantScope::Workspace || other == session;
        for other in waiting.into_iter().filter(|other| is_meant(&other.session)) {
            if other.question.and_then(|question| question.always).as_ref() != Some(&grant.calls) {
                continue;
            }
            match self.tell(workspace, &other.session, other.interaction.id, Decision::new(true, None)).await
            {
                // It was answered in the meantime, or the run has ended.
                Ok(()) | Err(EngineError::ApprovalSettled | EngineError::Busy) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Checks an answer against the question that was asked.
    async fn check(
        &self,
        workspace: &WorkspaceId,
        asked: &SessionInteraction,
        decision: Decision,
        payload: ApprovalPayload,
    ) -> Result<Decision, EngineError> {
        let refuse = |text: &str| Err(EngineError::InvalidMessage(text.to_owned()));
        let ApprovalPayload { input, always } = payload;
        if !decision.approved && (always.is_some() || input.is_some()) {
            return refuse("A denied call takes neither always nor input.");
        }
        let input = input
            .map(|mut input| {
                disarm(&mut input);
                input
            })
            .filter(|input| !same(input, &asked.interaction.input));
        let mut offered = asked.question.as_ref().and_then(|question| question.always.clone());
        if let Some(input) = &input
            // An answer that is already stored is compared with this one, not judged again.
            && asked.interaction.status == InteractionStatus::Pending
        {
            offered = self.judge_edited(workspace, asked, input).await?;
        }
        if always == Some(GrantScope::Workspace) {
            let rules = self.services.tools.rules.of_workspace(workspace).await?;
            if rules.records.len() >= MAX_WORKSPACE_RULES as usize {
                return Err(EngineError::too_many_rules(MAX_WORKSPACE_RULES as usize, "workspace"));
            }
        }
        let grant = match (always, offered) {
            (None, _) => None,
            (Some(scope), Some(calls)) => Some(GivenGrant { rule: self.services.ids.rule(), calls, scope }),
            (Some(_), None) => {
                return refuse("This call is asked about every time; approve it without always.");
            }
        };
        Ok(Decision { input, grant, ..decision })
    }

    /// Checks an input that a person wrote as if the model had written it; returns what an "always" would allow.
    async fn judge_edited(
        &self,
        workspace: &WorkspaceId,
        asked: &SessionInteraction,
        input: &Value,
    ) -> Result<Option<CallPattern>, EngineError> {
        let refuse = |text: String| Err(EngineError::InvalidMessage(text));
        let name = &asked.interaction.tool;
        let Some(tool) = self.services.tools.registry.get(name) else {
            return refuse(format!("There is no tool named {name} any more."));
        };
        let prepared = match Arc::clone(&tool).prepare(input) {
            Ok(prepared) => prepared,
            Err(error) => {
                let error = error.to_string().replace('\n', "; ");
                return refuse(format!("The edited input does not fit: {}.", error.trim_end_matches('.')));
            }
        };
        let record = self.services.store.session(workspace, &asked.session).await?;
        let own = record.map(|record| record.rules).unwrap_or_default();
        let rules = SessionRules::new(&self.services.tools.rules, workspace, own).await?;
        let files = self.services.tools.files.get(workspace).await?;
        match rules.in_force().judge(name, &prepared.need(&files.domain)) {
            Verdict::Run => Ok(asked.question.as_ref().and_then(|question| question.always.clone())),
            Verdict::Ask { grant, .. } => Ok(grant),
            Verdict::Refuse { why } => refuse(format!("The edited call is refused: {why}")),
        }
    }

    pub(super) async fn interaction(
        &self,
        workspace: &WorkspaceId,
        approval: &ApprovalId,
    ) -> Result<SessionInteraction, EngineError> {
        let found = self.services.store.interaction(workspace, approval).await?;
        found.ok_or(EngineError::ApprovalNotFound)
    }
}

/// What the person is told. An older version did not store it.
fn question_of(asked: &Interaction, stored: Option<Question>) -> Question {
    stored.unwrap_or_else(|| Question::approval(format!("The tool {} needs your approval.", asked.tool)))
}
