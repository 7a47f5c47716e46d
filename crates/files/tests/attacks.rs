//! Attempts to reach files outside of the work directory, or the server's own: each is refused with a code, and the secret
//! stays what it was.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what breaks here must fail the test")]

mod workspace;

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use files::{
    ContentStore, FileDomain, FileError, GlobQuery, GrepQuery, HardLinks, IgnoreRules, LogicalPath,
    NewContent, NewFile, WalkQuery, Watch, apply, stage,
};
use protocol::FailureCode::{self, AccessDenied, InvalidArgument, InvalidPath, NotFound};
use rustix::fs::{CWD, RenameFlags};
use workspace::{SECRET, Workspace};

/// Every way to use a path: what each returns when it is refused.
fn every_use(workspace: &Workspace, path: &str) -> Vec<(&'static str, Result<(), FailureCode>)> {
    let domain = &workspace.domain;
    let path = match domain.resolve(path) {
        Err(error) => return vec![("resolve", Err(error.code))],
        Ok(path) => path,
    };
    let code = |result: Result<(), FileError>| result.map_err(|error| error.code);
    let new = |after| NewContent { path: path.clone(), before: None, after };
    let change = |new: NewContent| {
        stage(domain, &workspace.contents, vec![new])
            .and_then(|staged| staged.apply(domain, &workspace.contents))
    };
    let written = change(new(Some(NewFile { bytes: b"overwritten".to_vec(), mode: None })));
    vec![
        ("open", code(domain.open_file(&path).map(|_| ()))),
        ("read", code(domain.read(&path, 1 << 20).map(|_| ()))),
        ("lines", code(domain.lines(&path, 1, 10, &Watch::ALWAYS).map(|_| ()))),
        ("version", code(domain.version(&path).map(|_| ()))),
        ("list", code(domain.list(&path).map(|_| ()))),
        ("walk", code(domain.walk(&walk(&path), &Watch::ALWAYS).map(|_| ()))),
        ("grep", code(domain.grep(&grep(&path), &Watch::ALWAYS).map(|_| ()))),
        ("glob", code(domain.glob(&glob(&path), &Watch::ALWAYS).map(|_| ()))),
        ("write", code(written)),
    ]
}

fn walk(path: &LogicalPath) -> WalkQuery {
    WalkQuery { path: path.clone(), depth: 5, rules: IgnoreRules::None }
}

fn grep(path: &LogicalPath) -> GrepQuery {
    GrepQuery {
        pattern: "SECRET".to_owned(),
        ignore_case: false,
        path: path.clone(),
        include: None,
        rules: IgnoreRules::None,
        lines_per_file: 5,
    }
}

fn glob(path: &LogicalPath) -> GlobQuery {
    GlobQuery { pattern: "*".to_owned(), path: path.clone(), rules: IgnoreRules::None, limit: 100 }
}

fn assert_refused(workspace: &Workspace, path: &str, codes: &[FailureCode]) {
    for (used, result) in every_use(workspace, path) {
        let code = result.expect_err(&format!("{path:?} could be used: {used}"));
        assert!(codes.contains(&code), "{used} of {path:?}: {code}");
    }
    workspace.assert_secret_is_safe();
}

#[test]
fn paths_that_name_something_outside_are_refused() {
    let workspace = Workspace::new();
    let outside = workspace.outside();
    for path in [
        "..",
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "/workspace/../outside/secret.txt",
        "/etc/passwd",
        "/",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        &format!("{}/secret.txt", outside.display()),
        &format!("{}/../outside/secret.txt", workspace.root().display()),
        &format!("{}x", workspace.root().display()),
    ] {
        assert_refused(&workspace, path, &[AccessDenied]);
    }
    for path in ["a\0b", "a\nb", "\u{1b}[31m", &"n".repeat(300), &"d/".repeat(700)] {
        assert_refused(&workspace, path, &[InvalidPath]);
    }
}

