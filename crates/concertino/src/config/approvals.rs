//! Reads which calls a person is asked about: the mode, and the rules of the server.

use anyhow::{Context, Result, bail};
use engine::ApprovalSettings;
use protocol::{ApprovalMode, CallPattern, Rule, RuleEffect, RuleId};
use serde::Deserialize;

use super::switch;

/// The most rules in the settings file.
const MAX_RULES: usize = 500;

/// A rule in the settings file: `[[rules]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRule {
    effect: RuleEffect,
    #[serde(default)]
    tools: Vec<String>,
    path: Option<String>,
    command: Option<String>,
    note: Option<String>,
}

/// What the settings say about approvals, before it is checked.
pub(super) struct Written {
    /// From the flag, else from the file. The variable is in between.
    pub(super) flag: Option<String>,
    pub(super) in_file: Option<String>,
    pub(super) forbid_yolo: Option<bool>,
    pub(super) rules: Vec<FileRule>,
}

/// `ours` returns the value of `CONCERTINO_<NAME>`.
pub(super) fn approvals(written: Written, ours: impl Fn(&str) -> Option<String>) -> Result<ApprovalSettings> {
    let mode = match written.flag.or_else(|| ours("APPROVALS")).or(written.in_file) {
        None => ApprovalMode::default(),
        Some(name) => mode(&name)?,
    };
    if is_yolo_forbidden(written.forbid_yolo, &ours)? && mode == ApprovalMode::Yolo {
        bail!(
            "approvals is \"yolo\", but forbid_yolo is set; choose \"ask\" or \"auto-read-only\", or remove forbid_yolo"
        );
    }
    if written.rules.len() > MAX_RULES {
        bail!("the settings file has {} rules; at most {MAX_RULES} are allowed", written.rules.len());
    }
    let rules = written.rules.into_iter().enumerate().map(|(at, rule)| server_rule(at + 1, rule));
    Ok(ApprovalSettings { mode, rules: rules.collect::<Result<_>>()? })
}

/// Whoever forbids it must be heard: a variable cannot lift what the file says.
pub(super) fn is_yolo_forbidden(
    in_file: Option<bool>,
    ours: impl Fn(&str) -> Option<String>,
) -> Result<bool> {
    Ok(in_file == Some(true) || switch("FORBID_YOLO", ours("FORBID_YOLO"))? == Some(true))
}

fn mode(name: &str) -> Result<ApprovalMode> {
    ApprovalMode::ALL
        .into_iter()
        .find(|mode| mode.name() == name)
        .with_context(|| format!("approvals must be \"ask\", \"auto-read-only\" or \"yolo\", not \"{name}\""))
}

/// `number` starts at 1.
fn server_rule(number: usize, written: FileRule) -> Result<Rule> {
    let FileRule { effect, tools, path, command, note } = written;
    let calls = CallPattern { tools, path, command };
    policy::check(&calls)
        .and_then(|()| policy::check_note(note.as_deref()))
        .with_context(|| format!("rule {number} in the settings file is not valid"))?;
    let id = RuleId::new(format!("{}server-{number}", RuleId::PREFIX));
    Ok(Rule { id, effect, calls, note })
}
