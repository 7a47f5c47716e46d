//! Compares with the programs that everybody uses: `patch`, `diff` and `git apply`. Skipped where they are missing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

use std::{fs, path::Path, process::Command};

use patch::{Exactness, FilePatch, Hunk, apply_hunks, diff, parse};
use test_support::Rng;

const CASES: u64 = 60;

/// Runs a program in a folder; `None` when it is not installed, `Some(false)` when it failed.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Option<(bool, String)> {
    let output =
        Command::new(program).args(arguments).current_dir(folder).env("LC_ALL", "C").output().ok()?;
    Some((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn is_installed(program: &str) -> bool {
    let installed = run(Path::new("."), program, &["--version"]).is_some();
    if !installed {
        eprintln!("SKIPPED: {program} is not installed");
    }
    installed
}

fn lines(rng: &mut Rng) -> Vec<String> {
    let count = rng.below(60_usize);
    // Some lines repeat, some are unique.
    (0..count)
        .map(|line| if rng.percent(40) { format!("line {line}") } else { format!("{}", rng.below(6_u32)) })
        .collect()
}

fn changed(rng: &mut Rng, old: &[String]) -> Vec<String> {
    let mut new = Vec::new();
    for line in old {
        match rng.below(12_u32) {
            0 => {}
            1 => new.push("changed".to_owned()),
            2 => new.extend([line.clone(), "inserted".to_owned()]),
            _ => new.push(line.clone()),
        }
    }
    new
}

fn text(rng: &mut Rng, lines: &[String]) -> String {
    let text = lines.join("\n");
    if text.is_empty() || rng.percent(20) { text } else { text + "\n" }
}

fn hunks(text: &str) -> Vec<Hunk> {
    match parse(text).unwrap().files.remove(0) {
        FilePatch::Update { hunks, .. } => hunks,
        other => panic!("{other:?}"),
    }
}

fn in_folder(old: &str, patch: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x"), old).unwrap();
    fs::write(folder.path().join("p.diff"), patch).unwrap();
    folder
}

#[test]
fn other_programs_apply_our_differences() {
    for seed in 0..CASES {
        let mut rng = Rng::new(seed);
        let old = lines(&mut rng);
        let new = changed(&mut rng, &old);
        let (old, new) = (text(&mut rng, &old), text(&mut rng, &new));
        if old == new || old.is_empty() || new.is_empty() {
            continue;
        }
        let ours = diff(old.as_bytes(), new.as_bytes(), rng.between(1_usize, 4), usize::MAX);
        let patch = format!("--- a/x\n+++ b/x\n{}", ours.text);
        for (program, arguments) in [
            ("patch", &["-p1", "-F0", "--no-backup-if-mismatch", "-i", "p.diff"][..]),
            ("git", &["apply", "-p1", "p.diff"]),
        ] {
            if is_installed(program) {
                let folder = in_folder(&old, &patch);
                let (done, said) = run(folder.path(), program, arguments).unwrap();
                assert!(done, "{program}, seed {seed}: {said}\n{patch}");
                assert_eq!(
                    fs::read_to_string(folder.path().join("x")).unwrap(),
                    new,
                    "{program}, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn differences_of_other_programs_are_applied() {
    for seed in 0..CASES {
        let mut rng = Rng::new(1_000 + seed);
        let old = lines(&mut rng);
        let new = changed(&mut rng, &old);
        let (old, new) = (text(&mut rng, &old), text(&mut rng, &new));
        if old == new {
            continue;
        }
        for (program, arguments) in [
            ("diff", &["-u", "x", "y"][..]),
            ("diff", &["-U0", "x", "y"]),
            ("git", &["diff", "--no-index", "--no-color", "x", "y"]),
        ] {
            if !is_installed(program) {
                continue;
            }
            let folder = in_folder(&old, "");
            fs::write(folder.path().join("y"), &new).unwrap();
            let (_, theirs) = run(folder.path(), program, arguments).unwrap();
            // The two files have other names; the hunks are what is compared.
            let body = theirs.split_once("\n@@").unwrap().1;
            let applied = apply_hunks(&old, &hunks(&format!("--- a/x\n+++ b/x\n@@{body}")));
            assert_eq!(
                applied.map(|applied| applied.text),
                Ok(new.clone()),
                "{program}, seed {seed}\n{theirs}"
            );
        }
    }
}

/// The file has changed since the patch was made. Where both find a place, it is the same.
#[test]
fn patches_of_older_versions_go_where_other_programs_put_them() {
    if !is_installed("patch") {
        return;
    }
    let (mut both, mut only_theirs, mut only_ours) = (0, 0, 0);
    for seed in 0..CASES * 2 {
        let mut rng = Rng::new(5_000 + seed);
        let old = lines(&mut rng);
        let new = changed(&mut rng, &old);
        let mut drifted: Vec<String> = (0..rng.below(5_u32)).map(|line| format!("new {line}")).collect();
        drifted.extend(old.iter().cloned());
        let (old, new, drifted) = (old.join("\n") + "\n", new.join("\n") + "\n", drifted.join("\n") + "\n");
        let ours = diff(old.as_bytes(), new.as_bytes(), 3, usize::MAX);
        if ours.text.is_empty() {
            continue;
        }
        let patch = format!("--- a/x\n+++ b/x\n{}", ours.text);
        let folder = in_folder(&drifted, &patch);
        let arguments = ["-p1", "-F0", "--no-backup-if-mismatch", "-f", "-i", "p.diff"];
        let (done, _) = run(folder.path(), "patch", &arguments).unwrap();
        let theirs = done.then(|| fs::read_to_string(folder.path().join("x")).unwrap());
        let ours = apply_hunks(&drifted, &hunks(&patch)).ok();
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                assert_eq!(ours.exactness(), Exactness::Exact);
                assert_eq!(ours.text, theirs, "seed {seed}");
                both += 1;
            }
            (None, Some(_)) => only_theirs += 1,
            (Some(_), None) => only_ours += 1,
            (None, None) => {}
        }
    }
    println!("both {both}, only patch {only_theirs}, only ours {only_ours}");
    assert!(both >= 60, "both {both}, only patch {only_theirs}, only ours {only_ours}");
}
