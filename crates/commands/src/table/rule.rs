//! A rule, ready for use.

use std::collections::HashMap;

use super::form::{CommandForm, Guard, Operands, Options, Special, Starts, Style};
use crate::judgement::CommandEffect;

/// What is known about a command or subcommand.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// For example `readers/grep`, `git/log`.
    pub(crate) id: String,
    pub(crate) does: String,
    pub(crate) effect: CommandEffect,
    pub(crate) options: Options,
    pub(crate) style: Style,
    pub(crate) operands: Operands,
    pub(crate) numbers: bool,
    pub(crate) guard: Guard,
    pub(crate) network: bool,
    pub(crate) always: usize,
    pub(crate) starts: Starts,
    pub(crate) skip: usize,
    pub(crate) special: Special,
    pub(crate) runs_input: bool,
    option_kinds: HashMap<String, OptionKind>,
    subcommands: HashMap<String, Rule>,
}

/// What an option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OptionKind {
    Flag,
    /// A flag with which the first operand is not a pattern.
    NoPattern,
    /// A flag with which the operands are only names.
    NamesOnly,
    /// A flag to which a value may be attached.
    OptionalValue,
    Value,
    /// A value that takes the place of the pattern.
    Pattern,
    /// A value that is a pattern for the names of files.
    FilePattern,
    /// A file with patterns: it is read, and takes the place of the pattern.
    Read,
    Write,
    /// A flag with which the operands are written.
    InPlace,
    /// Like `InPlace`; an ending for safety copies may be attached.
    InPlaceEnding,
    Asks,
    Sensitive,
    /// Names a program that the command starts.
    Executes,
    Refused,
}

impl Rule {
    pub(super) fn compile(family: &str, name: &str, form: &CommandForm) -> Result<Self, String> {
        let mut option_kinds = HashMap::new();
        let lists = [
            (&form.flags, OptionKind::Flag),
            (&form.values, OptionKind::Value),
            (&form.no_pattern, OptionKind::NoPattern),
            (&form.names_only, OptionKind::NamesOnly),
            (&form.patterns, OptionKind::Pattern),
            (&form.file_patterns, OptionKind::FilePattern),
            (&form.reads, OptionKind::Read),
            (&form.writes, OptionKind::Write),
            (&form.in_place, OptionKind::InPlace),
            (&form.asks, OptionKind::Asks),
            (&form.sensitive, OptionKind::Sensitive),
            (&form.executes, OptionKind::Executes),
            (&form.refused, OptionKind::Refused),
        ];
        for (list, kind) in lists {
            for entry in list.split_whitespace() {
                let (option, kind) = match (entry.strip_suffix('='), kind) {
                    (Some(option), OptionKind::Flag) => (option, OptionKind::OptionalValue),
                    (Some(option), OptionKind::InPlace) => (option, OptionKind::InPlaceEnding),
                    _ => (entry, kind),
                };
                let long_or_short = option.starts_with("--") || option.chars().count() == 2;
                let spelled = form.style == Style::Words || (option.starts_with('-') && long_or_short);
                if !spelled {
                    return Err(format!("{entry} is not an option"));
                }
                if option_kinds.insert(option.to_owned(), kind).is_some() {
                    return Err(format!("{option} is listed twice"));
                }
            }
        }
        let mut subcommands = HashMap::new();
        for sub in &form.sub {
            for sub_name in sub.names.split_whitespace() {
                let rule = Self::compile(&format!("{family}/{name}"), sub_name, sub)?;
                if subcommands.insert(sub_name.to_owned(), rule).is_some() {
                    return Err(format!("{sub_name} is listed twice"));
                }
            }
        }
        let id = match family.split_once('/') {
            // `git/git/log` says the same twice.
            Some((first, rest)) if rest == first || rest.starts_with(&format!("{first}/")) => {
                format!("{rest}/{name}")
            }
            _ => format!("{family}/{name}"),
        };
        Ok(Self {
            id,
            does: form.does.clone(),
            effect: form.effect,
            options: form.options,
            style: form.style,
            operands: form.operands,
            numbers: form.numbers,
            guard: form.guards_roots,
            network: form.network,
            always: form.always,
            starts: form.starts,
            skip: form.skip,
            special: form.special,
            runs_input: form.runs_input,
            option_kinds,
            subcommands,
        })
    }

    pub(crate) fn option(&self, spelled: &str) -> Option<OptionKind> {
        self.option_kinds.get(spelled).copied()
    }

    /// The strictest option that a shortened long option may stand for.
    pub(crate) fn abbreviation(&self, spelled: &str) -> Option<OptionKind> {
        let stands_for = self.option_kinds.iter().filter(|(known, _)| known.starts_with(spelled));
        stands_for.map(|(_, kind)| *kind).max()
    }

    pub(crate) fn subcommand(&self, name: &str) -> Option<&Self> {
        self.subcommands.get(name)
    }

    pub(crate) fn has_subcommands(&self) -> bool {
        !self.subcommands.is_empty()
    }
}
