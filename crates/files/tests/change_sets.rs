//! Change sets: all or nothing, undone byte for byte, never over somebody else's change.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what breaks here must fail the test")]

mod workspace;

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

use files::{LogicalPath, NewContent, NewFile, apply, complete, stage};
use proptest::prelude::*;
use protocol::{FailureCode, FileChange};
use workspace::Workspace;

type Tree = BTreeMap<String, (Vec<u8>, u32)>;

/// Files with bytes and modes; folders that are empty appear with a `/` at the end.
fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries: Vec<_> = fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()).collect();
        let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        if entries.is_empty() && next != folder {
            found.insert(format!("{}/", name(&next)), (Vec::new(), 0));
        }
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else {
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
                found.insert(name(&path), (fs::read(&path).unwrap(), mode));
            }
        }
    }
    found
}

fn write(workspace: &Workspace, path: &str, text: &str, mode: u32) {
    let path = workspace.root().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A change of a file from whatever it is now.
fn change(workspace: &Workspace, path: &str, after: Option<(&str, Option<u32>)>) -> NewContent {
    let path = LogicalPath::parse(path).unwrap();
    let before = workspace.domain.read(&path, 1 << 20).ok().map(|content| content.state);
    let after = after.map(|(text, mode)| NewFile { bytes: text.as_bytes().to_vec(), mode });
    NewContent { path, before, after }
}

fn do_all(workspace: &Workspace, changes: &[NewContent]) -> Result<Vec<FileChange>, files::FileError> {
    let staged = stage(&workspace.domain, &workspace.contents, changes.to_vec())?;
    staged.apply(&workspace.domain, &workspace.contents)?;
    Ok(staged.into_changes())
}

fn reversed(changes: &[FileChange]) -> Vec<FileChange> {
    let reverse = |change: &FileChange| FileChange {
        path: change.path.clone(),
        before: change.after.clone(),
        after: change.before.clone(),
    };
    changes.iter().map(reverse).collect()
}

#[test]
fn files_are_created_changed_and_deleted_together_and_back() {
    let workspace = Workspace::new();
    write(&workspace, "keep.sh", "old", 0o750);
    write(&workspace, "gone/away.txt", "away", 0o600);
    let before = tree(workspace.root());
    let changes = do_all(
        &workspace,
        &[
            change(&workspace, "keep.sh", Some(("new", None))),
            change(&workspace, "gone/away.txt", None),
            change(&workspace, "a/b/c.txt", Some(("created", None))),
            change(&workspace, "run.sh", Some(("#!", Some(0o755)))),
        ],
    )
    .unwrap();
    let after = tree(workspace.root());
    let expected: Tree =
        [("keep.sh", "new", 0o750), ("a/b/c.txt", "created", 0o644), ("run.sh", "#!", 0o755)]
            .map(|(path, text, mode)| (path.to_owned(), (text.as_bytes().to_vec(), mode)))
            .into();
    assert_eq!(after, expected);
    apply(&workspace.domain, &workspace.contents, &reversed(&changes)).unwrap();
    assert_eq!(tree(workspace.root()), before);
    apply(&workspace.domain, &workspace.contents, &changes).unwrap();
    assert_eq!(tree(workspace.root()), after);
}

#[test]
fn a_file_becomes_a_folder_and_back() {
    let workspace = Workspace::new();
    write(&workspace, "a", "file", 0o640);
    let before = tree(workspace.root());
    let changes = do_all(
        &workspace,
        &[change(&workspace, "a", None), change(&workspace, "a/b/c", Some(("in it", None)))],
    )
    .unwrap();
    assert_eq!(tree(workspace.root()).keys().collect::<Vec<_>>(), ["a/b/c"]);
    apply(&workspace.domain, &workspace.contents, &reversed(&changes)).unwrap();
    assert_eq!(tree(workspace.root()), before);
}

#[test]
fn when_one_change_fails_nothing_is_changed() {
    let workspace = Workspace::new();
    write(&workspace, "one.txt", "1", 0o644);
    write(&workspace, "gone/two.txt", "2", 0o600);
    write(&workspace, "file", "not a folder", 0o644);
    let changes = stage(
        &workspace.domain,
        &workspace.contents,
        vec![
            change(&workspace, "one.txt", Some(("changed", None))),
            change(&workspace, "gone/two.txt", None),
            change(&workspace, "new/deep/three.txt", Some(("3", None))),
            change(&workspace, "file/below.txt", Some(("4", None))),
        ],
    )
    .unwrap()
    .into_changes();
    let before = tree(workspace.root());
    let error = apply(&workspace.domain, &workspace.contents, &changes).unwrap_err();
    assert_eq!(error.code, FailureCode::InvalidPath, "{error}");
    assert_eq!(tree(workspace.root()), before);
}

#[test]
fn a_state_that_is_not_the_expected_one_is_a_conflict() {
    let workspace = Workspace::new();
    write(&workspace, "a.txt", "1", 0o644);
    write(&workspace, "b.txt", "1", 0o644);
    let edit = change(&workspace, "a.txt", Some(("2", None)));
    let other = change(&workspace, "b.txt", Some(("2", None)));
    let staged =
        stage(&workspace.domain, &workspace.contents, vec![other, edit.clone()]).unwrap().into_changes();
    for (text, mode) in [("changed", 0o644), ("1", 0o600)] {
        write(&workspace, "a.txt", text, mode);
        let before = tree(workspace.root());
        let error = stage(&workspace.domain, &workspace.contents, vec![edit.clone()]).unwrap_err();
        assert_eq!(error.code, FailureCode::Conflict);
        let error = apply(&workspace.domain, &workspace.contents, &staged).unwrap_err();
        assert_eq!(error.code, FailureCode::Conflict);
        assert_eq!(tree(workspace.root()), before);
    }
    fs::remove_file(workspace.root().join("a.txt")).unwrap();
    assert_eq!(do_all(&workspace, &[edit]).unwrap_err().code, FailureCode::Conflict);
    write(&workspace, "new.txt", "theirs", 0o644);
    let path = LogicalPath::parse("new.txt").unwrap();
    let after = Some(NewFile { bytes: b"ours".to_vec(), mode: None });
    let create = NewContent { path, before: None, after };
    assert_eq!(do_all(&workspace, &[create]).unwrap_err().code, FailureCode::Conflict);
    assert_eq!(fs::read(workspace.root().join("new.txt")).unwrap(), b"theirs");
}

#[test]
fn a_change_is_seen_even_if_size_and_time_are_as_before() {
    let workspace = Workspace::new();
    write(&workspace, "a.txt", "old", 0o644);
    let file = workspace.root().join("a.txt");
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    // Old enough for its content to be remembered.
    std::thread::sleep(std::time::Duration::from_millis(80));
    let edit = change(&workspace, "a.txt", Some(("new", None)));
    let staged = stage(&workspace.domain, &workspace.contents, vec![edit.clone()]).unwrap();
    fs::write(&file, "odd").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
    assert_eq!(staged.apply(&workspace.domain, &workspace.contents).unwrap_err().code, FailureCode::Conflict);
    assert_eq!(do_all(&workspace, &[edit]).unwrap_err().code, FailureCode::Conflict);
    assert_eq!(fs::read(&file).unwrap(), b"odd");
}

#[test]
fn impossible_sets_are_refused() {
    let workspace = Workspace::new();
    write(&workspace, "folder/file.txt", "1", 0o644);
    let create = |path: &str| change(&workspace, path, Some(("x", None)));
    let code = |changes: &[NewContent]| do_all(&workspace, changes).unwrap_err().code;
    assert_eq!(code(&[create("a"), create("a")]), FailureCode::InvalidArgument);
    assert_eq!(code(&[create("")]), FailureCode::InvalidArgument);
    assert_eq!(code(&[create("folder")]), FailureCode::InvalidArgument);
    let before = tree(workspace.root());
    assert!(do_all(&workspace, &[create("b"), create("b/c")]).is_err());
    assert_eq!(tree(workspace.root()), before);
    assert_eq!(do_all(&workspace, &[]).unwrap(), []);
    assert_eq!(do_all(&workspace, &[change(&workspace, "folder/file.txt", Some(("1", None)))]).unwrap(), []);
}

#[test]
fn complete_rolls_forward_and_leaves_what_somebody_changed() {
    let workspace = Workspace::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        write(&workspace, name, "old", 0o644);
    }
    let edits: Vec<NewContent> =
        ["a.txt", "b.txt", "c.txt", "d.txt"].map(|name| change(&workspace, name, Some(("new", None)))).into();
    let changes = stage(&workspace.domain, &workspace.contents, edits).unwrap().into_changes();
    write(&workspace, "b.txt", "new", 0o644);
    write(&workspace, "c.txt", "theirs", 0o644);
    write(&workspace, ".concertino-0123.tmp", "left", 0o600);
    let completed = complete(&workspace.domain, &workspace.contents, &changes).unwrap();
    let names =
        |paths: &[LogicalPath]| paths.iter().map(|path| path.relative().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&completed.changed), ["a.txt", "b.txt", "d.txt"]);
    assert_eq!(names(&completed.left), ["c.txt"]);
    let found: Vec<(String, Vec<u8>)> =
        tree(workspace.root()).into_iter().map(|(name, (bytes, _))| (name, bytes)).collect();
    let expected = [("a.txt", "new"), ("b.txt", "new"), ("c.txt", "theirs"), ("d.txt", "new")];
    assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())));
    let again = complete(&workspace.domain, &workspace.contents, &changes).unwrap();
    assert_eq!(again, completed);
}