#[test]
fn symbolic_links_that_lead_out_are_refused() {
    let workspace = Workspace::new();
    let (root, outside) = (workspace.root(), workspace.outside());
    fs::create_dir_all(root.join("folder/deep")).unwrap();
    let secret = outside.join("secret.txt");
    for (link, target) in [
        ("absolute", secret.as_path()),
        ("relative", Path::new("../outside/secret.txt")),
        ("folder/deep/up", Path::new("../../../outside/secret.txt")),
        ("chain-2", Path::new("relative")),
        ("chain-1", Path::new("chain-2")),
        ("to-etc", Path::new("/etc/passwd")),
        ("to-proc-root", Path::new("/proc/self/root/etc/passwd")),
        ("to-proc-environ", Path::new("/proc/self/environ")),
        ("to-null", Path::new("/dev/null")),
        ("out", outside),
        ("out-relative", Path::new("../outside")),
        ("parent", Path::new("..")),
        ("self-parent", Path::new("folder/../../outside")),
        ("cwd", Path::new("/proc/self/cwd")),
        ("fds", Path::new("/proc/self/fd")),
        ("slash", Path::new("/")),
    ] {
        symlink(target, root.join(link)).unwrap();
        assert_refused(&workspace, link, &[AccessDenied]);
    }
    for path in [
        "out/secret.txt",
        "out-relative/secret.txt",
        "parent/outside/secret.txt",
        "self-parent/secret.txt",
        "slash/etc/passwd",
        "cwd/Cargo.toml",
        "fds/0",
        "out/new.txt",
        "out-relative/new/deeper.txt",
    ] {
        assert_refused(&workspace, path, &[AccessDenied]);
    }
    assert!(!outside.join("new.txt").exists() && !outside.join("new").exists());
}

#[test]
fn links_that_go_round_are_refused() {
    let workspace = Workspace::new();
    symlink("b", workspace.root().join("a")).unwrap();
    symlink("a", workspace.root().join("b")).unwrap();
    symlink("me/me", workspace.root().join("me")).unwrap();
    for path in ["a", "b/c", "me", "me/x"] {
        // Writing refuses the link itself.
        assert_refused(&workspace, path, &[InvalidPath, AccessDenied]);
    }
}

#[test]
fn links_that_stay_inside_are_read_but_not_written_through() {
    let workspace = Workspace::new();
    let root = workspace.root();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file.txt"), "inside").unwrap();
    symlink("a/b", root.join("short")).unwrap();
    symlink("../b/file.txt", root.join("a/b/again")).unwrap();
    symlink(root.join("a/b/file.txt"), root.join("absolute")).unwrap();
    for path in ["short/file.txt", "a/b/again", "absolute", "short/again"] {
        let path = workspace.domain.resolve(path).unwrap();
        assert_eq!(workspace.domain.read(&path, 100).unwrap().bytes, b"inside", "{path}");
        assert_eq!(workspace.domain.target(&path).unwrap().relative(), "a/b/file.txt", "{path}");
        let before = Some(workspace.domain.read(&path, 100).unwrap().state);
        for after in [None, Some(NewFile { bytes: b"changed".to_vec(), mode: None })] {
            let change = NewContent { path: path.clone(), before: before.clone(), after };
            let error = stage(&workspace.domain, &workspace.contents, vec![change]).unwrap_err();
            assert_eq!(error.code, AccessDenied, "{path}");
        }
    }
    assert_eq!(fs::read(root.join("a/b/file.txt")).unwrap(), b"inside");
}

