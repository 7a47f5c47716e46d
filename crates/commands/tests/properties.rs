//! Generated lines against a simple model: a line is as strict as the strictest command that was put into it, however the
//! commands are combined, started and quoted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

mod support;

use commands::{CommandEffect, CommandTable, Judgement, judge_argv, judge_line, names};
use proptest::{prelude::*, sample::select, strategy::ValueTree as _, test_runner::TestRunner};
use support::Project;

use CommandEffect::{Asks, ReadOnly, Refused, Sensitive};

/// Commands whose effect is known. Their words have no special characters.
const ATOMS: [(&[&str], CommandEffect); 24] = [
    (&["ls", "-la"], ReadOnly),
    (&["cat", "README.md"], ReadOnly),
    (&["grep", "-rn", "needle here", "src"], ReadOnly),
    (&["wc", "-l", "a file"], ReadOnly),
    (&["git", "status", "--short"], ReadOnly),
    (&["git", "log", "--oneline", "-5"], ReadOnly),
    (&["date", "+%H"], ReadOnly),
    (&["find", ".", "-name", "x"], ReadOnly),
    (&["echo", "hello world"], ReadOnly),
    (&["touch", "x"], Asks),
    (&["cat", "/etc/passwd"], Asks),
    (&["cat", "../x"], Asks),
    (&["cargo", "test"], Asks),
    (&["git", "push"], Asks),
    (&["unknown-command", "x"], Asks),
    (&["sort", "-o", "x", "y"], Asks),
    (&["git", "-c", "core.pager=x", "log"], Asks),
    (&["rm", "-rf", "target"], Sensitive),
    (&["git", "reset", "--hard"], Sensitive),
    (&["kill", "-9", "1"], Sensitive),
    (&["git", "push", "--force"], Sensitive),
    (&["rm", "-rf", "/"], Refused),
    (&["sudo", "ls"], Refused),
    (&["reboot"], Refused),
];

/// A line and the effect that it must have.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    effect: CommandEffect,
}

/// Writes a word in one of the ways in which a shell can be given it.
fn quoted(word: &str, way: u8) -> String {
    let special = word.chars().any(|c| !(c.is_ascii_alphanumeric() || "-_./+%=".contains(c)));
    match way % 5 {
        0 if !special => word.to_owned(),
        1 => format!("\"{word}\""),
        2 => word.chars().map(|c| if c == ' ' { "\\ ".to_owned() } else { c.to_string() }).collect(),
        3 => {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            format!("\"{first}\"'{rest}'")
        }
        4 => word.chars().map(|c| format!("\\{c}")).collect(),
        _ => format!("'{word}'"),
    }
}

fn atom() -> impl Strategy<Value = Line> {
    (select(ATOMS.to_vec()), prop::collection::vec(any::<u8>(), 4), any::<bool>()).prop_map(
        |((words, effect), ways, blanks)| {
            let words: Vec<String> = words.iter().zip(&ways).map(|(word, way)| quoted(word, *way)).collect();
            Line { text: words.join(if blanks { "  \t " } else { " " }), effect }
        },
    )
}

fn combined(inner: impl Strategy<Value = Line> + Clone + 'static) -> impl Strategy<Value = Line> {
    let two = (
        inner.clone(),
        inner.clone(),
        select(vec![" && ", " || ", "; ", "\n", " & ", ";", " &&\n", " # x\n"]),
    )
        .prop_map(|(a, b, sign)| Line {
            text: format!("{}{sign}{}", a.text, b.text),
            effect: a.effect.max(b.effect),
        });
    let around = select(vec![
        ("( ", ")"),
        ("{ ", "; }"),
        ("{ ", "\n}"),
        ("! ", ""),
        ("if true; then ", "; fi"),
        ("if ", "; then echo x; fi"),
        ("while ", "; do echo x; done"),
        ("for x in a b; do ", "; done"),
        ("echo $( ", ")"),
        ("echo \"a $( ", ") b\""),
        ("cat <( ", ")"),
        ("cat README.md | ( ", ")"),
        ("true | { ", "; } | wc -l"),
    ]);
    let one = (inner.clone(), around).prop_map(|(line, (before, after))| {
        // `!` and a redirection bind to the first command only, which does not change the strictest one.
        Line { text: format!("{before}{}{after}", line.text), effect: line.effect }
    });
    let redirected = (
        inner,
        select(vec![
            (" > /dev/null", ReadOnly),
            (" 2>&1", ReadOnly),
            (" > out.txt", Asks),
            (" < src/x", ReadOnly),
        ]),
    )
        .prop_map(|(line, (sign, effect))| Line {
            text: format!("{{ {}\n}}{sign}", line.text),
            effect: line.effect.max(effect),
        });
    prop_oneof![3 => two, 3 => one, 1 => redirected]
}

