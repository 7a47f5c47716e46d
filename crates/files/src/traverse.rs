//! Visits all entries below a folder, by folder handles, on several threads.
//!
//! A folder is opened from the handle of the one that contains it, when its turn comes: few handles are open at a time,
//! and no link is ever followed.

use std::{
    ffi::{OsStr, OsString},
    num::NonZero,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use cap_std::fs::Dir;
use protocol::file_change::EntryKind;

use crate::{
    FileDomain, FileError, IgnoreRules, LogicalPath, Watch,
    domain::{Root, shown_name},
    handle::{SharedDir, kind_of},
    ignored::{Ignored, join},
    path::is_temp_name,
};

const MAX_THREADS: usize = 8;
/// Files of one folder that one thread takes at a time.
const FILES_AT_A_TIME: usize = 64;
/// Deeper folders are not entered.
const MAX_DEPTH: usize = 128;
/// So many entries are visited at most.
const MAX_VISITED: u64 = 5_000_000;

/// An entry that is visited.
pub(crate) struct Visit<'a> {
    pub parent: &'a Dir,
    pub name: &'a OsStr,
    /// Relative to the work directory.
    pub path: &'a str,
    /// Relative to the folder where the traversal began.
    pub below: &'a str,
    pub kind: EntryKind,
    /// 1 for the entries of the folder where the traversal began.
    pub depth: usize,
}

/// What one thread does with the entries.
pub(crate) trait Visitor: Send {
    fn visit(&mut self, entry: &Visit<'_>) -> Result<(), FileError>;

    /// An entry that is left out because it is ignored, by its path relative to the work directory.
    fn ignored(&mut self, _path: &str) {}
}

/// What was found besides the entries.
pub(crate) struct Traversed<V> {
    pub visitors: Vec<V>,
    /// Entries that were left out because they are ignored.
    pub ignored: u64,
    /// Not everything was visited, because there was too much or too little time.
    pub cut: bool,
}

pub(crate) struct Options {
    pub rules: IgnoreRules,
    pub depth: usize,
}

/// Visits everything below a folder, in no particular order. Each thread has a visitor of its own.
pub(crate) fn traverse<V: Visitor>(
    domain: &FileDomain,
    start: &LogicalPath,
    options: &Options,
    watch: &Watch,
    visitor: impl Fn() -> V + Sync,
) -> Result<Traversed<V>, FileError> {
    let dir = domain.folder(start)?;
    let shared = Shared {
        root: &domain.root,
        options,
        watch,
        start: if start.is_root() { 0 } else { start.relative().len() + 1 },
        queue: Mutex::default(),
        changed: Condvar::new(),
        stop: AtomicBool::new(false),
        cut: AtomicBool::new(false),
        ignored: AtomicU64::new(0),
        visited: AtomicU64::new(0),
    };
    let first = Folder {
        parent: None,
        name: OsString::new(),
        path: start.relative().to_owned(),
        ignored: Ignored::above(&domain.root, start),
        depth: 0,
    };
    let mut own = visitor();
    let mut tasks = Vec::new();
    let mut worker = Worker { shared: &shared, visitor: &mut own };
    worker.read_folder(&dir, &first, &mut tasks)?;
    shared.push(tasks);
    let mut visitors = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads()).map(|_| scope.spawn(|| shared.work(visitor()))).collect();
        let mut results = vec![shared.work(own)];
        results.extend(helpers.into_iter().map(|helper| {
            let died = |_| Err(FileError::new(protocol::FailureCode::Internal, "a search thread failed"));
            helper.join().unwrap_or_else(died)
        }));
        results.into_iter().collect::<Result<Vec<V>, FileError>>()
    })?;
    watch.check()?;
    visitors.shrink_to_fit();
    Ok(Traversed { visitors, ignored: shared.ignored.load(Relaxed), cut: shared.cut.load(Relaxed) })
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)
}

/// A folder that is to be entered.
struct Folder {
    /// `None`: the folder where the traversal began.
    parent: Option<SharedDir>,
    name: OsString,
    path: String,
    ignored: Ignored,
    depth: usize,
}

enum Task {
    Folder(Folder),
    Files { parent: SharedDir, path: Arc<str>, files: Vec<(OsString, String, EntryKind)>, depth: usize },
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    /// Threads that may still add tasks.
    active: usize,
}

struct Shared<'a> {
    root: &'a Root,
    options: &'a Options,
    watch: &'a Watch<'a>,
    /// The length of the path of the folder where the traversal began, with the `/` at its end.
    start: usize,
    queue: Mutex<Queue>,
    changed: Condvar,
    stop: AtomicBool,
    cut: AtomicBool,
    ignored: AtomicU64,
    visited: AtomicU64,
}

