//! Random sequences of tool edits, reverts and edits of somebody else: a revert restores every file byte for byte, with its
//! mode, and never overwrites what somebody else wrote.
//!
//! `REVERT_SEQUENCES` says how many; `cargo xtask soak files` takes 200. A failure names its seed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use ::files::{HardLinks, NewContent, NewFile, apply, stage};
use protocol::{
    ChangeId, Durability, FileChange, FileState, MessageId, Timestamp, WorkspaceId,
    file_change::{ChangeSet, ChangeStatus, NotRevertible},
};
use store::ChangeRecord;
use tempfile::TempDir;
use test_support::Rng;

use super::{
    changes::{REVERT, Scope},
    list::change_list,
    revert::{RevertPlan, plan},
    workspaces::{FileSettings, Workspace},
};

/// Names that are sometimes files and sometimes folders.
const NAMES: [&str; 16] = [
    "a",
    "b.txt",
    "c",
    "c/d",
    "c/d/e.rs",
    "c/d/f",
    "deep/1/2/3/4/5/x",
    "deep/1/2/y",
    "deep/z",
    "报告.md",
    "a/a",
    "a/b/c",
    "bin",
    "crlf.txt",
    "with space",
    ".hidden",
];
const MODES: [u32; 4] = [0o644, 0o755, 0o600, 0o640];

type Tree = BTreeMap<String, (Vec<u8>, u32)>;

struct World {
    workspace: Workspace,
    records: Vec<ChangeRecord>,
    run: usize,
    folder: TempDir,
}

fn sequences() -> u64 {
    std::env::var("REVERT_SEQUENCES").ok().and_then(|count| count.parse().ok()).unwrap_or(20)
}

