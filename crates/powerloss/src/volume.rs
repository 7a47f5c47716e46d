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
    cut::{Cut, Loss},
    disk::{Disk, FolderSync},
    fuse::Mounted,
};

/// How long a killed process may take to let go of its files.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// A mounted disk. It is unmounted when dropped; no process may use it any more by then.
pub struct Volume {
    folder: PathBuf,
    disk: Arc<Mutex<Disk>>,
    session: Option<BackgroundSession>,
}

/// Why volumes cannot be mounted here; `None` when they can. Tried once.
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

    /// Cuts the power and mounts what is left of the disk. Processes that use the volume must have been killed before:
    /// what they are told after the cut would not count. `chance(n)` gives a number below `n`.
    ///
    /// Returns how many changes were not synced, and how many of those were lost.
    pub fn cut(&mut self, loss: Loss, chance: &mut dyn FnMut(u64) -> u64) -> io::Result<(usize, usize)> {
        // From here on the old mount shows an empty disk; what the kernel still writes is lost.
        let disk = {
            let mut disk = self.disk.lock();
            let folder_sync = disk.folder_sync;
            std::mem::replace(&mut *disk, Disk::empty(folder_sync))
        };
        self.end_session()?;
        let Cut { disk, unsynced, lost } = disk.cut(loss, chance);
        self.disk = Arc::new(Mutex::new(disk));
        self.session = Some(mount(&self.folder, &self.disk)?);
        Ok((unsynced, lost))
    }

    /// Writes everything as programs see it now into an ordinary folder, as of one moment. A test should look at this
    /// copy, not into the mount: the process that serves a mount can block itself by using it.
    pub fn export(&self, to: &Path) -> io::Result<()> {
        self.disk.lock().export(to)
    }

    /// How many changes of the file at this path below the root are not synced now.
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
                Err(rustix::io::Errno::BUSY) if attempt < ATTEMPTS => thread::sleep(PAUSE),
                // Not root: the helper program has to do it.
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
    let owner = fs::metadata(folder)?;
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("powerloss".to_owned()), MountOption::NoAtime];
    fuser::spawn_mount(Mounted::new(Arc::clone(disk), (owner.uid(), owner.gid())), folder, &config)
}
