//! The agents of a file in the registry: their order, what they replace, and the tools that the model is offered.

use protocol::WorkspaceId;

use super::*;
use crate::agents::{
    FileAgents,
    tool_set::{ToolScope, ToolSet},
};

fn here() -> WorkspaceId {
    WorkspaceId::default_workspace()
}

fn with_file(text: &str) -> AgentRegistry {
    let registry = registry();
    let main_file = parse(text, &registry).unwrap().agents;
    registry.set_files(FileAgents { main_file, ..FileAgents::default() });
    registry
}

fn listed(registry: &AgentRegistry) -> Vec<String> {
    registry.main_agents(&here()).iter().map(|agent| agent.name.clone()).collect()
}

fn offered(registry: &AgentRegistry, id: &str) -> Vec<String> {
    let agent = registry.main_exact(&here(), id).unwrap();
    let scope = ToolScope { workspace: &here(), mode: None, page: None };
    let tools = tools::Registry::builtin(&[]).unwrap();
    let mut names = ToolSet::of(&agent, scope, registry, &tools).names();
    names.sort();
    names
}

#[test]
fn the_file_of_the_conformance_suite_gives_its_agents() {
    let registry = with_file(CONFORMANCE);
    let expected =
        ["general", "requirement_analyzer", "debugger", "code_reviewer", "operator", "legacy", "delegator"];
    assert_eq!(listed(&registry), expected);
    let reviewer = registry.main_exact(&here(), "code_reviewer").unwrap();
    assert_eq!(
        (reviewer.display_name.as_str(), reviewer.description.as_str()),
        ("Code Reviewer", "代码审查专家")
    );
    assert_eq!(offered(&registry, "code_reviewer"), ["read-file"]);
    assert_eq!(offered(&registry, "operator"), ["read-file", "shell-command"]);
    assert_eq!(offered(&registry, "legacy"), ["read-file", "shell-command"]);
    assert_eq!(offered(&registry, "delegator"), ["read-file", "sub-agent"]);
    let operator = registry.main_exact(&here(), "operator").unwrap();
    assert!(operator.prompt.text().contains("\"quotes\", {{braces}}, {% tags %} and ünïcödé."));
    let notices = read(CONFORMANCE).notices;
    let dropped: Vec<&Notice> = notices.iter().filter(|one| one.severity == Severity::Dropped).collect();
    assert_eq!(dropped.len(), 2, "{notices:?}");
    assert!(dropped[0].text.contains("Bad Agent") && dropped[1].text.contains("mismatch"), "{notices:?}");
}

#[test]
fn agents_are_ordered_by_time_and_then_by_their_place() {
    let text = "[agents.z]\n[agents.m]\nbasicInfo.createdAt = 2026-01-02T00:00:00Z\n\
                [agents.b]\nbasicInfo.createdAt = \"2026-01-02T00:00:00Z\"\n[agents.a]\n\
                [agents.c]\nbasicInfo.createdAt = \"1969-01-01T00:00:00Z\"\n\
                [agents.y]\nbasicInfo.createdAt = \"2026-01-02T08:00:00+09:00\"\n";
    assert_eq!(names(&read(text)), ["z", "a", "c", "y", "m", "b"]);
}

#[test]
fn an_entry_with_the_id_of_a_built_in_replaces_it_in_its_place() {
    let registry = with_file(
        "[agents.x]\n[agents.debugger]\nmainAgentRole = \"mine\"\n[agents.general]\nmainAgentRole = \"also mine\"\n",
    );
    assert_eq!(listed(&registry), ["general", "requirement_analyzer", "debugger", "x"]);
    let debugger = registry.main_exact(&here(), "debugger").unwrap();
    assert_eq!((debugger.prompt.text(), debugger.tools.len()), ("mine", 0), "the whole entry is replaced");
    assert_eq!(offered(&registry, "debugger"), [""; 0]);
    // A message without a name of an agent gets the replaced one too.
    assert_eq!(registry.main(&here(), None).unwrap().prompt.text(), "also mine");
    registry.set_files(FileAgents::default());
    assert_eq!(listed(&registry), ["general", "requirement_analyzer", "debugger"]);
    assert_ne!(registry.main_exact(&here(), "debugger").unwrap().prompt.text(), "mine");
}

