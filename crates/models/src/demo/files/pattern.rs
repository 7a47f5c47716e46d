//! Patterns of sentences: fixed terms and places for a file, a folder, a number or any text. A pattern matches only if it
//! covers the whole sentence.

use super::{
    super::{
        terms::{has_any, lengths},
        utterance::{Unit, is_han},
    },
    spans::{Masked, SpanKind, is_folder_like},
};

pub(super) enum Piece {
    /// One of the terms.
    Any(&'static str),
    /// Any number of the terms, also none.
    Fill(&'static str),
    /// Any text, as short as possible.
    Text,
    /// A quoted text.
    Quote,
    /// A file: `notes.txt`, `the file notes`, `“my notes”`.
    File,
    /// A folder: `src/lib`, `the docs folder`, `here`.
    Folder,
    /// The same, where a single word can only be a folder: `src`.
    Dir,
    /// A glob pattern, an ending such as `.md`, or a kind of file such as `markdown`.
    Kind,
    Number,
}

/// The units that a pattern bound, in the order of its places.
#[derive(Default)]
pub(super) struct Bound<'m> {
    pub(super) files: Vec<String>,
    pub(super) folders: Vec<String>,
    pub(super) texts: Vec<&'m [Unit]>,
    pub(super) kinds: Vec<String>,
    pub(super) numbers: Vec<usize>,
    steps: u32,
}

/// A sentence written to match in very many ways is not understood.
const MOST_STEPS: u32 = 20_000;

pub(super) fn find<'m>(masked: &Masked, units: &'m [Unit], pattern: &[Piece]) -> Option<Bound<'m>> {
    let mut bound = Bound::default();
    walk(masked, units, pattern, &mut bound).then_some(bound)
}

fn walk<'m>(masked: &Masked, units: &'m [Unit], pattern: &[Piece], bound: &mut Bound<'m>) -> bool {
    let Some((piece, rest)) = pattern.split_first() else { return units.is_empty() };
    bound.steps += 1;
    if bound.steps > MOST_STEPS {
        return false;
    }
    match piece {
        Piece::Any(terms) => {
            lengths(units, terms).into_iter().any(|length| walk(masked, &units[length..], rest, bound))
        }
        Piece::Fill(terms) => {
            lengths(units, terms).into_iter().any(|length| walk(masked, &units[length..], pattern, bound))
                || walk(masked, units, rest, bound)
        }
        Piece::Text => (1..=units.len()).any(|length| {
            bound.texts.push(&units[..length]);
            walk(masked, &units[length..], rest, bound) || bound.texts.pop().is_none()
        }),
        Piece::Quote => {
            let quoted = units
                .first()
                .and_then(|unit| masked.span(unit))
                .is_some_and(|span| span.kind == SpanKind::Quote);
            if !quoted {
                return false;
            }
            bound.texts.push(&units[..1]);
            walk(masked, &units[1..], rest, bound) || bound.texts.pop().is_none()
        }
        Piece::File => file(masked, units).into_iter().any(|(name, length)| {
            bound.files.push(name);
            walk(masked, &units[length..], rest, bound) || bound.files.pop().is_none()
        }),
        Piece::Folder | Piece::Dir => {
            folder(masked, units, matches!(piece, Piece::Dir)).into_iter().any(|(name, length)| {
                bound.folders.push(name);
                walk(masked, &units[length..], rest, bound) || bound.folders.pop().is_none()
            })
        }
        Piece::Kind => kind(masked, units).into_iter().any(|(pattern, length)| {
            bound.kinds.push(pattern);
            walk(masked, &units[length..], rest, bound) || bound.kinds.pop().is_none()
        }),
        Piece::Number => {
            let Some(number) = units.first().and_then(number) else { return false };
            bound.numbers.push(number);
            walk(masked, &units[1..], rest, bound) || bound.numbers.pop().is_none()
        }
    }
}

const THE_FILE: &str = "
    the file, file, my file, this file, the file named, the file called, a file named, a file called, file named, file called, the text file,
    the document, the, my, our, this, 文件, 这个文件, 文件名为, 名为, 叫, 叫做, 名叫";
const A_FILE: &str = "
    the file, file, the file named, the file called, a file named, a file called, file named, file called, a new file named, a new file called";
const FILE_AFTER: &str =
    "file, document, 文件, 的文件, 的文档, 的文本文件, 这个文件, 文档, 这份文件, 那个文件, 这份文档";
const HERE: &str = "
    here, this folder, the folder, this directory, the directory, the current folder, the current directory, current folder,
    current directory, the work directory, the working directory, my folder, the workspace, this workspace, my workspace, workspace, the project, this project, my project,
    the project folder, the repository, this repository, this repo, the repo, the root, the root folder, the whole folder, the whole project, the work folder, the main folder, this place,
    当前文件夹, 这个文件夹, 当前目录, 这个目录, 工作目录, 工作文件夹, 这里, 这儿, 项目, 这个项目, 本目录, 此文件夹, 此目录, 该目录, 该文件夹, 根目录, 工作区, 本文件夹,
    整个文件夹, 整个项目, 文件夹, 目录, 项目文件夹, 项目目录, 当前项目, 仓库, 这个仓库, 当前, 代码库, 这个代码库";
const FOLDER_BEFORE: &str = "
    the folder, folder, the directory, directory, dir, the folder named, the folder called, a folder called, the subfolder, the sub folder, 文件夹, 目录, 名为";
