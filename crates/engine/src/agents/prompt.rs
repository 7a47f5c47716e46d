//! The prompt of a definition: literal text or a template, which variables a template may use, what is wrong with it,
//! and rendering it.
//!
//! Only what a person wrote can be a template: [`AgentDefinition::from_fields`] is the one place that makes one. What a
//! model writes for an agent of its own goes through [`AgentDefinition::bare`], which takes it literally.

use std::sync::Arc;

use protocol::{
    AgentKind, AgentSource, RunOptions, WorkspaceId,
    facts::one_line,
    wire::agents::{FieldProblem, PromptVariable},
};

use super::{
    AgentDefinition,
    draft::problem,
    template_language::{self as language, Fault, Kinds, Problem, Variable},
    template_threads::TemplateThreads,
};

/// Bytes of a prompt, template or not.
pub const LONGEST_PROMPT: usize = language::LONGEST_TEMPLATE;

/// The role of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// Sent to the model as it is.
    Literal(Arc<str>),
    /// Rendered for each run.
    Template(PromptTemplate),
}

/// The source of a template. Only this module can make one, from what a person wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptTemplate(Arc<str>);

impl Prompt {
    pub fn literal(text: &str) -> Self {
        Self::Literal(text.into())
    }

    /// What a person wrote. The role of a main agent in a file is literal, and so is a text without template marks.
    pub(super) fn of_person(text: String, kind: AgentKind, source: AgentSource) -> Self {
        if is_literal(kind, source) || !language::has_marks(&text) {
            Self::Literal(text.into())
        } else {
            Self::Template(PromptTemplate(text.into()))
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Template(PromptTemplate(text)) => text,
        }
    }
}

/// Whether the prompt of such an agent is taken word for word.
pub(super) fn is_literal(kind: AgentKind, source: AgentSource) -> bool {
    source == AgentSource::File && kind == AgentKind::Main
}

const VARIABLES: [(&str, Kinds, &str); 10] = [
    ("name", Kinds::TEXT, "the agent's name"),
    ("displayName", Kinds::TEXT, "its name for people"),
    ("workspace", Kinds::TEXT, "the workspace it works for"),
    ("project", Kinds::TEXT, "the project of the message, or nothing"),
    ("page", Kinds::TEXT, "the page the person has open, or nothing"),
    ("mode", Kinds::TEXT, "the mode of the interface, or nothing"),
    ("timezone", Kinds::TEXT, "the person's time zone, or nothing"),
    ("caller", Kinds::TEXT, "the agent that delegated, or nothing for a main agent"),
    ("tools", Kinds::LIST, "the keys of the tools it has, a list"),
    ("subAgents", Kinds::LIST, "the names of the agents it may call, a list"),
];

/// The variables of templates, for people.
pub fn variables() -> Vec<PromptVariable> {
    VARIABLES
        .map(|(name, _, about)| PromptVariable { name: name.to_owned(), about: about.to_owned() })
        .to_vec()
}

/// Where a prompt is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub workspace: &'a WorkspaceId,
    pub options: &'a RunOptions,
    pub caller: Option<&'a str>,
    pub tools: &'a [String],
    pub sub_agents: &'a [String],
}

impl Scene<'_> {
    /// The values of the variables, in the order of [`VARIABLES`].
    fn values(&self, agent: &AgentDefinition) -> Values {
        let text = |value: Option<&str>| Variable::Text(value.map(one_line).unwrap_or_default());
        let options = self.options;
        let values = [
            Variable::Text(agent.name.clone()),
            Variable::Text(agent.display_name.clone()),
            text(Some(self.workspace.as_str())),
            text(options.project_id.as_deref()),
            text(options.page_id.as_deref()),
            text(options.mode.as_deref()),
            text(options.timezone.as_deref()),
            text(self.caller),
            Variable::List(self.tools.to_vec()),
            Variable::List(self.sub_agents.to_vec()),
        ];
        named(values)
    }
}

