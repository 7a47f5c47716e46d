//! What is left of files and folders after a power loss.

use std::{ffi::OsStr, path::Path};

use test_support::Rng;

use super::*;
use crate::{DiskError, Entry, FolderSync};

fn never(_: u64) -> u64 {
    unreachable!("this kind of loss draws no random numbers")
}

fn seeded(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut rng = Rng::new(seed);
    move |bound| rng.below(bound)
}

fn create(disk: &mut Disk, name: &str) -> Ino {
    disk.create(Disk::ROOT, OsStr::new(name), 0o600).unwrap()
}

fn text(disk: &Disk, path: &str) -> Result<String, DiskError> {
    let ino = disk.find(Path::new(path))?;
    disk.content(ino).map(|content| String::from_utf8_lossy(content).into_owned())
}

fn without_unsynced(disk: Disk) -> Disk {
    disk.cut(Loss::Everything, &mut never).disk
}

#[test]
fn synced_changes_are_kept_and_later_ones_are_lost() {
    let mut disk = Disk::empty(FolderSync::Required);
    let file = create(&mut disk, "a");
    disk.write(file, 0, b"one two").unwrap();
    disk.sync(file).unwrap();
    disk.sync(Disk::ROOT).unwrap();
    disk.write(file, 4, b"TWO three").unwrap();
    assert_eq!(text(&disk, "a").unwrap(), "one TWO three", "programs see their own writes");
    let cut = disk.cut(Loss::Everything, &mut never);
    assert_eq!(cut.changes, LostChanges { unsynced: 1, lost: 1 });
    assert_eq!(text(&cut.disk, "a").unwrap(), "one two");
}

#[test]
fn a_length_is_kept_only_when_it_was_synced() {
    let mut disk = Disk::empty(FolderSync::Required);
    let file = create(&mut disk, "a");
    disk.sync(Disk::ROOT).unwrap();
    disk.write(file, 0, b"0123456789").unwrap();
    disk.set_length(file, 4).unwrap();
    disk.sync(file).unwrap();
    disk.set_length(file, 0).unwrap();
    let mut disk = without_unsynced(disk);
    assert_eq!(text(&disk, "a").unwrap(), "0123");
    let file = disk.find("a").unwrap();
    disk.set_length(file, 0).unwrap();
    disk.sync(file).unwrap();
    assert_eq!(text(&without_unsynced(disk), "a").unwrap(), "");
}

#[test]
fn a_new_file_needs_a_sync_of_its_folder_too() {
    for folder_sync in [FolderSync::Required, FolderSync::Journaled] {
        let mut disk = Disk::empty(folder_sync);
        let file = create(&mut disk, "a");
        disk.write(file, 0, b"x").unwrap();
        disk.sync(file).unwrap();
        let kept = text(&without_unsynced(disk), "a");
        match folder_sync {
            FolderSync::Required => assert_eq!(kept, Err(DiskError::NotFound)),
            FolderSync::Journaled => assert_eq!(kept.unwrap(), "x"),
        }
    }
}

#[test]
fn a_folder_sync_keeps_the_name_and_not_the_content() {
    let mut disk = Disk::empty(FolderSync::Required);
    let file = create(&mut disk, "a");
    disk.write(file, 0, b"x").unwrap();
    disk.sync(Disk::ROOT).unwrap();
    assert_eq!(text(&without_unsynced(disk), "a").unwrap(), "");
}

#[test]
fn a_rename_without_a_folder_sync_is_undone() {
    let mut disk = Disk::empty(FolderSync::Required);
    for (name, content) in [("a", "old"), ("a.part", "new")] {
        let file = create(&mut disk, name);
        disk.write(file, 0, content.as_bytes()).unwrap();
        disk.sync(file).unwrap();
    }
    disk.sync(Disk::ROOT).unwrap();
    let entry = |name| Entry { folder: Disk::ROOT, name: OsStr::new(name) };
    let rename = |disk: &mut Disk| disk.rename(entry("a.part"), entry("a"));
    rename(&mut disk).unwrap();
    assert_eq!(text(&disk, "a").unwrap(), "new");
    let mut disk = without_unsynced(disk);
    assert_eq!(text(&disk, "a").unwrap(), "old");
    rename(&mut disk).unwrap();
    disk.sync(Disk::ROOT).unwrap();
    let disk = without_unsynced(disk);
    assert_eq!(text(&disk, "a").unwrap(), "new");
    assert_eq!(text(&disk, "a.part"), Err(DiskError::NotFound));
}

