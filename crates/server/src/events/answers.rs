//! Answers to questions: `tool_confirmation_response` and `user_question_response`. Anything that is not exactly one of the
//! listed forms is refused and leaves the question waiting.

use axum::http::StatusCode;
use engine::EngineError;
use protocol::{
    AnsweredBy, ApprovalId, GrantScope, UserAnswer,
    interaction::{InteractionKind, InteractionStatus},
    wire::rest::{ApprovalAnswer, AskedApproval},
};
use serde_json::{Value, json};

use super::{body::Fields, message::Sender, refusal::Refusal};

const MAX_REASON_BYTES: usize = 4 << 10;

pub(super) async fn confirm(sender: &Sender<'_>, fields: &mut Fields) -> Result<Value, Refusal> {
    let (id, asked) = asked(sender, fields, InteractionKind::Approval).await?;
    let answer = answer(&asked, fields.take("response"))?;
    let (engine, workspace) = (&sender.state.engine, sender.principal.workspace.clone());
    match answer {
        Answer::Decide(answer) => engine.answer(workspace, id, answer, AnsweredBy::Events).await.map(drop),
        Answer::End => engine.reject(workspace, id).await,
    }
    .map_err(settled)?;
    Ok(json!({ "success": true }))
}

pub(super) async fn answer_question(sender: &Sender<'_>, fields: &mut Fields) -> Result<Value, Refusal> {
    let (id, _) = asked(sender, fields, InteractionKind::Input).await?;
    let answer = match fields.take("response") {
        Some(response @ Value::Object(_)) => serde_json::from_value::<UserAnswer>(response),
        _ => return Err(invalid(QUESTION_FORMS)),
    };
    let answer = answer.map_err(|_| invalid(QUESTION_FORMS))?;
    let (engine, workspace) = (&sender.state.engine, &sender.principal.workspace);
    engine.answer_question(workspace, &id, answer, AnsweredBy::Events).await.map_err(settled)?;
    Ok(json!({ "success": true }))
}

/// The question that the client answers, if it is one of a session that it can reach.
async fn asked(
    sender: &Sender<'_>,
    fields: &mut Fields,
    kind: InteractionKind,
) -> Result<(ApprovalId, AskedApproval), Refusal> {
    let not_found = || {
        let text = "There is no such question, or it belongs to another client.";
        Refusal::new(StatusCode::NOT_FOUND, "interaction_not_found", text)
    };
    let id = fields.text("requestId")?.ok_or_else(|| super::body::wrong("requestId", "a string"))?;
    let Ok(id) = ApprovalId::from_outside(&id) else { return Err(not_found()) };
    let asked = match sender.state.engine.asked(&sender.principal.workspace, &id).await {
        Ok(asked) => asked,
        Err(EngineError::ApprovalNotFound) => return Err(not_found()),
        Err(error) => return Err(error.into()),
    };
    let connection = sender.connection_of(Some(&asked.chat_id))?;
    if !sender.reachable(&asked.chat_id, &connection).await? || asked.approval.kind != kind {
        return Err(not_found());
    }
    if asked.approval.status != InteractionStatus::Pending {
        return Err(resolved());
    }
    Ok((id, asked))
}

enum Answer {
    Decide(ApprovalAnswer),
    /// Deny the call and end the run.
    End,
}

fn answer(asked: &AskedApproval, response: Option<Value>) -> Result<Answer, Refusal> {
    let decide = |approved, reason, always| {
        Ok(Answer::Decide(ApprovalAnswer { approved, reason, always, input: None }))
    };
    match response {
        Some(Value::String(word)) => match word.as_str() {
            "approve" => decide(true, None, None),
            "approve_always" => {
                let offered = asked.question.as_ref().is_some_and(|question| question.always.is_some());
                if !offered {
                    return Err(invalid("approve_always was not offered for this call."));
                }
                decide(true, None, Some(GrantScope::Session))
            }
            "reject" => Ok(Answer::End),
            _ => Err(invalid(FORMS)),
        },
        Some(Value::Object(fields))
            if fields.len() == 2
                && fields.get("type").and_then(Value::as_str) == Some("reject_with_reply") =>
        {
            match fields.get("reason").and_then(Value::as_str) {
                Some(reason) if reason.len() <= MAX_REASON_BYTES => {
                    decide(false, Some(reason.to_owned()), None)
                }
                Some(_) => Err(invalid("reason is too long.")),
                None => Err(invalid(FORMS)),
            }
        }
        _ => Err(invalid(FORMS)),
    }
}

const FORMS: &str = "response must be \"approve\", \"approve_always\" where it was offered, \"reject\", or \
    {\"type\": \"reject_with_reply\", \"reason\": \"…\"}. The question still waits.";

const QUESTION_FORMS: &str = "response must be {\"selected\": option or list of options, \"customInput\"?: text}, {\"answers\": \
    {field: value}} for a form, or {\"cancelled\": true}. The question still waits.";

fn invalid(text: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "invalid_response", text)
}

fn resolved() -> Refusal {
    Refusal::new(StatusCode::CONFLICT, "interaction_resolved", "This question was answered before.")
}

fn settled(error: EngineError) -> Refusal {
    match error {
        EngineError::ApprovalSettled | EngineError::Busy => resolved(),
        error @ (EngineError::InvalidMessage(_) | EngineError::InvalidAnswer(_)) => {
            invalid(&error.to_string())
        }
        error => error.into(),
    }
}