#[test]
fn folders_and_the_workspace_come_after_the_file_and_disabled_agents_not_at_all() {
    let registry = registry();
    let main_file = read("[agents.c]\n[agents.b]\n").agents;
    let main = |name: &str, source: AgentSource| AgentDefinition {
        source,
        ..AgentDefinition::bare(AgentKind::Main, name, "folder or workspace")
    };
    let folders =
        vec![main("a", AgentSource::File), main("c", AgentSource::File), main("Bäd", AgentSource::File)];
    registry.set_files(FileAgents { main_file, folders, warnings: Vec::new() });
    let off = AgentDefinition { enabled: false, ..main("off", AgentSource::Database) };
    let sub = AgentDefinition::bare(AgentKind::Sub, "sub", "p");
    let own = vec![main("own", AgentSource::Database), main("b", AgentSource::Database), off, sub];
    registry.set_workspace(&here(), own);
    let builtin = ["general", "requirement_analyzer", "debugger"];
    assert_eq!(listed(&registry)[..3], builtin);
    assert_eq!(listed(&registry)[3..], ["c", "b", "a", "own"]);
    assert_eq!(registry.main_exact(&here(), "b").unwrap().source, AgentSource::Database);
    assert_ne!(
        registry.main_exact(&here(), "c").unwrap().prompt.text(),
        "folder or workspace",
        "the file precedes folders"
    );
    let elsewhere = WorkspaceId::new("elsewhere");
    assert_eq!(registry.main_agents(&elsewhere).len(), 6);
    for id in ["", " general", "General", "main", "sub", "off", "Bäd", "nobody", "shell"] {
        assert!(registry.main_exact(&here(), id).is_none(), "{id:?}");
    }
}

#[test]
fn a_workspace_with_fewer_tools_offers_what_it_may_use() {
    let tools = tools::Registry::builtin(&[]).unwrap();
    let mut limits = WorkspaceTools::default();
    limits.limit(here(), ["read-file".to_owned()]);
    let registry = AgentRegistry::new(tools.names(), limits);
    let main_file = parse(CONFORMANCE, &registry).unwrap().agents;
    registry.set_files(FileAgents { main_file, ..FileAgents::default() });
    assert_eq!(offered(&registry, "operator"), ["read-file"]);
}

#[test]
fn built_ins_have_the_names_and_limits_of_the_specification() {
    let registry = registry();
    let names: Vec<String> =
        registry.main_agents(&here()).iter().map(|agent| agent.display_name.clone()).collect();
    assert_eq!(names, ["General", "Requirement Analyzer", "Debugger"]);
    let suffixes = |id: &str| registry.main_exact(&here(), id).unwrap().editable_suffixes.clone();
    assert_eq!(suffixes("requirement_analyzer"), [".md"]);
    assert!(suffixes("general").is_empty() && suffixes("debugger").is_empty());
}

#[test]
fn readers_see_one_version_of_the_files_or_the_other() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let registry = registry();
    let versions: Vec<Vec<AgentDefinition>> = (0..2)
        .map(|version| {
            let text: String = (0..50)
                .map(|at| format!("[agents.v{version}-{at}]\nmainAgentRole = \"v{version}\"\n"))
                .collect();
            read(&text).agents
        })
        .collect();
    let set = |version: usize| {
        registry.set_files(FileAgents { main_file: versions[version].clone(), ..FileAgents::default() });
    };
    set(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let list = registry.main_agents(&here());
                    assert_eq!(list.len(), 53);
                    let first = list[3].prompt.text().to_owned();
                    assert!(list[3..].iter().all(|agent| agent.prompt.text() == first), "a mixed list");
                }
            });
        }
        (0..400).for_each(|at| set(at % 2));
        done.store(true, Ordering::Relaxed);
    });
}