#[test]
fn a_removed_file_comes_back_when_its_folder_was_not_synced() {
    let mut disk = Disk::empty(FolderSync::Required);
    let file = create(&mut disk, "a");
    disk.sync(Disk::ROOT).unwrap();
    disk.unlink(Disk::ROOT, OsStr::new("a")).unwrap();
    disk.write(file, 0, b"still open").unwrap();
    disk.sync(file).unwrap();
    let mut disk = without_unsynced(disk);
    assert_eq!(text(&disk, "a").unwrap(), "still open");
    disk.unlink(Disk::ROOT, OsStr::new("a")).unwrap();
    disk.sync(Disk::ROOT).unwrap();
    assert_eq!(text(&without_unsynced(disk), "a"), Err(DiskError::NotFound));
}

#[test]
fn a_folder_that_was_not_synced_into_its_parent_is_lost_with_its_files() {
    let mut disk = Disk::empty(FolderSync::Required);
    let folder = disk.make_folder(Disk::ROOT, OsStr::new("f"), 0o700).unwrap();
    let file = disk.create(folder, OsStr::new("a"), 0o600).unwrap();
    disk.sync(file).unwrap();
    disk.sync(folder).unwrap();
    let disk = without_unsynced(disk);
    assert_eq!(disk.find("f"), Err(DiskError::NotFound));
    assert_eq!(disk.nodes.len(), 1, "only the root is left");
}

/// One file of synced zeros, then one write of ones over two blocks and a half, not aligned.
fn written(number_of_writes: usize) -> Disk {
    let mut disk = Disk::empty(FolderSync::Required);
    let file = create(&mut disk, "a");
    disk.write(file, 0, &[0; 16_384]).unwrap();
    disk.sync(file).unwrap();
    disk.sync(Disk::ROOT).unwrap();
    for number in 1..=number_of_writes {
        disk.write(file, 100, &[u8::try_from(number).unwrap(); 10_000]).unwrap();
    }
    disk
}

fn content(disk: &Disk) -> Vec<u8> {
    disk.content(disk.find("a").unwrap()).unwrap().to_owned()
}

#[test]
fn a_lost_tail_leaves_the_changes_before_it_and_tears_one_at_a_sector() {
    let mut torn = 0;
    for seed in 0..200 {
        let after = content(&written(3).cut(Loss::Tail, &mut seeded(seed)).disk);
        let written = &after[100..10_100];
        // The first value is the newest that was written; below it lies only the one before.
        let newest = written[0];
        let end = written.iter().position(|byte| *byte != newest).unwrap_or(written.len());
        assert!(written[end..].iter().all(|byte| *byte + 1 == newest), "seed {seed}");
        if end < written.len() {
            assert_eq!((100 + end) % SECTOR, 0, "seed {seed}");
            torn += 1;
        }
    }
    assert!(torn > 50, "{torn} of 200 were torn");
}

#[test]
fn a_scattered_loss_keeps_any_sectors_of_any_write() {
    let mut later_without_earlier = 0;
    for seed in 0..200 {
        let cut = written(2).cut(Loss::Scattered, &mut seeded(seed));
        let after = content(&cut.disk);
        for sector in after[512..9_728].chunks(SECTOR) {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "seed {seed}: a sector is written whole");
        }
        let values: Vec<_> = after[512..9_728].chunks(SECTOR).map(|sector| sector[0]).collect();
        later_without_earlier += usize::from(values.contains(&0) && values.contains(&2));
        assert_eq!(cut.changes.unsynced, 2);
    }
    assert!(later_without_earlier > 100, "{later_without_earlier} of 200");
}

#[test]
fn the_same_chance_gives_the_same_disk() {
    for loss in [Loss::Tail, Loss::Scattered] {
        let once = content(&written(3).cut(loss, &mut seeded(7)).disk);
        assert_eq!(once, content(&written(3).cut(loss, &mut seeded(7)).disk));
    }
}

#[test]
fn writes_are_split_where_sectors_of_the_file_end() {
    assert_eq!(sectors(500, 1_100, SECTOR), [0..12, 12..524, 524..1_036, 1_036..1_100]);
    assert_eq!(sectors(4_096, 4_096, BLOCK), vec![0..4_096]);
    assert_eq!(sectors(0, 0, SECTOR), vec![]);
}
