//! What holds for every text: reading never panics, and a difference that was written can be applied.

#![allow(clippy::expect_used, reason = "a step that fails fails the test")]

use patch::{Edit, Exactness, FilePatch, Hunk, apply_hunks, diff, edit, parse};
use proptest::{collection::vec, prelude::*, sample::select};

/// Texts of few different lines, so that lines repeat, with all kinds of endings.
fn file() -> impl Strategy<Value = String> {
    let line = select(vec!["", "a", "b", "c", "  a", "a ", "-- x", "++ y", "@@", "\u{feff}z", "ü“", "\\ x"]);
    let ending = select(vec!["\n", "\n", "\n", "\r\n"]);
    (vec((line, ending), 0..40), any::<bool>(), select(vec!["", "", "\u{feff}"])).prop_map(
        |(lines, newline, bom)| {
            let mut text: String = lines.iter().flat_map(|(line, ending)| [*line, *ending]).collect();
            if !newline {
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
            }
            format!("{bom}{text}")
        },
    )
}

fn hunks(text: &str) -> Vec<Hunk> {
    match parse(text).expect("a difference can be read").files.remove(0) {
        FilePatch::Update { hunks, .. } => hunks,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_difference_applied_to_the_old_text_gives_the_new_one(old in file(), new in file(), context in 1_usize..5) {
        let difference = diff(old.as_bytes(), new.as_bytes(), context, usize::MAX);
        prop_assert!(!difference.cut && !difference.binary);
        prop_assert_eq!(difference.text.is_empty(), old == new);
        if old != new {
            let hunks = hunks(&format!("--- a/x\n+++ b/x\n{}", difference.text));
            let applied = apply_hunks(&old, &hunks).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(&applied.text, &new, "{}", difference.text);
            prop_assert_eq!(applied.exactness(), Exactness::Exact);
            prop_assert!(applied.places.iter().all(|place| place.shifted == 0));
        }
    }

    #[test]
    fn a_difference_without_context_can_be_applied(old in file(), new in file()) {
        // Without context nothing shows the endings of inserted lines.
        let (old, new) = (old.replace(['\r', '\u{feff}'], ""), new.replace(['\r', '\u{feff}'], ""));
        let difference = diff(old.as_bytes(), new.as_bytes(), 0, usize::MAX);
        if old != new {
            let hunks = hunks(&format!("--- a/x\n+++ b/x\n{}", difference.text));
            prop_assert_eq!(apply_hunks(&old, &hunks).map(|applied| applied.text), Ok(new));
        }
    }

    #[test]
    fn a_difference_with_the_whole_file_as_context_is_an_envelope(old in file(), new in file()) {
        let difference = diff(old.as_bytes(), new.as_bytes(), 1_000, usize::MAX);
        if old != new {
            let body = difference.text.split_once('\n').map_or("", |(_, body)| body);
            let text = format!("*** Begin Patch\n*** Update File: x\n@@\n{body}*** End of File\n*** End Patch\n");
            prop_assert_eq!(apply_hunks(&old, &hunks(&text)).map(|applied| applied.text), Ok(new));
        }
    }

    #[test]
    fn reading_and_applying_never_panic(
        parts in vec(prop_oneof![
            select(vec![
                "*** Begin Patch\n", "*** End Patch\n", "*** Add File: a\n", "*** Update File: a\n", "*** Delete File: a\n",
                "*** Move to: b\n", "*** End of File\n", "@@\n", "@@ a\n", "@@ -1 +1 @@\n", "@@ -3,2 +0,0 @@\n", "@@ -0,0 +9 @@\n",
                "--- a/a\n", "+++ b/a\n", "--- /dev/null\n", "+++ /dev/null\n", "diff --git a/a b/a\n", "rename from a\n",
                "rename to b\n", "new file mode 100644\n", "deleted file mode 100644\n", "\\ No newline at end of file\n",
                " a\n", "-a\n", "+a\n", " b\n", "-b\r\n", "+b\n", "\n", "-- \n", "2.0\n", "```\n", "\"", "\\", "\r", "\u{feff}",
            ]).prop_map(str::to_owned),
            any::<String>(),
        ], 0..30),
        old in file(),
    ) {
        if let Ok(patch) = parse(&parts.concat()) {
            prop_assert!(!patch.files.is_empty());
            for file in patch.files {
                if let FilePatch::Update { hunks, .. } | FilePatch::Delete { hunks, .. } = file {
                    let applied = apply_hunks(&old, &hunks);
                    prop_assert!(applied.is_err() || applied.is_ok_and(|applied| applied.places.len() == hunks.len()));
                }
            }
        }
    }

    #[test]
    fn an_edit_changes_what_it_says(old in file(), from in 0_usize..50, length in 1_usize..20, new in "[xyz\n]{0,5}") {
        let letters: Vec<char> = old.chars().collect();
        let old_text: String = letters.iter().skip(from).take(length).collect();
        let count = if old_text.is_empty() { 0 } else { old.matches(&old_text).count() };
        let step = |replace_all| Edit { old_text: old_text.clone(), new_text: new.clone(), replace_all };
        match edit(&old, &[step(false)]) {
            Ok(changed) => {
                prop_assert!(count <= 1);
                prop_assert_eq!(edit(&old, &[step(true)]), Ok(changed.clone()));
                if !old.contains('\r') {
                    prop_assert_eq!(changed, old.replacen(&old_text, &new, 1));
                }
            }
            Err(_) if old_text.is_empty() || old_text == new => {}
            Err(error) => prop_assert!(error.to_string().contains("times, at line") && count >= 1, "{error}"),
        }
    }
}
