//! The power loss: decides which unsynced changes are still on the disk afterwards.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    disk::{Content, Disk, Ino, Node},
    file::{self, File, Kept},
    folder::Folder,
};

/// Which unsynced changes a power loss keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// None of them.
    Everything,
    /// Those before some point in time; the last of them is torn.
    Tail,
    /// Any of them, sector by sector: a later change may be kept although an earlier one is lost.
    Scattered,
}

/// A disk after a power loss.
#[derive(Debug)]
pub struct CutDisk {
    pub disk: Disk,
    pub changes: LostChanges,
}

/// How many changes a power loss took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostChanges {
    /// How many changes were not synced.
    pub unsynced: usize,
    /// How many of those were lost as a whole or in part.
    pub lost: usize,
}

impl Disk {
    /// Cuts the power. `chance(n)` returns a random number below `n`.
    pub fn cut(self, loss: Loss, chance: &mut dyn FnMut(u64) -> u64) -> CutDisk {
        let numbers = self.unsynced_numbers();
        let mut decision = LossDecision::draw(loss, &numbers, chance);
        let mut nodes = BTreeMap::new();
        for (ino, node) in self.nodes {
            let content = match node.content {
                Content::File(file) => {
                    Content::File(File::durable(file.after_loss(|change| decision.of_file(change, chance))))
                }
                Content::Folder(folder) => Content::Folder(Folder::durable(
                    folder.after_loss(|change| decision.of_folder(change.number, chance)),
                )),
            };
            nodes.insert(ino, Node { mode: node.mode, content });
        }
        let mut disk = Self::of(nodes, self.folder_sync);
        disk.remove_unnamed();
        CutDisk { disk, changes: LostChanges { unsynced: numbers.len(), lost: decision.lost } }
    }

    /// Numbers of all unsynced changes, in order.
    fn unsynced_numbers(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        for node in self.nodes.values() {
            match &node.content {
                Content::File(file) => numbers.extend(file.unsynced().iter().map(|change| change.number)),
                Content::Folder(folder) => {
                    numbers.extend(folder.unsynced().iter().map(|change| change.number))
                }
            }
        }
        numbers.sort_unstable();
        numbers
    }

    /// Removes every file and folder that has no name on the disk.
    fn remove_unnamed(&mut self) {
        let mut named: Vec<Ino> = vec![Self::ROOT];
        let mut place = 0;
        while let Some(ino) = named.get(place) {
            if let Ok(folder) = self.folder(*ino) {
                let below: Vec<_> = folder.names().values().copied().collect();
                named.extend(below);
            }
            place += 1;
        }
        self.nodes.retain(|ino, _| named.contains(ino));
    }
}

/// Decides about every unsynced change of one power loss.
struct LossDecision {
    rule: Rule,
    lost: usize,
}

enum Rule {
    Nothing,
    /// Changes with lower numbers are kept, and the first sectors of the change with this number.
    Below(u64),
    /// Each sector (or name) is kept with this probability, in percent.
    Each {
        percent: u64,
        sector: usize,
    },
}

const SECTOR: usize = 512;
const BLOCK: usize = 4096;

impl LossDecision {
    fn draw(loss: Loss, numbers: &[u64], chance: &mut dyn FnMut(u64) -> u64) -> Self {
        let rule = match loss {
            Loss::Everything => Rule::Nothing,
            Loss::Tail => {
                let place = usize::try_from(chance(numbers.len() as u64 + 1)).unwrap_or(0);
                Rule::Below(numbers.get(place).copied().unwrap_or(u64::MAX))
            }
            Loss::Scattered => {
                let sector = if chance(2) == 0 { SECTOR } else { BLOCK };
                Rule::Each { percent: 5 + chance(91), sector }
            }
        };
        Self { rule, lost: 0 }
    }

    fn of_file(&mut self, change: &file::Change, chance: &mut dyn FnMut(u64) -> u64) -> Kept {
        let kept = match (&self.rule, &change.kind) {
            (Rule::Nothing, _) => Kept::Nothing,
            (Rule::Below(first_lost), _) if change.number < *first_lost => Kept::Everything,
            (Rule::Below(first_lost), file::ChangeKind::Write { offset, bytes })
                if change.number == *first_lost =>
            {
                let mut parts = sectors(*offset, bytes.len(), SECTOR);
                parts.truncate(usize::try_from(chance(parts.len() as u64 + 1)).unwrap_or(0));
                Kept::Parts(parts)
            }
            (Rule::Below(_), _) => Kept::Nothing,
            (Rule::Each { percent, sector }, file::ChangeKind::Write { offset, bytes }) => {
                let mut parts = sectors(*offset, bytes.len(), *sector);
                parts.retain(|_| chance(100) < *percent);
                Kept::Parts(parts)
            }
            (Rule::Each { percent, .. }, file::ChangeKind::Length(_)) if chance(100) < *percent => {
                Kept::Everything
            }
            (Rule::Each { .. }, file::ChangeKind::Length(_)) => Kept::Nothing,
        };
        if !is_whole(&kept, &change.kind) {
            self.lost += 1;
        }
        kept
    }

    fn of_folder(&mut self, number: u64, chance: &mut dyn FnMut(u64) -> u64) -> bool {
        let kept = match self.rule {
            Rule::Nothing => false,
            Rule::Below(first_lost) => number < first_lost,
            Rule::Each { percent, .. } => chance(100) < percent,
        };
        self.lost += usize::from(!kept);
        kept
    }
}

fn is_whole(kept: &Kept, kind: &file::ChangeKind) -> bool {
    match (kept, kind) {
        (Kept::Everything, _) => true,
        (Kept::Parts(parts), file::ChangeKind::Write { bytes, .. }) => {
            parts.iter().map(ExactSizeIterator::len).sum::<usize>() == bytes.len()
        }
        _ => false,
    }
}

/// Splits a write at the sector boundaries of the file: a disk stores each part as a whole or not at all.
fn sectors(offset: usize, length: usize, sector: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < length {
        let end = (start + sector - (offset + start) % sector).min(length);
        parts.push(start..end);
        start = end;
    }
    parts
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
