//! The content of one file: as programs read it, as it is on the disk, and the changes in between.

use std::ops::Range;

#[derive(Debug, Default)]
pub(crate) struct File {
    current: Vec<u8>,
    durable: Vec<u8>,
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
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

/// Which parts of one change a power loss keeps.
pub(crate) enum Kept {
    Nothing,
    Everything,
    /// The parts of a write, as ranges of its bytes. Another kind of change is not kept.
    Parts(Vec<Range<usize>>),
}

impl File {
    /// A file whose content is on the disk.
    pub(crate) fn durable(content: Vec<u8>) -> Self {
        Self { current: content.clone(), durable: content, unsynced: Vec::new() }
    }

    pub(crate) fn content(&self) -> &[u8] {
        &self.current
    }

    pub(crate) fn read(&self, offset: usize, size: usize) -> &[u8] {
        let start = offset.min(self.current.len());
        let end = offset.saturating_add(size).min(self.current.len());
        &self.current[start..end]
    }

    pub(crate) fn change(&mut self, number: u64, kind: ChangeKind) {
        apply(&mut self.current, &kind, &Kept::Everything);
        self.unsynced.push(Change { number, kind });
    }

    pub(crate) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            apply(&mut self.durable, &change.kind, &Kept::Everything);
        }
    }

    pub(crate) fn unsynced(&self) -> &[Change] {
        &self.unsynced
    }

    /// The content after a power loss; `keep` decides about every unsynced change, oldest first.
    pub(crate) fn after_loss(mut self, mut keep: impl FnMut(&Change) -> Kept) -> Vec<u8> {
        for change in &self.unsynced {
            let kept = keep(change);
            apply(&mut self.durable, &change.kind, &kept);
        }
        self.durable
    }
}

fn apply(content: &mut Vec<u8>, kind: &ChangeKind, kept: &Kept) {
    match (kind, kept) {
        (_, Kept::Nothing) | (ChangeKind::Length(_), Kept::Parts(_)) => {}
        (ChangeKind::Length(length), Kept::Everything) => content.resize(*length, 0),
        (ChangeKind::Write { offset, bytes }, Kept::Everything) => put(content, *offset, bytes),
        (ChangeKind::Write { offset, bytes }, Kept::Parts(parts)) => {
            for part in parts {
                put(content, offset + part.start, &bytes[part.clone()]);
            }
        }
    }
}

/// Writes bytes at an offset. A gap behind the old end is filled with zeros.
fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}
