//! Reads the corpus of patches: files before, a patch, and the files after or the error.
//!
//! A line `#### word argument | modifiers` begins a part:
//!
//! - `case`: the name of the next case
//! - `file`: a file before the patch; `patch`: the patch; `after`: a file after it
//! - `same`: a file that the patch leaves as it was; `nothing`: no file is left
//! - `match`: how closely the hunks match, when not exactly
//! - `error`: a part of the message; the files stay as they were
//!
//! Modifiers: `crlf`, `no-newline`, `bom`, and `escaped` for `\r`, `\t`, `\s` (a space), `\0` and `\\`.

use std::{collections::BTreeMap, fs, path::Path};

pub type Tree = BTreeMap<String, String>;

#[derive(Debug, Default)]
pub struct Case {
    pub name: String,
    pub before: Tree,
    pub patch: String,
    pub after: Tree,
    pub exactness: Option<String>,
    pub error: Option<String>,
}

/// Reads all cases of a folder.
pub fn read(folder: &Path) -> Vec<Case> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| cases(&fs::read_to_string(file).unwrap())).collect()
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut parts = text.split("#### ");
    assert_eq!(parts.next(), Some(""), "a corpus begins with a case");
    for part in parts {
        let (head, body) = part.split_once('\n').unwrap();
        let (head, modifiers) = head.split_once(" | ").unwrap_or((head, ""));
        let (word, argument) = head.split_once(' ').unwrap_or((head, ""));
        if word == "case" {
            cases.push(Case { name: argument.to_owned(), ..Case::default() });
            continue;
        }
        let case = cases.last_mut().unwrap();
        let body = modified(body, modifiers);
        match word {
            "file" => drop(case.before.insert(argument.to_owned(), body)),
            "patch" => case.patch = body,
            "after" => drop(case.after.insert(argument.to_owned(), body)),
            "same" => drop(case.after.insert(argument.to_owned(), case.before[argument].clone())),
            "nothing" => {}
            "match" => case.exactness = Some(argument.to_owned()),
            "error" => case.error = Some(argument.to_owned()),
            other => panic!("unknown part {other} in {}", case.name),
        }
    }
    cases
}

fn modified(body: &str, modifiers: &str) -> String {
    let mut body = body.to_owned();
    for modifier in modifiers.split_whitespace() {
        body = match modifier {
            "crlf" => body.replace('\n', "\r\n"),
            "no-newline" => body.trim_end_matches(['\r', '\n']).to_owned(),
            "bom" => format!("\u{feff}{body}"),
            "escaped" => unescaped(&body),
            other => panic!("unknown modifier {other}"),
        };
    }
    body
}

fn unescaped(body: &str) -> String {
    let mut letters = body.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next().unwrap() {
                'r' => '\r',
                't' => '\t',
                's' => ' ',
                '0' => '\0',
                'b' => '\u{feff}',
                other => other,
            },
            other => other,
        });
    }
    text
}
