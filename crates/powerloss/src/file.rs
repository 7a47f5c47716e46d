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
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
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

    pub(crate) fn change(&mut self, number: u64, kind: Kind) {
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

fn apply(content: &mut Vec<u8>, kind: &Kind, kept: &Kept) {
    match (kind, kept) {
        (_, Kept::Nothing) | (Kind::Length(_), Kept::Parts(_)) => {}
        (Kind::Length(length), Kept::Everything) => content.resize(*length, 0),
        (Kind::Write { offset, bytes }, Kept::Everything) => put(content, *offset, bytes),
        (Kind::Write { offset, bytes }, Kept::Parts(parts)) => {
            for part in parts {
                put(content, offset + part.start, &bytes[part.clone()]);
            }
        }
    }
}

/// Writes beyond the end leave zeros in between.
fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}
