//! The rules in the program: what happens to calls that touch protected files. Which files those are is in the crate
//! `commands` (`table/files.toml`), because commands touch them as well.

use commands::{FileGroup, ProtectedFiles, Protection};
use protocol::{
    RuleId,
    policy::{CallPattern, Rule, RuleEffect},
};

use crate::grant::{READING_TOOLS, WRITING_TOOLS};

/// Lists the built-in rules for people. They are always in force: a [`crate::RuleSet`] does not need to be given them.
///
/// The list says less than the program does: exceptions such as `.env.example` are left out, the rules apply to every tool
/// that reads or changes files, and "ask" for changes means every time.
pub fn built_in() -> Vec<Rule> {
    let mut rules = Vec::new();
    for group in ProtectedFiles::built_in().groups() {
        let note = |more: &str| format!("{}{more}", group.note);
        let every_time = " Every change asks, in every mode.";
        match group.protection {
            Protection::Repository => {
                rules.push(rule(group, "", RuleEffect::Refuse, &WRITING_TOOLS, note("")))
            }
            Protection::Write => {
                rules.push(rule(group, "", RuleEffect::Ask, &WRITING_TOOLS, note(every_time)));
            }
            Protection::Secret => {
                rules.push(rule(group, "-written", RuleEffect::Ask, &WRITING_TOOLS, note(every_time)));
                rules.push(rule(group, "-read", RuleEffect::Ask, &READING_TOOLS, note("")));
            }
        }
    }
    rules
}

fn rule(group: &FileGroup, ending: &str, effect: RuleEffect, tools: &[&str], note: String) -> Rule {
    let patterns = group.patterns.split_whitespace().collect::<Vec<_>>().join(",");
    Rule {
        id: RuleId::new(format!("{}built-in-{}{ending}", RuleId::PREFIX, group.name)),
        effect,
        calls: CallPattern {
            tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
            path: Some(format!("**/{{{patterns}}}")),
            command: None,
        },
        note: Some(note),
    }
}

/// What the built-in rules say about writing a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BuiltInWrite {
    Free,
    /// Asks every time.
    Sensitive(String),
    Refused(String),
}

pub(crate) fn write_of(path: &str) -> BuiltInWrite {
    let groups: Vec<&FileGroup> = ProtectedFiles::built_in().of_file(path).collect();
    if groups.iter().any(|group| group.protection == Protection::Repository) {
        return BuiltInWrite::Refused(format!(
            "{path} belongs to the version control system. Use its commands instead, for example git."
        ));
    }
    match groups.first() {
        Some(group) => BuiltInWrite::Sensitive(format!("It changes {path}, {}.", group.because)),
        None => BuiltInWrite::Free,
    }
}

/// Whether a file usually holds secrets.
pub(crate) fn is_secret(path: &str) -> bool {
    ProtectedFiles::built_in().is_secret(path)
}

#[cfg(test)]
#[path = "built_in_tests.rs"]
mod tests;
