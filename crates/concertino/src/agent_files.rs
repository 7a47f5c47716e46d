//! Agents in files of this machine: folders with `agent.toml`, single TOML files, JSON. Mistakes have file and line.

use std::{
    fmt, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use engine::{
    Engine,
    agents::{
        AgentDefinition, AgentSource,
        file::{self, Form},
        template,
    },
};
use protocol::{WorkspaceId, wire::agents::FieldProblem};
use serde_json::{Map, Value};

const LARGEST_FILE: u64 = 256 << 10;
const MOST_FILES: usize = 500;

/// A file that holds agents, with the prompts beside it.
#[derive(Debug)]
pub(crate) struct AgentFile {
    path: PathBuf,
    /// What the folder or the file is called.
    name: String,
    form: Form,
    text: String,
    prompt: Option<(PathBuf, String)>,
    chinese: Option<(PathBuf, String)>,
}

/// One agent of a file, as it would be sent.
#[derive(Debug)]
pub(crate) struct FoundAgent {
    /// Where it stands in the file.
    place: String,
    pub(crate) body: Map<String, Value>,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) fix: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.text)
    }
}

/// The files at a path: one file, the folder of one agent, or a folder with many.
pub(crate) fn find(path: &Path) -> Result<Vec<AgentFile>> {
    let kind = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if kind.is_file() {
        return match open(path)? {
            Some(file) => Ok(vec![file]),
            None => bail!("{} is no agent: its name must end in .toml or .json", path.display()),
        };
    }
    if let Some(file) = folder(path)? {
        return Ok(vec![file]);
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    if paths.len() > MOST_FILES {
        bail!("{} holds more than {MOST_FILES} files", path.display());
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        files.extend(if path.is_dir() { folder(&path)? } else { open(&path)? });
    }
    Ok(files)
}

fn folder(path: &Path) -> Result<Option<AgentFile>> {
    let Some(text) = read(&path.join("agent.toml"))? else { return Ok(None) };
    let beside = |name: &str| -> Result<Option<(PathBuf, String)>> {
        let path = path.join(name);
        Ok(read(&path)?.map(|text| (path, text)))
    };
    Ok(Some(AgentFile {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        form: Form::Toml,
        text,
        prompt: beside("prompt.md")?,
        chinese: beside("prompt.zh.md")?,
        path: path.join("agent.toml"),
    }))
}

fn open(path: &Path) -> Result<Option<AgentFile>> {
    let form = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Form::Toml,
        Some("json") => Form::Json,
        _ => return Ok(None),
    };
    let text = read(path)?.with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(AgentFile { path: path.to_owned(), name, form, text, prompt: None, chinese: None }))
}

fn read(path: &Path) -> Result<Option<String>> {
    let length = match fs::metadata(path) {
        Ok(kind) => kind.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    if length > LARGEST_FILE {
        bail!("{} is larger than {LARGEST_FILE} bytes", path.display());
    }
    fs::read_to_string(path).map(Some).with_context(|| format!("cannot read {}", path.display()))
}

impl AgentFile {
    /// The agents in it. What `GET /api/agents` shows of the program's own agents and of files is left out.
    pub(crate) fn agents(&self) -> Result<Vec<FoundAgent>, Mistake> {
        let beside = |found: &Option<(PathBuf, String)>| found.as_ref().map(|(_, text)| text.clone());
        let bodies = match self.form {
            Form::Toml => {
                let (prompt, chinese) = (beside(&self.prompt), beside(&self.chinese));
                template::body(&self.name, &self.text, prompt.as_deref(), chinese.as_deref())
                    .map(|body| vec![(String::new(), body)])
            }
            Form::Json => file::bodies(self.form, &self.text),
        };
        let bodies = bodies.map_err(|error| Mistake {
            file: self.path.clone(),
            line: error.line,
            text: error.message,
            fix: "Correct the file and try again.".to_owned(),
        })?;
        let is_own = |body: &Map<String, Value>| {
            body.get("source").is_none_or(|source| source != "system" && source != "file")
        };
        let own = bodies.into_iter().filter(|(_, body)| is_own(body));
        Ok(own.map(|(place, body)| FoundAgent { place, body }).collect())
    }

    /// A problem of one of its agents, with its place.
    pub(crate) fn mistake(&self, agent: &FoundAgent, problem: &FieldProblem) -> Mistake {
        let beside = match problem.path.as_str() {
            "systemPrompt" => self.prompt.as_ref().filter(|(_, text)| is(agent, "systemPrompt", text)),
            "systemPromptZh" => self.chinese.as_ref().filter(|(_, text)| is(agent, "systemPromptZh", text)),
            _ => None,
        };
        let path = match (agent.place.as_str(), problem.path.as_str()) {
            ("", path) => path.to_owned(),
            (place, "") => place.to_owned(),
            (place, path) => format!("{place}.{path}"),
        };
        let (file, line) = match beside {
            Some((file, _)) => (file.clone(), problem.line.unwrap_or(1)),
            None => (self.path.clone(), file::line_of(self.form, &self.text, &path)),
        };
        let spelled = file::spelled(self.form, &problem.path);
        let text = match spelled.as_str() {
            "" => problem.message.clone(),
            spelled => format!("{spelled}: {}", problem.message),
        };
        let fix = match (problem.path.as_str(), problem.code.as_str(), self.form) {
            ("systemPrompt", "missing", Form::Toml) => {
                "Write it into prompt.md beside the file, or as prompt into the file.".to_owned()
            }
            _ => problem.fix.clone(),
        };
        Mistake { file, line, text, fix }
    }
}

fn is(agent: &FoundAgent, field: &str, text: &str) -> bool {
    agent.body.get(field).and_then(Value::as_str) == Some(text.trim())
}

/// Gives the engine the agents of the person's files; what cannot be used is told and left out.
pub(crate) async fn load(engine: &Engine, folder: &Path, tell: impl Fn(&Mistake)) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let workspace = WorkspaceId::default_workspace();
    let mut agents: Vec<AgentDefinition> = Vec::new();
    for file in find(folder)? {
        let found = match file.agents() {
            Ok(found) => found,
            Err(mistake) => {
                tell(&mistake);
                continue;
            }
        };
        for agent in found {
            let (fields, checked) = engine.check_agent(&workspace, AgentSource::File, &agent.body).await;
            if checked.problems.is_empty() {
                agents.push(AgentDefinition::from_fields(fields, AgentSource::File));
            }
            checked.problems.iter().for_each(|problem| tell(&file.mistake(&agent, problem)));
        }
        // The next one may name this one.
        engine.agents().set_files(agents.clone());
    }
    Ok(())
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
    fn a_mistake_is_told_where_it_stands() {
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
        let told = |problem: &FieldProblem| {
            let mistake = file.mistake(&agent, problem);
            let name = mistake.file.file_name().unwrap().to_string_lossy().into_owned();
            format!("{name}:{}: {}", mistake.line, mistake.text)
        };
        assert_eq!(told(&problem("toolKeys[0]", None)), "agent.toml:3: tools[0]: wrong");
        assert_eq!(told(&problem("systemPrompt", Some(2))), "prompt.md:2: prompt: wrong");
        assert_eq!(told(&problem("", None)), "agent.toml:1: wrong");
        write(folder.path(), "a/agent.toml", "tools = [\n");
        let mistake = find(folder.path()).unwrap()[0].agents().unwrap_err();
        assert!(mistake.line >= 1 && !mistake.text.is_empty(), "{mistake}");
    }
}
