//! Names that somebody swaps while they are used.

use super::*;

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