impl World {
    /// A work directory with a few files.
    fn new(rng: &mut Rng) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = FileSettings {
            workdir: folder.path().join("work"),
            data_dir: folder.path().join("data"),
            protected: Vec::new(),
            hard_links: HardLinks::Refuse,
            content_limit: u64::MAX,
            durability: Durability::Process,
        };
        let workspace = Workspace::open(&settings, WorkspaceId::default_workspace()).unwrap();
        let world = Self { workspace, records: Vec::new(), run: 0, folder };
        for name in ["a", "c/d/e.rs", "deep/z", "bin", "crlf.txt"] {
            world.write(name, &content(rng), *rng.pick(&MODES));
        }
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn write(&self, name: &str, bytes: &[u8], mode: u32) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        read_tree(&self.root(), "", &mut tree);
        tree
    }

    fn state(&self, name: &str) -> Option<FileState> {
        let path = self.workspace.domain.resolve(name).unwrap();
        self.workspace.domain.read(&path, u64::MAX).ok().map(|content| content.state)
    }

    /// One change set of a tool. Returns the files that it changed; none when it was refused.
    fn edit(&mut self, rng: &mut Rng) -> Vec<String> {
        let before = self.tree();
        let mut files: BTreeMap<String, NewContent> = BTreeMap::new();
        for _ in 0..rng.between(1, 4) {
            for file in self.random_change(rng, &before) {
                files.entry(file.path.relative().to_owned()).or_insert(file);
            }
        }
        let files: Vec<NewContent> = files.into_values().collect();
        let Workspace { domain, contents, .. } = &self.workspace;
        let staged = stage(domain, contents, files);
        let applied =
            staged.and_then(|staged| staged.apply(domain, contents).map(|()| staged.into_changes()));
        match applied {
            Ok(changes) => self.record("edit-file", format!("run{}", self.run), changes),
            Err(error) => {
                // A file in the place of a folder, for example.
                assert_eq!(self.tree(), before, "all or nothing: {error}");
                Vec::new()
            }
        }
    }

    fn random_change(&self, rng: &mut Rng, tree: &Tree) -> Vec<NewContent> {
        let path = |name: &str| self.workspace.domain.resolve(name).unwrap();
        let existing: Vec<&String> = tree.keys().collect();
        let old = (!existing.is_empty()).then(|| (*rng.pick(&existing)).clone());
        let new = |bytes: Vec<u8>, mode| Some(NewFile { bytes, mode });
        match (rng.below(6), old) {
            (0, Some(old)) => vec![NewContent { path: path(&old), before: self.state(&old), after: None }],
            (1, Some(old)) => {
                let after = new(tree[&old].0.clone(), Some(*rng.pick(&MODES)));
                vec![NewContent { path: path(&old), before: self.state(&old), after }]
            }
            (2, Some(old)) => {
                let target = *rng.pick(&NAMES);
                let (bytes, mode) = tree[&old].clone();
                vec![
                    NewContent { path: path(&old), before: self.state(&old), after: None },
                    NewContent {
                        path: path(target),
                        before: self.state(target),
                        after: new(bytes, Some(mode)),
                    },
                ]
            }
            (3, Some(old)) => {
                let after = new(content(rng), None);
                vec![NewContent { path: path(&old), before: self.state(&old), after }]
            }
            _ => {
                let name = *rng.pick(&NAMES);
                let mode = rng.percent(50).then(|| *rng.pick(&MODES));
                vec![NewContent {
                    path: path(name),
                    before: self.state(name),
                    after: new(content(rng), mode),
                }]
            }
        }
    }

    fn record(&mut self, tool: &str, root: String, files: Vec<FileChange>) -> Vec<String> {
        let names =
            files.iter().map(|file| file.path.strip_prefix("/workspace/").unwrap().to_owned()).collect();
        let set = ChangeSet {
            id: ChangeId::new(format!("chg_{}", self.records.len())),
            message_id: MessageId::new(root.clone()),
            tool_call_id: None,
            tool: tool.to_owned(),
            agent: Vec::new(),
            at: Timestamp(0),
            status: ChangeStatus::Applied,
            files,
        };
        self.records.push(ChangeRecord { set, root: MessageId::new(root) });
        names
    }

    fn plan(&self, scope: Scope<'_>) -> RevertPlan {
        plan(&self.workspace, &self.records, scope, &BTreeSet::new()).unwrap()
    }

    /// Reverts what can be reverted in this scope.
    fn revert(&mut self, scope: Scope<'_>) -> RevertPlan {
        let plan = self.plan(scope);
        if let Some(message) = &plan.message {
            apply(&self.workspace.domain, &self.workspace.contents, &plan.changes)
                .unwrap_or_else(|error| panic!("{error}: {:?}", plan.changes));
            self.record(REVERT, message.to_string(), plan.changes.clone());
        }
        plan
    }

    /// Somebody else writes, deletes or changes the mode of a file; returns its name.
    fn edit_as_somebody_else(&self, rng: &mut Rng) -> Option<String> {
        let tree = self.tree();
        let existing: Vec<&String> = tree.keys().collect();
        let name = if existing.is_empty() || rng.percent(20) {
            (*rng.pick(&NAMES)).to_owned()
        } else {
            (*rng.pick(&existing)).clone()
        };
        let path = self.root().join(&name);
        if rng.percent(25) && path.is_file() {
            fs::remove_file(&path).unwrap();
        } else if rng.percent(25) && path.is_file() {
            let mode = tree[&name].1 ^ 0o044;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).ok()?;
            let bytes = [b"somebody else: ", &content(rng)[..]].concat();
            fs::write(&path, bytes).ok()?;
        }
        Some(name)
    }
}

fn read_tree(folder: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_tree(&entry.path(), &format!("{name}/"), tree);
        } else {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
            tree.insert(name, (fs::read(entry.path()).unwrap(), mode));
        }
    }
}

/// Text, text with CRLF, text without a final newline, bytes, or nothing.
fn content(rng: &mut Rng) -> Vec<u8> {
    let lines = rng.below(6_usize);
    let end = if rng.percent(30) { "\r\n" } else { "\n" };
    let mut text: String = (0..lines).map(|_| format!("line {}{end}", rng.below(4))).collect();
    match rng.below(5) {
        0 => (0..rng.below(300_usize)).map(|_| rng.below(256_u32) as u8).collect(),
        1 => {
            text.push_str("no newline");
            text.into_bytes()
        }
        _ => text.into_bytes(),
    }
}

