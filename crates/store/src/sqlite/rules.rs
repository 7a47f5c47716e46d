//! Rules about which calls run. Those of a workspace have rows of their own; those of a session are in the session's row,
//! as a fold over its log.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{CallPattern, PrincipalId, Rule, RuleEffect, RuleId, Timestamp, WorkspaceId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{SqliteStore, apply::TableWriter, json, parse};
use crate::{MAX_WORKSPACE_RULES, RuleRecord, Rules, StoreError};

#[async_trait]
impl Rules for SqliteStore {
    async fn rules(&self, workspace: &WorkspaceId) -> Result<Vec<RuleRecord>, StoreError> {
        let (workspace, damage) = (workspace.clone(), Arc::clone(&self.damage));
        self.look_up(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT workspace, rule, created_at, principal FROM rules WHERE workspace = ?1 ORDER BY created_at, id",
            )?;
            let rows = statement.query_map([workspace.as_str()], |row| Ok(record(row)))?;
            Ok(damage.readable("rules of a workspace", rows)?.rows)
        })
        .await
    }

    async fn add_rule(&self, new: RuleRecord) -> Result<bool, StoreError> {
        self.writer.write(move |connection| insert(connection, &new)).await
    }

    async fn remove_rule(&self, workspace: &WorkspaceId, id: &RuleId) -> Result<bool, StoreError> {
        let (workspace, id) = (workspace.clone(), id.clone());
        self.writer
            .write(move |connection| {
                let removed = connection
                    .prepare_cached("DELETE FROM rules WHERE workspace = ?1 AND id = ?2")?
                    .execute([workspace.as_str(), id.as_str()])?;
                Ok(removed == 1)
            })
            .await
    }
}

fn record(row: &Row<'_>) -> Result<RuleRecord, StoreError> {
    Ok(RuleRecord {
        workspace: WorkspaceId::new(row.get::<_, String>(0)?),
        rule: parse(&row.get::<_, String>(1)?)?,
        created_at: Timestamp(row.get(2)?),
        principal: row.get::<_, Option<String>>(3)?.map(PrincipalId::new),
    })
}

/// Inserts a rule of a workspace; returns `false` when the workspace has as many as it may have.
fn insert(connection: &Connection, new: &RuleRecord) -> Result<bool, StoreError> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO rules (workspace, id, rule, created_at, principal) SELECT ?1, ?2, ?3, ?4, ?5
             WHERE (SELECT count(*) FROM rules WHERE workspace = ?1) < ?6",
        )?
        .execute(params![
            new.workspace.as_str(),
            new.rule.id.as_str(),
            json(&new.rule)?,
            new.created_at.0,
            new.principal.as_ref().map(PrincipalId::as_str),
            MAX_WORKSPACE_RULES
        ])?;
    Ok(inserted == 1)
}

/// A rule in the row of a session. Older versions stored the calls that a person allowed, without an id.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredRule {
    Rule(Rule),
    Grant(CallPattern),
}

/// Reads the rules in the row of a session.
pub(super) fn read_session_rules(text: Option<&str>) -> Result<Vec<Rule>, StoreError> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let stored: Vec<StoredRule> = parse(text)?;
    Ok(stored
        .into_iter()
        .map(|stored| match stored {
            StoredRule::Rule(rule) => rule,
            StoredRule::Grant(calls) => allowing(calls, None),
        })
        .collect())
}

/// The rule that "always" becomes. A grant of an older log has no id of its own: it gets one that is always the same for
/// the same calls.
fn allowing(calls: CallPattern, id: Option<&RuleId>) -> Rule {
    let id = id.cloned().unwrap_or_else(|| derived_id(&calls));
    Rule { id, effect: RuleEffect::Allow, calls, note: None }
}

fn derived_id(calls: &CallPattern) -> RuleId {
    let mut hasher = Sha256::new();
    let fields = calls.tools.iter().map(String::as_str);
    for field in fields.chain([calls.path.as_deref().unwrap_or_default()]) {
        hasher.update(field);
        hasher.update([0]);
    }
    hasher.update(calls.command.as_deref().unwrap_or_default());
    let digest = hasher.finalize();
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    RuleId::new(format!("{}{hex}", RuleId::PREFIX))
}