#[test]
fn hard_links_are_refused_unless_the_operator_allows_them() {
    let workspace = Workspace::new();
    let root = workspace.root();
    fs::hard_link(workspace.outside().join("secret.txt"), root.join("hard.txt")).unwrap();
    fs::hard_link(workspace.data().join("token"), root.join("token.txt")).unwrap();
    for path in ["hard.txt", "token.txt"] {
        for (used, result) in every_use(&workspace, path) {
            // A file is not a folder: this is no secret.
            let expected =
                if ["list", "walk", "glob"].contains(&used) { InvalidArgument } else { AccessDenied };
            assert_eq!(result, Err(expected), "{used} of {path}");
        }
    }
    let found = workspace.domain.grep(&grep(&LogicalPath::root()), &Watch::ALWAYS).unwrap();
    assert_eq!(found.files, []);

    let protected = [workspace.data().to_owned()];
    let domain = FileDomain::open(root, &protected, HardLinks::Allow).unwrap();
    let hard = domain.resolve("hard.txt").unwrap();
    assert_eq!(domain.read(&hard, 100).unwrap().bytes, SECRET.as_bytes());
    let token = domain.resolve("token.txt").unwrap();
    assert_eq!(domain.read(&token, 100).unwrap_err().code, AccessDenied);
    workspace.assert_secret_is_safe();
}

#[test]
fn the_servers_own_folder_is_not_reachable_below_the_work_directory() {
    let workspace = Workspace::new();
    let data = workspace.root().join("sub/data");
    fs::create_dir_all(data.join("inner")).unwrap();
    fs::write(data.join("token"), SECRET).unwrap();
    fs::write(data.join("inner/SECRET.txt"), SECRET).unwrap();
    fs::write(workspace.root().join("key"), SECRET).unwrap();
    symlink("sub/data", workspace.root().join("link")).unwrap();
    let protected = [data.clone(), workspace.root().join("key")];
    let domain = FileDomain::open(workspace.root(), &protected, HardLinks::Refuse).unwrap();
    let mut workspace = workspace;
    workspace.domain = domain.clone();
    for path in [
        "sub/data",
        "sub/data/token",
        "sub/data/inner",
        "sub/data/inner/SECRET.txt",
        "sub/data/new",
        "sub/data/new/deeper",
        "link",
        "link/token",
        "key",
        "sub/./data/../data/token",
        &format!("{}/token", data.display()),
    ] {
        assert_refused(&workspace, path, &[AccessDenied]);
    }
    assert_eq!(fs::read_to_string(data.join("token")).unwrap(), SECRET);
    let all = domain.walk(&walk(&LogicalPath::root()), &Watch::ALWAYS).unwrap();
    let names: Vec<&str> = all.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(names, ["link", "sub"]);
    assert_eq!(domain.grep(&grep(&LogicalPath::root()), &Watch::ALWAYS).unwrap().files, []);
    assert_eq!(domain.glob(&glob(&LogicalPath::root()), &Watch::ALWAYS).unwrap().files, ["link"]);
    assert_eq!(domain.list(&domain.resolve("sub").unwrap()).unwrap(), []);
}

/// Needs the right to mount: `FILES_MOUNTS=1 unshare -m <this program> bind_mount`.
#[test]
fn a_bind_mount_of_the_servers_folder_is_not_reachable() {
    if std::env::var_os("FILES_MOUNTS").is_none() {
        return;
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.root().join("mounted")).unwrap();
    let mount = |arguments: &[&std::ffi::OsStr]| {
        assert!(std::process::Command::new("mount").args(arguments).status().unwrap().success());
    };
    let mounted = workspace.root().join("mounted");
    mount(&["--bind".as_ref(), workspace.data().as_os_str(), mounted.as_os_str()]);
    for path in ["mounted", "mounted/token", "mounted/new.txt"] {
        assert_refused(&workspace, path, &[AccessDenied]);
    }
    assert_eq!(workspace.domain.grep(&grep(&LogicalPath::root()), &Watch::ALWAYS).unwrap().files, []);
    assert_eq!(workspace.domain.list(&LogicalPath::root()).unwrap(), []);
    assert!(std::process::Command::new("umount").arg(&mounted).status().unwrap().success());

    // Another file system below the work directory can be used, also by big change sets.
    mount(&["-t".as_ref(), "tmpfs".as_ref(), "tmpfs".as_ref(), mounted.as_os_str()]);
    let (domain, contents) = (&workspace.domain, &workspace.contents);
    let new = |n| NewContent {
        path: domain.resolve(&format!("{}/f{n}", if n % 2 == 0 { "mounted/deep" } else { "here" })).unwrap(),
        before: None,
        after: Some(file("x")),
    };
    let files: Vec<NewContent> = (0..20).map(new).collect();
    stage(domain, contents, files).unwrap().apply(domain, contents).unwrap();
    assert_eq!(fs::read_dir(mounted.join("deep")).unwrap().count(), 10);
    assert!(std::process::Command::new("umount").arg(&mounted).status().unwrap().success());
}

