//! `concertino rules`: lists, adds and removes rules about which calls run, ask or are refused. Uses the running server
//! when there is one, else the data folder.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use engine::AddedRule;
use protocol::{
    ApprovalMode, CallPattern, RuleEffect, RuleId, RuleLayer, SessionId,
    policy::{ListedRule, NewRule, RuleList},
};
use reqwest::{Method, Url};

use super::{
    listing::{Column, print, table},
    workspace_access::{WorkspaceAccess, WorkspaceFlags},
};
use crate::{config::Config, output};

#[derive(Args)]
pub(crate) struct RulesArguments {
    #[command(subcommand)]
    command: Option<RulesCommand>,
    #[command(flatten)]
    workspace: WorkspaceFlags,
    /// Also the rules of this chat; `add` and `remove` change those of the chat.
    #[arg(long, global = true, value_name = "ID")]
    chat: Option<String>,
    /// Print JSON, as returned by /api/rules.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum RulesCommand {
    /// List the mode and the rules in force (default).
    List,
    /// Add a rule for the workspace, or for the chat that --chat names.
    Add {
        /// What happens to the calls.
        effect: Effect,
        /// A tool that the rule covers; `*` stands for any characters. Can be repeated [default: every tool].
        #[arg(long = "tool", value_name = "NAME")]
        tools: Vec<String>,
        /// The files that the rule covers, relative to the work directory, like 'src/**'.
        #[arg(long, value_name = "PATTERN")]
        path: Option<String>,
        /// The beginning of the commands that the rule covers.
        #[arg(long, value_name = "WORDS")]
        command: Option<String>,
        /// Why the rule exists.
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Remove a rule.
    Remove {
        /// The id of the rule in the list, or its beginning.
        id: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Effect {
    Allow,
    Ask,
    Refuse,
}

pub(crate) async fn rules(config: &Config, arguments: RulesArguments) -> Result<ExitCode> {
    let RulesArguments { command, workspace, chat, json } = arguments;
    let chat = chat.as_deref().map(SessionId::from_outside).transpose().context("--chat is not valid")?;
    let access = WorkspaceAccess::open(config, workspace).await?;
    match command.unwrap_or(RulesCommand::List) {
        RulesCommand::List => {
            let list = access.rules(chat.as_ref()).await?;
            if json {
                print(&serde_json::to_string_pretty(&list)?)?;
            } else {
                print(&shown(&list))?;
            }
        }
        RulesCommand::Add { effect, tools, path, command, note } => {
            let effect = match effect {
                Effect::Allow => RuleEffect::Allow,
                Effect::Ask => RuleEffect::Ask,
                Effect::Refuse => RuleEffect::Refuse,
            };
            let calls = CallPattern { tools, path, command };
            let added = access.add_rule(NewRule { effect, calls, note, chat_id: chat }).await?;
            if json {
                print(&serde_json::to_string_pretty(&added)?)?;
            } else {
                output::note(format_args!("{} {}", policy::describe(&added.rule), added.rule.id));
            }
        }
        RulesCommand::Remove { id } => {
            let list = access.rules(chat.as_ref()).await?;
            let rule = named(&list, &id)?;
            access.revoke_rule(rule.chat_id.as_ref(), &rule.rule.id).await?;
            output::note(format_args!("Removed: {}", policy::describe(&rule.rule)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The rules of a workspace.
impl WorkspaceAccess {
    pub(super) async fn rules(&self, chat: Option<&SessionId>) -> Result<RuleList> {
        match self {
            Self::Server(client) => {
                Ok(client.call(Method::GET, &["rules"], query(chat)?.as_deref(), None).await?)
            }
            Self::Local { engine, workspace, .. } => Ok(engine.rules(workspace, chat).await?),
        }
    }

    async fn add_rule(&self, new: NewRule) -> Result<ListedRule> {
        match self {
            Self::Server(client) => {
                let body = serde_json::to_value(&new)?;
                Ok(client.call(Method::POST, &["rules"], None, Some(&body)).await?)
            }
            Self::Local { engine, workspace, .. } => match engine.add_rule(workspace, None, new).await? {
                AddedRule::New(rule) | AddedRule::Known(rule) => Ok(*rule),
            },
        }
    }

    async fn revoke_rule(&self, chat: Option<&SessionId>, id: &RuleId) -> Result<()> {
        match self {
            Self::Server(client) => {
                Ok(client.delete(&["rules", id.as_str()], query(chat)?.as_deref()).await?)
            }
            Self::Local { engine, workspace, .. } => Ok(engine.revoke_rule(workspace, chat, id).await?),
        }
    }
}

fn query(chat: Option<&SessionId>) -> Result<Option<String>> {
    let Some(chat) = chat else { return Ok(None) };
    let mut url = Url::parse("http://localhost")?;
    url.query_pairs_mut().append_pair("chatId", chat.as_str());
    Ok(url.query().map(str::to_owned))
}

/// Finds the rule whose id begins like this.
fn named<'a>(list: &'a RuleList, id: &str) -> Result<&'a ListedRule> {
    let exact = list.rules.iter().find(|rule| rule.rule.id.as_str() == id);
    let mut similar = list.rules.iter().filter(|rule| rule.rule.id.as_str().starts_with(id));
    let found = match (exact, similar.next(), similar.next()) {
        (Some(exact), ..) => exact,
        (None, Some(only), None) => only,
        (None, Some(_), Some(_)) => {
            bail!("several rules have an id that begins with \"{id}\"; write more of it")
        }
        (None, None, _) => bail!("there is no rule \"{id}\"; `concertino rules list` shows all rules"),
    };
    match found.layer {
        RuleLayer::BuiltIn => bail!("the rule {} is built in and cannot be removed", found.rule.id),
        RuleLayer::Server => {
            bail!("the rule {} is in the settings file of the server; remove it there", found.rule.id)
        }
        RuleLayer::Workspace | RuleLayer::Session => Ok(found),
    }
}

/// Characters of an id in the list, enough to tell rules apart.
const SHORT_ID: usize = 12;

fn shown(list: &RuleList) -> String {
    let mode = match list.mode {
        ApprovalMode::Ask => "every call that reads or changes files asks",
        ApprovalMode::AutoReadOnly => "reading the workspace runs, changes ask",
        ApprovalMode::Yolo => "only sensitive calls ask",
    };
    let rows: Vec<Vec<String>> = list
        .rules
        .iter()
        .map(|listed| {
            let id = listed.rule.id.as_str();
            let fixed = matches!(listed.layer, RuleLayer::BuiltIn | RuleLayer::Server);
            let id = if fixed { "-".to_owned() } else { id.chars().take(SHORT_ID).collect() };
            vec![id, layer(listed.layer).to_owned(), about(listed)]
        })
        .collect();
    let columns = [Column::left("id"), Column::left("layer"), Column::flexible("rule")];
    format!("Mode: {} ({mode}).\n\n{}", list.mode.name(), table(&columns, &rows))
}

fn layer(layer: RuleLayer) -> &'static str {
    match layer {
        RuleLayer::BuiltIn => "built-in",
        RuleLayer::Server => "server",
        RuleLayer::Workspace => "workspace",
        RuleLayer::Session => "chat",
    }
}

/// The patterns of built-in rules are long; their note says what they are for.
fn about(listed: &ListedRule) -> String {
    match (&listed.rule.note, listed.layer) {
        (Some(note), RuleLayer::BuiltIn) => note.clone(),
        (Some(note), _) => format!("{} {note}", policy::describe(&listed.rule)),
        (None, _) => policy::describe(&listed.rule),
    }
}

#[cfg(test)]
mod tests {
    use protocol::Rule;

    use super::*;
    use crate::commands::chat::text;

    fn listed(id: &str, layer: RuleLayer) -> ListedRule {
        let calls = CallPattern { path: Some("src/**".to_owned()), ..CallPattern::default() };
        let rule = Rule { id: RuleId::new(id), effect: RuleEffect::Refuse, calls, note: None };
        ListedRule { rule, layer, chat_id: None, created_at: None, revocable: true }
    }

    fn list() -> RuleList {
        let mut rules = vec![
            listed("rul_1a2b3c4d5e6f", RuleLayer::Workspace),
            listed("rul_1a9999999999", RuleLayer::Workspace),
            listed("rul_server-1", RuleLayer::Server),
        ];
        let built_in = |rule| ListedRule { rule, ..listed("", RuleLayer::BuiltIn) };
        rules.extend(policy::built_in().into_iter().map(built_in));
        RuleList { mode: ApprovalMode::AutoReadOnly, rules }
    }

    #[test]
    fn the_list_fits_eighty_columns() {
        let shown = shown(&list());
        assert!(shown.lines().all(|line| text::width(line) <= 80), "{shown}");
        assert!(
            shown.starts_with("Mode: auto-read-only (reading the workspace runs, changes ask)."),
            "{shown}"
        );
        let line = "rul_1a2b3c4d  workspace  Refuse reading and changing below src/.";
        assert!(shown.lines().any(|shown| shown == line), "{shown}");
    }

    #[test]
    fn a_rule_is_named_by_the_beginning_of_its_id() {
        let list = list();
        let found =
            |id: &str| named(&list, id).map(|rule| rule.rule.id.to_string()).map_err(|e| e.to_string());
        assert_eq!(found("rul_1a2"), Ok("rul_1a2b3c4d5e6f".to_owned()));
        assert!(found("rul_1a").unwrap_err().contains("write more of it"));
        assert!(found("rul_x").unwrap_err().contains("there is no rule"));
        assert!(found("rul_server-1").unwrap_err().contains("settings file"));
        assert!(found("rul_built-in-repository").unwrap_err().contains("built in"));
    }

    #[test]
    fn the_id_of_a_chat_is_escaped_in_the_address() {
        let query = query(Some(&SessionId::new("a&b=c ü"))).unwrap();
        assert_eq!(query.as_deref(), Some("chatId=a%26b%3Dc+%C3%BC"));
    }
}