impl TableWriter<'_> {
    /// Adds what a person allowed to the rules of the session, unless the same calls are allowed already.
    pub(super) fn allow_in_session(
        &self,
        calls: &CallPattern,
        id: Option<&RuleId>,
    ) -> Result<(), StoreError> {
        self.change_session_rules(|rules| {
            let is_new = !rules.iter().any(|rule| rule.effect == RuleEffect::Allow && rule.calls == *calls);
            if is_new {
                rules.push(allowing(calls.clone(), id));
            }
            is_new
        })
    }

    /// Adds what a person allowed to the rules of the workspace, unless the same rule exists. A workspace with
    /// [`MAX_WORKSPACE_RULES`] gets no further one; the engine checks this before it accepts the answer.
    pub(super) fn allow_in_workspace(
        &self,
        calls: &CallPattern,
        id: Option<&RuleId>,
    ) -> Result<(), StoreError> {
        let rule = allowing(calls.clone(), id);
        let workspace: String = self
            .connection
            .prepare_cached("SELECT workspace FROM sessions WHERE key = ?1")?
            .query_row([self.session.0], |row| row.get(0))?;
        let exists: bool = self
            .connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM rules WHERE workspace = ?1 AND id = ?2)")?
            .query_row([workspace.as_str(), rule.id.as_str()], |row| row.get(0))?;
        if exists {
            return Ok(());
        }
        let workspace = WorkspaceId::new(workspace);
        insert(self.connection, &RuleRecord { workspace, rule, created_at: self.at, principal: None })?;
        Ok(())
    }

    /// Adds a rule to those of the session, or replaces the one with the same id.
    pub(super) fn add_session_rule(&self, new: &Rule) -> Result<(), StoreError> {
        self.change_session_rules(|rules| {
            match rules.iter_mut().find(|rule| rule.id == new.id) {
                Some(known) => *known = new.clone(),
                None => rules.push(new.clone()),
            }
            true
        })
    }

    pub(super) fn remove_session_rule(&self, id: &RuleId) -> Result<(), StoreError> {
        self.change_session_rules(|rules| {
            let before = rules.len();
            rules.retain(|rule| rule.id != *id);
            rules.len() != before
        })
    }

    /// `change` returns whether it changed anything.
    fn change_session_rules(&self, change: impl FnOnce(&mut Vec<Rule>) -> bool) -> Result<(), StoreError> {
        let stored: Option<String> = self
            .connection
            .prepare_cached("SELECT rules FROM sessions WHERE key = ?1")?
            .query_row([self.session.0], |row| row.get(0))
            .optional()?
            .flatten();
        let mut rules = read_session_rules(stored.as_deref())?;
        if change(&mut rules) {
            let rules = if rules.is_empty() { None } else { Some(json(&rules)?) };
            self.connection
                .prepare_cached("UPDATE sessions SET rules = ?2 WHERE key = ?1")?
                .execute(params![self.session.0, rules])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_of_older_versions_are_read_as_rules_with_stable_ids() {
        let text = r#"[{"tool":"shell"},{"tool":"shell","scope":"git status"},{"id":"rul_1","effect":"refuse","path":"a/**"}]"#;
        let rules = read_session_rules(Some(text)).unwrap();
        assert_eq!(rules, read_session_rules(Some(text)).unwrap());
        assert_eq!(rules[0].calls, CallPattern::tool("shell"));
        assert_eq!(rules[0].id.as_str(), derived_id(&CallPattern::tool("shell")).as_str());
        assert_eq!(rules[1].calls.command.as_deref(), Some("git status"));
        assert_ne!(rules[0].id, rules[1].id);
        assert_eq!((rules[2].id.as_str(), rules[2].effect), ("rul_1", RuleEffect::Refuse));
        assert_eq!(rules[0].effect, RuleEffect::Allow);
        assert_eq!(read_session_rules(None).unwrap(), []);
        assert!(read_session_rules(Some("{")).is_err());
    }
}
