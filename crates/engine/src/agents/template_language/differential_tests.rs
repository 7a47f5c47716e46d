//! The same templates through minijinja, which the language is a part of: whatever both can render, they render alike.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value as Theirs, filters, tests as conditions};
use test_support::Rng;

use super::{Fault, Variable, parse};

fn variables() -> Vec<(&'static str, Variable)> {
    let list = |entries: &[&str]| Variable::List(entries.iter().map(|entry| (*entry).to_owned()).collect());
    vec![
        ("name", Variable::Text("tiny AGENT-one (two)".to_owned())),
        ("page", Variable::Text(" é 中文\n".to_owned())),
        ("empty", Variable::Text(String::new())),
        ("tools", list(&["time-now", "it's", "a\"b'c\\"])),
        ("nobody", list(&[])),
    ]
}

fn theirs(template: &str) -> Result<String, String> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("default", filters::default);
    environment.add_filter("join", filters::join);
    environment.add_filter("length", filters::length);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("upper", filters::upper);
    environment.add_filter("title", filters::title);
    environment.add_filter("trim", filters::trim);
    environment.add_test("defined", conditions::is_defined);
    let values: BTreeMap<&str, Theirs> = variables()
        .into_iter()
        .map(|(name, value)| match value {
            Variable::Text(text) => (name, Theirs::from(text)),
            Variable::List(entries) => (name, Theirs::from(entries)),
        })
        .collect();
    let compiled = environment.template_from_str(template).map_err(|error| error.to_string())?;
    compiled.render(values).map_err(|error| error.to_string())
}

fn ours(template: &str) -> Result<String, super::Problem> {
    parse(template)?.render(&variables()).map(|rendered| rendered.text)
}

/// Writes random templates of the language, the same ones for the same seed.
struct Author(Rng);

impl Author {
    fn below(&mut self, most: u64) -> u64 {
        self.0.below(most)
    }

    fn one(&mut self, all: &[&str]) -> String {
        let place = self.below(all.len() as u64);
        all.get(usize::try_from(place).unwrap()).unwrap().to_string()
    }

    fn text(&mut self) -> String {
        self.one(&[
            "name",
            "page",
            "empty",
            "'b'",
            "\"it's\\n\"",
            "'{{'",
            "tools[0]",
            "tools[-1]",
            "tools.2",
            "made",
        ])
    }

    fn list(&mut self) -> String {
        match self.below(4) {
            0 => "nobody".to_owned(),
            1 => {
                let entries: Vec<String> = (0..self.below(3)).map(|_| self.text()).collect();
                format!("[{}]", entries.join(", "))
            }
            _ => "tools".to_owned(),
        }
    }

    fn value(&mut self) -> String {
        let filters = [
            "|upper",
            "|lower",
            "|title",
            "|trim",
            "|trim('t ')",
            "|default('x')",
            "|default(name, true)",
            "",
        ];
        match self.below(4) {
            0 => format!("{}|join({})", self.list(), self.text()),
            1 => format!("{}[{}]|default('none')", self.list(), self.below(4)),
            _ => self.text() + &self.one(&filters) + &self.one(&filters),
        }
    }

    fn condition(&mut self, depth: u64) -> String {
        let deeper = depth > 0 && self.below(2) == 0;
        if deeper {
            return match self.below(4) {
                0 => format!("{} and {}", self.condition(depth - 1), self.condition(depth - 1)),
                1 => format!("{} or {}", self.condition(depth - 1), self.condition(depth - 1)),
                2 => format!("not {}", self.condition(depth - 1)),
                _ => format!("({})", self.condition(depth - 1)),
            };
        }
        match self.below(8) {
            0 => self.text(),
            1 => self.list(),
            2 => {
                format!("{} {} {}", self.text(), self.one(&["==", "!=", "<", "<=", ">", ">="]), self.value())
            }
            3 => format!("{} {} {}", self.text(), self.one(&["in", "not in"]), self.list()),
            4 => format!("{} {} {}", self.text(), self.one(&["in", "not in"]), self.text()),
            5 => format!("{}[{}] is {}", self.list(), self.below(4), self.one(&["defined", "not defined"])),
            6 => format!("{}|length > {}", self.list(), self.below(4)),
            _ => self.one(&["true", "none", "False", "0", "made is defined"]),
        }
    }

    fn shown(&mut self) -> String {
        match self.below(9) {
            0 => self.list(),
            1 => self.condition(2),
            2 => self.below(100).to_string(),
            3 => format!("{} if {} else {}", self.value(), self.condition(1), self.value()),
            4 => format!("{} if {}", self.value(), self.condition(1)),
            5 => {
                let fields = ["index", "index0", "revindex", "revindex0", "first", "last", "length"];
                format!("loop.{}", self.one(&fields))
            }
            6 => "entry".to_owned(),
            _ => self.value(),
        }
    }

    /// Marks with or without the signs that remove white space.
    fn marked(&mut self, open: &str, inside: &str, close: &str) -> String {
        let signs = ["", "", "-", "+"];
        format!("{open}{} {inside} {}{close}", self.one(&signs), self.one(&signs))
    }

    fn tag(&mut self, inside: &str) -> String {
        self.marked("{%", inside, "%}")
    }

    fn node(&mut self, depth: u64) -> String {
        match self.below(if depth > 0 { 9 } else { 6 }) {
            0 | 1 => self.one(&[" text ", "\n\n  ", "{ } % # 中", "\r\n", "-", "}} %} #}", "\u{2003}x\t"]),
            2 => {
                let shown = self.shown();
                self.marked("{{", &shown, "}}")
            }
            3 => self.marked("{#", "{{ no }}", "#}"),
            4 => self.tag("raw") + " {{ name }}\n" + &self.tag("endraw"),
            5 => {
                let shown = self.shown();
                self.tag(&format!("set made = {shown}"))
            }
            6 => {
                let (one, two) = (self.condition(2), self.condition(1));
                let mut all = self.tag(&format!("if {one}")) + &self.nodes(depth - 1);
                if self.below(2) == 0 {
                    all += &(self.tag(&format!("elif {two}")) + &self.nodes(depth - 1));
                }
                if self.below(2) == 0 {
                    all += &(self.tag("else") + &self.nodes(depth - 1));
                }
                all + &self.tag("endif")
            }
            _ => {
                let mut head = format!("for entry in {}", self.list());
                if self.below(3) == 0 {
                    head += &format!(" if {}", self.condition(1));
                }
                let mut all = self.tag(&head) + &self.nodes(depth - 1);
                if self.below(2) == 0 {
                    all += &(self.tag("else") + &self.nodes(depth - 1));
                }
                all + &self.tag("endfor")
            }
        }
    }

    fn nodes(&mut self, depth: u64) -> String {
        (0..=self.below(4)).map(|_| self.node(depth)).collect()
    }
}

#[test]
fn what_both_can_render_they_render_alike() {
    let mut rendered = 0;
    for seed in 1..=8000_u64 {
        let template = Author(Rng::new(seed)).nodes(3);
        match (ours(&template), theirs(&template)) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours, theirs, "{template:?}");
                rendered += 1;
            }
            // We refuse more: what is not in the language, and values of kinds that make no sense.
            (Err(problem), _) => assert_ne!(problem.fault, Fault::Limit, "{template}"),
            (Ok(ours), Err(theirs)) => panic!("{template:?} gave {ours:?}, and minijinja says {theirs}"),
        }
    }
    assert!(rendered > 3000, "only {rendered} were rendered by both");
}
