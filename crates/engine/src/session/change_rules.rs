//! Changes the rules of a session. They are events of the session, so they are stored with it and go with it.

use std::sync::Arc;

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
        let live = self.live.as_ref().map(|live| Arc::clone(&live.rules));
        let event = match change {
            RuleChange::Add(rule) => {
                if record.rules.len() >= MAX_SESSION_RULES {
                    return Err(EngineError::too_many_rules(MAX_SESSION_RULES, "chat"));
                }
                if let Some(live) = live {
                    live.add(Rule::clone(&rule));
                }
                SessionEvent::RuleAdded { rule }
            }
            RuleChange::Revoke(rule) => {
                if !record.rules.iter().any(|known| known.id == rule) {
                    return Err(EngineError::RuleNotFound);
                }
                if let Some(live) = live {
                    live.remove(&rule);
                }
                SessionEvent::RuleRevoked { rule }
            }
        };
        self.append(vec![event]).await
    }
}
