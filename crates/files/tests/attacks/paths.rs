//! Paths: what is outside, other spellings, names that are no text, messages.

use super::*;

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
