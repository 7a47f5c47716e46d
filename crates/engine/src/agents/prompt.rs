//! The prompt of a definition as a template: which variables it may use, whether it can be written, and writing it.
//!
//! Only values of the run are in reach: no files, no other templates, bounded work and bounded output.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value, filters, tests as conditions};
use protocol::{
    AgentKind, AgentSource, RunOptions, WorkspaceId,
    facts::one_line,
    wire::agents::{FieldProblem, PromptVariable},
};

use super::{AgentDefinition, draft::problem};

/// Instructions that writing one prompt may take.
const FUEL: u64 = 20_000;
pub const LONGEST_PROMPT: usize = 64 << 10;

const VARIABLES: [(&str, &str); 10] = [
    ("name", "the agent's name"),
    ("displayName", "its name for people"),
    ("workspace", "the workspace it works for"),
    ("project", "the project of the message, or nothing"),
    ("page", "the page the person has open, or nothing"),
    ("mode", "the mode of the interface, or nothing"),
    ("timezone", "the person's time zone, or nothing"),
    ("caller", "the agent that delegated, or nothing for a main agent"),
    ("tools", "the keys of the tools it has, a list"),
    ("subAgents", "the names of the agents it may call, a list"),
];

/// What a prompt may refer to.
pub fn variables() -> Vec<PromptVariable> {
    VARIABLES.map(|(name, about)| PromptVariable { name: name.to_owned(), about: about.to_owned() }).to_vec()
}

/// Where a prompt is written.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub workspace: &'a WorkspaceId,
    pub options: &'a RunOptions,
    pub caller: Option<&'a str>,
    pub tools: &'a [String],
    pub sub_agents: &'a [String],
}

/// The prompt of this agent, for this run; the error is a sentence without a full stop.
pub fn write(agent: &AgentDefinition, scene: &Scene<'_>) -> Result<String, String> {
    // The role of a main agent in a person's file is taken word for word.
    let verbatim = agent.source == AgentSource::File && agent.kind == AgentKind::Main;
    if verbatim || !is_template(&agent.prompt) {
        return Ok(agent.prompt.clone());
    }
    let text = |value: Option<&str>| value.map_or(Value::from(""), |value| Value::from(one_line(value)));
    let options = scene.options;
    let values = [
        Value::from(agent.name.clone()),
        Value::from(agent.display_name.clone()),
        text(Some(scene.workspace.as_str())),
        text(options.project_id.as_deref()),
        text(options.page_id.as_deref()),
        text(options.mode.as_deref()),
        text(options.timezone.as_deref()),
        text(scene.caller),
        scene.tools.iter().map(|tool| Value::from(tool.clone())).collect(),
        scene.sub_agents.iter().map(|name| Value::from(name.clone())).collect(),
    ];
    render(&agent.prompt, values)
}

/// What is wrong with a template.
pub(super) fn problems(path: &str, template: &str) -> Vec<FieldProblem> {
    if !is_template(template) {
        return Vec::new();
    }
    let environment = environment();
    let compiled = match environment.template_from_str(template) {
        Ok(compiled) => compiled,
        Err(error) => {
            let text = format!("{path} is not a template that can be read: {}.", told(&error));
            let fix = "Close every {{ and {%, or write {{ '{{' }} for the letters themselves.";
            return vec![FieldProblem { line: error.line(), ..problem(path, "bad_template", text, fix) }];
        }
    };
    let names: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    let mut unknown: Vec<String> =
        compiled.undeclared_variables(false).into_iter().filter(|name| !names.contains(&&**name)).collect();
    unknown.sort();
    let mut problems: Vec<FieldProblem> = unknown
        .iter()
        .map(|name| {
            let line = template.lines().position(|line| line.contains(name.as_str())).map_or(1, |at| at + 1);
            let text = format!("{path} uses the variable {name} in line {line}, which does not exist.");
            let meant = tools::names::resolve(name, names.iter().copied());
            let meant = meant.map_or(String::new(), |meant| format!("Did you mean {meant}? "));
            let fix = format!("{meant}The variables are: {}.", names.join(", "));
            FieldProblem { line: Some(line), ..problem(path, "unknown_variable", text, fix) }
        })
        .collect();
    if problems.is_empty() {
        // Filters are looked up when they are used.
        let sample = VARIABLES.map(|(name, _)| match name {
            "tools" | "subAgents" => Value::from(vec!["a".to_owned()]),
            name => Value::from(name.to_owned()),
        });
        if let Err(error) = render(template, sample) {
            let text = format!("{path} cannot be written: {error}.");
            problems.push(problem(path, "bad_template", text, "Correct the template and try again."));
        }
    }
    problems
}

fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}

fn render(template: &str, values: [Value; VARIABLES.len()]) -> Result<String, String> {
    let environment = environment();
    let compiled = environment.template_from_str(template).map_err(|error| told(&error))?;
    let values: BTreeMap<&str, Value> = VARIABLES.iter().map(|(name, _)| *name).zip(values).collect();
    let mut out = Bounded(Vec::new());
    compiled.render_captured_to(Value::from(values), &mut out).map_err(|error| told(&error))?;
    String::from_utf8(out.0).map_err(|error| error.to_string())
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(32);
    environment.add_filter("default", filters::default);
    environment.add_filter("join", filters::join);
    environment.add_filter("length", filters::length);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("upper", filters::upper);
    environment.add_filter("title", filters::title);
    environment.add_filter("trim", filters::trim);
    environment.add_test("defined", conditions::is_defined);
    environment
}

/// What the engine says, in one line.
fn told(error: &minijinja::Error) -> String {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    match error.line() {
        Some(line) => format!("{} in line {line}", one_line(&what)),
        None => one_line(&what),
    }
}

struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > 2 * LONGEST_PROMPT {
            return Err(std::io::Error::other("the prompt becomes too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(prompt: &str) -> Result<String, String> {
        let options = RunOptions { project_id: Some("violin\nObey".to_owned()), ..RunOptions::default() };
        let here = WorkspaceId::default_workspace();
        let tools = ["time-now".to_owned(), "update-plan".to_owned()];
        let scene =
            Scene { workspace: &here, options: &options, caller: None, tools: &tools, sub_agents: &[] };
        write(&AgentDefinition::bare(AgentKind::Sub, "tiny", prompt), &scene)
    }

    fn codes(template: &str) -> Vec<String> {
        problems("systemPrompt", template).into_iter().map(|problem| problem.code).collect()
    }

    #[test]
    fn variables_are_filled_in_and_what_a_client_says_stays_on_its_line() {
        let text = written(
            "I am {{ name }} for {{ project }}{% if not page %}, no page{% endif %}: {{ tools|join(', ') }}.",
        );
        assert_eq!(text.unwrap(), "I am tiny for violin Obey, no page: time-now, update-plan.");
        assert_eq!(written("plain { text }").unwrap(), "plain { text }");
    }

    #[test]
    fn an_unknown_variable_is_named_with_its_line_and_the_ones_there_are() {
        let found = problems("systemPrompt", "Hello\n{{ projekt }} {{ wether }}");
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0].message,
            "systemPrompt uses the variable projekt in line 2, which does not exist."
        );
        assert!(found[0].fix.starts_with("Did you mean project? The variables are: name, displayName, "));
        assert_eq!(codes("{% set x = name %}{{ x }}{% for one in tools %}{{ one }}{% endfor %}"), [""; 0]);
    }

    #[test]
    fn a_template_that_cannot_be_read_or_never_ends_is_refused() {
        assert_eq!(codes("{{ name"), ["bad_template"]);
        assert_eq!(codes("{{ name|fly }}"), ["bad_template"]);
        assert_eq!(codes("{% include 'x' %}"), ["bad_template"]);
        let loops =
            "{% for a in tools %}".repeat(3) + &"{{ name * 4000 }}".repeat(40) + &"{% endfor %}".repeat(3);
        assert_eq!(codes(&loops), ["bad_template"]);
    }
}
