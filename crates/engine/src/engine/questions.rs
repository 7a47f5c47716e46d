//! Requests for input: checks what a person answered against the form, exchanges secrets for references, and passes the
//! answer on like that of an approval.

use std::sync::Arc;

use protocol::{
    AnswerValue, AnsweredBy, ApprovalId, FieldType, InputAnswers, InputForm, InteractionKind, MessageFacts,
    MessageId, RaisedCall, SessionId, ToolCallId, UserAnswer, WorkspaceId,
    interaction::{Interaction, InteractionStatus},
    json::same,
    user_input::{SECRET_PREFIX, SHORT_KEY, declined_output},
    wire::agents::FieldProblem,
};
use serde_json::Value;
use store::SessionInteraction;
use tools::form_answers::{self, CheckedAnswer};

use crate::{
    Engine, EngineError,
    mailbox::answer::Decision,
    secrets::SecretError,
    session::request::{ClientOutput, ReturnedAnswer, SendKind, SendRequest},
    session_name::SessionName,
};

impl Engine {
    /// Answers a request for input, once. An answer that does not fit its form is refused, and the request stays pending.
    pub async fn answer_question(
        &self,
        workspace: &WorkspaceId,
        id: &ApprovalId,
        answer: UserAnswer,
        by: AnsweredBy,
    ) -> Result<(), EngineError> {
        let asked = self.interaction(workspace, id).await?;
        let decision = self.check_input(workspace, &asked, answer, by).await?;
        self.tell(workspace, &asked.session, id.clone(), decision).await
    }

    /// The secret that a reference in an answer stands for. For tools that take a secret; nothing else may read it.
    pub async fn resolve_secret(
        &self,
        workspace: &WorkspaceId,
        session: &SessionId,
        reference: &str,
    ) -> Result<String, EngineError> {
        let chat = SessionName { workspace: workspace.clone(), session: session.clone() };
        let (secrets, reference) = (Arc::clone(&self.services.secrets), reference.to_owned());
        blocking(move || secrets.get(&chat, &reference)).await
    }

    /// Turns the outputs that a client filled in for requests for input into answers.
    pub(super) async fn take_inputs(&self, request: &mut SendRequest) -> Result<(), EngineError> {
        let SendKind::Continue { message, answers, outputs } = &mut request.kind else { return Ok(()) };
        if outputs.is_empty() {
            return Ok(());
        }
        let Some(record) = self.services.store.session(&request.workspace, &request.session).await? else {
            return Ok(());
        };
        let mut asked = self.services.store.interactions_of_message(record.key, message).await?;
        asked.retain(|asked| asked.kind == InteractionKind::Input);
        if asked.is_empty() {
            return Ok(());
        }
        let stored = self.services.store.message(record.key, message).await?;
        let facts = stored.and_then(|stored| stored.message().ok()).map(|stored| stored.facts());
        let calls = InputCalls { message, asked: &asked, facts: facts.unwrap_or_default() };
        let mut others = Vec::new();
        for output in std::mem::take(outputs) {
            match calls.find(&output.call) {
                Some(interaction) => {
                    answers.extend(self.returned_input(&request.workspace, interaction, output).await?);
                }
                None => others.push(output),
            }
        }
        *outputs = others;
        Ok(())
    }

    /// The answer that a client filled in as the output of a call; `None` if the client only shows how it ended.
    async fn returned_input(
        &self,
        workspace: &WorkspaceId,
        interaction: &Interaction,
        output: ClientOutput,
    ) -> Result<Option<ReturnedAnswer>, EngineError> {
        let approval = interaction.id.clone();
        let asked = self.interaction(workspace, &approval).await?;
        let returned =
            |decision, shown| ReturnedAnswer { approval, decision, input: None, payload: None, shown };
        let is_pending = interaction.status == InteractionStatus::Pending;
        let answer = match output.result {
            Ok(output) if !is_pending && same(&output, &output_of(form_of(&asked)?, interaction)) => {
                let decision = Decision::of_input(interaction.answers.clone(), None, AnsweredBy::Chat);
                return Ok(Some(returned(decision, true)));
            }
            Ok(output) => user_answer(output).map_err(|error| match is_pending {
                true => error,
                false => EngineError::ApprovalSettled,
            })?,
            Err(_) if !is_pending => return Ok(None),
            Err(reason) => UserAnswer::declined(Some(reason)),
        };
        let decision = self.check_input(workspace, &asked, answer, AnsweredBy::Chat).await?;
        Ok(Some(returned(decision, false)))
    }

