//! New ids for everything that must be unique in a database, so that a session can be imported twice.

use std::collections::HashMap;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::record::{Agent, Transcript};
use crate::{
    id::{ArtifactId, SessionId},
    source::IdSource,
};

/// Sets the session's id and replaces the ids of its agents, questions, files and runs, also where texts mention them.
/// Returns the new id of each file.
pub fn rename(
    transcript: &mut Transcript,
    session: SessionId,
    ids: &dyn IdSource,
) -> Result<HashMap<ArtifactId, ArtifactId>, serde_json::Error> {
    let mut names = HashMap::new();
    let mut files = HashMap::new();
    for line in &transcript.lines {
        collect(line, &mut names, &mut files, ids);
    }
    transcript.agents.iter().for_each(|agent| below(agent, &mut names, &mut files, ids));
    transcript.session.id = session;
    for line in &mut transcript.lines {
        *line = renamed(line, &names)?;
    }
    transcript.agents.iter_mut().try_for_each(|agent| rename_agent(agent, &names))?;
    Ok(files)
}

type Names = HashMap<String, String>;
type Files = HashMap<ArtifactId, ArtifactId>;

fn collect(line: &super::Line, names: &mut Names, files: &mut Files, ids: &dyn IdSource) {
    if let Some(run) = &line.run {
        names.insert(run.id.to_string(), ids.run().to_string());
    }
    for artifact in &line.artifacts {
        let new = ids.artifact();
        names.insert(artifact.id.to_string(), new.to_string());
        files.insert(artifact.id.clone(), new);
    }
    let message = line.message();
    for approval in message.tool_parts().filter_map(|part| part.state.approval()) {
        names.entry(approval.id.to_string()).or_insert_with(|| ids.approval().to_string());
    }
}

fn below(agent: &Agent, names: &mut Names, files: &mut Files, ids: &dyn IdSource) {
    names.insert(agent.file.id.to_string(), ids.sub_chat().to_string());
    agent.lines.iter().for_each(|line| collect(line, names, files, ids));
    agent.agents.iter().for_each(|agent| below(agent, names, files, ids));
}

fn rename_agent(agent: &mut Agent, names: &Names) -> Result<(), serde_json::Error> {
    agent.file = renamed(&agent.file, names)?;
    for line in &mut agent.lines {
        *line = renamed(line, names)?;
    }
    agent.agents.iter_mut().try_for_each(|agent| rename_agent(agent, names))
}

fn renamed<T: Serialize + DeserializeOwned>(record: &T, names: &Names) -> Result<T, serde_json::Error> {
    let mut value = serde_json::to_value(record)?;
    walk(&mut value, names);
    serde_json::from_value(value)
}

fn walk(value: &mut Value, names: &Names) {
    match value {
        Value::String(text) => {
            if let Some(new) = replaced(text, names) {
                *text = new;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, names)),
        Value::Object(fields) => fields.values_mut().for_each(|field| walk(field, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text with every old id replaced; `None` when it contains none.
fn replaced(text: &str, names: &Names) -> Option<String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let mut out = String::new();
    let (mut kept, mut any) = (0, false);
    let mut rest = 0;
    while let Some(start) = text[rest..].find(is_word).map(|at| rest + at) {
        let end = text[start..].find(|letter| !is_word(letter)).map_or(text.len(), |at| start + at);
        if let Some(new) = names.get(&text[start..end]) {
            out.push_str(&text[kept..start]);
            out.push_str(new);
            (kept, any) = (end, true);
        }
        rest = end;
    }
    out.push_str(&text[kept..]);
    any.then_some(out)
}