#[test]
fn a_work_directory_inside_of_the_servers_folder_sees_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (own, other) = (data.join("workspaces/one"), data.join("workspaces/two"));
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("secret.txt"), SECRET).unwrap();
    fs::write(own.join("mine.txt"), "mine").unwrap();
    symlink("../two", own.join("neighbour")).unwrap();
    symlink(&other, own.join("neighbour-absolute")).unwrap();
    let domain = FileDomain::open(&own, std::slice::from_ref(&data), HardLinks::Refuse).unwrap();
    assert_eq!(domain.read(&domain.resolve("mine.txt").unwrap(), 9).unwrap().bytes, b"mine");
    for path in ["neighbour/secret.txt", "neighbour-absolute/secret.txt"] {
        let path = domain.resolve(path).unwrap();
        assert_eq!(domain.read(&path, 100).unwrap_err().code, AccessDenied);
    }
    let other = other.join("secret.txt");
    assert_eq!(domain.resolve(other.to_str().unwrap()).unwrap_err().code, AccessDenied);
    let error = FileDomain::open(&data, std::slice::from_ref(&data), HardLinks::Refuse).unwrap_err();
    assert_eq!(error.code, FailureCode::NotConfigured);
}

#[test]
fn devices_fifos_and_sockets_are_refused_without_waiting() {
    let workspace = Workspace::new();
    let root = workspace.root();
    let mknod = |name: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new("mknod");
        command.arg(root.join(name)).args(arguments).status().is_ok_and(|status| status.success())
    };
    assert!(mknod("fifo", &["p"]));
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let mut names = vec!["fifo", "socket"];
    // Only the administrator can make devices.
    for (name, arguments) in [("zero", ["c", "1", "5"]), ("tty", ["c", "5", "0"]), ("disk", ["b", "7", "0"])]
    {
        if mknod(name, &arguments) {
            names.push(name);
        }
    }
    symlink("fifo", root.join("to-fifo")).unwrap();
    names.push("to-fifo");
    let begin = Instant::now();
    for name in names {
        assert_refused(&workspace, name, &[AccessDenied, InvalidArgument]);
    }
    let found = workspace.domain.grep(&grep(&LogicalPath::root()), &Watch::ALWAYS).unwrap();
    assert_eq!((found.files, found.searched), (vec![], 0));
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn another_spelling_is_another_file() {
    let workspace = Workspace::new();
    fs::write(workspace.root().join("Secret.txt"), "mine").unwrap();
    let domain = &workspace.domain;
    let is_case_sensitive = !workspace.root().join("SECRET.TXT").exists();
    for path in ["SECRET.TXT", "secret.txt", "Secret.txt ", "Secret.txt.", "Ѕecret.txt", "Secret。txt"] {
        let result = domain.read(&domain.resolve(path).unwrap(), 100);
        if is_case_sensitive {
            assert_eq!(result.unwrap_err().code, NotFound, "{path}");
        }
    }
}

#[test]
fn names_that_are_no_text_are_listed_without_harm() {
    let workspace = Workspace::new();
    let root = workspace.root();
    for name in [&b"bad\xff.txt"[..], b"two\nlines", b"bell\x07", b".concertino-00.tmp"] {
        fs::write(root.join(OsStr::from_bytes(name)), SECRET).unwrap();
    }
    let long = "l".repeat(255);
    fs::write(root.join(&long), SECRET).unwrap();
    let names: Vec<String> =
        workspace.domain.list(&LogicalPath::root()).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["bad\u{fffd}.txt", "bell\u{fffd}", &long, "two\u{fffd}lines"]);
    let found = workspace.domain.grep(&grep(&LogicalPath::root()), &Watch::ALWAYS).unwrap();
    assert_eq!(found.files.len(), 4);
    let path = workspace.domain.resolve("bad\u{fffd}.txt").unwrap();
    assert_eq!(workspace.domain.read(&path, 100).unwrap_err().code, NotFound);
}

