//! Reads the options of a command.

use super::{At, Judge, Verdict, command::leading};
use crate::{
    judgement::CommandEffect,
    syntax::tree::{Spelling, Value, Word},
    table::{Operands, OptionKind, Options, Rule, Style},
};

/// The words of a command, sorted.
#[derive(Default)]
pub(super) struct Scan<'w> {
    pub(super) operands: Vec<&'w Word>,
    /// Options with their values, as far as both are certain.
    pub(super) values: Vec<(String, Word)>,
    /// Whether an option takes the place of the pattern.
    pub(super) has_pattern: bool,
    /// Whether an option says that the operands are only names.
    pub(super) names_only: bool,
    /// Whether an option of the rule's `sensitive` was there.
    pub(super) sensitive: bool,
    /// Whether an option of the rule's `asks` was there.
    pub(super) asked_options: bool,
    /// Whether there were options before the first operand.
    pub(super) leading_options: bool,
    /// The options with which the operands are written, and the endings of the names of safety copies.
    pub(super) in_place: Vec<Option<String>>,
    /// Whether there was an option that is not known.
    pub(super) unknown_options: bool,
    /// How many operands come before `--`.
    pub(super) before_dashes: Option<usize>,
    /// Every option as it was written, shorter ones apart.
    pub(super) options: Vec<String>,
}

struct Reader<'j, 'w> {
    rule: &'j Rule,
    at: &'j At,
    words: std::slice::Iter<'w, Word>,
    scan: Scan<'w>,
}

