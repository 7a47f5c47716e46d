//! The sentences that people read, for the translations of the web interface.
//!
//! `web/src/i18n/policy-reasons.fixture.json` holds one sentence of each kind; a test of the web interface translates all of
//! them. After a change of a sentence, write the file again: `UPDATE_REASONS=1 cargo test -p commands --test reasons`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

mod support;

use std::{collections::BTreeMap, fs, path::Path};

use commands::{CommandTable, judge_line};
use support::Project;

/// The sentence without what differs from line to line, so that one of each kind is kept.
fn kind(sentence: &str) -> String {
    let is_name = |word: &str| word.chars().any(|c| !c.is_ascii_alphabetic() && !",.;'".contains(c));
    let words = sentence.trim_end_matches('.').split(' ').map(|word| if is_name(word) { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_kind_of_sentence_is_known_to_the_translations() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sentences: BTreeMap<String, String> = BTreeMap::new();
    let mut note = |sentence: &str| {
        sentences.entry(kind(sentence)).or_insert_with(|| sentence.to_owned());
    };
    for family in fs::read_dir(here.join("table")).unwrap() {
        let text = fs::read_to_string(family.unwrap().path()).unwrap();
        for line in text.lines() {
            if let Some(does) = line.strip_prefix("does = \"").and_then(|rest| rest.strip_suffix('"')) {
                note(&format!("It {does}."));
            }
            if let Some(because) = line.strip_prefix("because = \"").and_then(|rest| rest.strip_suffix('"')) {
                note(&format!("It changes a/b, {because}."));
            }
        }
    }
    for name in ["asks", "obfuscated", "read-only", "refused", "sensitive"] {
        let text = fs::read_to_string(here.join(format!("tests/matrix/{name}.txt"))).unwrap();
        for row in text.lines().filter(|row| !row.starts_with('#')) {
            let Some((verdict, line)) = row.split_once("  ") else { continue };
            let folder = verdict.split(['=', '\\']).next().and_then(|verdict| verdict.split_once('@'));
            let judgement = judge_line(
                CommandTable::built_in(),
                line,
                folder.map_or("", |(_, folder)| folder),
                &Project::default(),
            );
            for command in judgement.commands.iter().filter(|command| !command.why.is_empty()) {
                note(&command.why);
            }
        }
    }
    let sentences: Vec<String> = sentences.into_values().collect();
    let wanted = serde_json::to_string_pretty(&sentences).unwrap() + "\n";
    let file = here.join("../../web/src/i18n/policy-reasons.fixture.json");
    if std::env::var_os("UPDATE_REASONS").is_some() {
        fs::write(&file, &wanted).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        known == wanted,
        "{} is not up to date: UPDATE_REASONS=1 cargo test -p commands --test reasons, then translate what is new",
        file.display()
    );
}