#[test]
fn messages_name_no_path_of_the_system() {
    let workspace = Workspace::new();
    let root = workspace.root();
    symlink(workspace.outside(), root.join("out")).unwrap();
    fs::create_dir(root.join("folder")).unwrap();
    let domain = &workspace.domain;
    let hidden = root.parent().unwrap().to_str().unwrap();
    for written in ["out/secret.txt", "folder", "missing", "folder/x/y", "/etc/passwd", "../x"] {
        let error = match domain.resolve(written) {
            Ok(path) => domain.read(&path, 10).unwrap_err(),
            Err(error) => error,
        };
        for secret in [hidden, "/etc", "outside/"] {
            assert!(!error.to_string().contains(secret), "{error}");
        }
    }
    let gone = FileDomain::open(&root.join("gone"), &[], HardLinks::Refuse).unwrap_err();
    assert!(!gone.to_string().contains(hidden), "{gone}");
}

#[test]
fn a_folder_that_was_replaced_by_a_link_is_not_followed() {
    let workspace = Workspace::new();
    let root = workspace.root();
    fs::create_dir(root.join("folder")).unwrap();
    fs::write(root.join("folder/secret.txt"), "mine").unwrap();
    let domain = &workspace.domain;
    let path = domain.resolve("folder/secret.txt").unwrap();
    let before = domain.read(&path, 100).unwrap().state;
    let after = Some(NewFile { bytes: b"changed".to_vec(), mode: None });
    let change = NewContent { path: path.clone(), before: Some(before), after };
    let changes = stage(domain, &workspace.contents, vec![change]).unwrap().into_changes();
    fs::rename(root.join("folder"), root.join("moved")).unwrap();
    symlink(workspace.outside(), root.join("folder")).unwrap();
    assert_eq!(domain.read(&path, 100).unwrap_err().code, AccessDenied);
    assert_eq!(apply(domain, &workspace.contents, &changes).unwrap_err().code, AccessDenied);
    workspace.assert_secret_is_safe();
}

