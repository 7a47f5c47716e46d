//! Applies an event to the tables, in the transaction that appends it to the log.
//!
//! Every table is a fold over the log. [`apply`] lists for each event what it writes; the step itself is in the file of
//! its table, as a method of [`TableWriter`]. What an event changes in the row of its session is collected in a
//! [`SessionPatch`] and written once per append.

use protocol::{FrameEnd, GrantScope, MessageId, RunEnd, Seq, SessionEvent, Timestamp, event::LogEntry};
use rusqlite::Connection;

use super::{
    encode::EncodedMessage, file_changes::NewChangeSet, interactions::Answer, message_rows::AcceptedMessage,
    session_patch::SessionPatch, usage::ModelCall,
};
use crate::{FrameStatus, QueuedMessage, SessionKey, StoreError};

/// Writes what one event means to the tables of its session.
pub(super) struct TableWriter<'a> {
    pub(super) connection: &'a Connection,
    pub(super) session: SessionKey,
    /// Number and time of the event.
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
}

/// `folded` holds the message of every frame that the event parks or closes.
pub(super) fn apply(
    connection: &Connection,
    session: SessionKey,
    patch: &mut SessionPatch,
    entry: &LogEntry,
    folded: &[EncodedMessage],
) -> Result<(), StoreError> {
    protocol::crash_point!(
        "store",
        if let SessionEvent::ToolRequested { call, .. } = &entry.event {
            call.input.to_string()
        } else {
            String::new()
        }
    );
    let tables = TableWriter { connection, session, seq: entry.seq, at: entry.at };
    match &entry.event {
        SessionEvent::HistoryPlanted { messages } => tables.insert_planted_messages(patch, messages),
        SessionEvent::MessageAccepted { message, revision, parent, facts } => {
            let facts = facts.as_deref();
            let accepted = AcceptedMessage { message, revision: *revision, parent: parent.as_ref(), facts };
            tables.insert_accepted_message(patch, &accepted)
        }
        SessionEvent::TitleSet { title, by } => tables.set_title(title.as_deref(), *by),
        SessionEvent::PinSet { pinned } => tables.set_pin(*pinned),
        SessionEvent::BranchChosen { leaf } => tables.choose_branch(patch, leaf.as_ref()),
        SessionEvent::AgentChosen { agent, .. } => {
            patch.set_agent(agent);
            Ok(())
        }
        SessionEvent::PrefaceWritten { agent, text } => {
            patch.set_preface(agent, text);
            Ok(())
        }
        SessionEvent::MessageQueued { message, edits, after, options } => {
            let (message, edits, after) = (message.clone(), edits.clone(), after.clone());
            let queued = QueuedMessage { message, edits, after, options: (**options).clone() };
            patch.add_queued(tables.insert_queued_message(&queued)?);
            Ok(())
        }
        SessionEvent::QueueLeft { queued, .. } => {
            patch.subtract_queued(tables.remove_queued_message(queued)?);
            Ok(())
        }
        SessionEvent::RunStarted { run, answers, message, options } => {
            tables.insert_run(run, message, answers, options)?;
            patch.start_run(message);
            Ok(())
        }
        SessionEvent::RunParked { message, .. } => tables.park(patch, message, folded),
        SessionEvent::RunResumed { message, .. } => tables.resume(patch, message),
        SessionEvent::RunEnded { message, end, .. } => tables.end(patch, message, *end),
        SessionEvent::FrameOpened { message, parent: Some(parent), .. } => {
            tables.insert_frame(message, parent)
        }
        SessionEvent::FrameClosed { message, end, .. } => tables.close(patch, message, end, folded),
        SessionEvent::ModelCalled { message, run, agent, model, usage, cost, duration_ms, failed, .. } => tables
            .insert_model_call(&ModelCall {
                message,
                run: run.as_ref(),
                agent,
                model,
                usage,
                cost: *cost,
                duration_ms: *duration_ms,
                failed: *failed,
            }),
        SessionEvent::DataPushed { message, .. }
        | SessionEvent::AgentSteered { message, .. }
        | SessionEvent::BackgroundReported { message, .. }
        | SessionEvent::CompactionChanged { message, .. } => match entry.event.data_part() {
            Some(part) if !part.transient => tables.replace_note(message, &part),
            _ => Ok(()),
        },
        SessionEvent::ArtifactKept { message, artifact } => tables.insert_artifact(message, artifact),
        SessionEvent::ApprovalAsked { message, approval, call, question, kind, raised: false } => {
            tables.insert_interaction(approval, message, call, *kind, question.as_deref())
        }
        SessionEvent::ApprovalAnswered {
            approval, approved, reason, withdrawn, answers, by, raised: false, ..
        } => tables.answer_interaction(&Answer {
            approval,
            approved: *approved,
            withdrawn: *withdrawn,
            reason: reason.as_deref(),
            answers: answers.as_deref(),
            by: *by,
        }),
        SessionEvent::InputEdited { approval, input, raised: false, .. } => {
            tables.set_edited_input(approval, input)
        }
        SessionEvent::GrantGiven { grant, rule, scope, .. } => match scope {
            GrantScope::Session => tables.allow_in_session(grant, rule.as_ref()),
            GrantScope::Workspace => tables.allow_in_workspace(grant, rule.as_ref()),
        },
        SessionEvent::RuleAdded { rule } => tables.add_session_rule(rule),
        SessionEvent::RuleRevoked { rule } => tables.remove_session_rule(rule),
        SessionEvent::FileRead { path, version, .. } => tables.note_known_version(path, Some(version)),
        SessionEvent::FilesChanging { message, change, call, tool, agent, files } => {
            tables.begin_change_set(&NewChangeSet { change, message, call: call.as_ref(), tool, agent, files })
        }
        SessionEvent::FilesChanged { change, error, .. } => {
            tables.finish_change_set(change, error.as_deref())
        }
        // The append itself makes the session; an announcement changes nothing.
        SessionEvent::SessionCreated
        | SessionEvent::Announced { .. }
        // The frame of the main agent is its run; a raised question has a row already, for the agent that asked it.
        | SessionEvent::FrameOpened { parent: None, .. }
        | SessionEvent::ApprovalAsked { raised: true, .. }
        | SessionEvent::ApprovalAnswered { raised: true, .. }
        | SessionEvent::InputEdited { raised: true, .. }
        // These are parts of a message, which is stored when its frame is parked or closed.
        | SessionEvent::StepStarted { .. }
        | SessionEvent::StepFinished { .. }
        | SessionEvent::MetadataAdded { .. }
        | SessionEvent::SegmentOpened { .. }
        | SessionEvent::SegmentDelta { .. }
        | SessionEvent::SegmentClosed { .. }
        | SessionEvent::SourceCited { .. }
        | SessionEvent::ToolInputStarted { .. }
        | SessionEvent::ToolInputDelta { .. }
        | SessionEvent::ToolRequested { .. }
        | SessionEvent::ToolRejected { .. }
        | SessionEvent::ToolProgress { .. }
        | SessionEvent::ToolSettled { .. }
        | SessionEvent::DelegationStarted { .. }
        | SessionEvent::AgentStuck { .. } => Ok(()),
    }
}

