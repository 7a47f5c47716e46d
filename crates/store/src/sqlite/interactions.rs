//! Interactions: questions that agents ask a person, and their answers.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{
    ApprovalId, InputAnswers, MessageId, Question, RunId, SessionId, Timestamp, ToolCall, ToolCallId,
    WorkspaceId,
    interaction::{AnsweredBy, Interaction, InteractionKind, InteractionStatus},
};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use super::{SqliteStore, apply::TableWriter, json, parse, signed};
use crate::{Interactions, SessionInteraction, SessionKey, StoreError};

pub(super) const COLUMNS: &str = "i.id, i.run, i.message, i.tool_call, i.tool, i.input, i.status, i.reason, i.asked_at, i.answered_at, i.edited, i.question, i.kind, i.answers, i.answered_by";

#[async_trait]
impl Interactions for SqliteStore {
    async fn interaction(
        &self,
        workspace: &WorkspaceId,
        id: &ApprovalId,
    ) -> Result<Option<SessionInteraction>, StoreError> {
        let (workspace, id) = (workspace.clone(), id.clone());
        self.look_up(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, s.id FROM interactions i JOIN sessions s ON s.key = i.session
                     WHERE i.id = ?1 AND s.workspace = ?2"
                ))?
                .query_row(params![id.as_str(), workspace.as_str()], |row| {
                    let session = SessionId::new(row.get::<_, String>(15)?);
                    Ok(asked(row).map(|(interaction, question)| SessionInteraction {
                        session,
                        interaction,
                        question,
                    }))
                })
                .optional()?
                .transpose()
        })
        .await
    }

    async fn interactions_of_message(
        &self,
        key: SessionKey,
        message: &MessageId,
    ) -> Result<Vec<Interaction>, StoreError> {
        let (message, damage) = (message.clone(), Arc::clone(&self.damage));
        self.look_up(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM interactions i WHERE i.session = ?1 AND (i.message = ?2
                   OR i.message IN (SELECT message FROM frames WHERE session = ?1 AND root = ?2))
                 ORDER BY i.asked_seq"
            ))?;
            let rows = statement.query_map(params![key.0, message.as_str()], |row| Ok(interaction(row)))?;
            Ok(damage.readable("questions of a message", rows)?.rows)
        })
        .await
    }
}

pub(super) fn interaction(row: &Row<'_>) -> Result<Interaction, StoreError> {
    Ok(Interaction {
        id: ApprovalId::new(row.get::<_, String>(0)?),
        kind: kind(&row.get::<_, String>(12)?)?,
        run: RunId::new(row.get::<_, String>(1)?),
        message: MessageId::new(row.get::<_, String>(2)?),
        tool_call: ToolCallId::new(row.get::<_, String>(3)?),
        tool: row.get(4)?,
        input: parse(&row.get::<_, String>(5)?)?,
        edited: row.get::<_, Option<String>>(10)?.map(|edited| parse(&edited)).transpose()?,
        answers: row.get::<_, Option<String>>(13)?.map(|answers| parse(&answers)).transpose()?,
        status: status(&row.get::<_, String>(6)?)?,
        reason: row.get(7)?,
        asked_at: Timestamp(row.get(8)?),
        answered_at: row.get::<_, Option<i64>>(9)?.map(Timestamp),
        answered_by: row.get::<_, Option<String>>(14)?.map(|by| answered_by(&by)).transpose()?,
    })
}

/// Reads an interaction and what the person is told.
pub(super) fn asked(row: &Row<'_>) -> Result<(Interaction, Option<Question>), StoreError> {
    let question = row.get::<_, Option<String>>(11)?.map(|question| parse(&question)).transpose()?;
    Ok((interaction(row)?, question))
}

/// The answer to a question.
pub(super) struct Answer<'a> {
    pub(super) approval: &'a ApprovalId,
    pub(super) approved: bool,
    /// Nobody answered; a new message or a stop made the question pointless.
    pub(super) withdrawn: bool,
    pub(super) reason: Option<&'a str>,
    pub(super) answers: Option<&'a InputAnswers>,
    pub(super) by: Option<AnsweredBy>,
}

impl Answer<'_> {
    fn status(&self) -> InteractionStatus {
        match (self.approved, self.withdrawn) {
            (true, _) => InteractionStatus::Approved,
            (false, false) => InteractionStatus::Denied,
            (false, true) => InteractionStatus::Withdrawn,
        }
    }
}

