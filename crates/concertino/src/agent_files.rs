//! Reads agents from files of this machine: folders with `agent.toml`, single TOML files, JSON. Problems are reported with
//! file and line.

use std::{
    fmt, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use engine::agents::{
    file::{self, Form},
    template,
};
use protocol::wire::agents::FieldProblem;
use serde_json::{Map, Value};

const MAX_FILE_BYTES: u64 = 256 << 10;
const MAX_FILES: usize = 500;

/// A file that defines agents, with the prompt files of its folder.
#[derive(Debug)]
pub(crate) struct AgentFile {
    path: PathBuf,
    /// The name of the folder or the file; the default name of its agent.
    name: String,
    form: Form,
    text: String,
    /// `prompt.md`.
    prompt: Option<PromptFile>,
    /// `prompt.zh.md`.
    chinese: Option<PromptFile>,
}

#[derive(Debug)]
struct PromptFile {
    path: PathBuf,
    text: String,
}

/// One agent of a file, as the body of a request to define it.
#[derive(Debug)]
pub(crate) struct FoundAgent {
    /// The path of its fields in the file, for example `agents[1]`; empty when it is the whole file.
    prefix: String,
    pub(crate) body: Map<String, Value>,
}

/// A problem in a file, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileProblem {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) column: Option<usize>,
    pub(crate) text: String,
    pub(crate) fix: String,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column.map_or(String::new(), |column| format!(":{column}"));
        write!(f, "{}:{}{column}: {}", self.file.display(), self.line, self.text)
    }
}

/// Reads the agent files at a path: one file, the folder of one agent, or a folder with many of both.
pub(crate) fn find(path: &Path) -> Result<Vec<AgentFile>> {
    let kind = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if kind.is_file() {
        return match read_file(path)? {
            Some(file) => Ok(vec![file]),
            None => bail!("{} is not an agent file: its name must end in .toml or .json", path.display()),
        };
    }
    if let Some(file) = read_folder(path)? {
        return Ok(vec![file]);
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    if paths.len() > MAX_FILES {
        bail!("{} has more than {MAX_FILES} files", path.display());
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        files.extend(if path.is_dir() { read_folder(&path)? } else { read_file(&path)? });
    }
    Ok(files)
}

/// Reads the folder of one agent; returns `None` when it has no `agent.toml`.
fn read_folder(path: &Path) -> Result<Option<AgentFile>> {
    let Some(text) = read_text(&path.join("agent.toml"))? else { return Ok(None) };
    let prompt_file = |name: &str| -> Result<Option<PromptFile>> {
        let path = path.join(name);
        Ok(read_text(&path)?.map(|text| PromptFile { path, text }))
    };
    Ok(Some(AgentFile {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        form: Form::Toml,
        text,
        prompt: prompt_file("prompt.md")?,
        chinese: prompt_file("prompt.zh.md")?,
        path: path.join("agent.toml"),
    }))
}

/// Reads a single file; returns `None` when its name is not one of an agent file.
fn read_file(path: &Path) -> Result<Option<AgentFile>> {
    let form = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Form::Toml,
        Some("json") => Form::Json,
        _ => return Ok(None),
    };
    let text = read_text(path)?.with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(AgentFile { path: path.to_owned(), name, form, text, prompt: None, chinese: None }))
}

