//! The language of prompt templates: a part of Jinja whose work is bounded by construction (ADR 19).
//!
//! A template is parsed ([`parse`]), checked on every branch ([`Template::problems`]) and rendered
//! ([`Template::render`]). It has variables, filters, `if`, `for`, `set`, comments and raw text; no arithmetic, no calls
//! and no other templates. The parser's recursion is limited by [`DEEPEST_EXPRESSION`] and [`DEEPEST_BLOCK`], the
//! renderer counts [`MOST_STEPS`], and every limit is reported as a [`Problem`]. Nothing here reads the clock, the file
//! system or the environment.

mod check;
mod expression;
mod lexer;
mod parser;
mod render;
mod syntax;
mod value;

pub(crate) use value::{Kinds, Variable};

use syntax::Node;

/// Bytes of a template.
pub(crate) const LONGEST_TEMPLATE: usize = 64 << 10;
/// Bytes of what a template becomes.
pub(crate) const LONGEST_OUTPUT: usize = 128 << 10;
/// Words and signs between `{{` and `}}` or `{%` and `%}`.
pub(crate) const LARGEST_EXPRESSION: usize = 400;
/// Parentheses, lists, subscripts, arguments, `not` and `if … else` within each other.
pub(crate) const DEEPEST_EXPRESSION: usize = 16;
/// `if` and `for` within each other.
pub(crate) const DEEPEST_BLOCK: usize = 16;
/// Bytes of a variable's name.
pub(crate) const LONGEST_NAME: usize = 64;
/// Rounds of all loops together.
pub(crate) const MOST_ROUNDS: usize = 4_000;
/// Steps of rendering: one for each part of the template that is evaluated, and one for every 32 bytes of text that are
/// copied, compared or changed. This is the limit on time.
pub(crate) const MOST_STEPS: usize = 20_000;

/// Whether a text has any mark of the language; without one it stands for itself.
pub(crate) fn has_marks(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.windows(2).any(|pair| matches!(pair, b"{{" | b"{%" | b"{#"))
}

/// What is wrong with a template, or with rendering it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The first line is 1.
    pub(crate) line: usize,
    pub(crate) fault: Fault,
    /// A sentence without a full stop.
    pub(crate) what: String,
    /// A whole sentence.
    pub(crate) fix: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not in the language, or cannot be evaluated.
    Wrong,
    /// A variable that does not exist.
    UnknownVariable(String),
    Limit,
}

impl Problem {
    fn wrong(line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { line, fault: Fault::Wrong, what: what.into(), fix: fix.into() }
    }

    fn limit(line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { line, fault: Fault::Limit, what: what.into(), fix: fix.into() }
    }
}

/// A template that was read.
#[derive(Debug)]
pub(crate) struct Template<'s> {
    nodes: Vec<Node<'s>>,
}

/// Reads a template, all branches of it.
pub(crate) fn parse(source: &str) -> Result<Template<'_>, Problem> {
    if source.len() > LONGEST_TEMPLATE {
        return Err(Problem::limit(
            1,
            format!("the template has {} bytes, more than {LONGEST_TEMPLATE}", source.len()),
            format!("Use at most {LONGEST_TEMPLATE} bytes."),
        ));
    }
    Ok(Template { nodes: parser::parse(source)? })
}

impl Template<'_> {
    /// What is certain to fail where these variables exist, on any branch.
    pub(crate) fn problems(&self, variables: &[(&str, Kinds)]) -> Vec<Problem> {
        check::problems(&self.nodes, variables)
    }

    /// Fills the template in.
    pub(crate) fn render(&self, variables: &[(&str, Variable)]) -> Result<Rendered, Problem> {
        render::render(&self.nodes, variables)
    }
}

/// What a template became, and how much work it was.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests prove the bound on work with it"))]
    pub(crate) steps: usize,
}

#[cfg(test)]
#[path = "template_language/differential_tests.rs"]
mod differential_tests;
#[cfg(test)]
#[path = "template_language/language_tests.rs"]
mod tests;
