//! What every request of a plain chat begins with, and what it costs: the role, the preface and the tools.

use protocol::{RunOptions, ToolSpec, WorkspaceId};

use super::{preface, prompt};
use crate::{
    agents::{
        AgentRegistry, WorkspaceTools, groups,
        template_threads::TemplateThreads,
        tool_set::{ToolScope, ToolSet},
    },
    token_estimate,
};

/// The tokens of role and preface, and the tools, of the main agent in a plain chat.
async fn standing() -> (u64, Vec<ToolSpec>) {
    let here = WorkspaceId::default_workspace();
    let tools = tools::Registry::builtin(&[]).unwrap();
    let agents = AgentRegistry::new(tools.names(), WorkspaceTools::default());
    let general = agents.main(&here, None).unwrap();
    let options = RunOptions::default();
    let set = ToolSet::of(&general, ToolScope::of(&here, &options), &agents, &tools);
    let preface = preface::of_run(None, &general, &options, async { None }).await.text;
    let threads = TemplateThreads::default();
    let system = prompt::system(&general, &set, &here, &options, None, &preface, &threads).await.unwrap();
    (token_estimate::of_text(&system), set.specs.to_vec())
}

#[tokio::test]
async fn the_standing_prompt_of_a_plain_chat_stays_small() {
    let (system, tools) = standing().await;
    let all = token_estimate::of_tools(&tools);
    let is_file_tool =
        |tool: &&ToolSpec| groups::group_of(&tool.name).is_some_and(|group| group.starts_with("file-"));
    let files: Vec<ToolSpec> = tools.iter().filter(is_file_tool).cloned().collect();
    assert_eq!(files.len(), 7, "the main agent has the tools for files");
    let files = token_estimate::of_tools(&files);
    println!(
        "standing prompt: {system} role and preface + {all} tools ({files} of them for files) = {}",
        system + all
    );
    assert!(system <= 900, "role and preface: {system} tokens");
    assert!(files <= 2_400, "the tools for files: {files} tokens");
    let is_command_tool = |tool: &&ToolSpec| groups::group_of(&tool.name) == Some("shell");
    let commands: Vec<ToolSpec> = tools.iter().filter(is_command_tool).cloned().collect();
    let commands = token_estimate::of_tools(&commands);
    println!("the tools for commands: {commands}");
    assert!(commands <= 1_050, "the tools for commands: {commands} tokens");
    let asking: Vec<ToolSpec> =
        tools.iter().filter(|tool| tool.name == "request-user-input").cloned().collect();
    let asking = token_estimate::of_tools(&asking);
    assert!((1..=670).contains(&asking), "the tool that asks the person: {asking} tokens");
    assert!(system + all <= 5_850, "in all: {} tokens", system + all);
}
