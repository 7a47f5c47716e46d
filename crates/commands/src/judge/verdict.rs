//! The verdict on one command while it is being examined.

use crate::{judgement::CommandEffect, table::Rule};

/// Starts with what the rule says and becomes stricter with each finding.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) effect: CommandEffect,
    pub(super) why: String,
    pub(super) rule: String,
    /// How many leading words a lasting permission may name.
    pub(super) prefix: usize,
}

impl Verdict {
    pub(super) fn of(rule: &Rule) -> Self {
        Self { effect: rule.effect, why: sentence(&rule.does), rule: rule.id.clone(), prefix: rule.always }
    }

    pub(super) fn new(effect: CommandEffect, rule: &str, why: String) -> Self {
        Self { effect, why, rule: rule.to_owned(), prefix: 0 }
    }

    /// Records a finding. The first of the strictest findings explains the verdict; every finding takes away the lasting
    /// permission.
    pub(super) fn raise(&mut self, effect: CommandEffect, rule: &str, why: impl Into<String>) {
        if effect > CommandEffect::ReadOnly {
            self.prefix = 0;
        }
        if effect > self.effect {
            self.effect = effect;
            self.rule = rule.to_owned();
            self.why = why.into();
        }
    }

    pub(super) fn ask(&mut self, rule: &str, why: impl Into<String>) {
        self.raise(CommandEffect::Asks, rule, why);
    }
}

/// "reads files" → "It reads files."
pub(super) fn sentence(does: &str) -> String {
    format!("It {does}.")
}
