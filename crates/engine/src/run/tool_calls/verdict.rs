//! Decides once, before a call runs, whether it runs, is asked about or is refused.

use files::FileDomain;
use policy::Need;
use protocol::{FailureCode, Question, Verdict};
use tools::PreparedCall;

use crate::{
    agents::tool_set::ToolSet,
    run::{agent_loop::turn::Plan, context::AgentContext},
    session::rules::SessionRules,
};

/// What a verdict depends on besides the call.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) tools: &'a ToolSet,
    pub(crate) rules: &'a SessionRules,
    pub(crate) files: &'a FileDomain,
}

impl<'a> Judge<'a> {
    pub(crate) fn of(run: &'a AgentContext) -> Self {
        Self { tools: &run.agent.tools, rules: &run.tree.rules, files: &run.run.files.workspace.domain }
    }

    /// The plan of a call that was checked and that nobody was asked about.
    pub(crate) fn plan(&self, tool: &str, call: &dyn PreparedCall) -> Plan {
        let need = call.need(self.files);
        match self.verdict(tool, &need) {
            Verdict::Run => Plan::Run,
            Verdict::Ask { why, grant, sensitive } => {
                let form = match need {
                    Need::Input { form } => Some(form),
                    _ => None,
                };
                Plan::Ask(Box::new(Question { why, always: grant, sensitive, files: Vec::new(), form }))
            }
            Verdict::Refuse { why } => Plan::Refuse(why),
        }
    }

    /// The plan of a call that a person allowed: it runs, unless the rules refuse it by now.
    pub(crate) fn plan_allowed(&self, tool: &str, call: &dyn PreparedCall) -> Plan {
        match self.verdict(tool, &call.need(self.files)) {
            Verdict::Refuse { why } => Plan::Refuse(why),
            Verdict::Run | Verdict::Ask { .. } => Plan::Run,
        }
    }

    fn verdict(&self, tool: &str, need: &Need) -> Verdict {
        match need {
            // The tool's own words have their code.
            Need::Refused { why } => Verdict::Refuse { why: why.clone() },
            need => match self.rules.in_force().judge(tool, need) {
                Verdict::Refuse { why } => {
                    Verdict::Refuse { why: format!("{}: {why}", FailureCode::AccessDenied) }
                }
                verdict => verdict,
            },
        }
    }
}