const FOLDER_AFTER: &str =
    "folder, directory, dir, subfolder, sub folder, 文件夹, 目录, 子目录, 子文件夹, 这个文件夹, 这个目录";
const NO_NAME: &str = "
    this, the, that, current, a, an, all, my, which, what, in, of, for, it, work, working, and, with, to, from, is, are, file, files, folder, directory, named, called,
    这, 那, 当, 本, 此, 该, 的, 里, 整, 每, 哪, 什, 所, 有";

/// The files that these units can begin with, and how many units each takes.
fn file(masked: &Masked, units: &[Unit]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for before in lengths(units, THE_FILE).into_iter().chain([0]) {
        let Some(unit) = units.get(before) else { continue };
        let name = match masked.span(unit) {
            Some(span) if span.kind != SpanKind::Glob => span.text.clone(),
            Some(_) => continue,
            None if lengths(units, A_FILE).contains(&before) && is_word(unit) => {
                masked.text(&units[before..=before])
            }
            None => continue,
        };
        let end = before + 1;
        for after in lengths(&units[end..], FILE_AFTER).into_iter().chain([0]) {
            found.push((name.clone(), end + after));
        }
    }
    found
}

/// The folders that these units can begin with; the work directory is "".
fn folder(masked: &Masked, units: &[Unit], word: bool) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> =
        lengths(units, HERE).into_iter().map(|length| (String::new(), length)).collect();
    found.extend(units.first().filter(|_| word).and_then(|unit| Some((name_of(masked, unit)?, 1))));
    for before in lengths(units, FOLDER_BEFORE) {
        if let Some(name) = units.get(before).and_then(|unit| name_of(masked, unit)) {
            found.push((name, before + 1));
        }
    }
    for before in lengths(units, "the, my, our, this, whole").into_iter().chain([0]) {
        let rest = units.get(before..).unwrap_or_default();
        let han = rest.iter().take(8).take_while(|unit| unit.norm.chars().all(is_han)).count();
        for length in (1..=han.max(1)).filter(|length| *length <= rest.len()) {
            let name = match (masked.span(&rest[0]), length) {
                (Some(span), 1) if span.kind != SpanKind::Glob => span.text.clone(),
                (None, 1) if han == 0 && is_word(&rest[0]) => masked.text(&rest[..1]),
                (None, _) if han > 0 && !has_any(&rest[..length], NO_NAME) => masked.text(&rest[..length]),
                _ => continue,
            };
            for after in lengths(&rest[length..], FOLDER_AFTER) {
                found.push((name.clone(), before + length + after));
            }
        }
        if let Some(span) = rest.first().and_then(|unit| masked.span(unit))
            && span.kind == SpanKind::Path
            && is_folder_like(&span.text)
        {
            found.push((span.text.clone(), before + 1));
        }
    }
    found
}

fn name_of(masked: &Masked, unit: &Unit) -> Option<String> {
    match masked.span(unit) {
        Some(span) if span.kind != SpanKind::Glob => Some(span.text.clone()),
        None if is_word(unit) => Some(masked.text(std::slice::from_ref(unit))),
        _ => None,
    }
}

fn is_word(unit: &Unit) -> bool {
    unit.norm.chars().next().is_some_and(char::is_alphanumeric)
        && !unit.norm.chars().any(is_han)
        && lengths(std::slice::from_ref(unit), NO_NAME).is_empty()
}

/// The kinds of files that people name by a word, with the endings of their names.
const KINDS: &[(&str, &str)] = &[
    ("markdown", "*.md"),
    ("rust", "*.rs"),
    ("python", "*.py"),
    ("javascript", "*.js"),
    ("typescript", "*.ts"),
    ("text", "*.txt"),
    ("文本", "*.txt"),
    ("json", "*.json"),
    ("yaml", "*.{yml,yaml}"),
    ("toml", "*.toml"),
    ("html", "*.html"),
    ("css", "*.css"),
    ("csv", "*.csv"),
    ("go", "*.go"),
    ("java", "*.java"),
    ("pdf", "*.pdf"),
    ("log", "*.log"),
    ("md", "*.md"),
    ("txt", "*.txt"),
    ("rs", "*.rs"),
    ("py", "*.py"),
    ("js", "*.js"),
    ("ts", "*.ts"),
    ("xml", "*.xml"),
    ("sql", "*.sql"),
];

fn kind(masked: &Masked, units: &[Unit]) -> Vec<(String, usize)> {
    let Some(first) = units.first() else { return Vec::new() };
    if let Some(span) = masked.span(first) {
        let ending = span.text.strip_prefix('.').is_some_and(|rest| rest.chars().all(char::is_alphanumeric));
        return match span.kind {
            SpanKind::Glob => vec![(anywhere(&span.text), 1)],
            SpanKind::Path if ending => vec![(format!("**/*{}", span.text), 1)],
            SpanKind::Path | SpanKind::Quote => Vec::new(),
        };
    }
    let known = KINDS.iter().filter_map(|(word, pattern)| {
        let length = super::super::terms::starts(units, word)?;
        Some((anywhere(pattern), length))
    });
    known.collect()
}

/// A pattern without a folder is searched in every folder.
pub(super) fn anywhere(pattern: &str) -> String {
    if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") }
}

fn number(unit: &Unit) -> Option<usize> {
    let chinese = "一二三四五六七八九十".chars().position(|digit| unit.norm == digit.to_string());
    let english = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let english = english.iter().position(|word| unit.norm == *word);
    chinese.or(english).map(|place| place + 1).or_else(|| unit.norm.parse().ok())
}
