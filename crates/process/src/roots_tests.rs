//! Tests of the roots: what is hidden never gets a rule.

use super::*;
use crate::spec::SandboxLevel;

fn sandbox(folder: &Path) -> Sandbox {
    Sandbox {
        level: SandboxLevel::Required,
        workdir: folder.join("work"),
        read: vec![folder.join("extra")],
        write: vec![],
        hidden: vec![folder.join("extra/data")],
        launcher: PathBuf::new(),
    }
}

fn tree() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for sub in ["work", "extra/data", "extra/docs/deep"] {
        fs::create_dir_all(path.join(sub)).unwrap();
    }
    fs::write(path.join("extra/data/token"), "t").unwrap();
    fs::write(path.join("extra/readme"), "r").unwrap();
    std::os::unix::fs::symlink(path.join("extra/data"), path.join("extra/link")).unwrap();
    (folder, path)
}

#[test]
fn a_hidden_folder_is_left_out_by_naming_its_siblings() {
    let (_keep, path) = tree();
    let roots = Roots::collect(&sandbox(&path), Access::ReadOnly, &[]).unwrap();
    let extra = roots.roots.iter().find(|root| root.path == path.join("extra")).unwrap();
    let mut grants = grants(extra, &roots.hidden);
    grants.sort_by(|a, b| a.path.cmp(&b.path));
    let seen: Vec<(&Path, bool)> = grants.iter().map(|grant| (grant.path.as_path(), grant.listing)).collect();
    let (docs, readme) = (path.join("extra/docs"), path.join("extra/readme"));
    assert_eq!(
        seen,
        [(path.join("extra").as_path(), true), (docs.as_path(), false), (readme.as_path(), false)]
    );
}

#[test]
fn access_decides_about_the_work_directory() {
    let (_keep, path) = tree();
    for (access, expected) in [(Access::ReadOnly, RootAccess::Read), (Access::Workspace, RootAccess::Write)] {
        let roots = Roots::collect(&sandbox(&path), access, &[]).unwrap();
        let work = roots.roots.iter().find(|root| root.path == path.join("work")).unwrap();
        assert_eq!(work.access, expected);
        assert!(roots.contains(&path.join("work/sub")));
        assert!(!roots.contains(&path.join("extra/data/token")));
        assert!(!roots.contains(&path));
    }
}

#[test]
fn a_hidden_folder_around_the_work_directory_stays_out_of_reach() {
    let (_keep, path) = tree();
    let inside = path.join("extra/data/work");
    fs::create_dir_all(&inside).unwrap();
    let sandbox =
        |workdir: &Path, read: Vec<PathBuf>| Sandbox { workdir: workdir.to_owned(), read, ..sandbox(&path) };
    let roots = Roots::collect(&sandbox(&inside, Vec::new()), Access::Workspace, &[]).unwrap();
    assert!(roots.contains(&inside.join("a")));
    assert!(!roots.contains(&path.join("extra/data/token")) && !roots.contains(&path.join("extra")));
    // Where another root contains it, or it is the work directory itself, it could be reached.
    for (workdir, read) in [
        (&inside, vec![path.join("extra")]),
        (&inside, vec![path.join("extra/data/token")]),
        (&path.join("extra/data"), vec![]),
    ] {
        let error = Roots::collect(&sandbox(workdir, read), Access::ReadOnly, &[]).unwrap_err();
        assert!(matches!(error, StartError::WorkdirHidden { .. }), "{error}");
    }
}

#[test]
fn neither_the_home_folder_nor_its_secrets_are_roots() {
    let (_keep, path) = tree();
    let home = path.join("home");
    for sub in [".cargo/bin", ".ssh", "bin"] {
        fs::create_dir_all(home.join(sub)).unwrap();
    }
    fs::write(home.join(".cargo/credentials.toml"), "secret").unwrap();
    let path_variable = format!("{0}:{0}/bin:/", home.display());
    let env = [("HOME".to_owned(), home.display().to_string()), ("PATH".to_owned(), path_variable)];
    let roots = Roots::collect(&sandbox(&path), Access::Workspace, &env).unwrap();
    assert!(roots.contains(&home.join("bin/tool")));
    assert!(roots.contains(&home.join(".cargo/bin/cargo")));
    assert!(!roots.contains(&home.join(".cargo/credentials.toml")));
    assert!(!roots.contains(&home.join(".ssh/id")));
    assert!(!roots.contains(&home));
}

#[test]
fn secrets_of_the_home_folder_stay_hidden_until_the_operator_lists_them() {
    let (_keep, path) = tree();
    let home = path.join("home");
    for sub in [".ssh", ".aws/cli", "project"] {
        fs::create_dir_all(home.join(sub)).unwrap();
    }
    let env = [("HOME".to_owned(), home.display().to_string())];
    let mut sandbox = Sandbox { workdir: home.clone(), ..sandbox(&path) };
    sandbox.read = vec![home.join(".aws/cli")];
    let roots = Roots::collect(&sandbox, Access::Workspace, &env).unwrap();
    assert!(roots.contains(&home.join("project")));
    assert!(roots.contains(&home.join(".aws/cli/cache")));
    assert!(!roots.contains(&home.join(".ssh/id")));
}
