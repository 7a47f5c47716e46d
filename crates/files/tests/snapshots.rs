//! What something else changed in the work directory, compared with a look at every byte, and taken back.
//!
//! `SNAPSHOT_CASES` sets how many random sequences are tried.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what breaks here must fail the test")]

mod workspace;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::Path,
    time::{Duration, Instant},
};

use files::{Snapshot, SnapshotLimits, SnapshotStore, Watch, apply};
use protocol::{FileChange, FileState};
use test_support::Rng;
use workspace::Workspace;

/// Files and links: content or target, and mode.
type Tree = BTreeMap<String, (Vec<u8>, u32)>;

fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            if metadata.is_dir() {
                folders.push(path);
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec();
                found.insert(name, (target, FileState::LINK));
            } else {
                found.insert(name, (fs::read(&path).unwrap(), metadata.permissions().mode() & 0o7777));
            }
        }
    }
    found
}

fn sha256(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = files::ContentStore::open(folder.path(), protocol::Durability::Process).unwrap();
    store.put(bytes).unwrap()
}

/// The changes between two trees, by comparing every byte.
fn compared(before: &Tree, after: &Tree) -> Vec<FileChange> {
    let state = |(bytes, mode): &(Vec<u8>, u32)| FileState {
        content: sha256(bytes),
        bytes: bytes.len() as u64,
        mode: *mode,
    };
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |path: &&String| FileChange {
        path: format!("/workspace/{path}"),
        before: before.get(*path).map(state),
        after: after.get(*path).map(state),
    };
    paths.iter().filter(|path| before.get(**path) != after.get(**path)).map(change).collect()
}

fn reversed(changes: &[FileChange]) -> Vec<FileChange> {
    let reverse = |change: &FileChange| FileChange {
        path: change.path.clone(),
        before: change.after.clone(),
        after: change.before.clone(),
    };
    changes.iter().map(reverse).collect()
}

struct World {
    workspace: Workspace,
    kept: SnapshotStore,
}

impl World {
    fn new() -> Self {
        let workspace = Workspace::new();
        let kept = SnapshotStore::open(&workspace.data().join("snapshots")).unwrap();
        Self { workspace, kept }
    }

    fn root(&self) -> &Path {
        self.workspace.root()
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn take(&self, limits: SnapshotLimits) -> Snapshot {
        Snapshot::take(&self.workspace.domain, &self.kept, limits, &Watch::ALWAYS).unwrap()
    }

    fn changes(&self, snapshot: &Snapshot) -> Vec<FileChange> {
        snapshot.changes(&self.workspace.domain, &self.workspace.contents, &Watch::ALWAYS).unwrap()
    }

    fn names(&self, snapshot: &Snapshot) -> Vec<(String, bool)> {
        let changes = self.changes(snapshot);
        let is_kept = |change: &FileChange| {
            [&change.before, &change.after].into_iter().flatten().all(FileState::is_known)
        };
        let name = |change: &FileChange| change.path.strip_prefix("/workspace/").unwrap().to_owned();
        changes.iter().map(|change| (name(change), is_kept(change))).collect()
    }
}

const NAMES: [&str; 10] = ["a", "b.txt", "c/d", "c/e.rs", "c/f/g", "h/i", "h/j/k", "ü/文", "l m", "b.txt/n"];

fn content(rng: &mut Rng) -> Vec<u8> {
    let size = *rng.pick(&[0_usize, 1, 5, 300, 9_000]);
    (0..size).map(|_| b"ab\n\0\xff"[rng.below(5_usize)]).collect()
}

/// What a shell might do. What is impossible is not done.
fn mutate(root: &Path, rng: &mut Rng) {
    let path = |rng: &mut Rng| root.join(rng.pick(&NAMES));
    let (one, other) = (path(rng), path(rng));
    match rng.below(9_u32) {
        0 | 1 => {
            fs::create_dir_all(one.parent().unwrap()).ok();
            fs::write(one, content(rng)).ok();
        }
        2 => {
            let file = fs::File::options().append(true).open(one);
            drop(file.and_then(|mut file| file.write_all(b"more")));
        }
        3 => drop(fs::remove_file(one)),
        4 => {
            fs::create_dir_all(other.parent().unwrap()).ok();
            fs::rename(one, other).ok();
        }
        5 => drop(fs::rename(one.parent().unwrap(), root.join("moved"))),
        6 if fs::symlink_metadata(&one).is_ok_and(|found| found.is_file()) => {
            let mode = *rng.pick(&[0o644, 0o600, 0o755, 0o444]);
            fs::set_permissions(one, fs::Permissions::from_mode(mode)).unwrap();
        }
        7 => {
            let target = *rng.pick(&["a", "../outside", "/etc/hostname", "nowhere", "c"]);
            if rng.percent(50) {
                fs::remove_file(&one).ok();
            }
            symlink(target, one).ok();
        }
        _ if one.parent() != Some(root) => drop(fs::remove_dir_all(one.parent().unwrap())),
        _ => {
            // The same content again.
            if let Ok(bytes) = fs::read(&one) {
                fs::write(&one, bytes).ok();
            }
        }
    }
}

fn remove_empty_folders(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            remove_empty_folders(&entry.path());
            fs::remove_dir(entry.path()).ok();
        }
    }
}

