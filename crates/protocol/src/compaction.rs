//! A compaction of a conversation: what a model reads instead of the older messages.
//!
//! It is a `data-compaction` part of a message. The messages themselves are never changed or removed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{id::MessageId, json, message::Part};

/// The `data-<name>` of the part.
pub const COMPACTION: &str = "compaction";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    pub status: Status,
    pub trigger: Trigger,
    /// A summary of the conversation before this point.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// The plan at this point, as the person sees it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json::any_value")]
    pub plan: Option<Value>,
    /// Agents at work and questions to the person at this point, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// Where the model goes on reading word for word; absent when nothing before was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<Cut>,
    /// Results of tools before this point are cut to so many characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<usize>,
    /// How many messages of the model's conversation were replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// An estimate; the next model call measures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Why there is no summary by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The summary is being written; nothing has changed for the model.
    Running,
    Done,
    /// It could not be summarised and still fits; nothing has changed.
    Failed,
    /// Stopped before it was done; nothing has changed.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The window was filling up.
    Window,
    /// The model's server said that the request is too long.
    Refused,
    /// A person asked for it.
    Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Written by the model.
    Summary,
    /// Put together from what was said, without a model.
    Digest,
}

/// A place between two steps or before a message of the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    pub message_id: MessageId,
    /// Which stretch between `step-start` parts; 0 for a message of the person.
    pub step: u32,
}

impl Compaction {
    /// A compaction that starts now.
    pub fn running(trigger: Trigger, tokens_before: u64, window: u64) -> Self {
        Self {
            status: Status::Running,
            trigger,
            summary: String::new(),
            method: None,
            plan: None,
            open: Vec::new(),
            keep: None,
            clip: None,
            replaced: None,
            tokens_before: Some(tokens_before),
            tokens_after: None,
            window: Some(window),
            error: None,
        }
    }

    /// The compaction in this part, when the model reads its summary.
    pub fn in_force(part: &Part) -> Option<Self> {
        Self::of(part).map(|(_, compaction)| compaction).filter(|it| it.status == Status::Done)
    }

    /// The compaction in this part, with the part's id.
    pub fn of(part: &Part) -> Option<(Option<&str>, Self)> {
        match part {
            Part::Data { name, id, data } if name == COMPACTION => {
                Some((id.as_deref(), Self::deserialize(data).ok()?))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_done_is_in_force() {
        let part = |status: &str| Part::Data {
            name: COMPACTION.to_owned(),
            id: Some("c".to_owned()),
            data: json!({ "status": status, "trigger": "window" }),
        };
        assert!(Compaction::in_force(&part("done")).is_some());
        for status in ["running", "failed", "stopped", "whatever"] {
            assert_eq!(Compaction::in_force(&part(status)), None, "{status}");
        }
    }
}