/// One command behind a command that starts it.
fn started() -> impl Strategy<Value = Line> {
    let wrapper =
        select(vec!["env ", "timeout 5 ", "nice -n 3 ", "time ", "command ", "env LC_ALL=C timeout 5 "]);
    (atom(), wrapper)
        .prop_map(|(line, wrapper)| Line { text: format!("{wrapper}{}", line.text), effect: line.effect })
}

fn line() -> impl Strategy<Value = Line> {
    let leaf = prop_oneof![4 => atom(), 1 => started()];
    let line = leaf.prop_recursive(4, 24, 2, |inner| combined(inner.boxed()));
    // A whole line inside quotes.
    let inside = select(vec!["bash -c ", "sh -c ", "bash -lc ", "eval ", ""]);
    (line, inside).prop_map(|(line, shell)| match shell {
        "" => line,
        _ => Line { text: format!("{shell}'{}'", line.text.replace('\'', r"'\''")), effect: line.effect },
    })
}

/// Whether the judge found what the model says. The grammar does not know every form that the shell allows: such a line may
/// get a stricter verdict, never a milder one.
fn agrees(judgement: &Judgement, expected: CommandEffect) -> bool {
    let doubtful = judgement
        .commands
        .iter()
        .any(|command| command.words.is_empty() && command.rule.starts_with("line/"));
    judgement.effect == expected || (judgement.effect > expected && doubtful)
}

/// Asking although a line only reads is the exception.
#[test]
fn most_lines_that_only_read_do_not_ask() {
    let mut runner = TestRunner::deterministic();
    let strategy = line();
    let (mut reading, mut asked) = (0, 0);
    while reading < 500 {
        let line = strategy.new_tree(&mut runner).unwrap().current();
        if line.effect == ReadOnly {
            reading += 1;
            asked += usize::from(
                judge_line(CommandTable::built_in(), &line.text, "", &Project::default()).effect != ReadOnly,
            );
        }
    }
    assert!(asked <= 25, "{asked} of {reading} lines that only read ask");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_line_is_as_strict_as_its_strictest_command(line in line()) {
        let judgement = judge_line(CommandTable::built_in(), &line.text, "", &Project::default());
        prop_assert!(agrees(&judgement, line.effect), "{:?} {:?}", line, judgement);
    }

    #[test]
    fn a_command_that_is_added_never_makes_a_line_harmless(line in line(), other in atom()) {
        let both = format!("{}\n{}", line.text, other.text);
        let judgement = judge_line(CommandTable::built_in(), &both, "", &Project::default());
        prop_assert!(agrees(&judgement, line.effect.max(other.effect)), "{:?} {:?}", both, judgement);
    }

    #[test]
    fn words_and_lines_agree((words, effect) in select(ATOMS.to_vec()), ways in prop::collection::vec(any::<u8>(), 4)) {
        let argv: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let text: Vec<String> = words.iter().zip(&ways).map(|(word, way)| quoted(word, *way)).collect();
        let by_words = judge_argv(CommandTable::built_in(), &argv, "", &Project::default());
        let by_line = judge_line(CommandTable::built_in(), &text.join(" "), "", &Project::default());
        prop_assert_eq!(by_words.effect, effect);
        prop_assert_eq!((by_words.effect, by_words.rule, by_words.reads, by_words.writes, by_words.always),
            (by_line.effect, by_line.rule, by_line.reads, by_line.writes, by_line.always));
    }

    #[test]
    fn a_pattern_names_the_words_it_begins_with((words, _) in select(ATOMS.to_vec()), count in 1_usize..4) {
        let argv: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let judgement = judge_argv(CommandTable::built_in(), &argv, "", &Project::default());
        let command = &judgement.commands[0];
        let plain = words.iter().all(|word| !word.contains(' '));
        let pattern = words.iter().take(count).copied().collect::<Vec<_>>().join(" ");
        if plain {
            prop_assert!(names(&pattern, command), "{}", pattern);
        }
        let longer = format!("{pattern}x");
        prop_assert!(!names(&longer, command), "{}", longer);
        let more = format!("{} more", words.join(" "));
        prop_assert!(!names(&more, command), "{}", more);
    }

    #[test]
    fn any_text_is_judged(text in prop_oneof!["\\PC{0,200}", "[ -~\\n]{0,200}", any::<String>()]) {
        let judgement = judge_line(CommandTable::built_in(), &text, "", &Project::default());
        prop_assert!(!judgement.why.is_empty());
    }
}
