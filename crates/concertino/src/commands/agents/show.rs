//! Formats one agent for a terminal, at most 80 columns wide.

use protocol::wire::agents::AgentInfo;

use super::{
    import::wrap_words,
    table::{kind, source},
};
use crate::commands::chat::text;

const COLUMNS: usize = 80;
const LABEL: usize = 14;

pub(super) fn show(agent: &AgentInfo) -> String {
    let fields = &agent.fields;
    let mut out = String::new();
    let mut line = |label: &str, value: &str| {
        let value = text::one_line(value);
        for (at, part) in wrap_words(&value, COLUMNS - LABEL).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            out.push_str(&format!("{label:LABEL$}{part}\n"));
        }
    };
    line("name", &fields.name);
    line("display name", &fields.display_name);
    line("description", &fields.description);
    line("kind", kind(fields.kind));
    line("source", &format!("{}, version {}", source(agent.source), agent.version));
    if let Some(id) = &agent.id {
        line("id", id.as_str());
    }
    let available = agent.reason.as_ref().map_or("yes".to_owned(), |reason| format!("no: {reason}"));
    line("available", &available);
    if let Some(model) = &fields.model {
        let params: Vec<String> = model.params.iter().map(|(key, value)| format!("{key} {value}")).collect();
        line("model", &format!("{} {}", model.name(), params.join(", ")));
    }
    line("fallback", &fields.fallback.join(", then "));
    line("tools", &or(agent.effective_tools.join(", "), "none"));
    line(
        "sub-agents",
        &or(
            fields.allowed_sub_agents.join(", ").replace('*', "all agents of files and the database"),
            "none",
        ),
    );
    let time = fields.budget.wall_time_ms.map(|time| format!(", {} s", time / 1000)).unwrap_or_default();
    line("limits", &format!("{} steps, {} levels deep{time}", fields.max_steps, fields.max_depth));
    line("edits only", &fields.editable_file_suffixes.join(", "));
    line("modes", &fields.modes.join(", "));
    line("pages", &fields.page_ids.join(", "));
    line("aliases", &fields.aliases.join(", "));
    for warning in &agent.warnings {
        line("!", &format!("{}: {} {}", warning.path, warning.message, warning.fix));
    }
    for (title, prompt) in
        [("prompt", Some(&fields.system_prompt)), ("prompt (Chinese)", fields.system_prompt_zh.as_ref())]
    {
        let Some(prompt) = prompt else { continue };
        out.push_str(&format!("{title}\n"));
        for paragraph in text::visible(prompt).lines() {
            let lines = wrap_words(paragraph, COLUMNS - 2);
            if lines.is_empty() {
                out.push('\n');
            }
            out.extend(lines.iter().map(|line| format!("  {line}\n")));
        }
    }
    out
}

fn or(text: String, default: &str) -> String {
    if text.is_empty() { default.to_owned() } else { text }
}
