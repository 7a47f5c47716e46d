//! Finds what is certain to fail on any branch of a template, also on those that no sample reaches: variables that do
//! not exist, and values of a kind that a filter, a loop or a comparison cannot take.
//!
//! Each expression gets the set of kinds its value may have; a use is reported only when none of them fits.

use std::collections::HashMap;

use super::{
    Fault, Problem,
    render::{fit, unfit},
    syntax::{Expression, Filter, Link, LoopField, Node},
    value::{Kinds, comparable},
};

/// More are not reported: the first ones say enough.
const MOST_PROBLEMS: usize = 20;

pub(super) fn problems<'a>(nodes: &'a [Node<'a>], variables: &'a [(&'a str, Kinds)]) -> Vec<Problem> {
    let frames = vec![variables.iter().copied().collect(), HashMap::new()];
    let mut checker = Checker { frames, problems: Vec::new(), line: 1, branches: 0 };
    checker.nodes(nodes);
    checker.problems
}

struct Checker<'a> {
    frames: Vec<HashMap<&'a str, Kinds>>,
    problems: Vec<Problem>,
    line: usize,
    /// Branches of `if` around what is looked at, within the newest frame: they may not be taken.
    branches: usize,
}

impl<'a> Checker<'a> {
    fn add(&mut self, fault: Fault, what: String, fix: &str) {
        let known = self.problems.iter().any(|known| known.fault == fault && known.what == what);
        if !known && self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { line: self.line, fault, what, fix: fix.to_owned() });
        }
    }

    fn wrong(&mut self, what: String, fix: &str) {
        self.add(Fault::Wrong, what, fix);
    }

    fn known(&self, name: &str) -> Option<Kinds> {
        self.frames.iter().rev().find_map(|frame| frame.get(name)).copied()
    }

    fn nodes(&mut self, nodes: &'a [Node<'a>]) {
        for node in nodes {
            match node {
                Node::Text(_) => {}
                Node::Print { line, value } => {
                    self.line = *line;
                    self.usable(value);
                }
                Node::Set { line, name, value } => {
                    self.line = *line;
                    let mut kinds = self.kinds(value);
                    if self.branches > 0 {
                        kinds = kinds.or(self.known(name).unwrap_or(Kinds::UNDEFINED));
                    }
                    if let Some(frame) = self.frames.last_mut() {
                        frame.insert(name, kinds);
                    }
                }
                Node::If { branches, otherwise } => {
                    for branch in branches {
                        self.line = branch.line;
                        self.usable(&branch.condition);
                        self.branch(&branch.body);
                    }
                    self.branch(otherwise);
                }
                Node::For(repeated) => {
                    self.line = repeated.line;
                    let list = self.kinds(&repeated.list);
                    if !list.may_be(Kinds::LIST) {
                        let what = format!("for goes through {}, which is not a list", list.name());
                        self.wrong(what, "Use a list, like tools, subAgents or ['one', 'two'].");
                    }
                    let outside = std::mem::take(&mut self.branches);
                    self.frames.push(HashMap::from([(repeated.name, Kinds::ENTRY)]));
                    if let Some(only) = &repeated.only {
                        self.usable(only);
                    }
                    self.nodes(&repeated.body);
                    self.frames.pop();
                    self.branches = outside;
                    self.branch(&repeated.otherwise);
                }
            }
        }
    }

    fn branch(&mut self, nodes: &'a [Node<'a>]) {
        self.branches += 1;
        self.nodes(nodes);
        self.branches -= 1;
    }

    /// The kinds of a value that is used: it must be defined.
    fn usable(&mut self, expression: &'a Expression<'a>) -> Kinds {
        self.kinds(expression).without(Kinds::UNDEFINED)
    }

    fn kinds(&mut self, expression: &'a Expression<'a>) -> Kinds {
        match expression {
            Expression::Text(_) => Kinds::TEXT,
            Expression::Number(_) => Kinds::NUMBER,
            Expression::Bool(_) => Kinds::BOOL,
            Expression::None => Kinds::NONE,
            Expression::Variable(name) => self.known(name).unwrap_or_else(|| {
                let what = format!("the variable {name} does not exist");
                self.add(Fault::UnknownVariable((*name).to_owned()), what, "");
                ANYTHING
            }),
            Expression::Loop(LoopField::First | LoopField::Last) => Kinds::BOOL,
            Expression::Loop(_) => Kinds::NUMBER,
            Expression::List(entries) => {
                for entry in entries {
                    let kinds = self.usable(entry);
                    if !kinds.may_be(Kinds::ENTRY) && kinds.may_be(Kinds::LIST) {
                        let fix = "Put only texts, numbers, true and false into a list.";
                        self.wrong("a list contains a list".to_owned(), fix);
                    }
                }
                Kinds::LIST
            }
            Expression::Chain(first, links) => {
                let first = self.kinds(first);
                links.iter().fold(first, |kinds, link| self.link(kinds, link))
            }
            Expression::Not(inside) => {
                self.usable(inside);
                Kinds::BOOL
            }
            Expression::And(all) | Expression::Or(all) => {
                let kinds: Vec<Kinds> = all.iter().map(|one| self.kinds(one)).collect();
                kinds.into_iter().reduce(Kinds::or).unwrap_or(ANYTHING)
            }
            Expression::Compare(comparison, sides) => {
                let [left, right] = &**sides;
                let (left, right) = (self.usable(left), self.usable(right));
                if !comparable(*comparison, left, right) {
                    let what = format!("{} and {} cannot be compared so", left.name(), right.name());
                    let fix = "Compare texts with texts and numbers with numbers; look for texts in texts or lists.";
                    self.wrong(what, fix);
                }
                Kinds::BOOL
            }
            Expression::Choose(choice) => {
                self.usable(&choice.condition);
                let value = self.kinds(&choice.value);
                let otherwise = choice.otherwise.as_ref().map(|otherwise| self.kinds(otherwise));
                value.or(otherwise.unwrap_or(Kinds::UNDEFINED))
            }
        }
    }

    /// What a value of these kinds becomes.
    fn link(&mut self, kinds: Kinds, link: &'a Link<'a>) -> Kinds {
        match link {
            Link::IsDefined { .. } => Kinds::BOOL,
            Link::Subscript(place) => {
                let place = self.usable(place);
                if !kinds.may_be(Kinds::LIST) || !place.may_be(Kinds::NUMBER) {
                    let what = format!("an entry is taken of {} by {}", kinds.name(), place.name());
                    self.wrong(what, "Take entries of lists only, by their number: tools[0].");
                }
                Kinds::ENTRY.or(Kinds::UNDEFINED)
            }
            Link::Filter(Filter::Default, arguments) => {
                let other = arguments.first().map_or(Kinds::TEXT, |other| self.kinds(other));
                if let Some(also_false) = arguments.get(1) {
                    self.usable(also_false);
                }
                kinds.without(Kinds::UNDEFINED).or(other)
            }
            Link::Filter(filter, arguments) => {
                for argument in arguments {
                    let found = self.usable(argument);
                    if !found.may_be(Kinds::TEXT) {
                        let what = format!("the argument of {} is {}", filter.name(), found.name());
                        self.wrong(what, "Give it a text in quotes.");
                    }
                }
                let (takes, gives) = match filter {
                    Filter::Join => (Kinds::LIST, Kinds::TEXT),
                    Filter::Length => (Kinds::LIST.or(Kinds::TEXT), Kinds::NUMBER),
                    _ => (Kinds::TEXT, Kinds::TEXT),
                };
                if !kinds.may_be(takes) {
                    self.wrong(unfit(*filter, kinds), fit(*filter));
                }
                gives
            }
        }
    }
}

/// The kinds of a value that nothing is known about.
const ANYTHING: Kinds = Kinds::ENTRY.or(Kinds::LIST).or(Kinds::UNDEFINED);
