//! The power loss: which unsynced changes are still on the disk afterwards.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    disk::{Content, Disk, Ino, Node},
    file::{self, File, Kept},
    folder::Folder,
};

/// Which unsynced changes a power loss keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// None.
    Everything,
    /// The first ones, in the order in which they were made; the last of them is torn.
    Tail,
    /// Any of them, sector by sector: a later change may be kept although an earlier one is lost.
    Scattered,
}

/// A disk after a power loss.
#[derive(Debug)]
pub struct Cut {
    pub disk: Disk,
    /// How many changes were not synced.
    pub unsynced: usize,
    /// How many of those were lost as a whole or in part.
    pub lost: usize,
}

impl Disk {
    /// Cuts the power. `chance(n)` gives a number below `n`.
    pub fn cut(self, loss: Loss, chance: &mut dyn FnMut(u64) -> u64) -> Cut {
        let numbers = self.unsynced_numbers();
        let mut survival = Survival::draw(loss, &numbers, chance);
        let mut nodes = BTreeMap::new();
        for (ino, node) in self.nodes {
            let content = match node.content {
                Content::File(file) => {
                    Content::File(File::durable(file.after_loss(|change| survival.of_file(change, chance))))
                }
                Content::Folder(folder) => Content::Folder(Folder::durable(
                    folder.after_loss(|change| survival.of_folder(change.number, chance)),
                )),
            };
            nodes.insert(ino, Node { mode: node.mode, content });
        }
        let mut disk = Self::of(nodes, self.folder_sync);
        disk.forget_unnamed();
        Cut { disk, unsynced: numbers.len(), lost: survival.lost }
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

    /// Drops every file and folder that has no name on the disk.
    fn forget_unnamed(&mut self) {
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

/// What was drawn for one power loss.
struct Survival {
    rule: Rule,
    lost: usize,
}

enum Rule {
    Nothing,
    /// Changes with lower numbers are kept; of this one the first sectors.
    Below(u64),
    /// Each sector (or name) with this probability, in percent.
    Each {
        percent: u64,
        sector: usize,
    },
}

const SECTOR: usize = 512;
const BLOCK: usize = 4096;

impl Survival {
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
            (Rule::Below(first_lost), file::Kind::Write { offset, bytes })
                if change.number == *first_lost =>
            {
                let mut parts = sectors(*offset, bytes.len(), SECTOR);
                parts.truncate(usize::try_from(chance(parts.len() as u64 + 1)).unwrap_or(0));
                Kept::Parts(parts)
            }
            (Rule::Below(_), _) => Kept::Nothing,
            (Rule::Each { percent, sector }, file::Kind::Write { offset, bytes }) => {
                let mut parts = sectors(*offset, bytes.len(), *sector);
                parts.retain(|_| chance(100) < *percent);
                Kept::Parts(parts)
            }
            (Rule::Each { percent, .. }, file::Kind::Length(_)) if chance(100) < *percent => Kept::Everything,
            (Rule::Each { .. }, file::Kind::Length(_)) => Kept::Nothing,
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

fn is_whole(kept: &Kept, kind: &file::Kind) -> bool {
    match (kept, kind) {
        (Kept::Everything, _) => true,
        (Kept::Parts(parts), file::Kind::Write { bytes, .. }) => {
            parts.iter().map(ExactSizeIterator::len).sum::<usize>() == bytes.len()
        }
        _ => false,
    }
}

/// The parts of a write that a disk stores each as one: split where the sectors of the file end.
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
