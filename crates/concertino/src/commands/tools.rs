//! `concertino tools`: lists the tools by group, with what a call can do and what the rules in force say about it. Uses the
//! running server when there is one, else the data folder.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use protocol::{ListedTool, RuleEffect};
use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{
    listing::{Column, print, table},
    workspace_access::{WorkspaceAccess, WorkspaceFlags},
};
use crate::config::Config;

#[derive(Args)]
pub(crate) struct ToolsArguments {
    #[command(flatten)]
    workspace: WorkspaceFlags,
    /// Print JSON, as returned by GET /api/tools.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize, Deserialize)]
struct ToolList {
    tools: Vec<ListedTool>,
}

pub(crate) async fn tools(config: &Config, arguments: ToolsArguments) -> Result<ExitCode> {
    let list = match WorkspaceAccess::open(config, arguments.workspace).await? {
        WorkspaceAccess::Server(client) => client.call(Method::GET, &["tools"], None, None).await?,
        WorkspaceAccess::Local { engine, workspace, .. } => {
            ToolList { tools: engine.tools(&workspace).await? }
        }
    };
    if arguments.json {
        print(&serde_json::to_string_pretty(&list)?)?;
    } else {
        print(&shown(&list.tools))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tools of each group together, in the order of the groups' first tools; those without a group last.
fn shown(tools: &[ListedTool]) -> String {
    let mut groups: Vec<Option<&str>> = Vec::new();
    for tool in tools.iter().filter(|tool| tool.group.is_some()) {
        if !groups.contains(&tool.group.as_deref()) {
            groups.push(tool.group.as_deref());
        }
    }
    groups.push(None);
    let columns = [
        Column::left("group"),
        Column::left("tool"),
        Column::left("risk"),
        Column::left("rule"),
        Column::flexible("description"),
    ];
    let mut rows = Vec::new();
    for group in groups {
        for (place, tool) in tools.iter().filter(|tool| tool.group.as_deref() == group).enumerate() {
            let name = if place == 0 { group.unwrap_or("-") } else { "" };
            let rule = match tool.rule {
                RuleEffect::Allow => "runs",
                RuleEffect::Ask => "asks",
                RuleEffect::Refuse => "refused",
            };
            let description = tool.spec.description.split(['.', '\n', ':']).next().unwrap_or_default();
            rows.push(vec![
                name.to_owned(),
                tool.spec.name.clone(),
                tool.risk.name().to_owned(),
                rule.to_owned(),
                description.to_owned(),
            ]);
        }
    }
    format!("{}\nRules change this for single tools and paths: concertino rules", table(&columns, &rows))
}

#[cfg(test)]
mod tests {
    use protocol::{ToolRisk, ToolSpec};
    use serde_json::json;

    use super::*;

    fn tool(name: &str, group: Option<&str>, risk: ToolRisk, rule: RuleEffect) -> ListedTool {
        let description = format!("{}. More about it.", "What it does ".repeat(10));
        let spec = ToolSpec { name: name.to_owned(), description, input_schema: json!({}) };
        ListedTool { spec, group: group.map(str::to_owned), risk, rule }
    }

    #[test]
    fn tools_are_listed_by_group_within_eighty_columns() {
        let list = shown(&[
            tool("read-file", Some("file-read"), ToolRisk::Reads, RuleEffect::Allow),
            tool("sub-agent", None, ToolRisk::Delegates, RuleEffect::Allow),
            tool("write-file", Some("file-write"), ToolRisk::Writes, RuleEffect::Ask),
            tool("list-dir", Some("file-read"), ToolRisk::Reads, RuleEffect::Refuse),
        ]);
        assert!(list.lines().all(|line| super::super::chat::text::width(line) <= 80), "{list}");
        let starts: Vec<String> =
            list.lines().map(|line| line.split_whitespace().take(4).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            starts[..5],
            [
                "group tool risk rule",
                "file-read read-file reads runs",
                "list-dir reads refused What",
                "file-write write-file writes asks",
                "- sub-agent delegates runs",
            ]
        );
    }
}
