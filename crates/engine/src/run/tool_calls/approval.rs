//! Whether a person must be asked about a call, and what their answer may allow.

use std::sync::Arc;

use protocol::{Grant, ToolCall, interaction::Question};
use serde_json::Value;
use tools::{Approval, ApprovalScope, Registry};

use crate::session::grants::Grants;

/// Whether the person has allowed calls like this one for the rest of the session.
pub(crate) fn is_covered(grants: &Grants, tool: &str, approval: &Approval) -> bool {
    grant(tool, approval).is_some_and(|grant| grants.has(&grant))
}

/// What an "always" to this call allows; `None` if it must be asked about every time.
fn grant(tool: &str, approval: &Approval) -> Option<Grant> {
    let Approval::Ask { scope: asked, .. } = approval else { return None };
    let scope = match asked {
        ApprovalScope::Tool => None,
        ApprovalScope::Kind(kind) => Some(kind.clone()),
        ApprovalScope::Once => return None,
    };
    Some(Grant { tool: tool.to_owned(), scope })
}

/// What a person should know before they answer; `None` if the call needs no answer.
pub(crate) fn question(tools: &Registry, tool: &str, input: &Value) -> Option<Question> {
    let prepared = Arc::clone(&tools.get(tool)?).prepare(input).ok()?;
    let always = grant(tool, &prepared.approval);
    match prepared.approval {
        Approval::Ask { why, .. } => Some(Question { why, always }),
        Approval::NotNeeded => None,
    }
}

/// Whether a person must be asked about this call.
pub(crate) fn must_ask(tools: &Registry, grants: &Grants, call: &ToolCall) -> bool {
    let prepared = tools.get(&call.name).and_then(|tool| tool.prepare(&call.input).ok());
    prepared.is_some_and(|prepared| {
        matches!(prepared.approval, Approval::Ask { .. })
            && !is_covered(grants, &call.name, &prepared.approval)
    })
}
