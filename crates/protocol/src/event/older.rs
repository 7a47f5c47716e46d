//! Readings of events that also accept their older form.
//!
//! Logs written before `AgentSteered`, `BackgroundReported` and `CompactionChanged` existed hold a
//! [`SessionEvent::DataPushed`] with a name that the engine knew; the report of one background agent was nothing but the
//! output of the call that waited for it. Imported chats have that form too, where a message does not say more. No other
//! file reads it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::{STEERING, SessionEvent, ToolOutcome, views::BACKGROUND};
use crate::{
    compaction::{COMPACTION, Compaction},
    id::SessionId,
};

/// The background agents whose results an agent received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported<'a> {
    Agents(&'a [SessionId]),
    /// Older form: the agent in the output of a call.
    Agent(&'a str),
    /// Older form: all that had ended by then.
    AllEnded,
}

impl Reported<'_> {
    pub fn includes(self, agent: &SessionId) -> bool {
        match self {
            Self::Agents(agents) => agents.contains(agent),
            Self::Agent(id) => agent.as_str() == id,
            Self::AllEnded => true,
        }
    }
}

impl SessionEvent {
    /// The text with which a person or a caller steered the agent.
    pub fn steering(&self) -> Option<&str> {
        match self {
            Self::AgentSteered { text, .. } => Some(text),
            Self::DataPushed { name, data, .. } if name == STEERING && data.get("from").is_none() => {
                Some(data.get("text").and_then(Value::as_str).unwrap_or_default())
            }
            _ => None,
        }
    }

    /// The background agents whose results the agent of this message has from here on.
    pub fn reported(&self) -> Option<Reported<'_>> {
        match self {
            Self::BackgroundReported { agents, .. } => Some(Reported::Agents(agents)),
            Self::DataPushed { name, data, .. } if name == STEERING => {
                data.get("from").is_some_and(|from| from == BACKGROUND).then_some(Reported::AllEnded)
            }
            // In newer logs the typed event precedes it, and this changes nothing.
            Self::ToolSettled { outcome: ToolOutcome::Done { output }, .. } => {
                let status = output.get("status").and_then(Value::as_str);
                let agent = output.get("agentId").and_then(Value::as_str);
                agent.filter(|_| matches!(status, Some("ended" | "aborted"))).map(Reported::Agent)
            }
            _ => None,
        }
    }

    /// The compaction that started or changed.
    pub fn compaction(&self) -> Option<Cow<'_, Compaction>> {
        match self {
            Self::CompactionChanged { compaction, .. } => Some(Cow::Borrowed(compaction)),
            Self::DataPushed { name, data, .. } if name == COMPACTION => {
                Compaction::deserialize(data).ok().map(Cow::Owned)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        compaction::Status,
        event::ReportNote,
        id::{MessageId, ToolCallId},
    };

    fn pushed(name: &str, data: Value) -> SessionEvent {
        let (message, name, id) = (MessageId::new("m"), name.to_owned(), Some("1".to_owned()));
        SessionEvent::DataPushed { message, name, id, data, transient: false }
    }

    fn settled(output: Value) -> SessionEvent {
        let (message, call) = (MessageId::new("m"), ToolCallId::new("c"));
        SessionEvent::ToolSettled { message, call, outcome: ToolOutcome::Done { output } }
    }

    #[test]
    fn steering_is_read_in_both_forms_and_a_report_is_none() {
        let (message, id, text) = (MessageId::new("m"), "1".to_owned(), "left".to_owned());
        let typed = SessionEvent::AgentSteered { message, id, text };
        let old = pushed("steering", json!({ "text": "left" }));
        assert_eq!((typed.steering(), old.steering()), (Some("left"), Some("left")));
        assert_eq!(typed.data_part(), old.data_part());
        assert_eq!(pushed("steering", json!({ "text": "x", "from": "background" })).steering(), None);
        assert_eq!(pushed("plan", json!({ "text": "left" })).steering(), None);
    }

    #[test]
    fn reports_are_read_in_every_form() {
        let agent = SessionId::new("sub_1");
        let note = Some(ReportNote { id: "1".to_owned(), text: "x".to_owned() });
        let (message, agents) = (MessageId::new("m"), vec![agent.clone()]);
        let typed = SessionEvent::BackgroundReported { message, agents, note };
        assert!(typed.reported().unwrap().includes(&agent));
        assert!(!typed.reported().unwrap().includes(&SessionId::new("sub_2")));
        let all = pushed("steering", json!({ "text": "x", "from": "background" }));
        assert_eq!(all.reported(), Some(Reported::AllEnded));
        assert_eq!(typed.data_part(), all.data_part());
        assert_eq!(pushed("steering", json!({ "text": "x" })).reported(), None);
        for status in ["ended", "aborted"] {
            let one = settled(json!({ "agentId": "sub_1", "status": status }));
            assert_eq!(one.reported(), Some(Reported::Agent("sub_1")));
        }
        assert_eq!(settled(json!({ "agentId": "sub_1", "status": "running" })).reported(), None);
    }

    #[test]
    fn compactions_are_read_in_both_forms() {
        let old = pushed("compaction", json!({ "status": "done", "trigger": "window" }));
        let compaction = old.compaction().unwrap();
        assert_eq!(compaction.status, Status::Done);
        let (message, id) = (MessageId::new("m"), "1".to_owned());
        let compaction = Box::new(compaction.into_owned());
        let typed = SessionEvent::CompactionChanged { message, id, compaction };
        assert_eq!(typed.compaction().unwrap().status, Status::Done);
        assert_eq!(typed.data_part(), old.data_part());
    }
}