    /// Checks an answer against the form, and exchanges the secrets in it for references.
    async fn check_input(
        &self,
        workspace: &WorkspaceId,
        asked: &SessionInteraction,
        answer: UserAnswer,
        by: AnsweredBy,
    ) -> Result<Decision, EngineError> {
        let form = form_of(asked)?;
        let mut answers = match form_answers::check(form, answer).map_err(EngineError::InvalidAnswer)? {
            CheckedAnswer::Declined(reason) => return Ok(Decision::of_input(None, reason, by)),
            CheckedAnswer::Given(answers) => answers,
        };
        let chat = SessionName { workspace: workspace.clone(), session: asked.session.clone() };
        let stored = asked.interaction.answers.as_ref();
        for field in form.fields.iter().filter(|field| field.kind == FieldType::Secret) {
            let Some(AnswerValue::One(secret)) = answers.answers.get_mut(&field.key) else { continue };
            let given = std::mem::take(secret);
            *secret = if asked.interaction.status == InteractionStatus::Pending {
                let (secrets, chat) = (Arc::clone(&self.services.secrets), chat.clone());
                let id = self.services.ids.unguessable();
                blocking(move || secrets.put(&chat, &id, &given)).await?
            } else {
                // A repeated answer has the same secret, and nothing is stored for it.
                self.same_secret(&chat, stored, &field.key, given).await?
            };
        }
        Ok(Decision::of_input(Some(answers), None, by))
    }

    /// The stored reference if it stands for this secret, else one that stands for none.
    async fn same_secret(
        &self,
        chat: &SessionName,
        stored: Option<&InputAnswers>,
        key: &str,
        given: String,
    ) -> Result<String, EngineError> {
        let other = || Ok(SECRET_PREFIX.to_owned());
        let Some(AnswerValue::One(reference)) = stored.and_then(|stored| stored.answers.get(key)) else {
            return other();
        };
        let before = self.resolve_secret(&chat.workspace, &chat.session, reference).await?;
        if before == given { Ok(reference.clone()) } else { other() }
    }
}

/// The requests for input of a message, found by the calls that the message shows.
struct InputCalls<'a> {
    message: &'a MessageId,
    asked: &'a [Interaction],
    /// Facts of the message: which of its calls are copies of a sub-agent's.
    facts: MessageFacts,
}

impl InputCalls<'_> {
    fn find(&self, call: &ToolCallId) -> Option<&Interaction> {
        let at = |message: &MessageId, call: &ToolCallId| {
            self.asked.iter().find(|asked| asked.message == *message && asked.tool_call == *call)
        };
        if let Some(RaisedCall { message_id, tool_call_id, .. }) = self.facts.raised_calls.get(call) {
            return at(message_id, tool_call_id);
        }
        // The message of an active run may not be stored yet; a copy usually has the id of the original.
        at(self.message, call).or_else(|| self.asked.iter().find(|asked| asked.tool_call == *call))
    }
}

/// Runs work on the secrets on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SecretError> + Send + 'static,
) -> Result<T, EngineError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(EngineError::Secret),
        Err(error) => Err(EngineError::Secret(SecretError::Io(std::io::Error::other(error)))),
    }
}

fn form_of(asked: &SessionInteraction) -> Result<&InputForm, EngineError> {
    let form = asked.question.as_ref().and_then(|question| question.form.as_deref());
    form.filter(|_| asked.interaction.kind == InteractionKind::Input).ok_or_else(|| {
        EngineError::InvalidMessage(
            "This is an approval, not a request for input: answer it with approved.".to_owned(),
        )
    })
}

/// The result of a call whose request was answered or declined.
fn output_of(form: &InputForm, interaction: &Interaction) -> Value {
    match &interaction.answers {
        Some(answers) => form.output(answers),
        None => declined_output(interaction.reason.as_deref()),
    }
}

/// Reads an output that a client filled in: an answer as for `POST /api/approvals/{id}`, or just the text or the list of
/// what was selected, also in the form in which the model reads it (`answer`).
fn user_answer(output: Value) -> Result<UserAnswer, EngineError> {
    let wrong = |error: serde_json::Error| {
        EngineError::InvalidAnswer(vec![FieldProblem {
            path: "output".to_owned(),
            code: "wrong_shape".to_owned(),
            line: None,
            message: format!("The output is no answer: {error}."),
            fix: "Fill in answers, as in {\"answers\": {\"key\": \"value\"}}, or cancelled.".to_owned(),
        }])
    };
    let mut fields = match output {
        Value::Object(fields) => fields,
        value => return serde_json::from_value(value).map(UserAnswer::selected).map_err(wrong),
    };
    if let Some(answer) = fields.remove(SHORT_KEY) {
        fields.insert("selected".to_owned(), answer);
    }
    serde_json::from_value(Value::Object(fields)).map_err(wrong)
}
