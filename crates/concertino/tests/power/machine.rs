//! The real binary with its data folder on a disk whose power can be cut.

use std::fs;

use powerloss::{FolderSync, Loss, LostChanges, Volume};
use tempfile::TempDir;
use testkit::Rng;

use crate::process::Process;

pub struct Machine {
    pub process: Process,
    /// Mounted on the data folder of the process; there until the end.
    volume: Option<Volume>,
    unsynced: usize,
    lost: usize,
}

impl Machine {
    pub fn new(upstream: String, durability: &str, rng: &mut Rng) -> Self {
        let mut process = Process::new(upstream, rng);
        process.set("CONCERTINO_DURABILITY", durability);
        // Every crash here is a power loss, so no run may be ended for it, however slow the machine is.
        process.set("CONCERTINO_MAX_CRASHES", "1000000");
        let data = process.folder().join("data");
        fs::create_dir(&data).unwrap();
        let volume = Volume::mount(&data, FolderSync::Required).unwrap();
        Self { process, volume: Some(volume), unsynced: 0, lost: 0 }
    }

    /// Kills the process, as it ends with the power, and cuts the power of its disk.
    pub fn cut_power(&mut self, loss: Loss, rng: &mut Rng) {
        self.process.kill();
        let volume = self.volume.as_mut().unwrap();
        let LostChanges { unsynced, lost } =
            volume.cut(loss, &mut |below| rng.between(0, below - 1)).unwrap();
        self.unsynced += unsynced;
        self.lost += lost;
    }

    /// Whether pages are on their way from the write-ahead log into the database.
    pub fn is_in_checkpoint(&self) -> bool {
        self.volume.as_ref().unwrap().unsynced_in("concertino.db") > 0
    }

    /// A copy of the data folder as it is now; the test never looks into the mount itself.
    pub fn copy(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.volume.as_ref().unwrap().export(folder.path()).unwrap();
        folder
    }

    /// How many writes were unsynced at all cuts so far, and how many of those were lost at least in part.
    pub fn unsynced_and_lost(&self) -> (u64, u64) {
        (self.unsynced as u64, self.lost as u64)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Nobody may use the disk when it is unmounted, and it must be unmounted before its folder is removed.
        self.process.kill();
        drop(self.volume.take());
    }
}
