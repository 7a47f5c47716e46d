//! A mounted disk: operations of programs reach it through the kernel, and a cut takes what was not synced.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    process::Command,
};

use powerloss::{FolderSync, Loss, LostChanges, Volume, unavailable};

fn never(_: u64) -> u64 {
    unreachable!("this kind of loss draws no random numbers")
}

/// A mounted volume; `None` where nothing can be mounted.
fn volume() -> Option<(tempfile::TempDir, Volume)> {
    if let Some(reason) = unavailable() {
        eprintln!("SKIPPED: {reason}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let volume = Volume::mount(folder.path(), FolderSync::Required).unwrap();
    Some((folder, volume))
}

#[test]
fn files_are_written_synced_renamed_and_cut() {
    let Some((folder, mut volume)) = volume() else { return };
    let root = folder.path();
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(root.join("a")).unwrap();
    file.write_all(b"synced ").unwrap();
    file.sync_data().unwrap();
    File::open(root).unwrap().sync_all().unwrap();
    file.write_all(b"not synced").unwrap();
    drop(file);
    fs::create_dir(root.join("folder")).unwrap();
    fs::write(root.join("folder/b"), b"b").unwrap();
    fs::rename(root.join("a"), root.join("c")).unwrap();
    assert_eq!(fs::read(root.join("c")).unwrap(), b"synced not synced");
    let names: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["c", "folder"]);

    let changes = volume.cut(Loss::Everything, &mut never).unwrap();
    assert_eq!(
        changes,
        LostChanges { unsynced: 5, lost: 5 },
        "a write, a folder, a file, its write, a rename"
    );
    assert_eq!(fs::read(root.join("a")).unwrap(), b"synced ");
    let names: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
    let copy = tempfile::tempdir().unwrap();
    volume.export(copy.path()).unwrap();
    assert_eq!(fs::read(copy.path().join("a")).unwrap(), b"synced ");
    volume.unmount().unwrap();
    assert!(!root.join("a").exists());
}

#[test]
fn the_kernel_shows_the_content_after_the_cut_and_not_what_it_cached() {
    let Some((folder, mut volume)) = volume() else { return };
    let path = folder.path().join("a");
    fs::write(&path, vec![1; 100_000]).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    File::open(folder.path()).unwrap().sync_all().unwrap();
    let mut file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(50_000)).unwrap();
    file.write_all(&[2; 10_000]).unwrap();
    file.set_len(60_000).unwrap();
    let mut seen = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut seen).unwrap();
    assert_eq!((seen.len(), seen[55_000]), (60_000, 2));
    drop(file);
    volume.cut(Loss::Everything, &mut never).unwrap();
    assert!(fs::read(&path).unwrap() == vec![1; 100_000]);
}

#[test]
fn the_folder_can_be_used_by_another_process_that_is_killed() {
    let Some((folder, mut volume)) = volume() else { return };
    let script = "echo kept > a; sync a .; echo lost > b; exec sleep 60";
    let mut child = Command::new("sh").args(["-c", script]).current_dir(folder.path()).spawn().unwrap();
    while !fs::read(folder.path().join("b")).is_ok_and(|content| content == b"lost\n") {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    volume.cut(Loss::Everything, &mut never).unwrap();
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"kept\n");
    assert!(!folder.path().join("b").exists());
}
