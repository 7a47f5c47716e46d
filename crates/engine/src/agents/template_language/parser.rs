//! Puts text and tags together: which tag belongs to which.

use super::{
    DEEPEST_BLOCK, Problem,
    expression::Reader,
    lexer::{Lexer, Piece},
    syntax::{Branch, For, Node},
};

pub(super) fn parse(source: &str) -> Result<Vec<Node<'_>>, Problem> {
    let mut parser = Parser { lexer: Lexer::new(source), depth: 0, loops: 0 };
    let (nodes, end) = parser.body(None)?;
    match end {
        None => Ok(nodes),
        Some(end) => {
            let what = format!("{} has no beginning", end.word);
            Err(Problem::wrong(
                end.reader.line(),
                what,
                "Remove it, or write {% if … %} or {% for … %} before it.",
            ))
        }
    }
}

struct Parser<'s> {
    lexer: Lexer<'s>,
    depth: usize,
    /// Loops around what is read at the moment.
    loops: usize,
}

/// A tag that ends a body: `elif`, `else`, `endif` or `endfor`.
struct End<'s> {
    word: &'s str,
    reader: Reader<'s>,
}

impl<'s> Parser<'s> {
    /// Everything up to the tag that ends it, or to the end of the template when nothing is `open`.
    fn body(&mut self, open: Option<(&str, usize)>) -> Result<(Vec<Node<'s>>, Option<End<'s>>), Problem> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.lexer.next()? {
            match piece {
                Piece::Text(text) => nodes.push(Node::Text(text)),
                Piece::Print(tag) => {
                    let line = tag.line;
                    let mut reader = Reader::new(tag, self.loops > 0);
                    let value = reader.expression()?;
                    reader.end()?;
                    nodes.push(Node::Print { line, value });
                }
                Piece::Tag(tag) => {
                    let line = tag.line;
                    let mut reader = Reader::new(tag, self.loops > 0);
                    match reader.keyword() {
                        Some(word @ ("elif" | "else" | "endif" | "endfor")) => {
                            return Ok((nodes, Some(End { word, reader })));
                        }
                        Some("if") => nodes.push(self.deeper(line, |parser| parser.condition(reader, line))?),
                        Some("for") => {
                            nodes.push(self.deeper(line, |parser| parser.repetition(reader, line))?)
                        }
                        Some("set") => {
                            let name = reader.new_name()?;
                            reader.expect("=")?;
                            let value = reader.expression()?;
                            reader.end()?;
                            nodes.push(Node::Set { line, name, value });
                        }
                        other => return Err(unknown_tag(line, other)),
                    }
                }
            }
        }
        match open {
            None => Ok((nodes, None)),
            Some((word, line)) => {
                let fix = format!("Write {{% end{word} %}} where it ends.");
                Err(Problem::wrong(line, format!("{word} begins and end{word} does not follow"), fix))
            }
        }
    }

    fn deeper(
        &mut self,
        line: usize,
        read: impl FnOnce(&mut Self) -> Result<Node<'s>, Problem>,
    ) -> Result<Node<'s>, Problem> {
        if self.depth == DEEPEST_BLOCK {
            return Err(Problem::limit(
                line,
                format!("if and for are nested more than {DEEPEST_BLOCK} deep"),
                format!("Nest if and for at most {DEEPEST_BLOCK} deep."),
            ));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// The body of an `if` or `for` and the tag that ends it.
    fn inner(&mut self, word: &str, line: usize) -> Result<(Vec<Node<'s>>, End<'s>), Problem> {
        let (nodes, end) = self.body(Some((word, line)))?;
        // Without an end, `body` has failed.
        end.map(|end| (nodes, end)).ok_or_else(|| Problem::wrong(line, "a tag does not end", "End it."))
    }

    fn condition(&mut self, mut reader: Reader<'s>, line: usize) -> Result<Node<'s>, Problem> {
        let mut branches = Vec::new();
        let mut begins = line;
        loop {
            let condition = reader.or()?;
            reader.end()?;
            let (body, end) = self.inner("if", line)?;
            branches.push(Branch { line: begins, condition, body });
            begins = end.reader.line();
            match end.word {
                "elif" => reader = end.reader,
                "else" => {
                    end.reader.end()?;
                    let (otherwise, end) = self.inner("if", line)?;
                    closes(end, "if")?;
                    return Ok(Node::If { branches, otherwise });
                }
                _ => {
                    closes(end, "if")?;
                    return Ok(Node::If { branches, otherwise: Vec::new() });
                }
            }
        }
    }

    fn repetition(&mut self, mut reader: Reader<'s>, line: usize) -> Result<Node<'s>, Problem> {
        let name = reader.new_name()?;
        reader.expect_name("in")?;
        let list = reader.or()?;
        let only = if reader.takes_name("if") { Some(reader.expression()?) } else { None };
        reader.end()?;
        self.loops += 1;
        let inner = self.inner("for", line);
        self.loops -= 1;
        let (body, end) = inner?;
        let mut otherwise = Vec::new();
        if end.word == "else" {
            end.reader.end()?;
            let (nodes, end) = self.inner("for", line)?;
            otherwise = nodes;
            closes(end, "for")?;
        } else {
            closes(end, "for")?;
        }
        Ok(Node::For(Box::new(For { line, name, list, only, body, otherwise })))
    }
}

/// Checks that this tag is the end of `word`.
fn closes(end: End<'_>, word: &str) -> Result<(), Problem> {
    if end.word.strip_prefix("end") == Some(word) {
        return end.reader.end();
    }
    let what = format!("{} stands where end{word} is expected", end.word);
    Err(Problem::wrong(end.reader.line(), what, format!("Write {{% end{word} %}} first.")))
}

fn unknown_tag(line: usize, word: Option<&str>) -> Problem {
    let what = match word {
        Some(word) => format!("{word} is not a tag of templates"),
        None => "a tag does not begin with a word".to_owned(),
    };
    let fix = "The tags are: if, elif, else, endif, for, endfor, set, raw and endraw.";
    Problem::wrong(line, what, fix)
}
