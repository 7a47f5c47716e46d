//! The sentences that say why a call asks or is refused.

use protocol::{
    InputForm,
    policy::{Rule, RuleLayer},
};

use crate::{
    describe::{calls, list},
    rule_set::Action,
};

/// "It reads a, b and c."
pub(crate) fn reads(paths: &[&str]) -> String {
    if paths.is_empty() {
        return "It reads files of the workspace.".to_owned();
    }
    format!("It reads {}.", names(paths))
}

pub(crate) fn reads_secret(paths: &[&str]) -> String {
    format!(
        "It reads {}, which usually {} secrets.",
        names(paths),
        if paths.len() == 1 { "holds" } else { "hold" }
    )
}

/// "The agent asks you: Which colour?"
pub(crate) fn asks_for_input(form: &InputForm) -> String {
    match (&form.title, form.fields.as_slice()) {
        (Some(title), _) => format!("The agent asks you for input: {title}"),
        (None, [field]) => format!("The agent asks you: {}", field.label),
        (None, _) => "The agent asks you for input.".to_owned(),
    }
}

pub(crate) fn not_plain(path: &str) -> String {
    format!("{path} is not a path inside the work directory.")
}

/// "A rule of this workspace asks about every change below migrations/."
pub(crate) fn of_rule(layer: RuleLayer, rule: &Rule, action: Action) -> String {
    use protocol::policy::RuleEffect;
    let whose = match layer {
        RuleLayer::BuiltIn => "A built-in rule",
        RuleLayer::Server => "A rule of this server",
        RuleLayer::Workspace => "A rule of this workspace",
        RuleLayer::Session => "A rule of this chat",
    };
    let does = match rule.effect {
        RuleEffect::Allow => "allows",
        RuleEffect::Ask => "asks about",
        RuleEffect::Refuse => "refuses",
    };
    let note = rule.note.as_ref().map(|note| format!(" Its note: {note}")).unwrap_or_default();
    format!("{whose} {does} {}.{note}", calls(&rule.calls, Some(action)))
}

/// Names the first few paths.
fn names(paths: &[&str]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = paths
        .iter()
        .take(SHOWN)
        .map(|path| if path.is_empty() { "the work directory".to_owned() } else { (*path).to_owned() })
        .collect();
    match paths.len().saturating_sub(SHOWN) {
        0 => {}
        1 => shown.push("1 other file".to_owned()),
        more => shown.push(format!("{more} other files")),
    }
    list(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_paths_are_named() {
        assert_eq!(reads(&["a"]), "It reads a.");
        assert_eq!(reads(&["", "b"]), "It reads the work directory and b.");
        assert_eq!(reads(&["a", "b", "c", "d"]), "It reads a, b, c and 1 other file.");
        assert_eq!(reads(&["a", "b", "c", "d", "e"]), "It reads a, b, c and 2 other files.");
        assert_eq!(reads_secret(&[".env"]), "It reads .env, which usually holds secrets.");
    }
}
