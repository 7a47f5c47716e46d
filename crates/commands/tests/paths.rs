//! The paths that a line reads and writes are in its judgement.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a step that fails fails the test")]

mod support;

use commands::{CommandTable, judge_line};
use support::Project;

fn paths(line: &str) -> (Vec<String>, Vec<String>) {
    let judgement = judge_line(CommandTable::built_in(), line, "", &Project::default());
    (judgement.reads, judgement.writes)
}

#[test]
fn written_paths_are_named() {
    let lines: [(&str, &[&str]); 42] = [
        ("sed -i s/a/b/ x y", &["x", "y"]),
        ("sed -i.bak s/a/b/ src/x", &["src/x", "src/x.bak"]),
        ("sed -i'old/*.bak' s/a/b/ src/x", &["old/x.bak", "src/x"]),
        ("sed -i '' s/a/b/ x", &["x"]),
        ("sed -n 'w out.txt' x", &["out.txt"]),
        ("find . -fprintf list '%p'", &["list"]),
        ("find . -fls list", &["list"]),
        ("sort -o a b", &["a"]),
        ("sort b --outp=a", &["a"]),
        ("tee a b", &["a", "b"]),
        (r#"awk '{print > "a"}' b"#, &["a"]),
        ("awk -i inplace '{print}' b", &["b"]),
        ("perl -pi -e s/a/b/ x", &["x"]),
        ("yq -i .a=1 x.yml", &["x.yml"]),
        ("prettier --write x.js", &["x.js"]),
        ("curl -o a https://example.com/x", &["a"]),
        ("curl -O https://example.com/d/x?y", &["x"]),
        ("wget -O a https://example.com/x", &["a"]),
        ("wget -P d https://example.com/x", &["d", "d/x"]),
        ("cp a b", &["b"]),
        ("cp a b c", &["c", "c/a", "c/b"]),
        ("cp a d/", &["d", "d/a"]),
        ("cp -t d a", &["d", "d/a"]),
        ("mv a b", &["a", "b"]),
        ("ln -s a b", &["b"]),
        ("install -m 755 a b", &["b"]),
        ("install -d a b", &["a", "b"]),
        ("rsync -a --exclude x a b", &["b"]),
        ("rsync -a a host:b", &[]),
        ("git diff --output=a", &["a"]),
        ("git -C src diff --output=a", &["src/a"]),
        ("git format-patch -o d main", &["d"]),
        ("git checkout main -- a", &["a"]),
        ("tar xf a.tar -C d", &["d"]),
        ("tar xf a.tar -C d m", &["d", "d/m"]),
        ("tar cf a.tar src", &["a.tar"]),
        ("unzip a.zip -d d", &["d"]),
        ("dd if=a of=b", &["b"]),
        ("patch -o b -i x.patch a", &["a", "b"]),
        ("truncate -s 0 a", &["a"]),
        ("touch -r b a", &["a"]),
        ("echo x > a", &["a"]),
    ];
    for (line, expected) in lines {
        assert_eq!(paths(line).1, expected, "{line}");
    }
}

#[test]
fn paths_that_git_prints_are_read() {
    let lines: [(&str, &[&str]); 14] = [
        ("git log -p -- .env", &[".env"]),
        ("git show HEAD~4:.env", &[".env"]),
        ("git show :0:config/x", &["config/x"]),
        ("git diff HEAD -- config/prod.pem src", &["config/prod.pem", "src"]),
        ("git blame .env", &[".env"]),
        ("git cat-file -p HEAD:src/main.rs", &["src/main.rs"]),
        ("git grep x -- .env", &[".env"]),
        ("git grep x HEAD:src", &["src"]),
        ("git log -L 1,5:src/main.rs", &["src/main.rs"]),
        ("git -C src diff -- x", &["src", "src/x"]),
        ("git -C src show HEAD:config/x", &["config/x", "src"]),
        ("git -C src show HEAD:./x", &["src", "src/x"]),
        // A file of that name exists.
        ("git diff attributes/.gitattributes", &["attributes/.gitattributes"]),
        // Revisions are not paths.
        ("git diff main origin/main", &[]),
    ];
    for (line, expected) in lines {
        assert_eq!(paths(line).0, expected, "{line}");
    }
}

/// Only such a line may change the repository; see `process::Access`.
#[test]
fn a_line_of_git_is_told_from_one_that_starts_other_programs() {
    let is_git = |line: &str| {
        judge_line(CommandTable::built_in(), line, "", &Project::default()).with_network().is_git()
    };
    for line in [
        "git commit -am x",
        "git add -A && git commit -m x > log.txt",
        "git log | head -3; git push",
        "git commit -m \"$MESSAGE\"",
        "git rebase main",
        "ls src; git switch main",
    ] {
        assert!(is_git(line), "{line}");
    }
    for line in [
        "make",
        "ls",
        "git commit -am x; make",
        "npm test && git push",
        "git status | sh",
        "git diff $(./run.sh)",
        "./git commit",
        "GIT_DIR=x git commit -m x",
        "git submodule foreach make",
        "git rebase -x make main",
        "git bisect run make",
        "git -c alias.x=!make x",
        "$X; git commit -m x",
    ] {
        assert!(!is_git(line), "{line}");
    }
}
