//! Agents that workspaces define: unique by id and by name, changed from the version that was seen.

use protocol::{AgentId, AgentKind, BudgetLimits, Timestamp, WorkspaceId, wire::agents::AgentFields};
use store::{DefinitionRecord, StoreError};

use crate::StoreLocation;

fn record(workspace: &str, id: &str, name: &str) -> DefinitionRecord {
    DefinitionRecord {
        workspace: WorkspaceId::new(workspace),
        id: AgentId::new(id),
        version: 1,
        created_at: Timestamp(1_000),
        updated_at: Timestamp(1_000),
        fields: AgentFields {
            name: name.to_owned(),
            kind: AgentKind::Sub,
            display_name: "审阅者".to_owned(),
            description: "it's \"quoted\"".to_owned(),
            enabled: true,
            system_prompt: "{{ project }}\n🎻".to_owned(),
            system_prompt_zh: None,
            model: None,
            fallback: Vec::new(),
            tool_keys: vec!["time-now".to_owned()],
            groups: Vec::new(),
            tool_groups: Vec::new(),
            allowed_sub_agents: vec!["search".to_owned()],
            editable_file_suffixes: vec![".md".to_owned()],
            max_depth: 4,
            max_steps: 20,
            budget: BudgetLimits { tokens: Some(u64::MAX), ..BudgetLimits::default() },
            auto_broadcast: true,
            modes: Vec::new(),
            page_ids: vec!["editor".to_owned()],
            aliases: Vec::new(),
        },
    }
}

fn conflict(result: Result<(), StoreError>) {
    assert!(matches!(result, Err(StoreError::Conflict)), "{result:?}");
}

pub async fn a_definition_is_kept_as_it_was_given_also_after_another_start(location: &StoreLocation) {
    let store = location.open();
    let (b, a) = (record("w", "1", "b"), record("w", "2", "a"));
    store.add_definition(b.clone()).await.unwrap();
    store.add_definition(a.clone()).await.unwrap();
    store.add_definition(record("elsewhere", "1", "b")).await.unwrap();
    let store = location.open();
    let here = WorkspaceId::new("w");
    assert_eq!(store.definitions(&here).await.unwrap(), [a.clone(), b.clone()], "by name");
    assert_eq!(store.definition(&here, &b.id).await.unwrap(), Some(b));
    assert_eq!(store.definition(&here, &AgentId::new("3")).await.unwrap(), None);
    let workspaces = store.workspaces_with_definitions().await.unwrap();
    assert_eq!(workspaces, [WorkspaceId::new("elsewhere"), here]);
    assert_eq!(store.definitions(&WorkspaceId::new("nobody")).await.unwrap(), []);
}

pub async fn an_id_and_a_name_are_given_once_in_a_workspace(location: &StoreLocation) {
    let store = location.open();
    store.add_definition(record("w", "1", "a")).await.unwrap();
    conflict(store.add_definition(record("w", "1", "other")).await);
    conflict(store.add_definition(record("w", "2", "a")).await);
    store.add_definition(record("w", "2", "b")).await.unwrap();
    conflict(store.change_definition(DefinitionRecord { version: 2, ..record("w", "2", "a") }, 1).await);
    let kept = store.definition(&WorkspaceId::new("w"), &AgentId::new("2")).await.unwrap().unwrap();
    assert_eq!((kept.fields.name.as_str(), kept.version), ("b", 1));
}

pub async fn a_change_and_a_removal_need_the_present_version(location: &StoreLocation) {
    let store = location.open();
    let here = WorkspaceId::new("w");
    store.add_definition(record("w", "1", "a")).await.unwrap();
    let second = DefinitionRecord { version: 2, updated_at: Timestamp(2_000), ..record("w", "1", "renamed") };
    store.change_definition(second.clone(), 1).await.unwrap();
    conflict(store.change_definition(DefinitionRecord { version: 3, ..second.clone() }, 1).await);
    assert_eq!(store.definition(&here, &second.id).await.unwrap(), Some(second.clone()));
    conflict(store.change_definition(DefinitionRecord { version: 2, ..record("x", "1", "a") }, 1).await);
    conflict(store.remove_definition(&here, &second.id, 1).await);
    store.remove_definition(&here, &second.id, 2).await.unwrap();
    conflict(store.remove_definition(&here, &second.id, 2).await);
    assert_eq!(store.definitions(&here).await.unwrap(), []);
    store.add_definition(record("w", "2", "renamed")).await.unwrap();
}

pub async fn only_one_of_many_concurrent_changes_of_a_version_succeeds(location: &StoreLocation) {
    let store = location.open();
    store.add_definition(record("w", "1", "a")).await.unwrap();
    let mut changes = tokio::task::JoinSet::new();
    for number in 0..16 {
        let store = std::sync::Arc::clone(&store);
        let new = DefinitionRecord { version: 2, ..record("w", "1", &format!("n{number}")) };
        changes.spawn(async move { store.change_definition(new, 1).await.is_ok() });
    }
    let won = changes.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!(won, 1);
}
