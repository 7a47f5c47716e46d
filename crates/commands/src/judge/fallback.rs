//! Lines that are not fully understood. They ask in any case; the grammar still finds the commands in them, so that what is
//! worse than asking is not overlooked.

use tree_sitter::Node;

use super::{At, Judge, Piped, flow::Dirs};
use crate::syntax::{
    grammar::Grammar,
    parse,
    tree::{self, Simple, Spelling, Value, Word},
};

/// More commands are not looked for in a line that asks anyway.
const MAX_COMMANDS: usize = 300;

impl Judge<'_> {
    /// Judges every command that the grammar finds, in the directory in which the line starts.
    pub(super) fn fall_back(&mut self, grammar: &Grammar, line: &str, at: &At) {
        let mut texts: Vec<String> = Vec::new();
        let mut commands: Vec<(Vec<Word>, bool)> = Vec::new();
        grammar.visit(|node, piped| match node.kind() {
            "command" if commands.len() < MAX_COMMANDS => commands.push((command_words(node, line), piped)),
            "file_redirect" => texts.push(format!(": {}", text(node, line))),
            "heredoc_body" | "herestring_redirect" => {
                let text = text(node, line).trim_start_matches("<<<").trim();
                let line = [Word::known("sh"), Word::known("-c"), Word::known(unquoted(text))];
                commands.push((line.to_vec(), false));
            }
            _ => {}
        });
        let fed_to_shell = commands.iter().any(|(words, _)| {
            let name = words.first().and_then(Word::text).unwrap_or_default();
            self.table.rule(name).is_some_and(|rule| rule.runs_input)
        });
        let inside = At { lines: at.lines + 1, ..at.clone() };
        for (words, piped) in commands {
            let is_text = words.len() == 3 && words.first().is_some_and(|word| word.range == (0..0));
            if !is_text || fed_to_shell {
                let piped = if piped { Piped::Command } else { Piped::No };
                self.words(&words, &At { piped, ..inside.clone() });
            }
        }
        for text in texts {
            if let Ok(tree::Node::Simple(Simple { redirects, .. })) = parse::parse(&text) {
                self.redirects(&redirects, &Dirs::from([at.dir.clone()]), &inside);
            }
        }
    }
}

fn text<'l>(node: Node<'_>, line: &'l str) -> &'l str {
    line.get(node.byte_range()).unwrap_or_default()
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix(['\'', '"']).and_then(|text| text.strip_suffix(['\'', '"'])).unwrap_or(text)
}

/// The words of a command, each read on its own.
fn command_words(node: Node<'_>, line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        if matches!(
            child.kind(),
            "variable_assignment" | "file_redirect" | "herestring_redirect" | "heredoc_redirect"
        ) {
            continue;
        }
        match parse::parse(&format!("x {}", text(child, line))) {
            Ok(tree::Node::Simple(simple)) => words.extend(simple.words.into_iter().skip(1)),
            _ => words.push(Word {
                value: Value::Runtime,
                spelling: Spelling::Plain,
                range: child.byte_range(),
            }),
        }
    }
    // The grammar takes signs in front of a name for the name.
    let signs = words
        .iter()
        .take_while(|word| matches!(word.text(), Some("!" | "{" | "then" | "do" | "else")))
        .count();
    words.split_off(signs)
}

/// Whether a line defines a function that starts itself twice, as in `:(){ :|:& };:`.
pub(super) fn is_fork_bomb(line: &str) -> bool {
    let dense: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((before, body)) = dense.split_once("(){") else { return false };
    let name: String = before.chars().rev().take_while(|c| !";&|{}()".contains(*c)).collect();
    let name: String = name.chars().rev().collect();
    let name = name.strip_prefix("function").unwrap_or(&name);
    if name.is_empty() || name.len() > 40 {
        return false;
    }
    let body = body.split_once('}').map_or(body, |(body, _)| body);
    body.contains(&format!("{name}|{name}")) || body.contains(&format!("{name}&{name}"))
}
