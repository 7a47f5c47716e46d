//! The rules in force: those of the settings, and those of every workspace, read once from the store and kept compiled.

use std::{collections::HashMap, sync::Arc};

use parking_lot::RwLock;
use policy::RuleSet;
use protocol::{ApprovalMode, Rule, RuleId, RuleLayer, WorkspaceId};
use store::{RuleRecord, Store, StoreError};
use tokio::sync::Mutex;

use crate::settings::ApprovalSettings;

pub(crate) struct RuleBook {
    store: Arc<dyn Store>,
    server: Vec<Rule>,
    /// The mode and the rules of the server, compiled.
    base: RuleSet,
    workspaces: RwLock<HashMap<WorkspaceId, Arc<WorkspaceRules>>>,
    /// Held while rules are read from the store or changed in it, so that an older state never replaces a newer one.
    changing: Mutex<()>,
}

/// The rules of one workspace.
pub(crate) struct WorkspaceRules {
    /// Oldest first.
    pub(crate) records: Vec<RuleRecord>,
    pub(crate) set: Arc<RuleSet>,
}

impl RuleBook {
    pub(crate) fn new(store: Arc<dyn Store>, settings: &ApprovalSettings) -> Self {
        let server = settings.rules.clone();
        let base = RuleSet::new(settings.mode, server.iter().map(|rule| (RuleLayer::Server, rule.clone())));
        Self { store, server, base, workspaces: RwLock::default(), changing: Mutex::default() }
    }

    pub(crate) fn mode(&self) -> ApprovalMode {
        self.base.mode()
    }

    /// The rules of the server's settings.
    pub(crate) fn server(&self) -> &[Rule] {
        &self.server
    }

    /// Returns the rules of a workspace; reads them from the store the first time.
    pub(crate) async fn of_workspace(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Arc<WorkspaceRules>, StoreError> {
        if let Some(known) = self.known(workspace) {
            return Ok(known);
        }
        let _changing = self.changing.lock().await;
        match self.known(workspace) {
            Some(known) => Ok(known),
            None => self.read(workspace).await,
        }
    }

    /// Adds a rule of a workspace; returns `false` when the workspace has as many as it may have. The next call is judged
    /// by it.
    pub(crate) async fn add(&self, new: RuleRecord) -> Result<bool, StoreError> {
        let workspace = new.workspace.clone();
        let _changing = self.changing.lock().await;
        let added = self.store.add_rule(new).await;
        // A store that reports a failure may have stored it all the same.
        let read = self.read(&workspace).await;
        let added = added?;
        read?;
        Ok(added)
    }

    /// Revokes a rule of a workspace; returns whether there was one.
    pub(crate) async fn revoke(&self, workspace: &WorkspaceId, id: &RuleId) -> Result<bool, StoreError> {
        let _changing = self.changing.lock().await;
        let removed = self.store.remove_rule(workspace, id).await;
        let read = self.read(workspace).await;
        let removed = removed?;
        read?;
        Ok(removed)
    }

    /// Reads the rules of a workspace again. Needed after an append of `GrantGiven` for the workspace, which adds a rule.
    pub(crate) async fn reload(&self, workspace: &WorkspaceId) -> Result<(), StoreError> {
        let _changing = self.changing.lock().await;
        self.read(workspace).await.map(|_| ())
    }

    /// The rules of a workspace, if they were read.
    pub(crate) fn known(&self, workspace: &WorkspaceId) -> Option<Arc<WorkspaceRules>> {
        self.workspaces.read().get(workspace).cloned()
    }

    /// Reads the rules of a workspace. If that fails, the next caller reads again.
    async fn read(&self, workspace: &WorkspaceId) -> Result<Arc<WorkspaceRules>, StoreError> {
        let records = match self.store.rules(workspace).await {
            Ok(records) => records,
            Err(error) => {
                self.workspaces.write().remove(workspace);
                return Err(error);
            }
        };
        let rules = records.iter().map(|record| record.rule.clone());
        let set = Arc::new(self.base.with(RuleLayer::Workspace, rules));
        let read = Arc::new(WorkspaceRules { records, set });
        self.workspaces.write().insert(workspace.clone(), Arc::clone(&read));
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use policy::Need;
    use protocol::{CallPattern, RuleEffect, Timestamp, Verdict};
    use store::{Durability, SqliteStore};

    use super::*;

    fn rule(id: &str, effect: RuleEffect) -> Rule {
        Rule { id: RuleId::new(id), effect, calls: CallPattern::tool("test-approval"), note: None }
    }

    fn record(id: &str, effect: RuleEffect) -> RuleRecord {
        let workspace = WorkspaceId::default_workspace();
        RuleRecord { workspace, rule: rule(id, effect), created_at: Timestamp(1), principal: None }
    }

    #[tokio::test]
    async fn a_rule_applies_from_the_moment_it_is_added_until_it_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open_with(&folder.path().join("test.db"), Durability::Process).unwrap());
        let book = RuleBook::new(Arc::clone(&store), &ApprovalSettings::default());
        let here = WorkspaceId::default_workspace();
        let need = Need::Approval { why: "It acts.".to_owned(), always: true };
        let judged = async |session: &[Rule]| {
            let known = book.of_workspace(&here).await.unwrap();
            known.set.with(RuleLayer::Session, session.iter().cloned()).judge("test-approval", &need)
        };
        assert!(matches!(judged(&[]).await, Verdict::Ask { .. }));
        assert!(book.add(record("rul_1", RuleEffect::Allow)).await.unwrap());
        assert_eq!(judged(&[]).await, Verdict::Run);
        assert!(matches!(judged(&[rule("rul_s", RuleEffect::Refuse)]).await, Verdict::Refuse { .. }));
        assert_eq!(judged(&[]).await, Verdict::Run, "rules of one session do not reach another");
        assert!(book.revoke(&here, &RuleId::new("rul_1")).await.unwrap());
        assert!(!book.revoke(&here, &RuleId::new("rul_1")).await.unwrap());
        assert!(matches!(judged(&[]).await, Verdict::Ask { .. }));

        assert!(store.add_rule(record("rul_2", RuleEffect::Allow)).await.unwrap(), "behind its back");
        assert!(matches!(judged(&[]).await, Verdict::Ask { .. }));
        book.reload(&here).await.unwrap();
        assert_eq!(judged(&[]).await, Verdict::Run);
        let elsewhere = book.of_workspace(&WorkspaceId::new("elsewhere")).await.unwrap();
        assert!(matches!(elsewhere.set.judge("test-approval", &need), Verdict::Ask { .. }));
    }
}
