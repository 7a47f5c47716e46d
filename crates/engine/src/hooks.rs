//! Hooks around the agent loop, called in the order they were registered: once before a reply, before and after each model
//! call, and after each tool call, where a hook may replace the tool's output.

use std::{fmt, sync::Arc};

use protocol::{MessageId, ToolCall, ToolOutcome};
use serde_json::Value;

/// Where in the loop a hook is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookPoint {
    pub agent: String,
    /// The agents from the root to this one.
    pub path: Vec<String>,
    pub message: MessageId,
    /// Model calls made so far.
    pub step: u32,
}

pub trait Hook: Send + Sync {
    /// An agent begins its message.
    fn pre_reply(&self, _at: &HookPoint) {}

    /// A model call begins; the returned text is sent to the model in this call only.
    fn pre_reasoning(&self, _at: &HookPoint) -> Option<String> {
        None
    }

    /// A model call has ended.
    fn post_reasoning(&self, _at: &HookPoint) {}

    /// A tool call has its result; a returned value replaces the output.
    fn post_acting(&self, _at: &HookPoint, _call: &ToolCall, _outcome: &ToolOutcome) -> Option<Value> {
        None
    }
}

#[derive(Clone, Default)]
pub struct Hooks(pub Vec<Arc<dyn Hook>>);

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hooks", self.0.len())
    }
}

impl Hooks {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn pre_reply(&self, at: &HookPoint) {
        self.0.iter().for_each(|hook| hook.pre_reply(at));
    }

    pub(crate) fn pre_reasoning(&self, at: &HookPoint) -> Vec<String> {
        self.0.iter().filter_map(|hook| hook.pre_reasoning(at)).collect()
    }

    pub(crate) fn post_reasoning(&self, at: &HookPoint) {
        self.0.iter().for_each(|hook| hook.post_reasoning(at));
    }

    pub(crate) fn post_acting(&self, at: &HookPoint, call: &ToolCall, outcome: &mut ToolOutcome) {
        for hook in &self.0 {
            if let Some(output) = hook.post_acting(at, call, outcome) {
                *outcome = ToolOutcome::Done { output };
            }
        }
    }
}
