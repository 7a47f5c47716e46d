//! The names in one folder: as programs see them, as they are on the disk, and the changes in between.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use crate::disk::Ino;

pub(crate) type Names = BTreeMap<OsString, Ino>;

#[derive(Debug, Default)]
pub(crate) struct Folder {
    current: Names,
    durable: Names,
    unsynced: Vec<Change>,
}

#[derive(Debug)]
pub(crate) struct Change {
    /// Position among all changes of the disk.
    pub(crate) number: u64,
    pub(crate) kind: ChangeKind,
}

#[derive(Debug)]
pub(crate) enum ChangeKind {
    Add {
        name: OsString,
        ino: Ino,
    },
    Remove {
        name: OsString,
    },
    /// A rename inside one folder is one change: a power loss keeps all of it or nothing.
    Rename {
        from: OsString,
        to: OsString,
        ino: Ino,
    },
}

impl Folder {
    /// A folder whose names are on the disk.
    pub(crate) fn durable(names: Names) -> Self {
        Self { current: names.clone(), durable: names, unsynced: Vec::new() }
    }

    pub(crate) fn names(&self) -> &Names {
        &self.current
    }

    pub(crate) fn get(&self, name: &OsStr) -> Option<Ino> {
        self.current.get(name).copied()
    }

    pub(crate) fn change(&mut self, number: u64, kind: ChangeKind) {
        apply(&mut self.current, &kind);
        self.unsynced.push(Change { number, kind });
    }

    pub(crate) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            apply(&mut self.durable, &change.kind);
        }
    }

    pub(crate) fn unsynced(&self) -> &[Change] {
        &self.unsynced
    }

    /// The names after a power loss; `keep` decides about every unsynced change, oldest first.
    pub(crate) fn after_loss(mut self, mut keep: impl FnMut(&Change) -> bool) -> Names {
        for change in &self.unsynced {
            if keep(change) {
                apply(&mut self.durable, &change.kind);
            }
        }
        self.durable
    }
}

fn apply(names: &mut Names, kind: &ChangeKind) {
    match kind {
        ChangeKind::Add { name, ino } => {
            names.insert(name.clone(), *ino);
        }
        ChangeKind::Remove { name } => {
            names.remove(name);
        }
        ChangeKind::Rename { from, to, ino } => {
            names.remove(from);
            names.insert(to.clone(), *ino);
        }
    }
}
