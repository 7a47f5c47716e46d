//! Remembers the contents of files that were read: a file that has not been touched since need not be read again.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use cap_std::fs::{Metadata, MetadataExt};

use crate::protected::FileId;

/// So many contents are remembered.
const MOST: usize = 65_536;
/// File systems count time in steps. A file that was touched so shortly before it was read may be changed once more in the
/// same step, which nobody would see.
const STEP: Duration = Duration::from_millis(50);

/// What changes whenever somebody touches a file: its content, its permissions, its name or its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    id: FileId,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            id: FileId::of(metadata),
            bytes: metadata.len(),
            modified: (MetadataExt::mtime(metadata), MetadataExt::mtime_nsec(metadata)),
            changed: (MetadataExt::ctime(metadata), MetadataExt::ctime_nsec(metadata)),
        }
    }

    /// Whether a later change is sure to give the file another stamp.
    #[expect(
        clippy::disallowed_methods,
        reason = "it is compared with times that the file system took from the same clock"
    )]
    pub fn is_settled(&self) -> bool {
        let settled =
            SystemTime::now().checked_sub(STEP).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let Some(settled) = settled else { return false };
        let settled =
            (i64::try_from(settled.as_secs()).unwrap_or(i64::MAX), i64::from(settled.subsec_nanos()));
        self.changed < settled && self.modified < settled
    }
}

/// The SHA-256 of files by their identity.
#[derive(Debug, Default)]
pub(crate) struct KnownContents {
    files: Mutex<HashMap<FileId, (Stamp, String)>>,
}

impl KnownContents {
    /// The name of the content of a file with this stamp, if it was read.
    pub fn get(&self, stamp: &Stamp) -> Option<String> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(&stamp.id).filter(|(known, _)| known == stamp).map(|(_, content)| content.clone())
    }

    /// Remembers the content of a file that had this stamp, already settled, before and after it was read.
    pub fn remember(&self, stamp: Stamp, content: &str) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MOST {
            files.clear();
        }
        files.insert(stamp.id, (stamp, content.to_owned()));
    }
}