impl TableWriter<'_> {
    /// The question belongs to the run of its message; the run of a sub-agent's message is that of its root.
    pub(super) fn insert_interaction(
        &self,
        approval: &ApprovalId,
        message: &MessageId,
        call: &ToolCall,
        kind: InteractionKind,
        question: Option<&Question>,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(
                "INSERT INTO interactions
                   (id, session, run, message, tool_call, tool, input, status, asked_at, asked_seq, question, kind)
                 VALUES (?1, ?2, (SELECT id FROM runs WHERE session = ?2 AND message =
                     coalesce((SELECT root FROM frames WHERE session = ?2 AND message = ?3), ?3)), ?3, ?4, ?5, ?6, 'pending', ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                approval.as_str(),
                self.session.0,
                message.as_str(),
                call.id.as_str(),
                call.name,
                json(&call.input)?,
                self.at.0,
                signed(self.seq),
                question.map(json).transpose()?,
                kind_name(kind)
            ])?;
        Ok(())
    }

    /// A conflict when the question was answered before.
    pub(super) fn answer_interaction(&self, answer: &Answer<'_>) -> Result<(), StoreError> {
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE interactions SET status = ?2, reason = ?3, answered_at = ?4, answers = ?5, answered_by = ?6
                 WHERE id = ?1 AND status = 'pending'",
            )?
            .execute(params![
                answer.approval.as_str(),
                status_name(answer.status()),
                answer.reason,
                self.at.0,
                answer.answers.map(json).transpose()?,
                answer.by.map(answered_by_name)
            ])?;
        if changed == 1 { Ok(()) } else { Err(StoreError::Conflict) }
    }

    pub(super) fn set_edited_input(&self, approval: &ApprovalId, input: &Value) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("UPDATE interactions SET edited = ?2 WHERE id = ?1")?
            .execute(params![approval.as_str(), json(input)?])?;
        Ok(())
    }
}

fn kind_name(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Approval => "approval",
        InteractionKind::Input => "input",
    }
}

fn kind(name: &str) -> Result<InteractionKind, StoreError> {
    Ok(match name {
        "approval" => InteractionKind::Approval,
        "input" => InteractionKind::Input,
        other => return Err(StoreError::Corrupt(format!("unknown kind of interaction `{other}`"))),
    })
}

fn answered_by_name(by: AnsweredBy) -> &'static str {
    match by {
        AnsweredBy::Events => "events",
        AnsweredBy::Chat => "chat",
        AnsweredBy::Server => "server",
    }
}

fn answered_by(name: &str) -> Result<AnsweredBy, StoreError> {
    Ok(match name {
        "events" => AnsweredBy::Events,
        "chat" => AnsweredBy::Chat,
        "server" => AnsweredBy::Server,
        other => return Err(StoreError::Corrupt(format!("unknown origin of an answer `{other}`"))),
    })
}

fn status_name(status: InteractionStatus) -> &'static str {
    match status {
        InteractionStatus::Pending => "pending",
        InteractionStatus::Approved => "approved",
        InteractionStatus::Denied => "denied",
        InteractionStatus::Withdrawn => "withdrawn",
    }
}

fn status(name: &str) -> Result<InteractionStatus, StoreError> {
    Ok(match name {
        "pending" => InteractionStatus::Pending,
        "approved" => InteractionStatus::Approved,
        "denied" => InteractionStatus::Denied,
        "withdrawn" => InteractionStatus::Withdrawn,
        other => return Err(StoreError::Corrupt(format!("unknown interaction status `{other}`"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_counts_even_if_it_says_withdrawn() {
        let approval = ApprovalId::new("a");
        let status = |approved, withdrawn| {
            Answer { approval: &approval, approved, withdrawn, reason: None, answers: None, by: None }
                .status()
        };
        assert_eq!(status(true, false), InteractionStatus::Approved);
        assert_eq!(status(true, true), InteractionStatus::Approved);
        assert_eq!(status(false, false), InteractionStatus::Denied);
        assert_eq!(status(false, true), InteractionStatus::Withdrawn);
    }

    #[test]
    fn a_status_is_read_as_it_is_written() {
        use InteractionStatus::{Approved, Denied, Pending, Withdrawn};
        for status_before in [Pending, Approved, Denied, Withdrawn] {
            assert_eq!(status(status_name(status_before)).unwrap(), status_before);
        }
        assert!(matches!(status("unknown"), Err(StoreError::Corrupt(_))));
        for kind_before in [InteractionKind::Approval, InteractionKind::Input] {
            assert_eq!(kind(kind_name(kind_before)).unwrap(), kind_before);
        }
        for by in [AnsweredBy::Events, AnsweredBy::Chat, AnsweredBy::Server] {
            assert_eq!(answered_by(answered_by_name(by)).unwrap(), by);
        }
        assert!(kind("unknown").is_err() && answered_by("unknown").is_err());
    }
}
