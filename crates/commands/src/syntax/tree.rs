//! A shell line as a tree: what is executed, in which order, under which condition.

use std::ops::Range;

/// Something that the shell executes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Simple(Simple),
    /// `a | b`, with an optional `!` in front.
    Pipeline(Vec<Node>),
    /// `a && b`
    And(Box<Node>, Box<Node>),
    /// `a || b`
    Or(Box<Node>, Box<Node>),
    /// `a; b`
    Sequence(Vec<Node>),
    /// `a &`
    Background(Box<Node>),
    /// `(a)`: changes of the directory end with it.
    Subshell(Box<Node>, Vec<Redirect>),
    /// `{ a; }`
    Group(Box<Node>, Vec<Redirect>),
    /// `if a; then b; elif c; then d; else e; fi`: the parts, each of which may run.
    If(Vec<Node>, Vec<Redirect>),
    /// `while a; do b; done`, `for x in …; do b; done`
    Loop(Loop),
}

/// A loop; its condition and its body may run any number of times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loop {
    /// The variable of `for`.
    pub(crate) variable: Option<String>,
    /// The words of `for`.
    pub(crate) words: Vec<Word>,
    /// Commands that are substituted into the words of `for`.
    pub(crate) substitutions: Vec<Node>,
    pub(crate) condition: Option<Box<Node>>,
    pub(crate) body: Box<Node>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) range: Range<usize>,
}

impl Loop {
    pub(crate) fn starting_at(start: usize) -> Self {
        Self {
            variable: None,
            words: Vec::new(),
            substitutions: Vec::new(),
            condition: None,
            body: Box::new(Node::Sequence(Vec::new())),
            redirects: Vec::new(),
            range: start..start,
        }
    }
}

/// A command with its words, or assignments and redirections alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// The commands inside `$(…)`, backticks, `<(…)` and `>(…)` of the words.
    pub(crate) substitutions: Vec<Node>,
    pub(crate) range: Range<usize>,
}

/// `NAME=value`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) range: Range<usize>,
}

/// `< file`, `> file`, `2>&1` …
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    pub(crate) target: Value,
    pub(crate) range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    /// Copies or closes a file descriptor; touches no file.
    Descriptor,
}

/// One word of a command, after the expansion of braces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    pub(crate) value: Value,
    pub(crate) spelling: Spelling,
    pub(crate) range: Range<usize>,
}

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Every shell reads the word in the same way.
    Plain,
    /// With braces that some shells expand.
    Braces,
    /// With `$'…'`, which some shells do not decode.
    Escapes,
}

/// What is known about a word before the command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The word after quotes are removed.
    Known(String),
    /// The home directory, followed by this text (empty or starting with `/`).
    Home(String),
    /// A pattern that the shell replaces by the names of files; quoted special characters have a backslash.
    Glob(String),
    /// `<(…)`: the path of a pipe to another command of the line.
    Pipe,
    /// A path that `find` fills in.
    Found,
    /// Known only when the command runs.
    Runtime,
}

impl Word {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self { value: Value::Known(text.into()), spelling: Spelling::Plain, range: 0..0 }
    }

    /// The text of the word, if it is certain.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Known(text) => Some(text),
            _ => None,
        }
    }

    /// What a judgement shows of the word.
    pub(crate) fn shown(&self) -> Option<String> {
        match &self.value {
            Value::Known(text) => Some(text.clone()),
            Value::Home(rest) => Some(format!("~{rest}")),
            Value::Found => Some("{}".to_owned()),
            Value::Glob(_) | Value::Pipe | Value::Runtime => None,
        }
    }
}
