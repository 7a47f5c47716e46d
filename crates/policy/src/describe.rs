//! Rules in words.

use protocol::policy::{CallPattern, Rule, RuleEffect};

use crate::{
    grant::{READING_TOOLS, WRITING_TOOLS},
    pattern::{literal_of, plain_glob},
    rule_set::Action,
};

/// Says in one sentence what a rule does: "Allow every change below src/."
pub fn describe(rule: &Rule) -> String {
    let does = match rule.effect {
        RuleEffect::Allow => "Allow",
        RuleEffect::Ask => "Ask about",
        RuleEffect::Refuse => "Refuse",
    };
    format!("{does} {}.", calls(&rule.calls, None))
}

/// Names the calls that a pattern covers. `action` is the call that it is about, if there is one.
pub(crate) fn calls(pattern: &CallPattern, action: Option<Action>) -> String {
    let what = subject(&pattern.tools, action, pattern.path.is_some());
    let place = pattern.path.as_deref().map(place).unwrap_or_default();
    let command = pattern.command.as_deref();
    let command =
        command.map(|command| format!(" for commands that begin with `{command}`")).unwrap_or_default();
    format!("{what}{place}{command}")
}

fn subject(tools: &[String], action: Option<Action>, has_path: bool) -> String {
    let same = |known: &[&str]| {
        tools.len() == known.len() && known.iter().all(|tool| tools.iter().any(|t| t == tool))
    };
    let every_tool = tools.is_empty() || tools.iter().any(|tool| tool == "*");
    if same(&WRITING_TOOLS) {
        "every change".to_owned()
    } else if same(&READING_TOOLS) {
        "reading".to_owned()
    } else if every_tool {
        match action {
            Some(Action::Write) => "every change".to_owned(),
            Some(Action::Read) => "reading".to_owned(),
            Some(Action::Call) | None if has_path => "reading and changing".to_owned(),
            Some(Action::Call) | None => "every call".to_owned(),
        }
    } else {
        format!("calls of {}", list(tools))
    }
}

fn place(path: &str) -> String {
    let Some(glob) = plain_glob(path) else { return format!(" of files that match `{path}`") };
    if glob == "**" {
        return " in the work directory".to_owned();
    }
    if let Some(file) = literal_of(&glob) {
        return format!(" of {file}");
    }
    match glob.strip_suffix("/**").and_then(literal_of) {
        Some(folder) => format!(" below {folder}/"),
        None => format!(" of files that match `{glob}`"),
    }
}

/// "a, b and c"
pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use protocol::RuleId;

    use super::*;

    fn said(effect: RuleEffect, tools: &[&str], path: Option<&str>, command: Option<&str>) -> String {
        describe(&Rule {
            id: RuleId::new("rul_1"),
            effect,
            calls: CallPattern {
                tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
                path: path.map(str::to_owned),
                command: command.map(str::to_owned),
            },
            note: None,
        })
    }

    #[test]
    fn rules_are_described_in_one_sentence() {
        use RuleEffect::{Allow, Ask, Refuse};
        for (expected, sentence) in [
            ("Allow every change below src/.", said(Allow, &WRITING_TOOLS, Some("src/**"), None)),
            ("Allow every change below src/.", said(Allow, &WRITING_TOOLS, Some("/workspace/src/"), None)),
            ("Allow reading in the work directory.", said(Allow, &READING_TOOLS, Some("**"), None)),
            ("Allow calls of read-file of .env.", said(Allow, &["read-file"], Some(".env"), None)),
            (
                "Ask about reading and changing below app/[id]/.",
                said(Ask, &[], Some("app/[[]id[]]/**"), None),
            ),
            (
                "Refuse reading and changing of files that match `**/*.pem`.",
                said(Refuse, &["*"], Some("**/*.pem"), None),
            ),
            ("Refuse every call.", said(Refuse, &["*"], None, None)),
            ("Allow calls of test-approval.", said(Allow, &["test-approval"], None, None)),
            ("Ask about calls of a, b and c.", said(Ask, &["a", "b", "c"], None, None)),
            (
                "Allow calls of shell for commands that begin with `git status`.",
                said(Allow, &["shell"], None, Some("git status")),
            ),
        ] {
            assert_eq!(sentence, expected);
        }
    }
}
