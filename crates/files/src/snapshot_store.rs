//! Contents of files as snapshots found them: only those of snapshots in use are kept, and what a later one needs again.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use protocol::Durability;

use crate::{ContentStore, FileError};

/// A folder of the data directory. Cheap to clone. After a restart its contents are used again.
#[derive(Clone, Debug)]
pub struct SnapshotStore {
    pub(crate) contents: ContentStore,
    used: Arc<Mutex<Vec<Weak<HashSet<String>>>>>,
}

impl SnapshotStore {
    /// Opens the folder, and makes it if there is none. Open it once for each work directory.
    pub fn open(folder: &Path) -> Result<Self, FileError> {
        // A snapshot ends with the process, so that no power loss matters.
        let contents = ContentStore::open(folder, Durability::Process)?;
        Ok(Self { contents, used: Arc::default() })
    }

    /// Keeps these contents until the result is dropped, at least. Contents that no snapshot uses are removed.
    pub(crate) fn pin(
        &self,
        names: HashSet<String>,
        is_new: bool,
    ) -> Result<Arc<HashSet<String>>, FileError> {
        let pinned = Arc::new(names);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|others| others.strong_count() > 0);
        used.push(Arc::downgrade(&pinned));
        if is_new {
            let others: Vec<Arc<HashSet<String>>> = used.iter().filter_map(Weak::upgrade).collect();
            for (name, _) in self.contents.sizes()? {
                if !others.iter().any(|names| names.contains(&name)) {
                    self.contents.remove(&name)?;
                }
            }
        }
        Ok(pinned)
    }
}