impl Judge<'_> {
    /// Sorts the words of a command and records what its options do.
    pub(super) fn scan<'w>(
        &mut self,
        rule: &Rule,
        words: &'w [Word],
        at: &At,
        verdict: &mut Verdict,
    ) -> Scan<'w> {
        let mut reader = Reader { rule, at, words: words.iter(), scan: Scan::default() };
        let mut ended = rule.style == Style::None;
        while let Some(word) = reader.words.next() {
            if ended {
                reader.scan.operands.push(word);
                continue;
            }
            match &word.value {
                Value::Known(text) if text == "--" && rule.style != Style::Words => {
                    ended = true;
                    reader.scan.before_dashes = Some(reader.scan.operands.len());
                }
                Value::Known(text) if is_option(rule, text) => {
                    if word.spelling != Spelling::Plain {
                        verdict.ask("line/hidden-option", "An option is written in a way that hides it.");
                    }
                    reader.scan.leading_options |= reader.scan.operands.is_empty();
                    self.option(&mut reader, text, verdict);
                }
                value => {
                    self.could_be_option(rule, value, verdict);
                    reader.scan.operands.push(word);
                    ended = leading(rule);
                }
            }
        }
        reader.scan
    }

    /// A pattern or a variable may become an option.
    fn could_be_option(&mut self, rule: &Rule, value: &Value, verdict: &mut Verdict) {
        let could = match value {
            Value::Glob(pattern) => pattern.starts_with(['*', '?', '[']),
            Value::Runtime => true,
            _ => false,
        };
        if rule.effect > CommandEffect::ReadOnly {
            return;
        }
        if could
            && !(rule.options == Options::Any
                && (rule.operands == Operands::Text || !matches!(value, Value::Runtime)))
        {
            verdict.ask("line/option-at-run-time", "A pattern or variable could become an option.");
        }
    }

    fn option<'w>(&mut self, reader: &mut Reader<'_, 'w>, text: &str, verdict: &mut Verdict) {
        let rule = reader.rule;
        if rule.style == Style::Words {
            let known = rule.option(text);
            return self.option_of_kind(reader, text, known, None, verdict);
        }
        if text.starts_with("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            return self.option_of_kind(reader, name, rule.option(name), value, verdict);
        }
        if rule.numbers && text.get(1..).is_some_and(|digits| digits.bytes().all(|c| c.is_ascii_digit())) {
            return;
        }
        for (at, c) in text.char_indices().skip(1) {
            let name = format!("-{c}");
            let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
            match rule.option(&name) {
                Some(
                    kind @ (OptionKind::Flag
                    | OptionKind::NoPattern
                    | OptionKind::NamesOnly
                    | OptionKind::InPlace
                    | OptionKind::Sensitive
                    | OptionKind::Refused
                    | OptionKind::Asks),
                ) => self.option_of_kind(reader, &name, Some(kind), None, verdict),
                Some(kind) => {
                    let value = (!rest.is_empty()).then_some(rest);
                    return self.option_of_kind(reader, &name, Some(kind), value, verdict);
                }
                None => {
                    self.option_of_kind(reader, &name, None, None, verdict);
                    // The rest may be a value of the unknown option.
                    if rest.contains(['/', '~']) && rule.options == Options::Any {
                        verdict.ask("line/unknown-option", format!("The option {text} is not known."));
                    }
                }
            }
        }
    }

    fn option_of_kind<'w>(
        &mut self,
        reader: &mut Reader<'_, 'w>,
        name: &str,
        kind: Option<OptionKind>,
        value: Option<&str>,
        verdict: &mut Verdict,
    ) {
        let rule = reader.rule;
        reader.scan.options.push(name.to_owned());
        let Some(kind) = kind else { return self.unknown_option(reader, name, value, verdict) };
        match kind {
            OptionKind::NoPattern => reader.scan.has_pattern = true,
            OptionKind::NamesOnly => reader.scan.names_only = true,
            OptionKind::Flag if value.is_some() => self.unknown_option(reader, name, value, verdict),
            OptionKind::Flag => {}
            OptionKind::OptionalValue => {
                reader.scan.values.push((name.to_owned(), Word::known(value.unwrap_or_default())));
            }
            OptionKind::InPlace | OptionKind::InPlaceEnding => {
                reader.scan.in_place.push(value.map(str::to_owned));
                let why = format!("With the option {name} it changes files.");
                verdict.ask(&format!("{}{name}", rule.id), why);
            }
            OptionKind::Asks => {
                reader.scan.asked_options = true;
                verdict.ask(
                    &format!("{}{name}", rule.id),
                    format!("The option {name} makes it do more than read."),
                );
            }
            OptionKind::Sensitive => {
                reader.scan.sensitive = true;
                let why = format!("With the option {name} it can destroy more than one thing at once.");
                verdict.raise(CommandEffect::Sensitive, &format!("{}{name}", rule.id), why);
            }
            OptionKind::Executes => executes(rule, name, verdict),
            OptionKind::Refused => {
                let why = format!("The option {name} is never allowed.");
                verdict.raise(CommandEffect::Refused, &format!("{}{name}", rule.id), why);
            }
            OptionKind::Value
            | OptionKind::Pattern
            | OptionKind::FilePattern
            | OptionKind::Read
            | OptionKind::Write => {
                let word = match value {
                    Some(value) => Word::known(value),
                    None => match reader.words.next() {
                        Some(word) => word.clone(),
                        None => return,
                    },
                };
                self.option_value(reader, name, kind, &word, verdict);
                reader.scan.values.push((name.to_owned(), word));
            }
        }
    }

    fn option_value(
        &mut self,
        reader: &mut Reader<'_, '_>,
        name: &str,
        kind: OptionKind,
        word: &Word,
        verdict: &mut Verdict,
    ) {
        match kind {
            OptionKind::Read => {
                reader.scan.has_pattern = true;
                self.read(&word.value, word.spelling, reader.at, verdict);
            }
            OptionKind::Write => {
                let rule = format!("{}{name}", reader.rule.id);
                self.write(&word.value, reader.at, verdict, &rule);
            }
            _ => {
                if kind == OptionKind::FilePattern
                    && let Some(text) = word.text().filter(|text| !text.starts_with('!'))
                {
                    self.read_named(text, verdict);
                }
                reader.scan.has_pattern |= kind == OptionKind::Pattern;
                // Several files could match: all but the first would become operands.
                let unsure = matches!(word.value, Value::Glob(_) | Value::Runtime);
                if unsure && reader.rule.effect == CommandEffect::ReadOnly {
                    verdict.ask(
                        "line/option-at-run-time",
                        format!("The value of {name} is known only at run time."),
                    );
                }
            }
        }
    }

    fn unknown_option<'w>(
        &mut self,
        reader: &mut Reader<'_, 'w>,
        name: &str,
        value: Option<&str>,
        verdict: &mut Verdict,
    ) {
        let rule = reader.rule;
        reader.scan.unknown_options = true;
        let shortened = if name.starts_with("--") { rule.abbreviation(name) } else { None };
        match shortened {
            Some(OptionKind::Sensitive) => {
                reader.scan.sensitive = true;
                let why = format!("With the option {name} it can destroy more than one thing at once.");
                verdict.raise(CommandEffect::Sensitive, &format!("{}{name}", rule.id), why);
            }
            Some(OptionKind::Executes) => executes(rule, name, verdict),
            Some(OptionKind::Refused) => {
                let why = format!("The option {name} is never allowed.");
                verdict.raise(CommandEffect::Refused, &format!("{}{name}", rule.id), why);
            }
            _ => {}
        }
        let path = value.is_some_and(|value| value.contains(['/', '~']) || value.starts_with(".."));
        let asks =
            rule.options == Options::Listed || path || shortened.is_some_and(|kind| kind >= OptionKind::Read);
        if rule.effect == CommandEffect::ReadOnly && asks {
            verdict.ask("line/unknown-option", format!("What the option {name} does is not known."));
        }
        match shortened {
            Some(kind @ (OptionKind::Write | OptionKind::Read)) => {
                let next = || (kind == OptionKind::Write).then(|| reader.words.next().cloned()).flatten();
                if let Some(word) = value.map(Word::known).or_else(next) {
                    self.option_value(reader, name, kind, &word, verdict);
                }
            }
            Some(OptionKind::InPlace | OptionKind::InPlaceEnding) => {
                reader.scan.in_place.push(value.map(str::to_owned));
            }
            _ => {}
        }
    }
}

/// An option that names a program. A lasting permission for the command does not mean it.
fn executes(rule: &Rule, name: &str, verdict: &mut Verdict) {
    let why = format!("With the option {name} it starts another program.");
    verdict.raise(CommandEffect::Sensitive, &format!("{}{name}", rule.id), why);
}

fn is_option(rule: &Rule, text: &str) -> bool {
    match rule.style {
        Style::Words => text.starts_with('-') || rule.option(text).is_some(),
        Style::None => false,
        Style::Gnu | Style::Leading => text.starts_with('-') && text.len() > 1,
    }
}
