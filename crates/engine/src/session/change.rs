//! Changes to a session that are no part of its conversation: its title, its place in the list, its active branch.

use protocol::{MessageId, MessageRef, RunEnd, SessionEvent, TitledBy};

use super::actor::Actor;
use crate::EngineError;

/// What is changed.
pub(crate) enum SessionChange {
    /// A title of a person; none takes it away.
    Rename(Option<String>),
    /// A title that a model wrote. With `only_untitled` a title that was given before is kept.
    Title {
        title: String,
        only_untitled: bool,
    },
    Pin(bool),
}

impl Actor {
    /// Appends a change; returns whether anything was changed.
    pub(super) async fn change(&mut self, change: SessionChange) -> Result<bool, EngineError> {
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let event = match change {
            SessionChange::Rename(title) => SessionEvent::TitleSet { title, by: TitledBy::Person },
            SessionChange::Title { only_untitled: true, .. } if record.is_titled => return Ok(false),
            SessionChange::Title { title, .. } => {
                SessionEvent::TitleSet { title: Some(title), by: TitledBy::Model }
            }
            SessionChange::Pin(pinned) => SessionEvent::PinSet { pinned },
        };
        self.append(vec![event]).await?;
        Ok(true)
    }

    /// Makes the branch through this message the active one; returns its leaf.
    pub(super) async fn choose_branch(
        &mut self,
        at: &MessageId,
        revision: Option<u32>,
    ) -> Result<MessageRef, EngineError> {
        self.recover().await?;
        if self.live.is_some() {
            return Err(EngineError::Busy);
        }
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let message = self.services.store.message(record.key, at).await?;
        let newest = message.ok_or_else(|| EngineError::MessageNotFound(at.clone()))?.reference;
        let revision = revision.unwrap_or(newest.revision);
        if revision > newest.revision {
            return Err(EngineError::MessageNotFound(at.clone()));
        }
        self.withdraw(&record, RunEnd::Withdrawn).await?;
        let chosen = MessageRef { id: newest.id, revision };
        let leaf = self.services.store.newest_leaf(record.key, &chosen).await?;
        self.append(vec![SessionEvent::BranchChosen { leaf: Some(leaf.clone()) }]).await?;
        Ok(leaf)
    }
}
