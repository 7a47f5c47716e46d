//! Judges lines and words.

mod archives;
mod command;
mod fallback;
mod flow;
mod git;
mod git_config;
mod git_paths;
mod operands;
mod options;
mod patterns;
mod scripts;
mod specials;
mod starts;
mod targets;
mod verdict;

use std::{collections::BTreeSet, ops::Range};

use crate::{
    CommandTable, JudgedCommand, Judgement, Surroundings, always,
    judgement::CommandEffect,
    syntax::{
        grammar::Grammar,
        parse,
        tree::{Node, Word},
    },
    text,
};
use flow::Dirs;
use verdict::Verdict;

/// How many times a line may contain a line (`sh -c '…'`).
const MAX_INNER_LINES: u32 = 5;
/// How many times a command may start a command (`env timeout 5 …`).
const MAX_STARTED: u32 = 12;
/// How many commands are judged; loops and unsure directories judge a command more than once.
const MAX_JUDGED: u32 = 2000;

/// Says what a shell line does. `cwd` is the directory in which it runs, relative to the work directory.
pub fn judge_line(table: &CommandTable, line: &str, cwd: &str, around: &dyn Surroundings) -> Judgement {
    let mut judge = Judge::new(table, around);
    judge.line(
        line,
        &At {
            dir: Some(cwd.to_owned()),
            range: 0..line.len(),
            piped: Piped::No,
            lines: 0,
            started: 0,
            found: Vec::new(),
        },
    );
    judge.judgement()
}

/// Says what a command does that is started without a shell.
pub fn judge_argv(table: &CommandTable, argv: &[String], cwd: &str, around: &dyn Surroundings) -> Judgement {
    let mut judge = Judge::new(table, around);
    let size = argv.iter().map(|word| word.len() + 1).sum();
    let at = At {
        dir: Some(cwd.to_owned()),
        range: 0..size,
        piped: Piped::No,
        lines: 0,
        started: 0,
        found: Vec::new(),
    };
    match text::problem(&argv.join(" ")) {
        Some((rule, why)) if size > text::MAX_LINE_BYTES => {
            judge.note(CommandEffect::Asks, rule, why, at.range.clone())
        }
        problem => {
            if let Some((rule, why)) = problem {
                judge.note(CommandEffect::Asks, rule, why, at.range.clone());
            }
            let words: Vec<Word> = argv.iter().map(Word::known).collect();
            judge.words(&words, &at);
        }
    }
    judge.judgement()
}

/// What was found so far.
struct Judge<'a> {
    table: &'a CommandTable,
    around: &'a dyn Surroundings,
    found: Vec<JudgedCommand>,
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
    network: bool,
    judged: u32,
}

/// Where a command runs.
#[derive(Clone, Debug)]
struct At {
    /// Relative to the work directory; `None` is unknown.
    dir: Option<String>,
    /// The bytes of the outermost line that hold the command.
    range: Range<usize>,
    piped: Piped,
    /// How many lines the command is inside of, besides the outermost.
    lines: u32,
    /// How many commands of the same line start this one, one the other.
    started: u32,
    /// Patterns for the names of the files that `find` hands to the command.
    found: Vec<String>,
}

/// What the standard input of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piped {
    No,
    /// The output of another command.
    Command,
    /// The output of a command that uses the network.
    Network,
}

impl<'a> Judge<'a> {
    fn new(table: &'a CommandTable, around: &'a dyn Surroundings) -> Self {
        Self {
            table,
            around,
            found: Vec::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            network: false,
            judged: 0,
        }
    }

