//! The rules in force for a session, shared by all agents of a run: those of the program, the settings and the workspace,
//! and those that a person gave for this session.
//!
//! The log records the session's own rules (`GrantGiven`, `RuleAdded`, `RuleRevoked`), and the session's row is their fold.
//! A run starts with that and follows what changes while it is active.

use std::sync::Arc;

use parking_lot::Mutex;
use policy::RuleSet;
use protocol::{ApprovalMode, CallPattern, GrantScope, Rule, RuleEffect, RuleId, RuleLayer, WorkspaceId};
use store::StoreError;

use crate::{
    mailbox::answer::GivenGrant,
    services::rule_book::{RuleBook, WorkspaceRules},
};

pub(crate) struct SessionRules {
    book: Arc<RuleBook>,
    workspace: WorkspaceId,
    state: Mutex<State>,
}

struct State {
    own: Vec<Rule>,
    /// The mode of the run, where it differs from the server's.
    mode: Option<ApprovalMode>,
    /// The rules of the workspace that `compiled` was made from.
    base: Arc<WorkspaceRules>,
    compiled: Arc<RuleSet>,
}

impl State {
    fn compile(&mut self) {
        self.compiled = if self.own.is_empty() {
            Arc::clone(&self.base.set)
        } else {
            Arc::new(self.base.set.with(RuleLayer::Session, self.own.iter().cloned()))
        };
        if let Some(mode) = self.mode {
            self.compiled = Arc::new(self.compiled.in_mode(mode));
        }
    }
}

impl SessionRules {
    pub(crate) async fn new(
        book: &Arc<RuleBook>,
        workspace: &WorkspaceId,
        own: Vec<Rule>,
    ) -> Result<Self, StoreError> {
        let base = book.of_workspace(workspace).await?;
        let compiled = Arc::clone(&base.set);
        let mut state = State { own, mode: None, base, compiled };
        state.compile();
        Ok(Self { book: Arc::clone(book), workspace: workspace.clone(), state: Mutex::new(state) })
    }

    /// The same rules in another mode, for one run.
    pub(crate) fn in_mode(self, mode: ApprovalMode) -> Self {
        {
            let mut state = self.state.lock();
            state.mode = Some(mode);
            state.compile();
        }
        self
    }

    /// A session without rules of its own or of its workspace.
    #[cfg(test)]
    pub(crate) fn empty(book: &Arc<RuleBook>) -> Self {
        let set = Arc::<RuleSet>::default();
        let base = Arc::new(WorkspaceRules { records: Vec::new(), set: Arc::clone(&set) });
        let state = Mutex::new(State { own: Vec::new(), mode: None, base, compiled: set });
        Self { book: Arc::clone(book), workspace: WorkspaceId::default_workspace(), state }
    }

    /// The rules in force now.
    pub(crate) fn in_force(&self) -> Arc<RuleSet> {
        let mut state = self.state.lock();
        // While they cannot be read, those that were read last stay in force.
        if let Some(base) = self.book.known(&self.workspace)
            && !Arc::ptr_eq(&base, &state.base)
        {
            state.base = base;
            state.compile();
        }
        Arc::clone(&state.compiled)
    }

    /// What a person allowed with an answer is a rule from now on. The log has it already.
    pub(crate) async fn give(&self, grant: GivenGrant) -> Result<(), StoreError> {
        let GivenGrant { rule: id, calls, scope } = grant;
        match scope {
            GrantScope::Session => self.add(Rule { id, effect: RuleEffect::Allow, calls, note: None }),
            GrantScope::Workspace => self.book.reload(&self.workspace).await?,
        }
        Ok(())
    }

    /// Adds a rule of the session, once.
    pub(crate) fn add(&self, rule: Rule) {
        let mut state = self.state.lock();
        if !state.own.iter().any(|known| known.id == rule.id) {
            state.own.push(rule);
            state.compile();
        }
    }

    pub(crate) fn remove(&self, rule: &RuleId) {
        let mut state = self.state.lock();
        state.own.retain(|known| known.id != *rule);
        state.compile();
    }

    /// Whether the person has allowed exactly these calls, for the session or the workspace.
    pub(crate) fn allows(&self, calls: &CallPattern) -> bool {
        let same = |rule: &Rule| rule.effect == RuleEffect::Allow && rule.calls == *calls;
        let state = self.state.lock();
        state.own.iter().any(same) || state.base.records.iter().any(|record| same(&record.rule))
    }
}
