//! Finds files whose paths match a pattern.

use globset::{GlobBuilder, GlobMatcher};
use protocol::{FailureCode, Timestamp, file_change::EntryKind};

use crate::{
    FileDomain, FileError, IgnoreRules, LogicalPath, Watch,
    domain::Root,
    handle::info_of,
    ignored::join,
    protected::FileId,
    traverse::{Options, Visit, Visitor, traverse},
};

const MAX_PATTERN: usize = 1024;
/// So many files are collected; the list is cut to the limit after it was sorted.
const MAX_COLLECTED: usize = 200_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobQuery {
    /// `**/*.rs`, `src/{a,b}/*.ts`; one without `/` matches names in every folder.
    pub pattern: String,
    pub path: LogicalPath,
    pub rules: IgnoreRules,
    /// At most so many files are returned.
    pub limit: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobReport {
    /// Relative to the work directory, the most recently modified first.
    pub files: Vec<String>,
    /// How many match altogether.
    pub total: usize,
    /// Not everything was searched.
    pub cut: bool,
}

impl FileDomain {
    /// Finds files by their paths.
    pub fn glob(&self, query: &GlobQuery, watch: &Watch) -> Result<GlobReport, FileError> {
        let matcher = compile(&query.pattern)?;
        let options = Options { rules: query.rules, depth: usize::MAX };
        let visitor = || Finder { root: &self.root, matcher: &matcher, files: Vec::new(), cut: false };
        let found = traverse(self, &query.path, &options, watch, visitor)?;
        let mut report = GlobReport { cut: found.cut, ..GlobReport::default() };
        let mut files = Vec::new();
        for finder in found.visitors {
            report.cut |= finder.cut;
            files.extend(finder.files);
        }
        report.total = files.len();
        files.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        files.truncate(query.limit);
        report.files = files.into_iter().map(|(_, path)| join(query.path.relative(), &path)).collect();
        Ok(report)
    }
}

/// Reads a pattern; `*` does not match `/`.
pub(crate) fn compile(pattern: &str) -> Result<GlobMatcher, FileError> {
    let invalid = |why: String| FileError::new(FailureCode::InvalidArgument, why);
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        return Err(invalid(format!("a pattern has 1 to {MAX_PATTERN} bytes")));
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    GlobBuilder::new(&anywhere)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| invalid(format!("the pattern `{pattern}` is not a valid glob: {}", error.kind())))
}

struct Finder<'a> {
    root: &'a Root,
    matcher: &'a GlobMatcher,
    /// Time and path below the folder that is searched.
    files: Vec<(Timestamp, String)>,
    cut: bool,
}

impl Visitor for Finder<'_> {
    fn visit(&mut self, entry: &Visit<'_>) -> Result<(), FileError> {
        if entry.kind == EntryKind::Directory || !self.matcher.is_match(entry.below) {
            return Ok(());
        }
        if self.files.len() >= MAX_COLLECTED {
            self.cut = true;
            return Ok(());
        }
        let Ok(metadata) = entry.parent.symlink_metadata(entry.name) else { return Ok(()) };
        if !self.root.guard.protected.contains(FileId::of(&metadata)) {
            self.files.push((info_of(&metadata).modified, entry.below.to_owned()));
        }
        Ok(())
    }
}
