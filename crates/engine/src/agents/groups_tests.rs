//! Definitions, implementations, groups, agents and documents name the same tools.

use std::{collections::BTreeSet, fs, path::Path};

use super::*;
use crate::agents::{
    definition::{DYNAMIC, EVERYTHING},
    template,
};

/// Tools that belong to no group: what tries out approvals, and delegation itself, which allow-lists decide about.
const UNGROUPED: [&str; 2] = ["sub-agent", "test-approval"];

fn existing() -> BTreeSet<String> {
    tools::Registry::builtin(&[]).unwrap().names().map(str::to_owned).collect()
}

fn planned() -> BTreeSet<&'static str> {
    PLANNED.iter().flat_map(|(_, tools)| tools.iter().copied()).collect()
}

#[test]
fn the_settings_mode_opens_no_addresses() {
    assert!(!is_allowed_in(Some("settings"), "open-url"));
    assert!(is_allowed_in(Some("project"), "open-url") && is_allowed_in(None, "open-url"));
    assert_eq!(tools_of("file-write"), Some(&["write-file", "edit-file", "apply-patch"][..]));
    assert_eq!((tools_of("web"), tools_of("nonsense")), (None, None));
    assert_eq!((group_of("grep-files"), group_of("sub-agent")), (Some("file-read"), None));
}

#[test]
fn every_tool_is_in_one_group_and_every_group_has_only_tools_that_exist() {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, tools)| tools.iter().copied()).collect();
    let once: BTreeSet<&str> = grouped.iter().copied().collect();
    assert_eq!(once.len(), grouped.len(), "a tool is in two groups");
    let mut listed: BTreeSet<String> = once.iter().map(|tool| (*tool).to_owned()).collect();
    listed.extend(UNGROUPED.map(str::to_owned));
    assert_eq!(listed, existing());
    let names: BTreeSet<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), GROUPS.len());
}

#[test]
fn what_is_planned_does_not_exist_and_is_not_grouped() {
    let existing = existing();
    for tool in planned() {
        assert!(!existing.contains(tool), "{tool} is built: move it into its group");
        assert_eq!(group_of(tool), None, "{tool}");
    }
}

#[test]
fn built_in_agents_name_only_tools_and_agents_that_exist_or_are_planned() {
    let (existing, planned) = (existing(), planned());
    let agents = template::builtin();
    let mut named: BTreeSet<String> = BTreeSet::new();
    for agent in &agents {
        for group in &agent.groups {
            assert!(tools_of(group).is_some(), "{} names the group {group}", agent.name);
        }
        for tool in agent.named_tools().iter().filter(|tool| *tool != EVERYTHING) {
            assert!(
                existing.contains(tool) || planned.contains(tool.as_str()),
                "{} names {tool}",
                agent.name
            );
            named.insert(tool.clone());
        }
        for sub in agent.allowed_sub_agents.iter().filter(|sub| *sub != EVERYTHING && *sub != DYNAMIC) {
            assert!(agents.iter().any(|agent| agent.name == *sub), "{} may call {sub}", agent.name);
        }
    }
    // The other way round: no tool for files is without an agent that names it.
    for tool in tools_of("file-read").unwrap().iter().chain(tools_of("file-write").unwrap()) {
        assert!(named.contains(*tool), "no agent names {tool}");
    }
}

#[test]
fn agents_have_the_files_that_their_work_needs() {
    let agents = template::builtin();
    let has = |name: &str, tool: &str| {
        let agent = agents.iter().find(|agent| agent.name == name).unwrap();
        agent.tools.iter().any(|own| own == EVERYTHING) || agent.named_tools().iter().any(|own| own == tool)
    };
    for tool in tools_of("file-read").unwrap() {
        for agent in ["general", "research", "document", "debugger", "requirement_analyzer"] {
            assert!(has(agent, tool), "{agent} has no {tool}");
        }
    }
    for tool in tools_of("file-write").unwrap() {
        assert!(has("general", tool) && has("document", tool) && !has("research", tool), "{tool}");
    }
}

#[test]
fn every_tool_has_a_page_in_both_languages_and_every_page_a_tool() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools");
    let pages: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let wanted: BTreeSet<String> =
        existing().iter().flat_map(|tool| [format!("{tool}.md"), format!("{tool}.zh-CN.md")]).collect();
    assert_eq!(pages, wanted);
}
