//! The rules of a workspace and of its chats, as people see and change them. A change applies from the next call on.

use protocol::{
    Rule, RuleId, RuleLayer, SessionId, WorkspaceId,
    id::PrincipalId,
    policy::{ListedRule, NewRule, RuleList},
    wire::agents::FieldProblem,
};
use store::{MAX_WORKSPACE_RULES, RuleRecord};

use crate::{
    Engine, EngineError,
    session::{actor::Command, change_rules::RuleChange},
};

/// The result of adding a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddedRule {
    New(Box<ListedRule>),
    /// The workspace or chat had a rule for the same calls with the same effect.
    Known(Box<ListedRule>),
}

impl Engine {
    /// Lists the mode and the rules in force, strongest layer first; with a chat also those of the chat.
    pub async fn rules(
        &self,
        workspace: &WorkspaceId,
        chat: Option<&SessionId>,
    ) -> Result<RuleList, EngineError> {
        let book = &self.services.tools.rules;
        let mut rules = Vec::new();
        if let Some(chat) = chat {
            let record = self.record(workspace, chat).await?;
            rules.extend(record.rules.into_iter().map(|rule| of_chat(rule, chat)));
        }
        let own = book.of_workspace(workspace).await?;
        rules.extend(own.records.iter().map(of_workspace));
        rules.extend(book.server().iter().map(|rule| fixed(rule.clone(), RuleLayer::Server)));
        rules.extend(policy::built_in().into_iter().map(|rule| fixed(rule, RuleLayer::BuiltIn)));
        Ok(RuleList { mode: book.mode(), rules })
    }

    /// Adds a rule to the workspace, or to the chat that it names.
    pub async fn add_rule(
        &self,
        workspace: &WorkspaceId,
        principal: Option<&PrincipalId>,
        new: NewRule,
    ) -> Result<AddedRule, EngineError> {
        let NewRule { effect, calls, note, chat_id } = new;
        let checked = [policy::check(&calls), policy::check_note(note.as_deref())];
        let problems: Vec<FieldProblem> = checked.into_iter().filter_map(Result::err).map(problem).collect();
        if !problems.is_empty() {
            return Err(EngineError::InvalidRule(problems));
        }
        let same = |known: &ListedRule| known.rule.effect == effect && known.rule.calls == calls;
        let layer = if chat_id.is_some() { RuleLayer::Session } else { RuleLayer::Workspace };
        let known = self.rules(workspace, chat_id.as_ref()).await?.rules;
        if let Some(known) = known.into_iter().find(|known| known.layer == layer && same(known)) {
            return Ok(AddedRule::Known(Box::new(known)));
        }
        let rule = Rule { id: self.services.ids.rule(), effect, calls, note };
        match chat_id {
            Some(chat) => {
                let change = RuleChange::Add(Box::new(rule.clone()));
                self.command(workspace.clone(), chat.clone(), |reply| Command::ChangeRules { change, reply })
                    .await?;
                Ok(AddedRule::New(Box::new(of_chat(rule, &chat))))
            }
            None => {
                let record = RuleRecord {
                    workspace: workspace.clone(),
                    rule,
                    created_at: self.services.clock.now(),
                    principal: principal.cloned(),
                };
                if !self.services.tools.rules.add(record.clone()).await? {
                    return Err(EngineError::too_many_rules(MAX_WORKSPACE_RULES as usize, "workspace"));
                }
                Ok(AddedRule::New(Box::new(of_workspace(&record))))
            }
        }
    }

    /// Revokes a rule of the workspace, or of the chat that is named.
    pub async fn revoke_rule(
        &self,
        workspace: &WorkspaceId,
        chat: Option<&SessionId>,
        id: &RuleId,
    ) -> Result<(), EngineError> {
        if let Some(chat) = chat
            && self.record(workspace, chat).await?.rules.iter().any(|rule| rule.id == *id)
        {
            let change = RuleChange::Revoke(id.clone());
            let command = |reply| Command::ChangeRules { change, reply };
            return self.command(workspace.clone(), chat.clone(), command).await;
        }
        if self.services.tools.rules.revoke(workspace, id).await? {
            return Ok(());
        }
        let fixed = self.services.tools.rules.server().iter().any(|rule| rule.id == *id)
            || policy::built_in().iter().any(|rule| rule.id == *id);
        Err(if fixed { EngineError::RuleReadOnly } else { EngineError::RuleNotFound })
    }
}

fn of_chat(rule: Rule, chat: &SessionId) -> ListedRule {
    ListedRule {
        rule,
        layer: RuleLayer::Session,
        chat_id: Some(chat.clone()),
        created_at: None,
        revocable: true,
    }
}

fn of_workspace(record: &RuleRecord) -> ListedRule {
    ListedRule {
        rule: record.rule.clone(),
        layer: RuleLayer::Workspace,
        chat_id: None,
        created_at: Some(record.created_at),
        revocable: true,
    }
}

fn fixed(rule: Rule, layer: RuleLayer) -> ListedRule {
    ListedRule { rule, layer, chat_id: None, created_at: None, revocable: false }
}

fn problem(error: policy::RuleError) -> FieldProblem {
    FieldProblem {
        path: error.field.to_owned(),
        code: error.code.to_owned(),
        line: None,
        message: error.message,
        fix: error.fix,
    }
}
