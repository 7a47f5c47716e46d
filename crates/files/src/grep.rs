//! Searches the contents of files for a regular expression.

use std::{
    cell::Cell,
    io::{self, Read},
};

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use protocol::{FailureCode, Timestamp, file_change::EntryKind};

use crate::{
    FileDomain, FileError, IgnoreRules, LogicalPath, Watch,
    domain::Root,
    glob::compile,
    lines::{LINE_BYTES, cut_text},
    lookup::{Found, Links, look_up},
    traverse::{Options, Visit, Visitor, traverse},
};

const MAX_PATTERN: usize = 4096;
/// A compiled pattern may take so many bytes.
const MAX_COMPILED: usize = 10 << 20;
/// A file with a line that is longer than this is not searched to its end.
const MAX_LINE: usize = 16 << 20;
/// Matches of one file are counted up to here.
const MAX_COUNTED: u64 = 10_000;
/// All lines that are returned may take so many bytes; further files are only counted.
const MAX_KEPT_BYTES: usize = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression that matches within one line.
    pub pattern: String,
    pub ignore_case: bool,
    /// A folder, or a file.
    pub path: LogicalPath,
    /// Only files whose path below `path` matches: `*.rs`, `src/**/*.{ts,tsx}`.
    pub include: Option<String>,
    pub rules: IgnoreRules,
    /// So many lines of each file are returned; 0 only finds the files, which is faster.
    pub lines_per_file: usize,
}

/// A file that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepFile {
    /// Relative to the work directory.
    pub path: String,
    pub modified: Timestamp,
    /// The number of matching lines; 1 when only files are searched for.
    pub matches: u64,
    pub lines: Vec<GrepLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepLine {
    /// Counted from 1.
    pub number: u64,
    /// At most [`LINE_BYTES`] bytes.
    pub text: String,
    pub cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepReport {
    /// The most recently modified first.
    pub files: Vec<GrepFile>,
    pub searched: u64,
    /// Files that were left out because reading them needs an approval.
    pub not_allowed: u64,
    /// Not everything was searched, because there was too much or too little time.
    pub cut: bool,
}

impl FileDomain {
    /// Searches the files below a folder, or one file. Binary files are skipped.
    pub fn grep(&self, query: &GrepQuery, watch: &Watch) -> Result<GrepReport, FileError> {
        let matcher = pattern(query)?;
        let include = query.include.as_deref().map(compile).transpose()?;
        let new = || Searching::new(&self.root, &matcher, include.as_ref(), query, watch);
        let found = look_up(&self.root, &query.path, Links::Follow);
        if let Found::Entry { parent, name, .. } =
            found.map_err(|refusal| refusal.at(&query.path, "search"))?
        {
            let mut searching = new();
            // A file that cannot be opened is an error here, not something to skip.
            self.open_file(&query.path)?;
            searching.search(&parent, &name, query.path.relative())?;
            watch.check()?;
            return Ok(report([searching], false));
        }
        let options = Options { rules: query.rules, depth: usize::MAX };
        let found = traverse(self, &query.path, &options, watch, new)?;
        Ok(report(found.visitors, found.cut))
    }
}

fn pattern(query: &GrepQuery) -> Result<RegexMatcher, FileError> {
    let invalid = |why: String| FileError::new(FailureCode::InvalidArgument, why);
    if query.pattern.is_empty() || query.pattern.len() > MAX_PATTERN {
        return Err(invalid(format!("a pattern has 1 to {MAX_PATTERN} bytes")));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(query.ignore_case)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .build(&query.pattern)
        .map_err(|error| invalid(format!("the pattern is not a valid regular expression: {error}")))
}

fn report<'a>(all: impl IntoIterator<Item = Searching<'a>>, cut: bool) -> GrepReport {
    let mut report = GrepReport { cut, ..GrepReport::default() };
    for searching in all {
        report.files.extend(searching.files);
        report.searched += searching.searched;
        report.not_allowed += searching.not_allowed;
    }
    report.files.sort_unstable_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    report
}

/// One thread that searches.
struct Searching<'a> {
    root: &'a Root,
    /// A copy for each thread: a shared one would be waited for.
    matcher: RegexMatcher,
    include: Option<&'a GlobMatcher>,
    searcher: Searcher,
    lines_per_file: usize,
    watch: &'a Watch<'a>,
    files: Vec<GrepFile>,
    kept: usize,
    searched: u64,
    not_allowed: u64,
}

impl<'a> Searching<'a> {
    fn new(
        root: &'a Root,
        matcher: &RegexMatcher,
        include: Option<&'a GlobMatcher>,
        query: &GrepQuery,
        watch: &'a Watch<'a>,
    ) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(query.lines_per_file > 0)
            .heap_limit(Some(MAX_LINE))
            .build();
        Self {
            root,
            matcher: matcher.clone(),
            include,
            searcher,
            lines_per_file: query.lines_per_file,
            watch,
            files: Vec::new(),
            kept: 0,
            searched: 0,
            not_allowed: 0,
        }
    }

    fn search(
        &mut self,
        parent: &cap_std::fs::Dir,
        name: &std::ffi::OsStr,
        path: &str,
    ) -> Result<(), FileError> {
        // Protected, several hard links, not readable, or gone.
        let Ok((file, info)) = self.root.guard.open_file(parent, name) else { return Ok(()) };
        self.searched += 1;
        let wanted = if self.kept < MAX_KEPT_BYTES { self.lines_per_file } else { 0 };
        let mut matches = Matches { wanted, only_files: self.lines_per_file == 0, ..Matches::default() };
        let stopped = Cell::new(false);
        let reader = Watched { file, watch: self.watch, stopped: &stopped };
        // It fails at a line that is too long, or because of the disk: what was found before counts.
        self.searcher.search_reader(&self.matcher, reader, &mut matches).ok();
        if stopped.get() || matches.count == 0 || matches.binary {
            return Ok(());
        }
        self.kept += path.len() + matches.lines.iter().map(|line| line.text.len() + 16).sum::<usize>();
        self.files.push(GrepFile {
            path: path.to_owned(),
            modified: info.modified,
            matches: matches.count,
            lines: matches.lines,
        });
        Ok(())
    }
}

impl Visitor for Searching<'_> {
    fn visit(&mut self, entry: &Visit<'_>) -> Result<(), FileError> {
        let wanted =
            entry.kind == EntryKind::File && self.include.is_none_or(|include| include.is_match(entry.below));
        if !wanted {
            return Ok(());
        }
        if !(self.watch.may_read)(entry.path) {
            self.not_allowed += 1;
            return Ok(());
        }
        self.search(entry.parent, entry.name, entry.path)
    }
}

/// A file that ends when the search is cancelled or its time is over.
struct Watched<'a> {
    file: std::fs::File,
    watch: &'a Watch<'a>,
    stopped: &'a Cell<bool>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.watch.cancelled)() || self.watch.is_over() {
            self.stopped.set(true);
            return Ok(0);
        }
        self.file.read(buffer)
    }
}

/// The matches of one file.
#[derive(Default)]
struct Matches {
    wanted: usize,
    only_files: bool,
    count: u64,
    lines: Vec<GrepLine>,
    binary: bool,
}

impl Sink for Matches {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.count += 1;
        if self.only_files {
            return Ok(false);
        }
        if self.lines.len() < self.wanted {
            let bytes = found.bytes();
            let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
            let number = found.line_number().unwrap_or_default();
            self.lines.push(GrepLine { number, text: cut_text(bytes), cut: bytes.len() > LINE_BYTES });
        }
        Ok(self.count < MAX_COUNTED)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> Result<(), io::Error> {
        Ok(())
    }
}
