//! All files and links of the work directory, by what the file system says of them.

use std::collections::BTreeMap;

use cap_std::fs::{Metadata, MetadataExt};
use protocol::{FileState, file_change::EntryKind};

use crate::{
    FileDomain, FileError, IgnoreRules, LogicalPath, Watch,
    domain::Root,
    handle::kind_of,
    known::Stamp,
    present::mode_of,
    protected::FileId,
    traverse::{Options, Visit, Visitor, traverse},
};

/// So many files, and ignored entries, are looked at.
const MOST: usize = 200_000;

/// A file or a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub stamp: Stamp,
    /// Whether a later change is sure to give it another stamp.
    pub is_settled: bool,
    pub bytes: u64,
    pub mode: u32,
    /// A file with several hard links may also be one outside of the work directory.
    pub links: u64,
}

impl Seen {
    /// `None` for what is neither a file nor a link.
    pub fn of(metadata: &Metadata) -> Option<Self> {
        let mode = match kind_of(metadata.file_type()) {
            EntryKind::File => mode_of(metadata),
            EntryKind::Link => FileState::LINK,
            EntryKind::Directory | EntryKind::Other => return None,
        };
        let stamp = Stamp::of(metadata);
        let (is_settled, bytes, links) = (stamp.is_settled(), metadata.len(), MetadataExt::nlink(metadata));
        Some(Self { stamp, is_settled, bytes, mode, links })
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub files: BTreeMap<LogicalPath, Seen>,
    /// Entries that are left out because they are ignored, by their paths.
    pub ignored: Vec<String>,
    /// There was more than could be looked at.
    pub cut: bool,
}

/// Looks at everything but what is ignored or protected. A file whose name cannot be written as text is left out.
pub(crate) fn look(domain: &FileDomain, watch: &Watch) -> Result<Tree, FileError> {
    let options = Options { rules: IgnoreRules::GitignoreAndGenerated, depth: usize::MAX };
    let visitor = || Collector { root: &domain.root, files: Vec::new(), ignored: Vec::new(), cut: false };
    let found = traverse(domain, &LogicalPath::root(), &options, watch, visitor)?;
    let mut tree = Tree { cut: found.cut, ..Tree::default() };
    for collector in found.visitors {
        tree.cut |= collector.cut;
        tree.files.extend(collector.files);
        tree.ignored.extend(collector.ignored);
    }
    Ok(tree)
}

struct Collector<'a> {
    root: &'a Root,
    files: Vec<(LogicalPath, Seen)>,
    ignored: Vec<String>,
    cut: bool,
}

impl Visitor for Collector<'_> {
    fn visit(&mut self, entry: &Visit<'_>) -> Result<(), FileError> {
        if entry.kind == EntryKind::Directory || entry.path.contains(char::REPLACEMENT_CHARACTER) {
            return Ok(());
        }
        // It may be gone already.
        let Ok(metadata) = entry.parent.symlink_metadata(entry.name) else { return Ok(()) };
        if self.root.guard.protected.contains(FileId::of(&metadata)) {
            return Ok(());
        }
        let Some(seen) = Seen::of(&metadata) else { return Ok(()) };
        let Ok(path) = LogicalPath::parse(entry.path) else { return Ok(()) };
        if self.files.len() < MOST {
            self.files.push((path, seen));
        } else {
            self.cut = true;
        }
        Ok(())
    }

    fn ignored(&mut self, path: &str) {
        if self.ignored.len() < MOST {
            self.ignored.push(path.to_owned());
        } else {
            self.cut = true;
        }
    }
}
