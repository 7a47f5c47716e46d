//! Judges the words of one command by its rule.

use super::{At, Judge, MAX_JUDGED, MAX_STARTED, Piped, Verdict, options::Scan, verdict::sentence};
use crate::{
    JudgedCommand,
    judgement::CommandEffect,
    syntax::tree::{Spelling, Word},
    table::{Rule, Special, Starts, Style},
};

/// Folders whose programs are the ones that the name alone would start.
const PROGRAM_FOLDERS: [&str; 5] = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/"];

impl Judge<'_> {
    /// Judges a command. Returns the directory of the commands behind it if it succeeds.
    pub(super) fn words(&mut self, words: &[Word], at: &At) -> Option<String> {
        let Some((first, arguments)) = words.split_first() else { return at.dir.clone() };
        self.judged += 1;
        if self.judged > MAX_JUDGED {
            if self.judged == MAX_JUDGED + 1 {
                let why = "It contains too many commands to be examined.".to_owned();
                self.note(CommandEffect::Asks, "line/too-complex", why, at.range.clone());
            }
            return None;
        }
        let slot = self.found.len();
        let mut after = at.dir.clone();
        let verdict = self.named(first, arguments, at, &mut after);
        self.found.insert(
            slot.min(self.found.len()),
            JudgedCommand {
                words: words.iter().map(Word::shown).collect(),
                effect: verdict.effect,
                why: verdict.why,
                rule: verdict.rule,
                range: at.range.clone(),
                prefix: verdict.prefix,
            },
        );
        after
    }

    /// Finds the rule for a name and applies it.
    fn named(&mut self, first: &Word, arguments: &[Word], at: &At, after: &mut Option<String>) -> Verdict {
        let Some(written) = first.text() else {
            let why = "Which command runs is known only at run time.".to_owned();
            return Verdict::new(CommandEffect::Asks, "line/name-at-run-time", why);
        };
        let mut doubts = Verdict::new(CommandEffect::ReadOnly, "", String::new());
        if first.spelling != Spelling::Plain {
            doubts.ask("line/hidden-name", "The name of a command is written in a way that hides it.");
        }
        if !written.is_ascii() || written.is_empty() {
            let why = format!("The name `{written}` contains letters that can be mistaken for others.");
            doubts.ask("line/look-alike", why);
        }
        let mut name = written;
        if let Some((_, last)) = written.rsplit_once('/') {
            name = last;
            if !PROGRAM_FOLDERS.iter().any(|folder| written.strip_prefix(folder) == Some(last)) {
                doubts.ask("programs/file", format!("It executes the file {written}."));
            }
        }
        let table = self.table;
        let mut verdict = match table.rule(name) {
            None => {
                let why = format!("`{name}` is not in the command table, so it is not known what it does.");
                Verdict::new(CommandEffect::Asks, "unknown/command", why)
            }
            Some(rule) => self.apply(rule, arguments, at, after, 1),
        };
        verdict.raise(doubts.effect, &doubts.rule, doubts.why);
        verdict
    }

    /// Applies a rule to the words behind the name. `depth` counts the words before them.
    fn apply(
        &mut self,
        rule: &Rule,
        arguments: &[Word],
        at: &At,
        after: &mut Option<String>,
        depth: usize,
    ) -> Verdict {
        let mut verdict = Verdict::of(rule);
        self.network |= rule.network;
        if rule.special == Special::Cd {
            *after = self.change_directory(arguments, at, &mut verdict);
            return verdict;
        }
        if rule.has_subcommands() {
            return self.subcommand(rule, verdict, arguments, at, depth);
        }
        let kept;
        let mut arguments = arguments;
        if rule.special == Special::Find {
            kept = self.found_commands(arguments, at, &mut verdict);
            arguments = &kept;
        }
        let scan = self.scan(rule, arguments, at, &mut verdict);
        self.special(rule, &scan, at, &mut verdict);
        match rule.starts {
            _ if scan.names_only => self.operands(rule, &scan, at, &mut verdict),
            Starts::Nothing => self.operands(rule, &scan, at, &mut verdict),
            _ => self.start(rule, &scan, at, &mut verdict),
        }
        if rule.runs_input && at.piped != Piped::No {
            let why = match at.piped {
                Piped::Network => "It executes what it downloads.",
                _ => "It executes text that is known only at run time.",
            };
            if at.piped == Piped::Network || !scan.has_code() {
                verdict.raise(CommandEffect::Sensitive, "line/executes-input", why);
            }
        }
        verdict
    }

    /// Reads the options before a subcommand, and judges the subcommand.
    fn subcommand(
        &mut self,
        rule: &Rule,
        mut verdict: Verdict,
        arguments: &[Word],
        at: &At,
        depth: usize,
    ) -> Verdict {
        let scan = self.scan(rule, arguments, at, &mut verdict);
        let mut at = at.clone();
        if rule.special == Special::Git {
            at.dir = self.git_directory(&scan, &at);
        }
        let Some((name, rest)) = scan.operands.split_first() else { return verdict };
        let rest: Vec<Word> = rest.iter().map(|word| (*word).clone()).collect();
        let options = verdict;
        let mut verdict = match name.text().map(|text| (text, rule.subcommand(text))) {
            None => {
                let why = "Which subcommand runs is known only at run time.".to_owned();
                Verdict::new(CommandEffect::Asks, "line/name-at-run-time", why)
            }
            Some((text, None)) => {
                let why = format!("What the subcommand `{text}` does is not known.");
                let mut verdict = Verdict::new(rule.effect.max(CommandEffect::Asks), &rule.id, why);
                verdict.prefix = if rule.always > depth { rule.always } else { 0 };
                verdict
            }
            Some((_, Some(sub))) => self.apply(sub, &rest, &at, &mut None, depth + 1),
        };
        if options.effect > rule.effect || scan.leading_options {
            verdict.prefix = 0;
        }
        if options.effect > rule.effect {
            verdict.raise(options.effect, &options.rule, options.why);
        }
        if rule.special == Special::Git && verdict.effect == CommandEffect::ReadOnly {
            self.git_repository(&at, &mut verdict);
        }
        verdict
    }

    /// Judges the command that another one starts. What it does counts for the line by itself.
    pub(super) fn inner(&mut self, words: &[Word], at: &At) {
        if at.started >= MAX_STARTED {
            let why = "It starts commands that start commands, too many to be examined.".to_owned();
            return self.note(CommandEffect::Asks, "line/too-deep", why, at.range.clone());
        }
        self.words(words, &At { started: at.started + 1, ..at.clone() });
    }

    /// Says that a command executes something that is not known.
    pub(super) fn unknown_code(verdict: &mut Verdict, does: &str) {
        verdict.raise(CommandEffect::Sensitive, "line/executes-input", sentence(does));
    }
}

impl Scan<'_> {
    /// Whether the code that an interpreter executes is in its words.
    fn has_code(&self) -> bool {
        !self.operands.is_empty() || self.asked_options || self.has_pattern
    }
}

/// Whether options of a rule end at the first operand.
pub(super) fn leading(rule: &Rule) -> bool {
    rule.style == Style::Leading || rule.starts != Starts::Nothing || rule.has_subcommands()
}