/// A thread exchanges a folder, and a file, with links that lead out, as fast as it can, while everything is tried.
#[test]
fn names_that_are_swapped_all_the_time_never_lead_out() {
    let seconds = std::env::var("FILES_RACE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let workspace = Workspace::new();
    let root = workspace.root();
    fs::create_dir_all(root.join("name/deep")).unwrap();
    for file in ["name/secret.txt", "name/deep/secret.txt", "file.txt"] {
        fs::write(root.join(file), "mine").unwrap();
    }
    symlink(workspace.outside(), root.join("other")).unwrap();
    symlink(workspace.outside().join("secret.txt"), root.join("other.txt")).unwrap();
    fs::create_dir(workspace.outside().join("deep")).unwrap();
    fs::write(workspace.outside().join("deep/secret.txt"), SECRET).unwrap();
    let stop = AtomicBool::new(false);
    let swaps = AtomicU64::new(0);
    let (mut tried, mut read, mut wrote) = (0_u64, 0_u64, 0_u64);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for (one, other) in [("name", "other"), ("file.txt", "other.txt")] {
                    let (one, other) = (root.join(one), root.join(other));
                    // Fails when the file is being replaced at this moment.
                    let swapped = rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
                    swaps.fetch_add(u64::from(swapped.is_ok()), Ordering::Relaxed);
                }
            }
        });
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut content = 0_u64;
        while Instant::now() < end {
            tried += 1;
            for path in ["name/secret.txt", "name/deep/secret.txt", "file.txt"] {
                let path = workspace.domain.resolve(path).unwrap();
                let before = match workspace.domain.read(&path, 1000) {
                    Ok(found) => {
                        assert_ne!(found.bytes, SECRET.as_bytes(), "the secret was read");
                        read += 1;
                        found.state
                    }
                    Err(_) => continue,
                };
                content += 1;
                let after = Some(NewFile { bytes: format!("mine {content}").into_bytes(), mode: None });
                let change = NewContent { path, before: Some(before), after };
                let done = stage(&workspace.domain, &workspace.contents, vec![change])
                    .and_then(|staged| staged.apply(&workspace.domain, &workspace.contents));
                wrote += u64::from(done.is_ok());
            }
            let new = NewContent {
                path: workspace.domain.resolve(&format!("name/new-{tried}.txt")).unwrap(),
                before: None,
                after: Some(NewFile { bytes: b"new".to_vec(), mode: None }),
            };
            let created = stage(&workspace.domain, &workspace.contents, vec![new])
                .and_then(|staged| staged.apply(&workspace.domain, &workspace.contents));
            wrote += u64::from(created.is_ok());
            for path in ["name", "name/deep", ""] {
                let path = workspace.domain.resolve(path).unwrap();
                let found = workspace.domain.grep(&grep(&path), &Watch::ALWAYS);
                assert!(found.is_ok_and(|found| found.files.is_empty()) || !path.is_root());
                if let Ok(found) = workspace.domain.list(&path) {
                    assert!(found.iter().all(|entry| entry.name != "only-outside"), "the folder was listed");
                }
                if let Ok(found) = workspace.domain.walk(&walk(&path), &Watch::ALWAYS) {
                    assert!(found.entries.iter().all(|entry| !entry.path.contains("only-outside")));
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    workspace.assert_secret_is_safe();
    let outside: Vec<_> =
        fs::read_dir(workspace.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside.len(), 3, "{outside:?}");
    eprintln!("{} swaps, {tried} rounds, {read} reads and {wrote} writes succeeded", swaps.into_inner());
}

#[test]
fn ordinary_use_works() {
    let workspace = Workspace::new();
    let (domain, contents) = (&workspace.domain, &workspace.contents);
    let path = domain.resolve("src/deep/hello.rs").unwrap();
    let new = NewContent { path: path.clone(), before: None, after: Some(file("fn main() {}\n")) };
    stage(domain, contents, vec![new]).unwrap().apply(domain, contents).unwrap();
    let read = domain.read(&path, 100).unwrap();
    assert_eq!(read.bytes, b"fn main() {}\n");
    assert_eq!(domain.version(&path).unwrap(), Some(read.state.content.clone()));
    assert_eq!(domain.info(&path).unwrap().mode, 0o644);
    let absolute = workspace.root().join("src/deep/hello.rs");
    assert_eq!(domain.resolve(absolute.to_str().unwrap()).unwrap(), path);
    assert_eq!(domain.lines(&path, 1, 5, &Watch::ALWAYS).unwrap().lines[0].text, "fn main() {}");
    fs::set_permissions(&absolute, fs::Permissions::from_mode(0o755)).unwrap();
    let before = Some(domain.read(&path, 100).unwrap().state);
    let edit = NewContent { path: path.clone(), before, after: Some(file("fn other() {}\n")) };
    stage(domain, contents, vec![edit]).unwrap().apply(domain, contents).unwrap();
    assert_eq!(fs::read_to_string(&absolute).unwrap(), "fn other() {}\n");
    assert_eq!(fs::metadata(&absolute).unwrap().permissions().mode() & 0o7777, 0o755);
    let before = Some(domain.read(&path, 100).unwrap().state);
    let delete = NewContent { path: path.clone(), before, after: None };
    stage(domain, contents, vec![delete]).unwrap().apply(domain, contents).unwrap();
    assert_eq!(domain.version(&path).unwrap(), None);
    assert_eq!(domain.list(&LogicalPath::root()).unwrap(), []);
    assert!(ContentStore::open(workspace.data(), protocol::Durability::Process).is_ok());
}

fn file(text: &str) -> NewFile {
    NewFile { bytes: text.as_bytes().to_vec(), mode: None }
}
