//! A mounted disk whose power can be cut.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use fuser::{BackgroundSession, Config, MountOption};
use parking_lot::Mutex;
use rustix::mount::{UnmountFlags, unmount};

use crate::{
    cut::{CutDisk, Loss, LostChanges},
    disk::{Disk, FolderSync},
    fuse::{FuseFilesystem, Owner},
};

/// How often unmounting is tried while a killed process still has files open.
const UNMOUNT_ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// A mounted disk. It is unmounted when dropped; by then no process may use it.
pub struct Volume {
    folder: PathBuf,
    disk: Arc<Mutex<Disk>>,
    session: Option<BackgroundSession>,
}

/// Returns why volumes cannot be mounted on this machine; `None` when they can. Tries it once.
pub fn unavailable() -> Option<String> {
    static TRIED: OnceLock<Option<String>> = OnceLock::new();
    TRIED.get_or_init(try_to_mount).clone()
}

fn try_to_mount() -> Option<String> {
    let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    if let Err(error) = device {
        return Some(format!("/dev/fuse cannot be opened: {error}"));
    }
    // Mounting needs root, or the setuid program of the Debian package fuse3.
    let folder = std::env::temp_dir().join(format!("powerloss-{}", std::process::id()));
    let tried = fs::create_dir_all(&folder)
        .and_then(|()| Volume::mount(&folder, FolderSync::Required))
        .and_then(Volume::unmount);
    drop(fs::remove_dir(&folder));
    tried.err().map(|error| format!("a FUSE file system cannot be mounted: {error}"))
}

impl Volume {
    /// Mounts an empty disk on an existing folder.
    pub fn mount(folder: &Path, folder_sync: FolderSync) -> io::Result<Self> {
        let disk = Arc::new(Mutex::new(Disk::empty(folder_sync)));
        let session = Some(mount(folder, &disk)?);
        Ok(Self { folder: folder.to_owned(), disk, session })
    }

    /// Cuts the power and mounts what is left of the disk. Processes that use the volume must have been killed before, since
    /// results of operations after the cut mean nothing. `chance(n)` returns a random number below `n`.
    pub fn cut(&mut self, loss: Loss, chance: &mut dyn FnMut(u64) -> u64) -> io::Result<LostChanges> {
        // From now on the old mount serves an empty disk; what the kernel still writes is lost.
        let disk = {
            let mut disk = self.disk.lock();
            let folder_sync = disk.folder_sync;
            std::mem::replace(&mut *disk, Disk::empty(folder_sync))
        };
        self.end_session()?;
        let CutDisk { disk, changes } = disk.cut(loss, chance);
        self.disk = Arc::new(Mutex::new(disk));
        self.session = Some(mount(&self.folder, &self.disk)?);
        Ok(changes)
    }

    /// Copies everything, as programs see it at this moment, into an ordinary folder. A test should read this copy and not the
    /// mount: the process that serves a mount can block itself by using it.
    pub fn export(&self, to: &Path) -> io::Result<()> {
        self.disk.lock().export(to)
    }

    /// How many changes of the file at this path (below the root) are not synced.
    pub fn unsynced_in(&self, path: impl AsRef<Path>) -> usize {
        let disk = self.disk.lock();
        disk.find(path).map_or(0, |file| disk.unsynced_in(file))
    }

    /// How often a file or folder was synced since the disk was mounted.
    pub fn syncs(&self) -> u64 {
        self.disk.lock().syncs()
    }

    pub fn unmount(mut self) -> io::Result<()> {
        self.end_session()
    }

    fn end_session(&mut self) -> io::Result<()> {
        let Some(session) = self.session.take() else { return Ok(()) };
        for attempt in 1.. {
            match unmount(&self.folder, UnmountFlags::empty()) {
                Ok(()) => break,
                Err(rustix::io::Errno::BUSY) if attempt < UNMOUNT_ATTEMPTS => thread::sleep(PAUSE),
                // Without root, only FUSE's helper program may unmount.
                Err(rustix::io::Errno::PERM) => return session.umount_and_join(),
                Err(error) => return Err(error.into()),
            }
        }
        session.join()
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if let Err(error) = self.end_session() {
            eprintln!("{} cannot be unmounted: {error}", self.folder.display());
        }
    }
}

fn mount(folder: &Path, disk: &Arc<Mutex<Disk>>) -> io::Result<BackgroundSession> {
    let metadata = fs::metadata(folder)?;
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("powerloss".to_owned()), MountOption::NoAtime];
    let owner = Owner { user: metadata.uid(), group: metadata.gid() };
    fuser::spawn_mount(FuseFilesystem::new(Arc::clone(disk), owner), folder, &config)
}
