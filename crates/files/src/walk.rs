//! The entries below a folder as a sorted list: what `list-dir` shows.

use protocol::file_change::EntryKind;

use crate::{
    FileDomain, FileError, IgnoreRules, LogicalPath, Watch,
    domain::{FileInfo, Root},
    handle::info_of,
    protected::FileId,
    traverse::{Options, Visit, Visitor, traverse},
};

/// So many entries are collected; the sorted list is cut to the limit afterwards.
const MAX_COLLECTED: usize = 200_000;

/// What to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkQuery {
    pub path: LogicalPath,
    /// 1 lists the entries of the folder only.
    pub depth: usize,
    pub rules: IgnoreRules,
}

/// An entry below the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkEntry {
    /// Relative to the folder that is listed.
    pub path: String,
    /// 1 for the entries of the folder itself.
    pub depth: usize,
    pub info: FileInfo,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkReport {
    /// Sorted by path; a folder is followed by its entries.
    pub entries: Vec<WalkEntry>,
    /// How many entries were left out because they are ignored; what is below an ignored folder is not counted.
    pub ignored: u64,
    /// There is more than could be listed.
    pub cut: bool,
}

impl FileDomain {
    /// Lists what is below a folder.
    pub fn walk(&self, query: &WalkQuery, watch: &Watch) -> Result<WalkReport, FileError> {
        let options = Options { rules: query.rules, depth: query.depth };
        let visitor = || Collector { root: &self.root, entries: Vec::new(), cut: false };
        let found = traverse(self, &query.path, &options, watch, visitor)?;
        let mut report = WalkReport { entries: Vec::new(), ignored: found.ignored, cut: found.cut };
        for collector in found.visitors {
            report.cut |= collector.cut;
            report.entries.extend(collector.entries);
        }
        // By names, not by characters: `a/b` belongs to `a`, not behind `a-b`.
        report.entries.sort_unstable_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
        Ok(report)
    }
}

struct Collector<'a> {
    root: &'a Root,
    entries: Vec<WalkEntry>,
    cut: bool,
}

impl Visitor for Collector<'_> {
    fn visit(&mut self, entry: &Visit<'_>) -> Result<(), FileError> {
        // It may be gone already.
        let Ok(metadata) = entry.parent.symlink_metadata(entry.name) else { return Ok(()) };
        if self.root.guard.protected.contains(FileId::of(&metadata)) {
            return Ok(());
        }
        if self.entries.len() >= MAX_COLLECTED {
            self.cut = true;
            return Ok(());
        }
        let info = info_of(&metadata);
        // What it was when the folder was read decides whether it was entered.
        if (info.kind == EntryKind::Directory) == (entry.kind == EntryKind::Directory) {
            self.entries.push(WalkEntry { path: entry.below.to_owned(), depth: entry.depth, info });
        }
        Ok(())
    }
}
