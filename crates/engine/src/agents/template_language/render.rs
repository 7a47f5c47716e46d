//! Fills a template in. Every part that is evaluated and every 32 bytes that are touched cost a step; when the steps,
//! the rounds or the room for output are used up, rendering ends with a [`Problem`].
//!
//! A step is paid before the work is done, so the work is bounded whatever the template says.

use std::{collections::HashMap, rc::Rc};

use super::{
    LONGEST_OUTPUT, MOST_ROUNDS, MOST_STEPS, Problem, Rendered,
    syntax::{Expression, Filter, For, Link, LoopField, Node},
    value::{Kinds, Value, Variable, compare},
};

/// Bytes of text that one step pays for.
const BYTES_PER_STEP: usize = 32;

pub(super) fn render(nodes: &[Node<'_>], variables: &[(&str, Variable)]) -> Result<Rendered, Problem> {
    let mut globals = HashMap::new();
    for (name, value) in variables {
        let value = match value {
            Variable::Text(text) => Value::Text(text),
            Variable::List(entries) => Value::List(entries.iter().map(|entry| Value::Text(entry)).collect()),
        };
        globals.insert(*name, value);
    }
    let globals = Frame { names: globals, round: None };
    let mut renderer = Renderer {
        frames: vec![globals, Frame::default()],
        out: String::new(),
        steps: 0,
        rounds: 0,
        line: 1,
    };
    renderer.nodes(nodes)?;
    Ok(Rendered { text: renderer.out, steps: renderer.steps })
}

struct Renderer<'a> {
    /// The variables from outside, those that `set` made, and the rounds of the loops at hand.
    frames: Vec<Frame<'a>>,
    out: String,
    steps: usize,
    rounds: usize,
    /// Of the tag at hand.
    line: usize,
}

#[derive(Default)]
struct Frame<'a> {
    names: HashMap<&'a str, Value<'a>>,
    round: Option<Round>,
}

impl<'a> Frame<'a> {
    /// The frame of one round.
    fn of(name: &'a str, entry: &Value<'a>, round: Option<Round>) -> Self {
        Self { names: HashMap::from([(name, entry.clone())]), round }
    }
}

/// Where a loop is.
#[derive(Clone, Copy)]
struct Round {
    index: usize,
    length: usize,
}

type Done<T> = Result<T, Problem>;

impl<'a> Renderer<'a> {
    fn spend(&mut self, bytes: usize) -> Done<()> {
        self.steps = self.steps.saturating_add(1 + bytes / BYTES_PER_STEP);
        if self.steps <= MOST_STEPS {
            return Ok(());
        }
        Err(Problem::limit(
            self.line,
            format!("rendering takes more than {MOST_STEPS} steps"),
            "Use fewer or shorter loops, or less text in them.",
        ))
    }

    fn room(&self, more: usize) -> Done<()> {
        if self.out.len().saturating_add(more) <= LONGEST_OUTPUT {
            return Ok(());
        }
        Err(self.too_long())
    }

    fn too_long(&self) -> Problem {
        Problem::limit(
            self.line,
            format!("the text becomes longer than {LONGEST_OUTPUT} bytes"),
            "Use fewer or shorter loops, or less text in them.",
        )
    }

    fn wrong(&self, what: impl Into<String>, fix: impl Into<String>) -> Problem {
        Problem::wrong(self.line, what, fix)
    }