type Values = Vec<(&'static str, Variable)>;

fn named(values: [Variable; VARIABLES.len()]) -> Values {
    VARIABLES.iter().map(|(name, ..)| *name).zip(values).collect()
}

/// The prompt of this agent for this run; a template is rendered off the serving threads. The error is a sentence
/// without a full stop.
pub(crate) async fn write(
    agent: &AgentDefinition,
    scene: &Scene<'_>,
    threads: &TemplateThreads,
) -> Result<String, String> {
    match &agent.prompt {
        Prompt::Literal(text) => Ok(text.as_ref().to_owned()),
        Prompt::Template(PromptTemplate(source)) => {
            let (source, values) = (Arc::clone(source), scene.values(agent));
            let rendered = threads.run(move || render(&source, &values)).await;
            rendered.unwrap_or_else(|| Err("rendering it failed; the log of the server says why".to_owned()))
        }
    }
}

/// The same on the calling thread, for tests and fuzzing.
pub fn write_here(agent: &AgentDefinition, scene: &Scene<'_>) -> Result<String, String> {
    match &agent.prompt {
        Prompt::Literal(text) => Ok(text.as_ref().to_owned()),
        Prompt::Template(PromptTemplate(source)) => render(source, &scene.values(agent)),
    }
}

fn render(source: &str, values: &[(&str, Variable)]) -> Result<String, String> {
    let rendered = language::parse(source).and_then(|template| template.render(values));
    let told = |problem: Problem| format!("{} in line {}", problem.what, problem.line);
    rendered.map(|rendered| rendered.text).map_err(told)
}

/// What is wrong with a template, on every branch of it.
pub fn problems(path: &str, template: &str) -> Vec<FieldProblem> {
    if !language::has_marks(template) {
        return Vec::new();
    }
    let found = language::parse(template).map_or_else(
        |problem| vec![problem],
        |parsed| {
            let kinds = VARIABLES.map(|(name, kinds, _)| (name, kinds));
            let found = parsed.problems(&kinds);
            if !found.is_empty() {
                return found;
            }
            // What goes beyond the limits already with a few tools is refused here; with more, when it is used.
            match parsed.render(&sample()) {
                Err(problem) if problem.fault == Fault::Limit => vec![problem],
                Ok(_) | Err(_) => Vec::new(),
            }
        },
    );
    found.into_iter().map(|one| reported(path, one)).collect()
}

fn sample() -> Values {
    named(VARIABLES.map(|(name, kinds, _)| {
        if kinds == Kinds::LIST {
            Variable::List(vec!["one".to_owned(), "two".to_owned(), "three".to_owned()])
        } else {
            Variable::Text(name.to_owned())
        }
    }))
}

fn reported(path: &str, found: Problem) -> FieldProblem {
    let Problem { line, fault, what, fix } = found;
    let reported = match fault {
        Fault::Wrong => problem(
            path,
            "bad_template",
            format!("{path} is not a template that can be used: {what} in line {line}."),
            fix,
        ),
        Fault::Limit => problem(
            path,
            "template_limit",
            format!("{path} exceeds a limit of templates in line {line}: {what}."),
            fix,
        ),
        Fault::UnknownVariable(name) => {
            let names = VARIABLES.map(|(name, ..)| name);
            let text = format!("{path} uses the variable {name} in line {line}, which does not exist.");
            let meant = tools::names::resolve(&name, names.iter().copied());
            let meant = meant.map_or(String::new(), |meant| format!("Did you mean {meant}? "));
            problem(
                path,
                "unknown_variable",
                text,
                format!("{meant}The variables are: {}.", names.join(", ")),
            )
        }
    };
    FieldProblem { line: Some(line), ..reported }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(prompt: &str, source: AgentSource, kind: AgentKind) -> AgentDefinition {
        let mut fields = AgentDefinition::bare(kind, "tiny", "").fields();
        fields.system_prompt = prompt.to_owned();
        AgentDefinition::from_fields(fields, source)
    }

    fn written(agent: &AgentDefinition) -> Result<String, String> {
        let options = RunOptions { project_id: Some("violin\nObey".to_owned()), ..RunOptions::default() };
        let here = WorkspaceId::default_workspace();
        let tools = ["time-now".to_owned(), "update-plan".to_owned()];
        write_here(
            agent,
            &Scene { workspace: &here, options: &options, caller: None, tools: &tools, sub_agents: &[] },
        )
    }

    fn of_database(prompt: &str) -> Result<String, String> {
        written(&agent(prompt, AgentSource::Database, AgentKind::Sub))
    }

    fn codes(template: &str) -> Vec<String> {
        problems("systemPrompt", template).into_iter().map(|problem| problem.code).collect()
    }

    #[test]
    fn variables_are_filled_in_and_what_a_client_says_stays_on_its_line() {
        let text = of_database(
            "I am {{ name }} for {{ project }}{% if not page %}, no page{% endif %}: {{ tools|join(', ') }}.",
        );
        assert_eq!(text.unwrap(), "I am tiny for violin Obey, no page: time-now, update-plan.");
        assert_eq!(of_database("plain { text }\n").unwrap(), "plain { text }\n");
    }

    #[test]
    fn only_what_a_person_wrote_is_a_template_and_a_main_agent_of_a_file_is_literal() {
        let text = "I am {{ name }}.";
        let bare = AgentDefinition::bare(AgentKind::Sub, "tiny", text);
        let file = agent(text, AgentSource::File, AgentKind::Main);
        for literal in [bare, file] {
            assert_eq!(literal.prompt, Prompt::literal(text));
            assert_eq!(written(&literal).unwrap(), text);
            assert_eq!(literal.fields().system_prompt, text);
        }
        let template = agent(text, AgentSource::File, AgentKind::Sub);
        assert_eq!(written(&template).unwrap(), "I am tiny.");
        assert_eq!(template.fields().system_prompt, text);
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
    fn what_is_wrong_is_told_with_its_line() {
        let told = |template: &str| {
            let found = problems("systemPrompt", template).remove(0);
            (found.code, found.line, found.message, found.fix)
        };
        assert_eq!(
            told("Hello.\n{{ name|fly }}"),
            (
                "bad_template".to_owned(),
                Some(2),
                "systemPrompt is not a template that can be used: there is no filter named fly in line 2."
                    .to_owned(),
                "The filters are: default, join, length, lower, upper, title, trim.".to_owned()
            )
        );
        assert_eq!(codes("{{ name"), ["bad_template"]);
        assert_eq!(codes("{% include 'x' %}"), ["bad_template"]);
        assert_eq!(
            of_database("\n{{ tools[9] }}").unwrap_err(),
            "a value is used that is not defined in line 2"
        );
    }
}
