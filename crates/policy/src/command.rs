//! The verdict on a call that runs commands.
//!
//! What a line does is found by the crate `commands`; here the rules, the paths that it reads and writes, and the mode are
//! added. The strictest wins: a line runs unasked only when every command of it may.

use commands::{CommandEffect, JudgedCommand, Judgement, names};
use protocol::policy::{ApprovalMode, CallPattern, Rule, Verdict};

use crate::{
    built_in::{self, BuiltInWrite},
    check::check,
    grant::COMMAND_TOOLS,
    pattern::Touched,
    reason,
    rule_set::{Action, RuleSet},
};

impl RuleSet {
    pub(crate) fn judge_command(&self, tool: &str, line: &Judgement) -> Verdict {
        if let Some(refusal) = self.refuses_command(tool, line) {
            return refusal;
        }
        if let Some(why) = sensitive(line) {
            return Verdict::Ask { why, grant: None, sensitive: true };
        }
        let mut asks = None;
        for command in &line.commands {
            match self.command_by_rules(tool, command) {
                Some(Verdict::Run) => {}
                // Whoever wrote the rule wants to be asked.
                Some(verdict) => return verdict,
                None if self.mode_asks_about(command.effect) => asks = asks.or(Some(command)),
                None => {}
            }
        }
        let strictest = line.commands.iter().map(|command| command.effect).max().unwrap_or_default();
        if line.effect > strictest && self.mode_asks_about(line.effect) {
            return Verdict::Ask { why: line.why.clone(), grant: None, sensitive: false };
        }
        let reads = self.judge_reads(tool, line);
        match asks {
            None => reads,
            // A secret is named even when the line asks anyway, and "always" would not cover it.
            Some(_) if reads != Verdict::Run => reads,
            Some(command) => {
                let why = if command.effect == line.effect { &line.why } else { &command.why };
                Verdict::Ask { why: why.clone(), grant: grant(tool, line), sensitive: false }
            }
        }
    }

    /// A rule, the program's own rules or the judge of commands refuse the line.
    fn refuses_command(&self, tool: &str, line: &Judgement) -> Option<Verdict> {
        for command in &line.commands {
            if let Some(refusal @ Verdict::Refuse { .. }) = self.command_by_rules(tool, command) {
                return Some(refusal);
            }
        }
        for (paths, action) in [(&line.reads, Action::Read), (&line.writes, Action::Write)] {
            for path in paths {
                if let Some(refusal @ Verdict::Refuse { .. }) =
                    self.by_rules(tool, Touched::Path(path), action)
                {
                    return Some(refusal);
                }
            }
        }
        for path in &line.writes {
            if let BuiltInWrite::Refused(why) = built_in::write_of(path) {
                return Some(Verdict::Refuse { why });
            }
        }
        (line.effect == CommandEffect::Refused).then(|| Verdict::Refuse { why: line.why.clone() })
    }

    /// What the rules say about one command: a refusal of any layer, else the strongest layer that has a covering rule.
    fn command_by_rules(&self, tool: &str, command: &JudgedCommand) -> Option<Verdict> {
        let covers = |rule: &Rule| match rule.calls.command.as_deref() {
            // A finding about the line has no words: only a rule for the whole tool covers it.
            Some(pattern) => names(pattern, command),
            None => rule.calls.path.is_none(),
        };
        self.decide(Action::Call, |layer| layer.naming(tool).filter(|rule| covers(rule)).collect())
    }

    fn mode_asks_about(&self, effect: CommandEffect) -> bool {
        match self.mode() {
            ApprovalMode::Ask => true,
            ApprovalMode::AutoReadOnly => effect > CommandEffect::ReadOnly,
            ApprovalMode::Yolo => effect > CommandEffect::Asks,
        }
    }

    /// Whether reading the paths of a line asks, although running its commands does not.
    fn judge_reads(&self, tool: &str, line: &Judgement) -> Verdict {
        let mut secret = Vec::new();
        for path in &line.reads {
            match self.by_rules(tool, Touched::Path(path), Action::Read) {
                Some(ask @ Verdict::Ask { .. }) => return ask,
                _ if self.protects_secret(path) && !self.allows_secret(tool, path) => {
                    secret.push(path.as_str());
                }
                _ => {}
            }
        }
        for path in &line.writes {
            if let Some(ask @ Verdict::Ask { .. }) = self.by_rules(tool, Touched::Path(path), Action::Write) {
                return ask;
            }
        }
        match secret.as_slice() {
            [] => Verdict::Run,
            secret => Verdict::Ask { why: reason::reads_secret(secret), grant: None, sensitive: false },
        }
    }
}

/// Why a line asks every time, in every mode.
fn sensitive(line: &Judgement) -> Option<String> {
    if line.effect == CommandEffect::Sensitive {
        return Some(line.why.clone());
    }
    line.writes.iter().find_map(|path| match built_in::write_of(path) {
        BuiltInWrite::Sensitive(why) => Some(why),
        BuiltInWrite::Free | BuiltInWrite::Refused(_) => None,
    })
}

/// What "always" would allow: commands that begin with the same words, when one rule is enough for the line to run.
fn grant(tool: &str, line: &Judgement) -> Option<CallPattern> {
    let first_word = match line.commands.as_slice() {
        [only] if line.effect == CommandEffect::ReadOnly => only.words.first().cloned().flatten(),
        _ => None,
    };
    let command = match line.always.as_slice() {
        [one] => Some(one.clone()),
        _ => first_word,
    }?;
    let mut tools: Vec<String> = COMMAND_TOOLS.iter().map(|&tool| tool.to_owned()).collect();
    if !tools.iter().any(|listed| listed == tool) {
        tools = vec![tool.to_owned()];
    }
    let proposed = CallPattern { tools, path: None, command: Some(command) };
    check(&proposed).is_ok().then_some(proposed)
}