    fn nodes(&mut self, nodes: &'a [Node<'a>]) -> Done<()> {
        for node in nodes {
            match node {
                Node::Text(text) => {
                    self.spend(text.len())?;
                    self.room(text.len())?;
                    self.out.push_str(text);
                }
                Node::Print { line, value } => {
                    self.line = *line;
                    let value = self.usable(value)?;
                    self.print(&value)?;
                }
                Node::Set { line, name, value } => {
                    self.line = *line;
                    let value = self.value(value)?;
                    if let Some(frame) = self.frames.last_mut() {
                        frame.names.insert(name, value);
                    }
                }
                Node::If { branches, otherwise } => {
                    let mut taken = otherwise;
                    for branch in branches {
                        self.line = branch.line;
                        if self.usable(&branch.condition)?.is_true() {
                            taken = &branch.body;
                            break;
                        }
                    }
                    self.nodes(taken)?;
                }
                Node::For(repeated) => self.repeat(repeated)?,
            }
        }
        Ok(())
    }

    fn print(&mut self, value: &Value<'_>) -> Done<()> {
        self.spend(value.bytes())?;
        self.room(value.text().map_or(0, str::len))?;
        // Everything but a text is short, or a list that was just paid for.
        value.show(&mut self.out);
        self.room(0)
    }

    fn repeat(&mut self, repeated: &'a For<'a>) -> Done<()> {
        self.line = repeated.line;
        let list = self.value(&repeated.list)?;
        let Value::List(mut entries) = list else {
            let what = format!("for goes through {}, which is not a list", list.kind().name());
            return Err(self.wrong(what, "Use a list, like tools, subAgents or ['one', 'two']."));
        };
        if let Some(only) = &repeated.only {
            let mut left = Vec::new();
            for entry in entries.iter() {
                self.round(repeated.line)?;
                self.frames.push(Frame::of(repeated.name, entry, None));
                if self.usable(only)?.is_true() {
                    left.push(entry.clone());
                }
                self.frames.pop();
            }
            entries = left.into();
        }
        if entries.is_empty() {
            return self.nodes(&repeated.otherwise);
        }
        for (index, entry) in entries.iter().enumerate() {
            self.round(repeated.line)?;
            // What a round sets, the next one does not see.
            let round = Round { index, length: entries.len() };
            self.frames.push(Frame::of(repeated.name, entry, Some(round)));
            self.nodes(&repeated.body)?;
            self.frames.pop();
        }
        Ok(())
    }

    fn round(&mut self, line: usize) -> Done<()> {
        self.line = line;
        self.spend(0)?;
        self.rounds += 1;
        if self.rounds <= MOST_ROUNDS {
            return Ok(());
        }
        Err(Problem::limit(
            line,
            format!("loops go round more than {MOST_ROUNDS} times"),
            format!("Let all loops together go round at most {MOST_ROUNDS} times."),
        ))
    }

    /// A value that is used: it must be defined.
    fn usable(&mut self, expression: &'a Expression<'a>) -> Done<Value<'a>> {
        let value = self.value(expression)?;
        if matches!(value, Value::Undefined) {
            let fix = "Ask with is defined first, or give another value with default.";
            return Err(self.wrong("a value is used that is not defined", fix));
        }
        Ok(value)
    }

    fn value(&mut self, expression: &'a Expression<'a>) -> Done<Value<'a>> {
        self.spend(0)?;
        Ok(match expression {
            Expression::Text(text) => Value::Text(text),
            Expression::Number(number) => Value::Number(*number),
            Expression::Bool(is) => Value::Bool(*is),
            Expression::None => Value::None,
            Expression::Variable(name) => self.variable(name),
            Expression::Loop(field) => self.of_loop(*field),
            Expression::List(entries) => {
                let mut values = Vec::with_capacity(entries.len());
                for entry in entries {
                    let value = self.usable(entry)?;
                    if !Kinds::ENTRY.may_be(value.kind()) {
                        let what = format!("a list contains {}", value.kind().name());
                        return Err(self.wrong(what, "Put only texts, numbers, true and false into a list."));
                    }
                    values.push(value);
                }
                Value::List(values.into())
            }
            Expression::Chain(first, links) => {
                let mut value = self.value(first)?;
                for link in links {
                    self.spend(0)?;
                    value = self.apply(value, link)?;
                }
                value
            }
            Expression::Not(inside) => Value::Bool(!self.usable(inside)?.is_true()),
            Expression::And(all) => self.first(all, false)?,
            Expression::Or(all) => self.first(all, true)?,
            Expression::Compare(comparison, sides) => {
                let [left, right] = &**sides;
                let (left, right) = (self.usable(left)?, self.usable(right)?);
                self.spend(left.bytes().saturating_add(right.bytes()))?;
                Value::Bool(compare(*comparison, &left, &right).ok_or_else(|| {
                    let what =
                        format!("{} and {} cannot be compared so", left.kind().name(), right.kind().name());
                    self.wrong(what, "Compare texts with texts and numbers with numbers; look for texts in texts or lists.")
                })?)
            }
            Expression::Choose(choice) => {
                if self.usable(&choice.condition)?.is_true() {
                    self.value(&choice.value)?
                } else {
                    match &choice.otherwise {
                        Some(otherwise) => self.value(otherwise)?,
                        None => Value::Nothing,
                    }
                }
            }
        })
    }

    /// The first value that is as true as this, else the last.
    fn first(&mut self, all: &'a [Expression<'a>], is_true: bool) -> Done<Value<'a>> {
        let mut value = Value::None;
        for (place, one) in all.iter().enumerate() {
            let is_last = place + 1 == all.len();
            value = if is_last { self.value(one)? } else { self.usable(one)? };
            if value.is_true() == is_true {
                break;
            }
        }
        Ok(value)
    }

    fn variable(&self, name: &str) -> Value<'a> {
        let found = self.frames.iter().rev().find_map(|frame| frame.names.get(name));
        found.cloned().unwrap_or(Value::Undefined)
    }

    fn of_loop(&self, field: LoopField) -> Value<'a> {
        let Some(Round { index, length }) = self.frames.iter().rev().find_map(|frame| frame.round) else {
            return Value::Undefined;
        };
        let number = |number: usize| Value::Number(i64::try_from(number).unwrap_or(i64::MAX));
        match field {
            LoopField::Index => number(index + 1),
            LoopField::Index0 => number(index),
            LoopField::RevIndex => number(length - index),
            LoopField::RevIndex0 => number(length - index - 1),
            LoopField::First => Value::Bool(index == 0),
            LoopField::Last => Value::Bool(index + 1 == length),
            LoopField::Length => number(length),
        }
    }

    fn apply(&mut self, value: Value<'a>, link: &'a Link<'a>) -> Done<Value<'a>> {
        match link {
            Link::IsDefined { negated } => Ok(Value::Bool(value.is_defined() != *negated)),
            Link::Subscript(place) => {
                let place = self.usable(place)?;
                let (Value::List(entries), Value::Number(place)) = (&value, &place) else {
                    let what = format!("{} has no entries with numbers", value.kind().name());
                    return Err(self.wrong(what, "Take entries of lists only, by their number: tools[0]."));
                };
                let place = if *place < 0 {
                    usize::try_from(place.unsigned_abs())
                        .ok()
                        .and_then(|back| entries.len().checked_sub(back))
                } else {
                    usize::try_from(*place).ok()
                };
                Ok(place.and_then(|place| entries.get(place)).cloned().unwrap_or(Value::Undefined))
            }
            Link::Filter(Filter::Default, arguments) => {
                let other = arguments.first().map_or(Ok(Value::Text("")), |other| self.value(other))?;
                let also_false = arguments.get(1).map_or(Ok(Value::Bool(false)), |also| self.usable(also))?;
                let is_missing = !value.is_defined() || (also_false.is_true() && !value.is_true());
                Ok(if is_missing { other } else { value })
            }
            Link::Filter(filter, arguments) => {
                let argument = arguments.first().map(|argument| self.usable(argument)).transpose()?;
                let argument = match &argument {
                    None => None,
                    Some(value) => Some(value.text().ok_or_else(|| {
                        let what = format!("the argument of {} is {}", filter.name(), value.kind().name());
                        self.wrong(what, "Give it a text in quotes.")
                    })?),
                };
                self.filter(*filter, &value, argument)
            }
        }
    }

    fn filter(&mut self, filter: Filter, value: &Value<'a>, argument: Option<&str>) -> Done<Value<'a>> {
        match (filter, value) {
            (Filter::Join, Value::List(entries)) => return self.join(entries, argument.unwrap_or_default()),
            (Filter::Length, Value::List(entries)) => return Ok(number(entries.len())),
            _ => {}
        }
        let Some(text) = value.text() else {
            return Err(self.wrong(unfit(filter, value.kind()), fit(filter)));
        };
        self.spend(text.len())?;
        let made = match filter {
            Filter::Length => return Ok(number(text.chars().count())),
            Filter::Lower => text.to_lowercase(),
            Filter::Upper => text.to_uppercase(),
            Filter::Title => titled(text),
            Filter::Trim => match argument {
                None => text.trim().to_owned(),
                Some(letters) => {
                    let letters: Vec<char> = letters.chars().collect();
                    // Every letter of the text may be held against all of these.
                    self.spend(text.len().saturating_mul(letters.len()))?;
                    text.trim_matches(letters.as_slice()).to_owned()
                }
            },
            Filter::Join | Filter::Default => {
                return Err(self.wrong(unfit(filter, value.kind()), fit(filter)));
            }
        };
        self.made(made)
    }

    fn join(&mut self, entries: &Rc<[Value<'a>]>, between: &str) -> Done<Value<'a>> {
        let mut made = String::new();
        for (place, entry) in entries.iter().enumerate() {
            self.spend(between.len().saturating_add(entry.bytes()))?;
            if made.len().saturating_add(between.len()).saturating_add(entry.bytes()) > LONGEST_OUTPUT {
                return Err(self.too_long());
            }
            if place > 0 {
                made.push_str(between);
            }
            entry.show(&mut made);
        }
        self.made(made)
    }

    fn made(&self, text: String) -> Done<Value<'a>> {
        if text.len() > LONGEST_OUTPUT { Err(self.too_long()) } else { Ok(Value::Made(text.into())) }
    }
}

fn number<'a>(number: usize) -> Value<'a> {
    Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Why a filter cannot take a value.
pub(super) fn unfit(filter: Filter, kind: Kinds) -> String {
    format!("the filter {} is applied to {}", filter.name(), kind.name())
}

pub(super) fn fit(filter: Filter) -> &'static str {
    match filter {
        Filter::Join => "Apply it to a list.",
        Filter::Length => "Apply it to a text or a list.",
        _ => "Apply it to a text.",
    }
}

/// The first letter of every word large, the others small.
fn titled(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut begins = true;
    for letter in text.chars() {
        if matches!(letter, '-' | '(' | '{' | '[' | '<') || letter.is_whitespace() {
            made.push(letter);
            begins = true;
        } else if begins {
            made.extend(letter.to_uppercase());
            begins = false;
        } else {
            made.extend(letter.to_lowercase());
        }
    }
    made
}
