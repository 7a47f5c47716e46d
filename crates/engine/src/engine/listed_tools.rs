//! The tools with their group, their risk and what the rules in force say about an ordinary call.

use policy::{Need, RuleSet};
use protocol::{ListedTool, RuleEffect, ToolRisk, Verdict, WorkspaceId};

use crate::{Engine, EngineError, agents::groups};

impl Engine {
    /// Lists all tools, in the order in which a model reads them.
    pub async fn tools(&self, workspace: &WorkspaceId) -> Result<Vec<ListedTool>, EngineError> {
        let rules = self.services.tools.rules.of_workspace(workspace).await?;
        let listed = self.services.tools.registry.all().map(|tool| {
            let spec = tool.spec().clone();
            let group = groups::group_of(&spec.name);
            let rule = ordinary(&rules.set, &spec.name, tool.risk(), group);
            ListedTool { rule, risk: tool.risk(), group: group.map(str::to_owned), spec }
        });
        Ok(listed.collect())
    }
}

/// What happens to a call that touches an ordinary file. Rules about single paths, and sensitive files, are not meant.
fn ordinary(rules: &RuleSet, tool: &str, risk: ToolRisk, group: Option<&str>) -> RuleEffect {
    let paths = || vec!["example.txt".to_owned()];
    let need = match risk {
        ToolRisk::Reads if group == Some("file-read") => Need::Read { paths: paths() },
        ToolRisk::Reads | ToolRisk::Delegates | ToolRisk::FrontEnd => Need::Nothing,
        ToolRisk::Writes => Need::Write { paths: paths(), why: String::new() },
        // It asks in every mode, like a call that no rule may allow.
        ToolRisk::Input => Need::Approval { why: String::new(), always: false },
        ToolRisk::Asks | ToolRisk::Executes => Need::Approval { why: String::new(), always: true },
    };
    match rules.judge(tool, &need) {
        Verdict::Run => RuleEffect::Allow,
        Verdict::Ask { .. } => RuleEffect::Ask,
        Verdict::Refuse { .. } => RuleEffect::Refuse,
    }
}