/// Reads a text file; returns `None` when it does not exist.
fn read_text(path: &Path) -> Result<Option<String>> {
    let length = match fs::metadata(path) {
        Ok(kind) => kind.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    if length > MAX_FILE_BYTES {
        bail!("{} is larger than {MAX_FILE_BYTES} bytes", path.display());
    }
    fs::read_to_string(path).map(Some).with_context(|| format!("cannot read {}", path.display()))
}

impl AgentFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the agents of the file. Leaves out built-in agents and agents of files, which are in a saved answer of
    /// `GET /api/agents` as well.
    pub(crate) fn agents(&self) -> Result<Vec<FoundAgent>, FileProblem> {
        let text = |file: &Option<PromptFile>| file.as_ref().map(|file| file.text.clone());
        let bodies = match self.form {
            Form::Toml => {
                let (prompt, chinese) = (text(&self.prompt), text(&self.chinese));
                template::body(&self.name, &self.text, prompt.as_deref(), chinese.as_deref())
                    .map(|body| vec![(String::new(), body)])
            }
            Form::Json => file::bodies(self.form, &self.text),
        };
        let bodies = bodies.map_err(|error| FileProblem {
            file: self.path.clone(),
            line: error.line,
            column: None,
            text: error.message,
            fix: "Correct the file and try again.".to_owned(),
        })?;
        let can_be_defined = |body: &Map<String, Value>| {
            body.get("source").is_none_or(|source| source != "system" && source != "file")
        };
        let bodies = bodies.into_iter().filter(|(_, body)| can_be_defined(body));
        Ok(bodies.map(|(prefix, body)| FoundAgent { prefix, body }).collect())
    }

    /// Adds file and line to a problem of one of its agents.
    pub(crate) fn locate(&self, agent: &FoundAgent, problem: &FieldProblem) -> FileProblem {
        let prompt_file = match problem.path.as_str() {
            "systemPrompt" => self.prompt.as_ref().filter(|file| has_text(agent, "systemPrompt", &file.text)),
            "systemPromptZh" => {
                self.chinese.as_ref().filter(|file| has_text(agent, "systemPromptZh", &file.text))
            }
            _ => None,
        };
        let path = match (agent.prefix.as_str(), problem.path.as_str()) {
            ("", path) => path.to_owned(),
            (prefix, "") => prefix.to_owned(),
            (prefix, path) => format!("{prefix}.{path}"),
        };
        let (file, line) = match prompt_file {
            Some(file) => (file.path.clone(), problem.line.unwrap_or(1)),
            None => (self.path.clone(), file::line_of(self.form, &self.text, &path)),
        };
        let spelled = file::spelled(self.form, &problem.path);
        let text = match spelled.as_str() {
            "" => problem.message.clone(),
            spelled => format!("{spelled}: {}", problem.message),
        };
        let fix = match (problem.path.as_str(), problem.code.as_str(), self.form) {
            ("systemPrompt", "missing", Form::Toml) => {
                "Write it to prompt.md in the same folder, or to the field prompt of the file.".to_owned()
            }
            _ => problem.fix.clone(),
        };
        FileProblem { file, line, column: None, text, fix }
    }
}

fn has_text(agent: &FoundAgent, field: &str, text: &str) -> bool {
    agent.body.get(field).and_then(Value::as_str) == Some(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_folder_holds_agents_as_folders_and_files_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "b.toml", "prompt = \"p\"");
        write(folder.path(), "a/agent.toml", "tools = [\"time-now\"]");
        write(folder.path(), "a/prompt.md", "Be brief.\n");
        write(folder.path(), "a/prompt.zh.md", "简短。\n");
        write(folder.path(), "c.json", "[{\"name\": \"x\"}, {\"name\": \"y\", \"source\": \"system\"}]");
        write(folder.path(), "notes.txt", "not read");
        let files = find(folder.path()).unwrap();
        let all: Vec<Map<String, Value>> =
            files.iter().flat_map(|file| file.agents().unwrap()).map(|agent| agent.body).collect();
        let names: Vec<&str> = all.iter().map(|body| body["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["a", "b", "x"]);
        assert_eq!(
            (all[0]["systemPrompt"].as_str(), all[0]["systemPromptZh"].as_str()),
            (Some("Be brief."), Some("简短。"))
        );
        assert!(find(&folder.path().join("notes.txt")).unwrap_err().to_string().contains(".toml or .json"));
    }

    #[test]
    fn a_problem_is_reported_with_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a/agent.toml", "displayName = \"A\"\ntools = [\n  \"fly\",\n]\n");
        write(folder.path(), "a/prompt.md", "One\n{{ two }}\n");
        let file = find(folder.path()).unwrap().remove(0);
        let agent = file.agents().unwrap().remove(0);
        let problem = |path: &str, line| FieldProblem {
            path: path.to_owned(),
            code: "x".to_owned(),
            line,
            message: "wrong".to_owned(),
            fix: "do".to_owned(),
        };
        let located = |problem: &FieldProblem| {
            let problem = file.locate(&agent, problem);
            let name = problem.file.file_name().unwrap().to_string_lossy().into_owned();
            format!("{name}:{}: {}", problem.line, problem.text)
        };
        assert_eq!(located(&problem("toolKeys[0]", None)), "agent.toml:3: tools[0]: wrong");
        assert_eq!(located(&problem("systemPrompt", Some(2))), "prompt.md:2: prompt: wrong");
        assert_eq!(located(&problem("", None)), "agent.toml:1: wrong");
        write(folder.path(), "a/agent.toml", "tools = [\n");
        let problem = find(folder.path()).unwrap()[0].agents().unwrap_err();
        assert!(problem.line >= 1 && !problem.text.is_empty(), "{problem}");
    }
}