    /// Judges a line, the outermost one or one inside of it.
    fn line(&mut self, line: &str, at: &At) {
        if let Some((rule, why)) = text::problem(line) {
            self.note(CommandEffect::Asks, rule, why, at.range.clone());
            if line.len() > text::MAX_LINE_BYTES {
                return;
            }
        }
        if at.lines > MAX_INNER_LINES {
            let why = "It contains lines inside of lines, too deep to be examined.".to_owned();
            return self.note(CommandEffect::Asks, "line/too-deep", why, at.range.clone());
        }
        if fallback::is_fork_bomb(line) {
            let why = "It starts copies of itself without end.".to_owned();
            self.note(CommandEffect::Refused, "line/fork-bomb", why, at.range.clone());
        }
        let grammar = Grammar::read(line);
        let parsed = parse::parse(line);
        let doubt = match (&parsed, &grammar) {
            (_, None) => Some(("line/too-complex", "It takes too long to read.".to_owned())),
            (Err(construct), _) => Some((
                "line/not-understood",
                format!("It contains {}, which is not examined further.", construct.0),
            )),
            (_, Some(grammar)) if grammar.has_errors() => {
                Some(("line/not-understood", "It does not fit the grammar of the shell.".to_owned()))
            }
            (Ok(node), Some(grammar)) if grammar.names() != names(node) => {
                Some(("line/ambiguous", "Shells could read it in different ways.".to_owned()))
            }
            _ => None,
        };
        if let Some((rule, why)) = doubt {
            self.note(CommandEffect::Asks, rule, why, at.range.clone());
            if let Some(grammar) = &grammar {
                self.fall_back(grammar, line, at);
            }
        }
        if let Ok(node) = &parsed {
            self.node(node, &Dirs::from([at.dir.clone()]), at);
        }
    }

    /// Adds a finding that is not about one command.
    fn note(&mut self, effect: CommandEffect, rule: &str, why: String, range: Range<usize>) {
        let rule = rule.to_owned();
        self.found.push(JudgedCommand { words: Vec::new(), effect, why, rule, range, prefix: 0 });
    }

    fn note_verdict(&mut self, verdict: Verdict, range: Range<usize>) {
        if verdict.effect > CommandEffect::ReadOnly {
            self.note(verdict.effect, &verdict.rule, verdict.why, range);
        }
    }

    fn judgement(self) -> Judgement {
        let mut strictest: Option<&JudgedCommand> = None;
        for command in &self.found {
            if strictest.is_none_or(|known| command.effect > known.effect) {
                strictest = Some(command);
            }
        }
        let (effect, rule, why) = match strictest {
            None => (CommandEffect::ReadOnly, "line/empty".to_owned(), "It does nothing.".to_owned()),
            Some(command) if command.effect == CommandEffect::ReadOnly => {
                (command.effect, command.rule.clone(), summary(&self.found))
            }
            Some(command) => (command.effect, command.rule.clone(), command.why.clone()),
        };
        Judgement {
            effect,
            why,
            rule,
            always: always::prefixes(&self.found),
            commands: self.found,
            reads: self.reads.into_iter().collect(),
            writes: self.writes.into_iter().collect(),
            network: self.network,
        }
    }
}

/// One sentence for a line whose commands all only read.
fn summary(commands: &[JudgedCommand]) -> String {
    let mut sentences: Vec<&str> = Vec::new();
    for command in commands {
        if !sentences.contains(&command.why.as_str()) {
            sentences.push(&command.why);
        }
    }
    sentences.truncate(4);
    sentences.join(" ")
}

/// Where the names of the commands start.
fn names(node: &Node) -> BTreeSet<usize> {
    let mut names = BTreeSet::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        match node {
            Node::Simple(simple) => {
                names.extend(simple.words.first().map(|name| name.range.start));
                pending.extend(&simple.substitutions);
            }
            Node::Pipeline(nodes) | Node::Sequence(nodes) | Node::If(nodes, _) => pending.extend(nodes),
            Node::And(left, right) | Node::Or(left, right) => pending.extend([left.as_ref(), right.as_ref()]),
            Node::Background(inside) | Node::Subshell(inside, _) | Node::Group(inside, _) => {
                pending.push(inside)
            }
            Node::Loop(found) => {
                pending.extend(&found.substitutions);
                pending.extend(found.condition.as_deref());
                pending.push(&found.body);
            }
        }
    }
    names
}
