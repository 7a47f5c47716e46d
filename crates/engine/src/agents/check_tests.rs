//! What is wrong with a definition, all at once.

use std::sync::Arc;

use models::Scripted;

use super::*;
use crate::agents::WorkspaceTools;

fn here() -> WorkspaceId {
    WorkspaceId::default_workspace()
}

fn registry() -> AgentRegistry {
    AgentRegistry::new(["time-now", "update-plan", "test-approval", "open-url"], WorkspaceTools::default())
}

fn fields(name: &str, tools: &[&str]) -> AgentFields {
    let mut agent = AgentDefinition::bare(AgentKind::Sub, name, "You work.");
    agent.description = "Works.".to_owned();
    agent.tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
    agent.fields()
}

fn stored(fields: AgentFields) -> AgentDefinition {
    let id = AgentId::new(format!("agt_{}", fields.name));
    let agent = AgentDefinition::from_fields(fields, AgentSource::Database);
    AgentDefinition { id: Some(id), workspace: Some(here()), ..agent }
}

fn check(agents: &AgentRegistry, workspace: &WorkspaceId, fields: &AgentFields) -> AgentCheck {
    let catalog = Catalog::of(Arc::new(Scripted::new([])));
    let id = AgentId::new(format!("agt_{}", fields.name));
    let source = AgentSource::Database;
    let listed = agents.list(workspace);
    Checker { agents, listed: &listed, catalog: &catalog, workspace, id: Some(&id), source }.check(fields)
}

fn found(problems: &[FieldProblem]) -> Vec<(&str, &str)> {
    problems.iter().map(|problem| (problem.path.as_str(), problem.code.as_str())).collect()
}

#[test]
fn everything_that_is_wrong_is_listed_at_once_with_its_place() {
    let mut wrong = fields("two words", &["time-now", "time_nwo", "sub-agent", "*"]);
    wrong.groups = vec!["nonsense".to_owned(), "file-read".to_owned()];
    wrong.allowed_sub_agents = vec!["two words".to_owned(), "*".to_owned(), "reserch".to_owned()];
    wrong.system_prompt = "{{ weather }}".to_owned();
    wrong.fallback = vec!["nobody/nothing".to_owned()];
    (wrong.max_steps, wrong.max_depth) = (0, 17);
    wrong.budget.tokens = Some(0);
    wrong.page_ids = vec![String::new()];
    let checked = check(&registry(), &here(), &wrong);
    assert_eq!(
        found(&checked.problems),
        [
            ("name", "bad_name"),
            ("systemPrompt", "unknown_variable"),
            ("fallback[0]", "unknown_model"),
            ("toolKeys[1]", "unknown_tool"),
            ("toolKeys[2]", "delegation_tool"),
            ("toolKeys[3]", "unknown_tool"),
            ("groups[0]", "unknown_group"),
            ("groups[1]", "unknown_tool"),
            ("allowedSubAgents[0]", "recursion"),
            ("allowedSubAgents[1]", "unknown_agent"),
            ("maxDepth", "out_of_range"),
            ("maxSteps", "out_of_range"),
            ("budget.tokens", "out_of_range"),
            ("pageIds[0]", "bad_text"),
        ]
    );
    assert!(checked.problems[3].fix.starts_with("Did you mean time-now? The tools are: "));
    assert_eq!(found(&checked.warnings), [("allowedSubAgents[2]", "unknown_agent")]);
    assert!(checked.warnings[0].fix.starts_with("Did you mean research? "));
}

#[test]
fn a_definition_that_is_right_has_no_problems() {
    let checked = check(&registry(), &here(), &fields("tidy", &["time-now"]));
    assert_eq!(checked, AgentCheck::default());
}

#[test]
fn a_sub_agent_cannot_take_the_name_of_one_that_stands_before_it() {
    let agents = registry();
    agents.set_workspace(&here(), vec![stored(fields("mine", &[]))]);
    for name in ["research", "Research", "BrowserSubAgent"] {
        assert_eq!(found(&check(&agents, &here(), &fields(name, &[])).problems), [("name", "name_taken")]);
    }
    assert_eq!(
        found(&check(&agents, &here(), &fields("dynamic", &[])).problems),
        [("name", "reserved_name")]
    );
    assert_eq!(found(&check(&agents, &here(), &fields("Mine", &[])).problems), [("name", "name_taken")]);
    assert_eq!(check(&agents, &here(), &fields("mine", &[])).problems, [], "it replaces itself");
    let elsewhere = WorkspaceId::new("elsewhere");
    assert_eq!(check(&agents, &elsewhere, &fields("mine", &[])).problems, []);
}

#[test]
fn a_main_agent_may_replace_one_that_comes_with_the_program() {
    let mut main = fields("general", &[]);
    main.kind = AgentKind::Main;
    assert_eq!(check(&registry(), &here(), &main).problems, []);
    main.name = "master".to_owned();
    assert_eq!(found(&check(&registry(), &here(), &main).problems), [("name", "name_taken")]);
}

#[test]
fn a_tool_that_the_workspace_may_not_use_is_refused_with_the_reason() {
    let mut limits = WorkspaceTools::default();
    limits.limit(WorkspaceId::new("guests"), ["time-now".to_owned()]);
    let agents = AgentRegistry::new(["time-now", "update-plan"], limits);
    let agent = fields("a", &["time-now", "update-plan"]);
    assert_eq!(check(&agents, &here(), &agent).problems, []);
    let checked = check(&agents, &WorkspaceId::new("guests"), &agent);
    assert_eq!(found(&checked.problems), [("toolKeys[1]", "tool_not_allowed")]);
    assert_eq!(checked.problems[0].message, "This workspace may not use the tool update-plan.");
    assert_eq!(checked.problems[0].fix, "The tools are: time-now.");
}

#[test]
fn an_agent_cannot_have_more_than_those_who_call_it_nor_call_one_that_has_more() {
    let agents = registry();
    let mut lead = fields("lead", &["time-now"]);
    lead.allowed_sub_agents = vec!["helper".to_owned()];
    agents.set_workspace(&here(), vec![stored(lead.clone()), stored(fields("helper", &["time-now"]))]);
    let more = check(&agents, &here(), &fields("helper", &["time-now", "update-plan"]));
    assert_eq!(found(&more.problems), [("toolKeys[1]", "more_than_parent")]);
    assert!(more.problems[0].message.contains("\"lead\" may call this agent"));
    lead.tool_keys.clear();
    let less = check(&agents, &here(), &lead);
    assert_eq!(found(&less.problems), [("allowedSubAgents[0]", "more_than_parent")]);
    // What comes with the program is as its makers meant it.
    lead.allowed_sub_agents = vec!["research".to_owned(), "dynamic".to_owned()];
    assert_eq!(check(&agents, &here(), &lead).problems, []);
}

#[test]
fn rule_10_the_settings_mode_has_no_open_url() {
    let mut agent = fields("a", &["open-url"]);
    assert_eq!(check(&registry(), &here(), &agent).problems, []);
    agent.modes = vec!["settings".to_owned()];
    assert_eq!(found(&check(&registry(), &here(), &agent).problems), [("toolKeys[0]", "not_in_mode")]);
    agent.modes.push("project".to_owned());
    assert_eq!(check(&registry(), &here(), &agent).problems, []);
}
