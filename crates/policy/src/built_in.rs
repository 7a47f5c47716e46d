//! The rules in the program: repositories' own data, files that are executed or trusted later, files with secrets.
//!
//! The patterns ignore case and small differences in spelling, because some file systems do: `.GIT/config`, `.env.` and
//! `.g\u{200c}it` are other names of the same files there.

mod groups;

use std::{borrow::Cow, sync::LazyLock};

use globset::{GlobSet, GlobSetBuilder};
use protocol::{
    RuleId,
    policy::{CallPattern, Rule, RuleEffect},
};

use groups::{GROUPS, Group, Protection};

use crate::{
    grant::{READING_TOOLS, WRITING_TOOLS},
    pattern::compile_glob,
};

impl Group {
    fn rule(&self, ending: &str, effect: RuleEffect, tools: &[&str], note: String) -> Rule {
        Rule {
            id: RuleId::new(format!("{}built-in-{}{ending}", RuleId::PREFIX, self.name)),
            effect,
            calls: CallPattern {
                tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
                path: Some(format!(
                    "**/{{{}}}",
                    self.patterns.split_whitespace().collect::<Vec<_>>().join(",")
                )),
                command: None,
            },
            note: Some(note),
        }
    }
}

/// Lists the built-in rules for people. They are always in force: a [`crate::RuleSet`] does not need to be given them.
///
/// The list says less than the program does: exceptions such as `.env.example` are left out, the rules apply to every tool
/// that reads or changes files, and "ask" for changes means every time.
pub fn built_in() -> Vec<Rule> {
    let mut rules = Vec::new();
    for group in GROUPS {
        let note = |more: &str| format!("{}{more}", group.note);
        let every_time = " Every change asks, in every mode.";
        match group.protection {
            Protection::NoWrite => rules.push(group.rule("", RuleEffect::Refuse, &WRITING_TOOLS, note(""))),
            Protection::SensitiveWrite => {
                rules.push(group.rule("", RuleEffect::Ask, &WRITING_TOOLS, note(every_time)));
            }
            Protection::Secret => {
                rules.push(group.rule("-written", RuleEffect::Ask, &WRITING_TOOLS, note(every_time)));
                rules.push(group.rule("-read", RuleEffect::Ask, &READING_TOOLS, note("")));
            }
        }
    }
    rules
}

struct CompiledGroup {
    group: &'static Group,
    patterns: GlobSet,
    except: GlobSet,
}

static COMPILED: LazyLock<Vec<CompiledGroup>> = LazyLock::new(|| {
    GROUPS
        .iter()
        .map(|group| CompiledGroup {
            group,
            patterns: anywhere(group.patterns),
            except: anywhere(group.except),
        })
        .collect()
});

/// Compiles patterns so that they apply in every folder. All of them compile; a test says so. Patterns and paths are in
/// lower case, which is faster than ignoring case: searches ask about every file.
fn anywhere(patterns: &str) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in
        patterns.split_whitespace().filter_map(|pattern| compile_glob(&format!("**/{pattern}"), false).ok())
    {
        set.add(glob);
    }
    set.build().unwrap_or_default()
}

impl CompiledGroup {
    fn covers(&self, folded: &str) -> bool {
        self.patterns.is_match(folded) && !self.except.is_match(folded)
    }
}

/// Writes a path in the form in which the patterns are compared: lower case, `/` between components, without the
/// characters that some file systems ignore.
fn folded(path: &str) -> Cow<'_, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b'\\' && byte != b':';
    let is_trimmed = |component: &str| !component.ends_with(['.', ' ']);
    if path.bytes().all(is_folded) && path.split('/').all(is_trimmed) {
        return Cow::Borrowed(path);
    }
    let is_kept = |c: &char| !matches!(*c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let plain: String =
        path.replace('\\', "/").chars().filter(is_kept).flat_map(char::to_lowercase).collect();
    let components = plain.split('/').map(|component| {
        let name = component.split(':').next().unwrap_or(component);
        name.trim_end_matches(['.', ' '])
    });
    Cow::Owned(components.collect::<Vec<_>>().join("/"))
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
    let folded = folded(path);
    let group = |refused: bool| {
        COMPILED
            .iter()
            .filter(|compiled| (compiled.group.protection == Protection::NoWrite) == refused)
            .find(|compiled| compiled.covers(&folded))
            .map(|compiled| compiled.group)
    };
    if let Some(group) = group(true) {
        return BuiltInWrite::Refused(format!("{path} {}", group.because));
    }
    match group(false) {
        Some(group) => BuiltInWrite::Sensitive(format!("It changes {path}, {}.", group.because)),
        None => BuiltInWrite::Free,
    }
}

/// Whether a file usually holds secrets.
pub(crate) fn is_secret(path: &str) -> bool {
    let folded = folded(path);
    COMPILED
        .iter()
        .any(|compiled| compiled.group.protection == Protection::Secret && compiled.covers(&folded))
}

#[cfg(test)]
#[path = "built_in_tests.rs"]
mod tests;
