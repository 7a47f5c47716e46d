//! Listing and searching: what is ignored, what is found, in which order, and when it stops.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what breaks here must fail the test")]

mod workspace;

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant, SystemTime},
};

use files::{
    GlobQuery, GrepLine, GrepQuery, GrepReport, IgnoreRules, LogicalPath, WalkQuery, WalkReport, Watch,
};
use protocol::{FailureCode, file_change::EntryKind};
use workspace::Workspace;

fn write(workspace: &Workspace, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = workspace.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn walk(workspace: &Workspace, path: &str, depth: usize, rules: IgnoreRules) -> WalkReport {
    let path = workspace.domain.resolve(path).unwrap();
    workspace.domain.walk(&WalkQuery { path, depth, rules }, &Watch::ALWAYS).unwrap()
}

fn paths(report: &WalkReport) -> Vec<&str> {
    report.entries.iter().map(|entry| entry.path.as_str()).collect()
}

fn grep(workspace: &Workspace, query: GrepQuery) -> GrepReport {
    workspace.domain.grep(&query, &Watch::ALWAYS).unwrap()
}

fn query(pattern: &str) -> GrepQuery {
    GrepQuery {
        pattern: pattern.to_owned(),
        ignore_case: false,
        path: LogicalPath::root(),
        include: None,
        rules: IgnoreRules::Gitignore,
        lines_per_file: 10,
    }
}

fn found(report: &GrepReport) -> Vec<&str> {
    let mut paths: Vec<&str> = report.files.iter().map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    paths
}

#[test]
fn a_folder_is_listed_as_a_sorted_tree() {
    let workspace = Workspace::new();
    write(&workspace, &[("a/b/c/d.txt", "1"), ("a-b.txt", "22"), ("a/z.txt", "333"), ("b.txt", "")]);
    std::os::unix::fs::symlink("b.txt", workspace.root().join("link")).unwrap();
    let all = walk(&workspace, "", 9, IgnoreRules::None);
    assert_eq!(paths(&all), ["a", "a/b", "a/b/c", "a/b/c/d.txt", "a/z.txt", "a-b.txt", "b.txt", "link"]);
    let kinds: Vec<EntryKind> = all.entries.iter().map(|entry| entry.info.kind).collect();
    assert_eq!(kinds[0], EntryKind::Directory);
    assert_eq!(kinds[7], EntryKind::Link);
    assert_eq!((all.entries[5].info.bytes, all.entries[5].depth), (2, 1));
    assert_eq!(
        paths(&walk(&workspace, "", 2, IgnoreRules::None)),
        ["a", "a/b", "a/z.txt", "a-b.txt", "b.txt", "link"]
    );
    assert_eq!(paths(&walk(&workspace, "a/b", 9, IgnoreRules::None)), ["c", "c/d.txt"]);
    let file = workspace.domain.resolve("b.txt").unwrap();
    let error = workspace
        .domain
        .walk(&WalkQuery { path: file, depth: 1, rules: IgnoreRules::None }, &Watch::ALWAYS)
        .unwrap_err();
    assert_eq!(error.code, FailureCode::InvalidArgument);
}

#[test]
fn gitignore_files_hold_without_a_repository() {
    let workspace = Workspace::new();
    write(
        &workspace,
        &[
            (".gitignore", "*.log\n/out\nlocal/\n!keep.log\n\\#odd\n[\n"),
            ("a.log", ""),
            ("keep.log", ""),
            ("out/x.txt", ""),
            ("sub/out/x.txt", ""),
            ("sub/local/x.txt", ""),
            ("sub/.gitignore", "!important.log\n*.tmp\n/own.txt\n"),
            ("sub/important.log", ""),
            ("sub/other.log", ""),
            ("sub/deep/important.log", ""),
            ("sub/deep/own.txt", ""),
            ("sub/own.txt", ""),
            ("sub/x.tmp", ""),
            ("x.tmp", ""),
            ("#odd", ""),
            (".git/config", ""),
            (".DS_Store", ""),
            (".concertino-0011.tmp", ""),
            ("node_modules/m/index.js", ""),
            ("build/x.o", ""),
        ],
    );
    let expected = [
        ".gitignore",
        "build",
        "build/x.o",
        "keep.log",
        "node_modules",
        "node_modules/m",
        "node_modules/m/index.js",
        "sub",
        "sub/.gitignore",
        "sub/deep",
        "sub/deep/important.log",
        "sub/deep/own.txt",
        "sub/important.log",
        "sub/out",
        "sub/out/x.txt",
        "x.tmp",
    ];
    let report = walk(&workspace, "", 9, IgnoreRules::Gitignore);
    assert_eq!(paths(&report), expected);
    // a.log, out, #odd, .git, .DS_Store; sub: local, other.log, own.txt, x.tmp
    assert_eq!(report.ignored, 9);
    let report = walk(&workspace, "", 9, IgnoreRules::GitignoreAndGenerated);
    let fewer: Vec<&str> = expected
        .into_iter()
        .filter(|path| !path.starts_with("build") && !path.starts_with("node_"))
        .collect();
    assert_eq!(paths(&report), fewer);
    // The files of folders above hold below too; a folder that is named itself is listed.
    assert_eq!(paths(&walk(&workspace, "sub/deep", 1, IgnoreRules::Gitignore)), ["important.log", "own.txt"]);
    assert_eq!(paths(&walk(&workspace, "out", 1, IgnoreRules::Gitignore)), ["x.txt"]);
    assert_eq!(walk(&workspace, "", 9, IgnoreRules::None).entries.len(), 25);
    let listed = workspace.domain.list(&LogicalPath::root()).unwrap();
    let ignored: Vec<&str> =
        listed.iter().filter(|entry| entry.ignored).map(|entry| entry.name.as_str()).collect();
    assert_eq!(ignored, ["#odd", ".DS_Store", ".git", "a.log", "build", "node_modules", "out"]);
}

#[test]
fn matching_lines_are_found_with_their_numbers() {
    let workspace = Workspace::new();
    write(
        &workspace,
        &[
            ("src/a.rs", "fn one() {}\r\n// fn\nfn two() {}\n"),
            ("src/b.txt", "fn three() {}\n"),
            ("c.bin", "fn four\0() {}\n"),
            (".hidden", "fn five() {}"),
            ("ignored.log", "fn six() {}"),
            (".gitignore", "*.log"),
        ],
    );
    let utf16: Vec<u8> = "\u{feff}fn seven()\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(workspace.root().join("wide.txt"), utf16).unwrap();
    let report = grep(&workspace, query(r"^fn \w+\("));
    assert_eq!(found(&report), [".hidden", "src/a.rs", "src/b.txt", "wide.txt"]);
    let file = report.files.iter().find(|file| file.path == "src/a.rs").unwrap();
    assert_eq!(file.matches, 2);
    let line = |number, text: &str| GrepLine { number, text: text.to_owned(), cut: false };
    assert_eq!(file.lines, [line(1, "fn one() {}"), line(3, "fn two() {}")]);
    let only = |include: &str| {
        found(&grep(&workspace, GrepQuery { include: Some(include.to_owned()), ..query("fn") })).join(" ")
    };
    assert_eq!(only("*.rs"), "src/a.rs");
    assert_eq!(only("src/*.{rs,txt}"), "src/a.rs src/b.txt");
    assert_eq!(only("*.txt"), "src/b.txt wide.txt");
    let below = GrepQuery { path: LogicalPath::parse("src").unwrap(), ..query("THREE") };
    assert_eq!(found(&grep(&workspace, below.clone())), [""; 0]);
    assert_eq!(found(&grep(&workspace, GrepQuery { ignore_case: true, ..below })), ["src/b.txt"]);
    let one = GrepQuery { path: LogicalPath::parse("ignored.log").unwrap(), ..query("six") };
    assert_eq!(found(&grep(&workspace, one)), ["ignored.log"]);
    let files = grep(&workspace, GrepQuery { lines_per_file: 0, ..query("fn") });
    assert!(files.files.iter().all(|file| file.matches == 1 && file.lines.is_empty()));
    for pattern in ["(", "", "a\nb", &"x".repeat(5000), r"\p{Greek}{1000}{1000}{1000}"] {
        let error = workspace.domain.grep(&query(pattern), &Watch::ALWAYS).unwrap_err();
        assert_eq!(error.code, FailureCode::InvalidArgument, "{}", &pattern[..pattern.len().min(20)]);
    }
}

#[test]
fn the_newest_files_come_first() {
    let workspace = Workspace::new();
    write(&workspace, &[("a", "x"), ("b/c", "x"), ("d", "x"), ("e.txt", "y")]);
    for (path, seconds) in [("a", 20), ("b/c", 30), ("d", 10), ("e.txt", 40)] {
        let file = fs::File::options().append(true).open(workspace.root().join(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }
    let report = grep(&workspace, query("x"));
    let order: Vec<&str> = report.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(order, ["b/c", "a", "d"]);
    let glob = |pattern: &str, path: &str, limit| {
        let path = workspace.domain.resolve(path).unwrap();
        let query = GlobQuery { pattern: pattern.to_owned(), path, rules: IgnoreRules::Gitignore, limit };
        workspace.domain.glob(&query, &Watch::ALWAYS)
    };
    let found = glob("*", "", 3).unwrap();
    assert_eq!((found.files.join(" ").as_str(), found.total), ("e.txt b/c a", 4));
    assert_eq!(glob("*.txt", "", 9).unwrap().files, ["e.txt"]);
    assert_eq!(glob("b/*", "", 9).unwrap().files, ["b/c"]);
    assert_eq!(glob("./b/**", "", 9).unwrap().files, ["b/c"]);
    assert_eq!(glob("c", "b", 9).unwrap().files, ["b/c"]);
    assert_eq!(glob("{a,d}", "", 9).unwrap().files, ["a", "d"]);
    assert_eq!(glob("../*", "b", 9).unwrap().files, [""; 0]);
    assert_eq!(glob("[", "", 9).unwrap_err().code, FailureCode::InvalidArgument);
}

#[test]
fn files_that_need_an_approval_are_skipped_and_counted() {
    let workspace = Workspace::new();
    write(&workspace, &[("a", "x"), (".env", "x"), ("sub/.env", "x")]);
    let watch = Watch { may_read: &|path| !path.ends_with(".env"), ..Watch::ALWAYS };
    let report = workspace.domain.grep(&query("x"), &watch).unwrap();
    assert_eq!((found(&report), report.not_allowed, report.searched), (vec!["a"], 2, 1));
}

#[test]
fn a_search_stops_when_it_is_cancelled_or_its_time_is_over() {
    let workspace = Workspace::new();
    for folder in 0..40 {
        for file in 0..50 {
            write(&workspace, &[(&format!("d{folder}/f{file}"), "x")]);
        }
    }
    let asked = AtomicUsize::new(0);
    let cancelled = || asked.fetch_add(1, Ordering::Relaxed) > 100;
    let watch = Watch { cancelled: &cancelled, ..Watch::ALWAYS };
    let error = workspace.domain.grep(&query("x"), &watch).unwrap_err();
    assert_eq!(error.code, FailureCode::Cancelled);
    assert!(asked.load(Ordering::Relaxed) < 400, "it went on");
    let watch = Watch { deadline: Some(Instant::now()), ..Watch::ALWAYS };
    let report = workspace.domain.grep(&query("x"), &watch).unwrap();
    assert!(report.cut && report.files.len() < 2000);
    let report = grep(&workspace, query("x"));
    assert!(!report.cut);
    assert_eq!((report.files.len(), report.searched), (2000, 2000));
}

#[test]
fn long_lines_are_cut() {
    let workspace = Workspace::new();
    write(&workspace, &[("a", &format!("{}x{}\nx\n", "ä".repeat(300), "b".repeat(300)))]);
    let report = grep(&workspace, query("x"));
    assert_eq!(report.files[0].lines[0].text, "ä".repeat(250));
    assert!(report.files[0].lines[0].cut && !report.files[0].lines[1].cut);
}
