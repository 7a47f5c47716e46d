//! Requests of the engine itself: for a summary of a conversation, or for its title.

use serde_json::Value;

/// Marks a fact that a summary must keep: `FACT[the cat is called Mo]`.
const FACT: &str = "FACT[";

/// Returns the answer to such a request: the marked facts, each once, or a title. `None` for any other request.
pub(super) fn answer(body: &Value) -> Option<String> {
    let text = |role: &str| {
        let mut messages = body["messages"].as_array()?.iter();
        messages.find(|message| message["role"] == role)?["content"].as_str()
    };
    let system = text("system")?;
    if system.starts_with("You write summaries of conversations") {
        let mut facts: Vec<&str> = Vec::new();
        for rest in text("user")?.split(FACT).skip(1) {
            let fact = rest.split(']').next().unwrap_or_default();
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        let facts: Vec<String> = facts.iter().map(|fact| format!("- {FACT}{fact}]")).collect();
        return Some(format!("Summary by the model server.\n{}", facts.join("\n")));
    }
    system.starts_with("You name conversations").then(|| "\"A title from the model server.\"\n".to_owned())
}

/// Estimates the tokens of a request.
pub(super) fn tokens(body: &Value) -> u64 {
    let length = |field: &str| body.get(field).map_or(0, |value| value.to_string().chars().count());
    (length("messages") + length("tools")) as u64 / 4
}