#[test]
fn random_changes_are_found_and_taken_back() {
    let cases = std::env::var("SNAPSHOT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    for seed in 0..cases {
        let mut rng = Rng::new(seed);
        let world = World::new();
        for _ in 0..rng.between(0, 25) {
            mutate(world.root(), &mut rng);
        }
        for round in 0..rng.between(1, 4) {
            if rng.percent(30) {
                std::thread::sleep(Duration::from_millis(60));
            }
            let before = tree(world.root());
            let snapshot = world.take(SnapshotLimits::default());
            for _ in 0..rng.between(0, 12) {
                mutate(world.root(), &mut rng);
            }
            // An empty folder in the place of a file is somebody's, and is not replaced.
            remove_empty_folders(world.root());
            let after = tree(world.root());
            let changes = world.changes(&snapshot);
            assert_eq!(changes, compared(&before, &after), "seed {seed}, round {round}");
            drop(snapshot);
            if rng.percent(60) {
                apply(&world.workspace.domain, &world.workspace.contents, &reversed(&changes))
                    .unwrap_or_else(|error| panic!("seed {seed}, round {round}: {error}: {changes:#?}"));
                assert_eq!(tree(world.root()), before, "seed {seed}, round {round}");
                apply(&world.workspace.domain, &world.workspace.contents, &changes).unwrap();
                assert_eq!(tree(world.root()), after, "seed {seed}, round {round}");
            }
        }
        world.workspace.assert_secret_is_safe();
    }
}

#[test]
fn what_is_not_kept_is_named_without_a_content() {
    let world = World::new();
    for (name, size) in [("small", 10), ("large", 101), ("second", 60), ("third", 70)] {
        world.write(name, &vec![b'x'; size]);
    }
    world.write("linked", b"a");
    fs::hard_link(world.root().join("linked"), world.workspace.outside().join("other name")).unwrap();
    let limits = SnapshotLimits { file_bytes: 100, bytes: 100, files: 100 };
    let snapshot = world.take(limits);
    for name in ["small", "large", "second", "third", "linked"] {
        world.write(name, b"new");
    }
    world.write("created", &[b'y'; 200]);
    let expected = [
        ("created", true),
        ("large", false),
        ("linked", false),
        ("second", true),
        ("small", true),
        ("third", false),
    ];
    assert_eq!(world.names(&snapshot), expected.map(|(name, kept)| (name.to_owned(), kept)));
    let limits = SnapshotLimits { files: 1, ..SnapshotLimits::default() };
    let snapshot = world.take(limits);
    for name in ["large", "second", "small", "third"] {
        fs::remove_file(world.root().join(name)).unwrap();
    }
    let changes = world.names(&snapshot);
    assert_eq!(changes.iter().filter(|(_, kept)| *kept).count(), 1, "{changes:?}");
}

#[test]
fn ignored_and_protected_files_are_left_out_also_when_the_rules_change() {
    let world = World::new();
    world.write(".gitignore", b"/target\n*.log\n");
    for name in ["target/old", "old.log", "node_modules/m.js", "src/kept.rs", ".git/config"] {
        world.write(name, b"1");
    }
    fs::set_permissions(world.root().join("src/kept.rs"), fs::Permissions::from_mode(0o600)).unwrap();
    let snapshot = world.take(SnapshotLimits::default());
    for name in ["target/old", "target/new", "old.log", "new.log", "node_modules/n.js", ".git/config"] {
        world.write(name, b"2");
    }
    assert_eq!(world.names(&snapshot), []);
    // Files that were ignored are not new, and those that are ignored now are not gone.
    world.write(".gitignore", b"/src\n");
    world.write("src/kept.rs", b"22");
    let changed = [(".gitignore".to_owned(), true), ("src/kept.rs".to_owned(), true)];
    let mut with_new = changed.to_vec();
    // It did not exist, and nothing ignored its folder.
    with_new.insert(1, ("new.log".to_owned(), true));
    assert_eq!(world.names(&snapshot), with_new);
}

#[test]
fn contents_are_kept_as_long_as_a_snapshot_uses_them() {
    let world = World::new();
    let files = || fs::read_dir(world.workspace.data().join("snapshots")).unwrap().count();
    world.write("a", b"1");
    let first = world.take(SnapshotLimits::default());
    world.write("a", b"22");
    let second = world.take(SnapshotLimits::default());
    assert_eq!(files(), 2);
    let changes = world.changes(&first);
    apply(&world.workspace.domain, &world.workspace.contents, &reversed(&changes)).unwrap();
    assert_eq!(fs::read(world.root().join("a")).unwrap(), b"1");
    drop((first, second));
    world.write("a", b"333");
    let third = world.take(SnapshotLimits::default());
    assert_eq!(files(), 1, "only the new one is left");
    assert_eq!(world.changes(&third), []);
}

#[test]
fn an_unchanged_tree_is_not_read_again() {
    let count = std::env::var("SNAPSHOT_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let world = World::new();
    for number in 0..count {
        world.write(&format!("d{}/f{number}", number % 50), format!("{number} ").repeat(500).as_bytes());
    }
    std::thread::sleep(Duration::from_millis(80));
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let first = time(&mut || drop(world.take(SnapshotLimits::default())));
    let accessed = || {
        let seen = |number| fs::metadata(world.root().join(format!("d{}/f{number}", number % 50))).unwrap();
        (0..count).map(|number| seen(number).accessed().unwrap()).collect::<Vec<_>>()
    };
    let before = accessed();
    let mut snapshot = None;
    let second = time(&mut || snapshot = Some(world.take(SnapshotLimits::default())));
    let compared = time(&mut || assert_eq!(world.changes(snapshot.as_ref().unwrap()), []));
    assert_eq!(accessed(), before);
    eprintln!("{count} files: first snapshot {first:?}, second {second:?}, comparison {compared:?}");
}