/// Events that concern a run or, with the same meaning, a sub-agent's frame.
impl TableWriter<'_> {
    fn park(
        &self,
        patch: &mut SessionPatch,
        message: &MessageId,
        folded: &[EncodedMessage],
    ) -> Result<(), StoreError> {
        if self.park_run(message)? {
            patch.set_running(false);
        }
        self.store_answer(patch, message, FrameStatus::Parked, folded)
    }

    fn resume(&self, patch: &mut SessionPatch, message: &MessageId) -> Result<(), StoreError> {
        if self.resume_run(message)? {
            patch.set_running(true);
            return Ok(());
        }
        self.resume_frame(message)
    }

    fn end(&self, patch: &mut SessionPatch, message: &MessageId, end: RunEnd) -> Result<(), StoreError> {
        if self.end_run(message, end)? {
            patch.set_running(false);
        }
        Ok(())
    }

    fn close(
        &self,
        patch: &mut SessionPatch,
        message: &MessageId,
        end: &FrameEnd,
        folded: &[EncodedMessage],
    ) -> Result<(), StoreError> {
        let status = match end {
            FrameEnd::Finished { .. } => FrameStatus::Finished,
            FrameEnd::Cancelled => FrameStatus::Cancelled,
            FrameEnd::Failed { .. } => FrameStatus::Failed,
        };
        self.store_answer(patch, message, status, folded)
    }
}