impl Shared<'_> {
    fn push(&self, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.queue.lock().unwrap_or_else(PoisonError::into_inner).tasks.extend(tasks);
            self.changed.notify_all();
        }
    }

    /// The next task; `None` when there is none and no thread will add one.
    fn next(&self, was_active: bool) -> Option<Task> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if was_active {
            queue.active -= 1;
        }
        loop {
            if self.stop.load(Relaxed) {
                self.changed.notify_all();
                return None;
            }
            if let Some(task) = queue.tasks.pop() {
                queue.active += 1;
                return Some(task);
            }
            if queue.active == 0 {
                self.changed.notify_all();
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work<V: Visitor>(&self, mut visitor: V) -> Result<V, FileError> {
        let mut was_active = false;
        while let Some(task) = self.next(was_active) {
            was_active = true;
            let mut tasks = Vec::new();
            let result = Worker { shared: self, visitor: &mut visitor }.run(task, &mut tasks);
            if self.watch.is_over() || self.visited.load(Relaxed) > MAX_VISITED {
                self.cut.store(true, Relaxed);
                self.stop.store(true, Relaxed);
            }
            if result.is_err() || (self.watch.cancelled)() {
                self.stop.store(true, Relaxed);
            }
            self.push(tasks);
            if let Err(error) = result {
                // Lets the others see that it is over.
                self.next(true);
                return Err(error);
            }
        }
        Ok(visitor)
    }
}

struct Worker<'a, 'b, V> {
    shared: &'a Shared<'b>,
    visitor: &'a mut V,
}

impl<V: Visitor> Worker<'_, '_, V> {
    fn run(&mut self, task: Task, tasks: &mut Vec<Task>) -> Result<(), FileError> {
        match task {
            Task::Files { parent, path, files, depth } => self.visit_files(&parent, &path, &files, depth),
            Task::Folder(folder) => {
                let Some(parent) = &folder.parent else { return Ok(()) };
                // Protected, not readable, or gone.
                let Ok(dir) = self.shared.root.guard.open_folder(parent, &folder.name) else { return Ok(()) };
                self.visit(parent, &folder.name, &folder.path, EntryKind::Directory, folder.depth)?;
                if folder.depth < self.shared.options.depth.min(MAX_DEPTH) {
                    self.read_folder(&dir.into(), &folder, tasks)?;
                }
                Ok(())
            }
        }
    }

    fn visit(
        &mut self,
        parent: &Dir,
        name: &OsStr,
        path: &str,
        kind: EntryKind,
        depth: usize,
    ) -> Result<(), FileError> {
        let below = path.get(self.shared.start..).unwrap_or(path);
        self.visitor.visit(&Visit { parent, name, path, below, kind, depth })
    }

    fn visit_files(
        &mut self,
        parent: &Dir,
        folder: &str,
        files: &[(OsString, String, EntryKind)],
        depth: usize,
    ) -> Result<(), FileError> {
        for (name, shown, kind) in files {
            if self.shared.stop.load(Relaxed) {
                return Ok(());
            }
            self.visit(parent, name, &join(folder, shown), *kind, depth)?;
        }
        Ok(())
    }

    /// Reads the entries of a folder: its folders and files become tasks.
    fn read_folder(
        &mut self,
        dir: &SharedDir,
        folder: &Folder,
        tasks: &mut Vec<Task>,
    ) -> Result<(), FileError> {
        let Ok(found) = dir.entries() else { return Ok(()) };
        let mut entries = Vec::new();
        for entry in found.flatten() {
            let name = entry.file_name();
            let mut kind = entry.file_type().map_or(EntryKind::Other, kind_of);
            if kind == EntryKind::Other {
                // Some file systems do not say it in the listing.
                kind = dir.symlink_metadata(&name).map_or(kind, |found| kind_of(found.file_type()));
            }
            entries.push((name, kind));
        }
        self.shared.visited.fetch_add(entries.len() as u64, Relaxed);
        let has_rules = entries.iter().any(|(name, _)| name == ".gitignore");
        let ignored = if has_rules && self.shared.options.rules != IgnoreRules::None {
            folder.ignored.enter(&self.shared.root.guard, dir, &folder.path)
        } else {
            folder.ignored.clone()
        };
        let mut files = Vec::new();
        let depth = folder.depth + 1;
        for (name, kind) in entries {
            let shown = shown_name(&name);
            if is_temp_name(&shown) {
                continue;
            }
            let path = join(&folder.path, &shown);
            let is_folder = kind == EntryKind::Directory;
            if ignored.hides_path(self.shared.options.rules, &path, &shown, is_folder) {
                self.shared.ignored.fetch_add(1, Relaxed);
                self.visitor.ignored(&path);
            } else if is_folder {
                let (parent, ignored) = (Some(SharedDir::clone(dir)), ignored.clone());
                tasks.push(Task::Folder(Folder { parent, name, path, ignored, depth }));
            } else {
                files.push((name, shown, kind));
            }
        }
        self.share_files(dir, folder, files, tasks)
    }

    /// The files of a big folder are visited by several threads.
    fn share_files(
        &mut self,
        dir: &SharedDir,
        folder: &Folder,
        mut files: Vec<(OsString, String, EntryKind)>,
        tasks: &mut Vec<Task>,
    ) -> Result<(), FileError> {
        let depth = folder.depth + 1;
        let path: Arc<str> = folder.path.as_str().into();
        while files.len() > FILES_AT_A_TIME {
            let files = files.split_off(files.len() - FILES_AT_A_TIME);
            tasks.push(Task::Files { parent: SharedDir::clone(dir), path: Arc::clone(&path), files, depth });
        }
        if folder.depth > 0 && tasks.len() > 1 {
            // Others can begin meanwhile.
            self.shared.push(std::mem::take(tasks));
        }
        self.visit_files(dir, &path, &files, depth)
    }
}
