//! Commands that start other commands.

use super::{At, Judge, Piped, Verdict, options::Scan, patterns::from_expression};
use crate::{
    judgement::CommandEffect,
    syntax::tree::{Assignment, Spelling, Value, Word},
    table::{Rule, Starts},
};

impl Judge<'_> {
    /// Judges what a command starts.
    pub(super) fn start(&mut self, rule: &Rule, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        let words: Vec<Word> = scan.operands.iter().skip(rule.skip).map(|word| (*word).clone()).collect();
        if rule.skip > 0 && scan.operands.iter().take(rule.skip).any(|word| word.text().is_none()) {
            verdict.ask(
                "line/option-at-run-time",
                "Where the command starts that it runs is known only at run time.",
            );
        }
        match rule.starts {
            Starts::Nothing => {}
            Starts::Words => self.start_words(&words, at, verdict),
            Starts::WordsAndMore => {
                let mut words = if words.is_empty() { vec![Word::known("echo")] } else { words };
                let replaced =
                    scan.values.iter().rfind(|(name, _)| matches!(name.as_str(), "-I" | "--replace"));
                let replaced = replaced.map_or(Some("{}"), |(_, word)| word.text());
                for word in words.iter_mut().skip(1) {
                    let filled_in = |text: &str| replaced.is_none_or(|replaced| text.contains(replaced));
                    if word.text().is_none_or(filled_in) {
                        word.value = Value::Runtime;
                    }
                }
                words.push(Word { value: Value::Runtime, spelling: Spelling::Plain, range: 0..0 });
                self.inner(&words, at);
            }
            Starts::Environment => {
                let split = |name: &str| matches!(name, "-S" | "--split-string");
                match scan.values.iter().find(|(name, _)| split(name)) {
                    Some((name, line)) => {
                        let why = format!("The option {name} makes it do more than read.");
                        verdict.ask(&format!("{}{name}", rule.id), why);
                        let words: Vec<Word> = [line.clone()].into_iter().chain(words).collect();
                        self.start_line(&words, at, verdict);
                    }
                    None => self.start_with_environment(&words, at),
                }
            }
            Starts::Line if words.is_empty() => {}
            Starts::Line => self.start_line(&words, at, verdict),
            Starts::Shell => self.shell(scan, at, verdict),
        }
    }

    /// Words that are a command. The shell reads `time ! A=b command` in its own way.
    fn start_words(&mut self, words: &[Word], at: &At, verdict: &mut Verdict) {
        let is_sign = |word: &&Word| {
            let assigns = |text: &str| {
                let name = text.split_once('=').map(|(name, _)| name).unwrap_or_default();
                !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            };
            word.text().is_some_and(|text| matches!(text, "!" | "{") || assigns(text))
        };
        let signs = words.iter().take_while(is_sign).count();
        if signs > 0 {
            verdict.ask("line/ambiguous", "Shells could read it in different ways.");
        }
        self.inner(words.get(signs..).unwrap_or_default(), at);
    }

    fn start_with_environment(&mut self, words: &[Word], at: &At) {
        let mut words = words;
        while let Some((first, rest)) = words.split_first() {
            let assigned = first.text().and_then(|text| text.split_once('='));
            let Some((name, value)) = assigned else { break };
            let (name, value) = (name.to_owned(), Value::Known(value.to_owned()));
            self.assignment(&Assignment { name, value, range: at.range.clone() }, at);
            words = rest;
        }
        self.inner(words, at);
    }

    /// Words that are joined and read by a shell again.
    fn start_line(&mut self, words: &[Word], at: &At, verdict: &mut Verdict) {
        let texts: Option<Vec<&str>> = words.iter().map(Word::text).collect();
        match texts {
            Some(texts) => self.inner_line(&texts.join(" "), at),
            None => Self::unknown_code(verdict, "executes text that is known only at run time"),
        }
    }

    /// `sh -c 'line'`, `sh script`, or `sh` reading its input.
    fn shell(&mut self, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        let line = scan.options.iter().any(|option| option == "-c");
        match (line, scan.operands.first()) {
            (true, Some(word)) => match word.text() {
                Some(text) => self.inner_line(text, at),
                None => Self::unknown_code(verdict, "executes text that is known only at run time"),
            },
            (true, None) => verdict.ask("shells/no-line", "It starts a shell without a line to execute."),
            (false, Some(word)) if word.value == Value::Pipe => {
                Self::unknown_code(verdict, "executes the output of another command");
            }
            (false, Some(word)) => {
                let script = word.text().unwrap_or("a script");
                verdict.ask("shells/script", format!("It executes {script}."));
            }
            (false, None) if at.piped != Piped::No => {
                Self::unknown_code(verdict, "executes text that is known only at run time")
            }
            (false, None) => {
                let prints = scan.options.iter().any(|option| option == "--version" || option == "--help");
                if !prints {
                    verdict.ask("shells/interactive", "It starts a shell that waits for commands.");
                }
            }
        }
    }

    pub(super) fn inner_line(&mut self, line: &str, at: &At) {
        let at = At { lines: at.lines + 1, started: 0, ..at.clone() };
        self.line(line, &at);
    }

    /// Takes the commands of `-exec` out of the words of `find`, and judges them.
    pub(super) fn found_commands(&mut self, words: &[Word], at: &At, verdict: &mut Verdict) -> Vec<Word> {
        let mut kept = Vec::new();
        let found_before = self.found.len();
        let at = At { found: searched_names(words), ..at.clone() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if !matches!(word.text(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
                kept.push(word.clone());
                if word.text() == Some("-fprintf") {
                    // The file; the format behind it is text.
                    kept.extend(words.next().cloned());
                    words.next();
                }
                continue;
            }
            let mut command: Vec<Word> = Vec::new();
            let mut ended = false;
            for word in words.by_ref() {
                let after_braces = command.last().is_some_and(|last| last.value == Value::Found);
                ended = matches!(word.text(), Some(";")) || (after_braces && word.text() == Some("+"));
                if ended {
                    break;
                }
                command.push(match word.text() {
                    Some("{}") => Word { value: Value::Found, ..word.clone() },
                    Some(text) if text.contains("{}") => Word { value: Value::Runtime, ..word.clone() },
                    _ => word.clone(),
                });
            }
            if !ended {
                verdict.ask("search/find-exec", "Where the command of -exec ends is not certain.");
            }
            self.inner(&command, &at);
        }
        let destroys =
            self.found.iter().skip(found_before).any(|command| command.effect >= CommandEffect::Sensitive);
        let starts = kept.iter().take_while(|word| !word.text().is_some_and(|text| text.starts_with('-')));
        if destroys && starts.into_iter().any(|word| self.is_root(&word.value)) {
            let why = "It would destroy the system or a home directory.";
            verdict.raise(CommandEffect::Refused, "search/find-of-everything", why);
        }
        kept
    }
}

/// The patterns for names among the words of `find`, but those that are left out.
fn searched_names(words: &[Word]) -> Vec<String> {
    let mut names = Vec::new();
    let mut before = None;
    for pair in words.windows(2) {
        let [test, value] = pair else { continue };
        let left_out = matches!(before, Some("!" | "-not"));
        before = test.text();
        let Some(text) = value.text().filter(|_| !left_out) else { continue };
        match test.text() {
            Some("-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename") => {
                names.push(text.to_owned());
            }
            Some("-regex" | "-iregex") => names.push(from_expression(text)),
            _ => {}
        }
    }
    names
}
