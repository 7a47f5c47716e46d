//! What a person allowed for the rest of a session, shared by all frames of a run.
//!
//! The log says it (`GrantGiven`), the session's row is its fold; a run takes that over when it begins and adds what
//! is allowed while it is at work.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;
use protocol::{Grant, ToolCall, interaction::Question};
use serde_json::Value;
use tools::{Approval, ApprovalScope, Registry};

#[derive(Default)]
pub(crate) struct Grants(Mutex<HashSet<Grant>>);

impl Grants {
    pub(crate) fn new(given: impl IntoIterator<Item = Grant>) -> Self {
        Self(Mutex::new(given.into_iter().collect()))
    }

    pub(crate) fn add(&self, grant: Grant) {
        self.0.lock().insert(grant);
    }

    pub(crate) fn has(&self, grant: &Grant) -> bool {
        self.0.lock().contains(grant)
    }

    /// Whether the person has allowed this call before it was asked about.
    pub(crate) fn cover(&self, tool: &str, approval: &Approval) -> bool {
        match grant(tool, approval) {
            Some(grant) => self.has(&grant),
            None => false,
        }
    }
}

/// What an "always" to this call allows; nothing where it must be asked about every time.
fn grant(tool: &str, approval: &Approval) -> Option<Grant> {
    let Approval::Ask { scope, .. } = approval else { return None };
    let scope = match scope {
        ApprovalScope::Tool => None,
        ApprovalScope::Kind(kind) => Some(kind.clone()),
        ApprovalScope::Once => return None,
    };
    Some(Grant { tool: tool.to_owned(), scope })
}

/// What a person should know before they answer; `None` when the call needs no answer.
pub(crate) fn question(tools: &Registry, tool: &str, input: &Value) -> Option<Question> {
    let prepared = Arc::clone(&tools.get(tool)?).prepare(input).ok()?;
    let always = grant(tool, &prepared.approval);
    match prepared.approval {
        Approval::Ask { why, .. } => Some(Question { why, always }),
        Approval::NotNeeded => None,
    }
}

/// Whether a person has to be asked about this call.
pub(crate) fn must_ask(tools: &Registry, grants: &Grants, call: &ToolCall) -> bool {
    let prepared = tools.get(&call.name).and_then(|tool| tool.prepare(&call.input).ok());
    prepared.is_some_and(|prepared| {
        matches!(prepared.approval, Approval::Ask { .. }) && !grants.cover(&call.name, &prepared.approval)
    })
}
