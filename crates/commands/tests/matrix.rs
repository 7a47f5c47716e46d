//! Every line of `tests/matrix/*.txt` has the verdict that is written in front of it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

mod support;

use std::{fmt::Write as _, fs, path::Path};

use commands::{CommandEffect, CommandTable, Judgement, judge_argv, judge_line};
use support::Project;

struct Row {
    file: String,
    number: usize,
    effect: CommandEffect,
    rule: Option<String>,
    folder: String,
    line: String,
}

fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/matrix");
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            rows.extend(text.lines().enumerate().filter_map(|(index, text)| row(&file, index + 1, text)));
        }
    }
    rows
}

fn row(file: &str, number: usize, text: &str) -> Option<Row> {
    if text.trim().is_empty() || text.starts_with('#') {
        return None;
    }
    let (verdict, line) = text.split_once("  ").unwrap_or_else(|| panic!("{file}:{number} has no verdict"));
    let (verdict, escaped) = verdict.strip_suffix('\\').map_or((verdict, false), |verdict| (verdict, true));
    let (verdict, rule) =
        verdict.split_once('=').map_or((verdict, None), |(verdict, rule)| (verdict, Some(rule)));
    let (verdict, folder) = verdict.split_once('@').unwrap_or((verdict, ""));
    let effect = match verdict {
        "read-only" => CommandEffect::ReadOnly,
        "asks" => CommandEffect::Asks,
        "sensitive" => CommandEffect::Sensitive,
        "refused" => CommandEffect::Refused,
        _ => panic!("{file}:{number} has the unknown verdict {verdict}"),
    };
    Some(Row {
        file: file.to_owned(),
        number,
        effect,
        rule: rule.map(str::to_owned),
        folder: folder.to_owned(),
        line: if escaped { unescaped(line) } else { line.to_owned() },
    })
}

fn unescaped(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(code) = rest.strip_prefix("u{") {
            let (code, after) = code.split_once('}').unwrap();
            result.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
            rest = after;
            continue;
        }
        let (c, after) = rest.split_at(1);
        result.push(match c {
            "n" => '\n',
            "t" => '\t',
            "r" => '\r',
            "\\" => '\\',
            _ => panic!("unknown escape in {text}"),
        });
        rest = after;
    }
    result + rest
}

fn judged(row: &Row) -> Judgement {
    judge_line(CommandTable::built_in(), &row.line, &row.folder, &Project::default())
}

#[test]
fn every_line_has_its_verdict() {
    let mut wrong = String::new();
    for row in rows() {
        let judgement = judged(&row);
        let rule_is_wrong = row.rule.as_ref().is_some_and(|rule| *rule != judgement.rule);
        if judgement.effect != row.effect || rule_is_wrong {
            let Row { file, number, effect, line, .. } = &row;
            let Judgement { effect: found, rule, why, .. } = &judgement;
            writeln!(
                wrong,
                "{file}:{number} {line:?}\n    expected {effect:?}, found {found:?} by {rule}: {why}"
            )
            .unwrap();
        }
        assert!(!judgement.why.is_empty() && !judgement.rule.is_empty(), "{:?} {judgement:?}", row.line);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_matrix_is_large_enough() {
    let rows = rows();
    let count = |effect| rows.iter().filter(|row| row.effect == effect).count();
    assert!(rows.len() >= 450, "{} lines", rows.len());
    assert!(count(CommandEffect::ReadOnly) >= 140, "{} read-only lines", count(CommandEffect::ReadOnly));
    assert!(count(CommandEffect::Sensitive) >= 60 && count(CommandEffect::Refused) >= 60);
}

/// The words of a line that needs no shell get the same verdict as the line.
#[test]
fn words_have_the_verdict_of_their_line() {
    let mut compared = 0;
    for row in rows() {
        let judgement = judged(&row);
        let Some(command) = judgement.commands.iter().find(|command| !command.words.is_empty()) else {
            continue;
        };
        // Words that the shell does not change: nothing but words in the line, and all of them known.
        let shown: Option<Vec<String>> = command.words.iter().cloned().collect();
        let Some(words) = shown else { continue };
        if words.join(" ") != row.line || row.line.starts_with('~') || row.line.contains(" ~") {
            continue;
        }
        let argv = judge_argv(CommandTable::built_in(), &words, &row.folder, &Project::default());
        assert_eq!(argv.effect, judgement.effect, "{:?}", row.line);
        if judgement.rule.starts_with("line/") {
            continue;
        }
        assert_eq!(argv.rule, judgement.rule, "{:?}", row.line);
        assert_eq!(argv.reads, judgement.reads, "{:?}", row.line);
        assert_eq!(argv.always, judgement.always, "{:?}", row.line);
        compared += 1;
    }
    assert!(compared >= 250, "{compared} lines were compared");
}

#[test]
fn read_only_lines_write_nothing_and_use_no_network() {
    for row in rows().into_iter().filter(|row| row.effect == CommandEffect::ReadOnly) {
        let judgement = judged(&row);
        assert_eq!(judgement.writes, Vec::<String>::new(), "{:?}", row.line);
        assert!(!judgement.network, "{:?}", row.line);
        assert_eq!(judgement.always, Vec::<String>::new(), "{:?}", row.line);
    }
}