#[test]
fn two_change_sets_at_once_do_not_mix() {
    let workspace = Workspace::new();
    for place in 0..10 {
        write(&workspace, &format!("f{place}"), "old", 0o644);
    }
    let set = |text: &str| {
        let edits: Vec<NewContent> =
            (0..10).map(|place| change(&workspace, &format!("f{place}"), Some((text, None)))).collect();
        stage(&workspace.domain, &workspace.contents, edits).unwrap().into_changes()
    };
    let sets: Vec<Vec<FileChange>> = (0..4).map(|number| set(&format!("set {number}"))).collect();
    let results: Vec<bool> = std::thread::scope(|scope| {
        let apply = |set| apply(&workspace.domain, &workspace.contents, set).is_ok();
        let threads: Vec<_> = sets.iter().map(|set| scope.spawn(move || apply(set))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|done| **done).count(), 1);
    let texts: std::collections::BTreeSet<Vec<u8>> =
        tree(workspace.root()).into_values().map(|(bytes, _)| bytes).collect();
    assert_eq!(texts.len(), 1);
}

#[test]
fn a_thousand_files_in_many_folders_are_changed_at_once() {
    let workspace = Workspace::new();
    let edits: Vec<NewContent> =
        (0..1000).map(|n| change(&workspace, &format!("d{}/e/f{n}", n % 300), Some(("x", None)))).collect();
    let changes = do_all(&workspace, &edits).unwrap();
    assert_eq!(tree(workspace.root()).len(), 1000);
    apply(&workspace.domain, &workspace.contents, &reversed(&changes)).unwrap();
    assert_eq!(tree(workspace.root()), Tree::new());
}

const NAMES: [&str; 9] = ["a", "b.txt", "a/x", "a/y", "c/d/e", "c/d/f", "c/g", "ü/文", "b.txt/z"];

#[derive(Clone, Debug)]
struct Step {
    path: usize,
    text: Option<(String, Option<u32>)>,
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let mode = prop::option::of(prop::sample::select(vec![0o644_u32, 0o600, 0o755, 0o777, 0o444]));
    let text = prop::option::weighted(0.7, ("[a-c]{0,5}", mode));
    let step = (0..NAMES.len(), text).prop_map(|(path, text)| Step { path, text });
    prop::collection::vec(prop::collection::vec(step, 1..5), 1..8)
}

/// What a change set makes of the model; `None` when it is impossible.
fn model(tree: &Tree, set: &[Step]) -> Option<Tree> {
    let mut new = tree.clone();
    let mut seen = std::collections::BTreeSet::new();
    for step in set {
        let path = NAMES[step.path];
        if !seen.insert(path) {
            return None;
        }
        match &step.text {
            None => drop(new.remove(path)),
            Some((text, mode)) => {
                let mode = mode.or(tree.get(path).map(|(_, mode)| *mode)).unwrap_or(0o644);
                new.insert(path.to_owned(), (text.as_bytes().to_vec(), mode));
            }
        }
    }
    let is_folder = |path: &String| new.keys().any(|other| other.starts_with(&format!("{path}/")));
    if new.keys().any(is_folder) { None } else { Some(new) }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("FILES_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60),
        ..ProptestConfig::default()
    })]

    /// Change sets do what the model says or nothing, and taken back in reverse order they leave the first tree.
    #[test]
    fn random_change_sets_follow_the_model_and_are_undone(sets in steps()) {
        let workspace = Workspace::new();
        let mut current = Tree::new();
        let mut applied: Vec<(Tree, Vec<FileChange>)> = Vec::new();
        for set in &sets {
            // Nothing is deleted that does not exist.
            let exists = |step: &&Step| step.text.is_some() || current.contains_key(NAMES[step.path]);
            let set: Vec<Step> = set.iter().filter(exists).cloned().collect();
            let changes: Vec<NewContent> = set
                .iter()
                .map(|step| {
                    let text = step.text.as_ref().map(|(text, mode)| (text.as_str(), *mode));
                    change(&workspace, NAMES[step.path], text)
                })
                .collect();
            match (model(&current, &set), do_all(&workspace, &changes)) {
                (Some(new), Ok(changes)) => {
                    applied.push((current, changes));
                    current = new;
                }
                (None, Err(_)) => {}
                (expected, done) => prop_assert!(false, "{set:?}: expected {expected:?}, got {done:?}"),
            }
            prop_assert_eq!(&tree(workspace.root()), &current);
        }
        while let Some((before, changes)) = applied.pop() {
            apply(&workspace.domain, &workspace.contents, &reversed(&changes)).unwrap();
            prop_assert_eq!(&tree(workspace.root()), &before);
        }
    }
}
