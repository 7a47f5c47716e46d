//! Prompt templates: whatever a client or a file says.

use engine::agents::{
    AgentDefinition,
    prompt::{self, Scene},
};
use protocol::{AgentKind, AgentSource, RunOptions, WorkspaceId};

/// The longest text a template may become.
const LONGEST_OUTPUT: usize = 128 << 10;

/// Checking and rendering end without a panic, within the limits, and every problem says where it is and what to do.
pub fn template(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let lines = text.lines().count().max(1);
    let problems = prompt::problems("systemPrompt", text);
    for problem in &problems {
        assert!(
            problem.line.is_some_and(|line| (1..=lines).contains(&line)),
            "{:?} of {lines}",
            problem.line
        );
        assert!(!problem.message.is_empty() && problem.message.len() < 1000 && !problem.fix.is_empty());
    }
    let mut fields = AgentDefinition::bare(AgentKind::Sub, "tester", "").fields();
    fields.system_prompt = text.to_owned();
    let agent = AgentDefinition::from_fields(fields, AgentSource::Database);
    let workspace = WorkspaceId::default_workspace();
    let options = RunOptions { project_id: Some(text.to_owned()), ..RunOptions::default() };
    for count in [0, 1, 40] {
        let tools: Vec<String> = (0..count).map(|number| format!("tool-{number} 'ß\u{1}")).collect();
        let scene = Scene {
            workspace: &workspace,
            options: &options,
            caller: Some("caller"),
            tools: &tools,
            sub_agents: &tools,
        };
        match prompt::write_here(&agent, &scene) {
            Ok(written) => assert!(written.len() <= LONGEST_OUTPUT.max(text.len())),
            Err(error) => assert!(!error.is_empty() && error.len() < 1000),
        }
    }
    let literal = AgentDefinition::bare(AgentKind::Sub, "tester", text);
    let scene = Scene { workspace: &workspace, options: &options, caller: None, tools: &[], sub_agents: &[] };
    assert_eq!(prompt::write_here(&literal, &scene).as_deref(), Ok(text), "text of a model is literal");
}
