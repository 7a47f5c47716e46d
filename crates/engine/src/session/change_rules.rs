//! Changes the rules of a session. They are events of the session, so they are stored with it and go with it.

use protocol::{Rule, RuleId, SessionEvent};

use super::actor::Actor;
use crate::EngineError;

/// The most rules that a session has.
pub(crate) const MAX_SESSION_RULES: usize = 100;

pub(crate) enum RuleChange {
    Add(Box<Rule>),
    Revoke(RuleId),
}

impl Actor {
    /// Appends the change. A run that is active follows it from the next call on.
    pub(super) async fn change_rules(&mut self, change: RuleChange) -> Result<(), EngineError> {
        let record = self.record().await?.ok_or(EngineError::SessionNotFound)?;
        let event = match &change {
            RuleChange::Add(rule) => {
                if record.rules.len() >= MAX_SESSION_RULES {
                    return Err(EngineError::too_many_rules(MAX_SESSION_RULES, "chat"));
                }
                SessionEvent::RuleAdded { rule: rule.clone() }
            }
            RuleChange::Revoke(rule) => {
                if !record.rules.iter().any(|known| known.id == *rule) {
                    return Err(EngineError::RuleNotFound);
                }
                SessionEvent::RuleRevoked { rule: rule.clone() }
            }
        };
        self.append(vec![event]).await?;
        if let Some(live) = &self.live {
            match change {
                RuleChange::Add(rule) => live.rules.add(*rule),
                RuleChange::Revoke(rule) => live.rules.remove(&rule),
            }
        }
        Ok(())
    }
}
