//! Names, aliases, strength and availability of agents.

use super::*;

fn registry() -> AgentRegistry {
    let own = ["time-now", "update-plan", "test-approval"];
    let tools = own.iter().chain(crate::agents::groups::tools_of("file-read").unwrap()).copied();
    AgentRegistry::new(tools, WorkspaceTools::default())
}

fn here() -> WorkspaceId {
    WorkspaceId::default_workspace()
}

fn own(kind: AgentKind, name: &str) -> AgentDefinition {
    AgentDefinition {
        workspace: Some(here()),
        source: AgentSource::Database,
        ..AgentDefinition::bare(kind, name, "own")
    }
}

#[test]
fn aliases_lead_to_their_agent() {
    let registry = registry();
    for (alias, name) in [("master", "general"), ("main", "general"), ("debugger", "debugger")] {
        assert_eq!(registry.main(&here(), Some(alias)).unwrap().name, name);
    }
    assert_eq!(registry.main(&here(), None).unwrap().name, "general");
    assert_eq!(registry.sub(&here(), "testapprovalsubagent").unwrap().name, "test-approval");
    for (alias, name) in [
        ("agent_search", "search"),
        ("agent_browser", "browser"),
        ("BrowserSubAgent", "browser"),
        ("agent_file", "file"),
        ("agent_generate", "generate"),
        ("DocumentAnalysisSubAgent", "document"),
    ] {
        let Err(NoAgent::Unavailable { name: found, .. }) = registry.sub(&here(), alias) else {
            panic!("{alias}")
        };
        assert_eq!(found, name);
    }
}

#[test]
fn an_empty_or_unknown_name_lists_the_names() {
    for name in ["", "  ", "brwoser"] {
        let error = registry().sub(&here(), name).unwrap_err().to_string();
        assert!(error.contains("research, test-approval, dynamic"), "{error}");
    }
    let error = registry().main(&here(), Some("browser")).unwrap_err().to_string();
    assert!(error.contains("general, requirement_analyzer, debugger"), "{error}");
}

#[test]
fn an_agent_whose_tools_do_not_exist_is_listed_with_the_reason_and_cannot_be_called() {
    let listed = registry().list(&here());
    assert_eq!(listed.len(), 15);
    let calendar = listed.iter().find(|one| one.agent.name == "calendar").unwrap();
    let reason = calendar.unavailable.clone().unwrap();
    assert_eq!(reason, "the tools calendar-query, calendar-mutate do not exist");
    let error = registry().sub(&here(), "calendar").unwrap_err().to_string();
    assert!(error.contains(&reason), "{error}");
}

#[test]
fn a_workspaces_main_agent_replaces_the_built_in_one_and_its_sub_agent_does_not() {
    let registry = registry();
    registry.set_workspace(&here(), vec![own(AgentKind::Main, "general"), own(AgentKind::Sub, "research")]);
    assert_eq!(registry.main(&here(), None).unwrap().prompt.text(), "own");
    assert_ne!(registry.sub(&here(), "research").unwrap().prompt.text(), "own");
    let elsewhere = WorkspaceId::new("elsewhere");
    assert_ne!(registry.main(&elsewhere, None).unwrap().prompt.text(), "own");
}

#[test]
fn a_disabled_agent_says_so() {
    let registry = registry();
    let off = AgentDefinition { enabled: false, ..own(AgentKind::Sub, "mine") };
    registry.set_workspace(&here(), vec![off]);
    assert_eq!(registry.sub(&here(), "mine"), Err(NoAgent::Disabled("mine".to_owned())));
}
