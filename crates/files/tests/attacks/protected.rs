//! The server's own folder, also below the work directory or mounted there.

use super::*;

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
