//! Checks that data cannot express.

use super::{At, Judge, Verdict, git_config, operands::plain_path, options::Scan, scripts};
use crate::{
    PathPlace,
    judgement::CommandEffect,
    syntax::tree::{Spelling, Value, Word},
    table::{Rule, Special},
};

/// A kind of program text.
struct Text {
    rule: &'static str,
    only_prints: fn(&str) -> bool,
    /// The files that it writes, as far as they are known.
    writes: fn(&str) -> Vec<String>,
}

impl Judge<'_> {
    pub(super) fn special(&mut self, rule: &Rule, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        match rule.special {
            Special::None | Special::Cd | Special::Find | Special::Git => {}
            Special::Awk => self.awk(rule, scan, at, verdict),
            Special::Sed => {
                let text = Text {
                    rule: "search/sed-script",
                    only_prints: scripts::sed_only_prints,
                    writes: scripts::sed_writes,
                };
                self.program(scan, at, verdict, &text);
            }
            Special::Download => self.downloads(rule, scan, at, verdict),
            Special::GitPush => self.pushed(rule, scan, verdict),
            Special::GitConfig => git_config::changed_setting(rule, scan, verdict),
            Special::GitCheckout => self.checked_out(rule, scan, at, verdict),
            Special::Query => {
                let loads = ["import", "include", "load", "eval", "system", "env"];
                let text = scan.operands.first().and_then(|word| word.text()).unwrap_or_default();
                if loads.iter().any(|word| text.contains(word)) {
                    verdict.ask("readers/query-loads", "The query may load other files or variables.");
                }
            }
            Special::GitFormat => {
                let runs = |word: &Word| word.text().is_some_and(|text| text.contains("%G"));
                if scan.values.iter().any(|(_, word)| runs(word)) {
                    verdict.ask("git/signatures", "It checks signatures with another program.");
                }
                self.line_ranges(scan, at, verdict);
            }
            Special::Test => {
                let safe = |word: &&Word| !matches!(word.text(), Some("-v" | "-R"));
                if !scan.operands.iter().all(safe)
                    || scan
                        .operands
                        .iter()
                        .any(|word| word.value == Value::Runtime && word.spelling != Spelling::Plain)
                {
                    verdict.ask("shell/test-variable", "The test evaluates the name of a variable.");
                }
                for word in &scan.operands {
                    if word.text().is_some_and(|text| text.contains('/'))
                        || matches!(word.value, Value::Home(_))
                    {
                        self.read(&word.value, word.spelling, at, verdict);
                    }
                }
            }
            Special::Dd => self.copy_blocks(scan, at, verdict),
            Special::Tar => self.archive(scan, at, verdict),
        }
    }

    fn awk(&mut self, rule: &Rule, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        let text = Text {
            rule: "search/awk-program",
            only_prints: scripts::awk_only_prints,
            writes: scripts::awk_writes,
        };
        self.program(scan, at, verdict, &text);
        // `awk -i inplace program file`
        if scan.options.iter().any(|option| option == "-i" || option.starts_with("--i")) {
            let inplace = scan.operands.first().is_some_and(|word| word.text() == Some("inplace"));
            for word in scan.operands.iter().skip(1 + usize::from(inplace)) {
                self.write(&word.value, at, verdict, &rule.id);
            }
        }
    }

    /// Checks the program text of `sed` or `awk`, which is an option or the first operand.
    fn program(&mut self, scan: &Scan<'_>, at: &At, verdict: &mut Verdict, kind: &Text) {
        let in_options =
            scan.values.iter().filter(|(name, _)| matches!(name.as_str(), "-e" | "--expression"));
        let mut texts: Vec<&Word> = in_options.map(|(_, word)| word).collect();
        if !scan.has_pattern {
            texts.extend(scan.operands.first());
        }
        if texts.iter().all(|word| word.text().is_some_and(kind.only_prints)) {
            return;
        }
        verdict.ask(kind.rule, "The program text may do more than print.");
        for text in texts.iter().filter_map(|word| word.text()) {
            self.written_by_text(text, at, verdict, kind.rule, kind.writes);
        }
    }

    /// `dd if=… of=…`
    fn copy_blocks(&mut self, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        for word in &scan.operands {
            match word.text().and_then(|text| text.split_once('=')) {
                Some(("of", path)) => self.write(&Value::Known(path.to_owned()), at, verdict, "writers/dd"),
                Some(("if", path)) => self.read(&Value::Known(path.to_owned()), Spelling::Plain, at, verdict),
                _ => {}
            }
        }
    }

    /// `cd`. Returns the directory that it changes to.
    pub(super) fn change_directory(
        &mut self,
        arguments: &[Word],
        at: &At,
        verdict: &mut Verdict,
    ) -> Option<String> {
        let target = match arguments {
            [word] => word,
            [dashes, word] if dashes.text() == Some("--") => word,
            _ => {
                verdict.ask("shell/cd", "To which directory it changes is not certain.");
                return None;
            }
        };
        let path = match &target.value {
            Value::Known(path)
                if target.spelling == Spelling::Plain
                    && path != "-"
                    && !path.is_empty()
                    && !path.starts_with('-') =>
            {
                path.clone()
            }
            Value::Home(rest) => format!("{}{rest}", self.around.home().unwrap_or("/")),
            _ => {
                verdict.ask("shell/cd", "To which directory it changes is known only at run time.");
                return None;
            }
        };
        match self.place(&path, at) {
            Some(PathPlace::Workspace(dir)) => {
                // The shell goes up from the name of a link, the system from its target. Only equal results are certain.
                let lexical = at.dir.as_deref().map(|from| plain_path(&format!("/{from}/{path}")));
                let follows_link = !path.starts_with('/')
                    && lexical.as_deref().and_then(|path| path.strip_prefix('/')) != Some(&dir);
                let up_from_absolute = path.starts_with('/') && path.split('/').any(|part| part == "..");
                if follows_link || up_from_absolute {
                    verdict.ask("shell/cd-link", "It changes to a directory through a symbolic link.");
                    return None;
                }
                self.reads.insert(dir.clone());
                Some(dir)
            }
            _ => {
                verdict.raise(
                    CommandEffect::Asks,
                    "files/outside",
                    format!("It changes to {path}, which is outside the work directory."),
                );
                None
            }
        }
    }
}
