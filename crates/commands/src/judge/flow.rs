//! Follows the order in which commands run, and the directory in which each of them may run.

use std::collections::BTreeSet;

use super::{At, Judge, Piped, Verdict};
use crate::{
    judgement::CommandEffect,
    syntax::tree::{Assignment, Loop, Node, Redirect, RedirectKind, Simple, Spelling, Value},
};

/// The directories in which a command may run; `None` is an unknown one.
pub(super) type Dirs = BTreeSet<Option<String>>;

/// More possible directories than this count as unknown.
const MAX_DIRS: usize = 6;

/// The directories after a command, by its success.
pub(super) struct Flow {
    succeeded: Dirs,
    failed: Dirs,
}

impl Flow {
    fn same(dirs: &Dirs) -> Self {
        Self { succeeded: dirs.clone(), failed: dirs.clone() }
    }

    fn any(self) -> Dirs {
        bounded(self.succeeded.into_iter().chain(self.failed).collect())
    }
}

fn bounded(mut dirs: Dirs) -> Dirs {
    if dirs.len() > MAX_DIRS {
        dirs.insert(None);
    }
    dirs
}

impl Judge<'_> {
    pub(super) fn node(&mut self, node: &Node, dirs: &Dirs, at: &At) -> Flow {
        match node {
            Node::Simple(simple) => self.simple(simple, dirs, at),
            Node::Pipeline(nodes) => self.pipeline(nodes, dirs, at),
            Node::And(left, right) => {
                let left = self.node(left, dirs, at);
                let right = self.node(right, &left.succeeded, at);
                let failed = bounded(left.failed.into_iter().chain(right.failed).collect());
                Flow { succeeded: right.succeeded, failed }
            }
            Node::Or(left, right) => {
                let left = self.node(left, dirs, at);
                let right = self.node(right, &left.failed, at);
                let succeeded = bounded(left.succeeded.into_iter().chain(right.succeeded).collect());
                Flow { succeeded, failed: right.failed }
            }
            Node::Sequence(nodes) => {
                let mut flow = Flow::same(dirs);
                for node in nodes {
                    let before = flow.any();
                    flow = self.node(node, &before, at);
                }
                flow
            }
            Node::Background(inside) => {
                self.node(inside, dirs, at);
                Flow::same(dirs)
            }
            Node::Subshell(inside, redirects) => {
                self.redirects(redirects, dirs, at);
                self.node(inside, dirs, at);
                Flow::same(dirs)
            }
            Node::Group(inside, redirects) => {
                self.redirects(redirects, dirs, at);
                self.node(inside, dirs, at)
            }
            Node::If(parts, redirects) => {
                self.redirects(redirects, dirs, at);
                let mut possible = dirs.clone();
                for part in parts {
                    let after = self.node(part, &possible, at).any();
                    possible = bounded(possible.into_iter().chain(after).collect());
                }
                Flow::same(&possible)
            }
            Node::Loop(found) => self.repeated(found, dirs, at),
        }
    }

    /// Each part of a pipeline runs in a shell of its own.
    fn pipeline(&mut self, nodes: &[Node], dirs: &Dirs, at: &At) -> Flow {
        let mut inside = at.clone();
        for node in nodes {
            let network_before = std::mem::take(&mut self.network);
            self.node(node, dirs, &inside);
            inside.piped = match (self.network, inside.piped) {
                (true, _) | (_, Piped::Network) => Piped::Network,
                _ => Piped::Command,
            };
            self.network |= network_before;
        }
        Flow::same(dirs)
    }

    fn repeated(&mut self, found: &Loop, dirs: &Dirs, at: &At) -> Flow {
        if let Some(variable) = &found.variable
            && !variable.bytes().all(|c| c.is_ascii_lowercase() || c == b'_' || c.is_ascii_digit())
        {
            let why = format!("It changes the variable {variable}, which other commands may follow.");
            self.note(CommandEffect::Asks, "environment/sets", why, found.range.clone());
        }
        self.redirects(&found.redirects, dirs, at);
        for node in &found.substitutions {
            self.node(node, dirs, at);
        }
        let mut verdict = Verdict::new(CommandEffect::ReadOnly, "shell/for", String::new());
        for (word, dir) in found.words.iter().flat_map(|word| dirs.iter().map(move |dir| (word, dir))) {
            if let Value::Glob(_) = word.value {
                self.read(&word.value, word.spelling, &At { dir: dir.clone(), ..at.clone() }, &mut verdict);
            }
        }
        self.note_verdict(verdict, found.range.clone());
        let mut possible = dirs.clone();
        // A second round sees the directories that the first one ended in. If there are still new ones, give up.
        for round in 0..3 {
            let before = possible.clone();
            let found_before = self.found.len();
            if let Some(condition) = &found.condition {
                let after = self.node(condition, &possible, at).any();
                possible = bounded(possible.into_iter().chain(after).collect());
            }
            let after = self.node(&found.body, &possible, at).any();
            possible = bounded(possible.into_iter().chain(after).collect());
            if possible == before {
                break;
            }
            if round < 2 {
                self.found.truncate(found_before);
            } else {
                let why = "It changes the directory in a loop.".to_owned();
                self.note(CommandEffect::Asks, "shell/cd-in-loop", why, found.range.clone());
                possible.insert(None);
            }
        }
        Flow::same(&possible)
    }

    fn simple(&mut self, simple: &Simple, dirs: &Dirs, at: &At) -> Flow {
        let at =
            At { range: if at.lines == 0 { simple.range.clone() } else { at.range.clone() }, ..at.clone() };
        let substituted = At { piped: Piped::No, ..at.clone() };
        let network_before = std::mem::take(&mut self.network);
        for node in &simple.substitutions {
            self.node(node, dirs, &substituted);
        }
        // What a substitution downloads may become the code that the command executes.
        let at = if self.network { At { piped: Piped::Network, ..at } } else { at };
        self.network |= network_before;
        for assignment in &simple.assignments {
            self.assignment(assignment, &at);
        }
        self.redirects(&simple.redirects, dirs, &at);
        let before = std::mem::take(&mut self.found);
        let mut strictest: Vec<_> = Vec::new();
        let mut succeeded = Dirs::new();
        for dir in dirs {
            let at = At { dir: dir.clone(), ..at.clone() };
            succeeded.insert(self.words(&simple.words, &at));
            let found = std::mem::take(&mut self.found);
            let worst = |found: &[crate::JudgedCommand]| found.iter().map(|command| command.effect).max();
            if strictest.is_empty() || worst(&found) > worst(&strictest) {
                strictest = found;
            }
        }
        self.found = before;
        self.found.extend(strictest);
        Flow { succeeded: bounded(succeeded), failed: dirs.clone() }
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment, at: &At) {
        let name = &assignment.name;
        let plain = |text: &str| text.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.@-".contains(&c));
        let harmless = matches!(&assignment.value, Value::Known(text) if plain(text));
        if harmless && self.table.harmless_variable(name) {
            return;
        }
        let why = format!("It sets the variable {name}, which may change what commands do.");
        let range = if at.lines == 0 { assignment.range.clone() } else { at.range.clone() };
        self.note(CommandEffect::Asks, "environment/sets", why, range);
    }

    pub(super) fn redirects(&mut self, redirects: &[Redirect], dirs: &Dirs, at: &At) {
        for redirect in redirects {
            let mut verdict = Verdict::new(CommandEffect::ReadOnly, "redirection/reads", String::new());
            for dir in dirs {
                let at = At { dir: dir.clone(), ..at.clone() };
                match redirect.kind {
                    RedirectKind::Descriptor => {}
                    RedirectKind::Read => self.read(&redirect.target, Spelling::Plain, &at, &mut verdict),
                    RedirectKind::Write => {
                        self.write(&redirect.target, &at, &mut verdict, "redirection/writes")
                    }
                }
            }
            let range = if at.lines == 0 { redirect.range.clone() } else { at.range.clone() };
            self.note_verdict(verdict, range);
        }
    }
}
