//! Symbolic and hard links.

use std::path::Path;

use super::*;

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