#[test]
fn a_revert_restores_the_tree_byte_for_byte() {
    let (mut edits, mut reverts) = (0, 0);
    for seed in 0..sequences() {
        let mut rng = Rng::new(seed);
        let mut world = World::new(&mut rng);
        let initial = world.tree();
        for _ in 0..rng.between(5, 40) {
            if rng.percent(20) {
                world.run += 1;
            }
            if rng.percent(10) {
                let run = MessageId::new(format!("run{}", rng.below(world.run + 1)));
                let scope = if rng.percent(30) { Scope::Chat } else { Scope::Run(&run) };
                let plan = world.revert(scope);
                reverts += usize::from(plan.message.is_some());
                let reasons = [NotRevertible::LaterRun, NotRevertible::NothingToRevert];
                let others: Vec<_> =
                    plan.refused.iter().filter(|refused| !reasons.contains(&refused.code)).collect();
                // A file of a later run may be where a folder must be restored.
                assert!(
                    others
                        .iter()
                        .all(|refused| refused.code == NotRevertible::ChangedSince && scope != Scope::Chat),
                    "seed {seed}: {others:?}"
                );
            } else {
                edits += usize::from(!world.edit(&mut rng).is_empty());
            }
            assert_listed(&world, seed);
        }
        let plan = world.revert(Scope::Chat);
        let codes: Vec<_> = plan.refused.iter().map(|refused| refused.code).collect();
        assert!(codes.iter().all(|code| *code == NotRevertible::NothingToRevert), "seed {seed}: {codes:?}");
        assert_eq!(world.tree(), initial, "seed {seed}");
        let again = world.revert(Scope::Chat);
        assert_eq!((again.message, again.changes), (None, Vec::new()), "seed {seed}: nothing is left");
        assert_eq!(world.tree(), initial, "seed {seed}");
    }
    assert!(edits > 0 && reverts > 0, "{edits} edits, {reverts} reverts");
}

/// What the list says can be reverted is what a revert reverts.
fn assert_listed(world: &World, seed: u64) {
    let list = change_list(&world.workspace, &world.records);
    let plan = world.plan(Scope::Chat);
    let revertible: Vec<_> =
        list.files.iter().filter(|file| file.revertible).map(|file| &*file.path).collect();
    let planned: Vec<_> =
        plan.changes.iter().map(|change| change.path.strip_prefix("/workspace/").unwrap()).collect();
    assert_eq!(revertible, planned, "seed {seed}");
    assert!(!list.incomplete, "seed {seed}");
}

#[test]
fn what_somebody_else_wrote_is_never_overwritten_and_is_named() {
    let (mut kept, mut restored) = (0, 0);
    for seed in 1_000..1_000 + sequences() {
        let mut rng = Rng::new(seed);
        let mut world = World::new(&mut rng);
        // The state of each file before the chat first changed it, and who wrote it last.
        let mut base: BTreeMap<String, Option<(Vec<u8>, u32)>> = BTreeMap::new();
        let mut last_foreign: BTreeSet<String> = BTreeSet::new();
        let mut ever_foreign: BTreeSet<String> = BTreeSet::new();
        for _ in 0..rng.between(5, 40) {
            let before = world.tree();
            if rng.percent(20) {
                world.run += 1;
            }
            if rng.percent(25) {
                world.edit_as_somebody_else(&mut rng);
                let after = world.tree();
                let differs = |name: &&String| before.get(*name) != after.get(*name);
                let changed: BTreeSet<String> =
                    before.keys().chain(after.keys()).filter(differs).cloned().collect();
                last_foreign.extend(changed.iter().cloned());
                ever_foreign.extend(changed);
            } else {
                for name in world.edit(&mut rng) {
                    last_foreign.remove(&name);
                    base.entry(name.clone()).or_insert_with(|| before.get(&name).cloned());
                }
            }
        }
        let before = world.tree();
        let plan = world.revert(Scope::Chat);
        let after = world.tree();
        let refused: BTreeMap<&str, NotRevertible> =
            plan.refused.iter().map(|refused| (refused.path.as_str(), refused.code)).collect();
        for name in &last_foreign {
            // They may have put back exactly what the chat had left.
            let same = before.get(name) == after.get(name);
            let as_left = plan.changes.iter().any(|change| change.path.ends_with(&format!("/{name}")));
            assert!(same || as_left, "seed {seed}: {name} was overwritten");
            if let Some(base) = base.get(name)
                && base.as_ref() != before.get(name)
                && same
                && !as_left
            {
                kept += 1;
            }
        }
        for (name, base) in &base {
            match refused.get(name.as_str()) {
                Some(code) => {
                    assert_eq!(before.get(name), after.get(name), "seed {seed}: {name} is refused: {code:?}");
                }
                None if ever_foreign.contains(name) => {
                    let is_kept = after.get(name) == before.get(name);
                    assert!(is_kept || after.get(name) == base.as_ref(), "seed {seed}: {name}");
                }
                None => {
                    restored += 1;
                    assert_eq!(after.get(name), base.as_ref(), "seed {seed}: {name} is restored or named");
                }
            }
        }
        for (name, content) in &before {
            if !base.contains_key(name) {
                assert_eq!(after.get(name), Some(content), "seed {seed}: the chat never changed {name}");
            }
        }
    }
    assert!(kept > 0 && restored > 0, "{kept} files of somebody else, {restored} restored");
}
