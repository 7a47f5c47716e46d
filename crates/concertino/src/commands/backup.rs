//! `concertino backup`: copies the data folder as of one moment, also while the server runs, and verifies the copy.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Args;
use engine::SystemClock;
use protocol::{Clock, FailureCode, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{BackupProgress, VerifyReport};

use crate::{config::Config, data_dir::DataDir, output};

pub(super) const DATABASE: &str = "concertino.db";
pub(super) const ARTIFACTS: &str = "artifacts";
/// Contents of files before and after changes. The files of workspaces themselves are not part of a backup.
pub(super) const CONTENTS: &str = "contents";
/// Folders with the user's own files. The token is not copied: it is a secret, and a restored folder gets a new one.
pub(super) const USER_FOLDERS: [&str; 2] = ["providers", "agents"];
pub(super) const MANIFEST: &str = "manifest.json";
/// How often the database is copied again because artifacts were deleted while files were copied.
const MAX_ROUNDS: usize = 10;

#[derive(Args)]
pub(crate) struct BackupArguments {
    /// A new or empty folder for the backup.
    #[arg(value_name = "FOLDER")]
    target: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// The content of a backup: each file with its size and SHA-256, and what was damaged.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) version: u32,
    pub(super) program: String,
    pub(super) created_at: Timestamp,
    pub(super) sessions: usize,
    /// What was damaged at the time of the backup.
    pub(super) problems: Vec<String>,
    pub(super) files: BTreeMap<String, FileDigest>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct FileDigest {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Manifest {
    pub(super) const VERSION: u32 = 1;
}

pub(crate) async fn backup(config: &Config, arguments: BackupArguments) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    if !data.database().is_file() {
        bail!(
            "there is no database in {}, so there is nothing to back up; name the data folder with --data-dir",
            config.data_dir.display()
        );
    }
    data.check_wal()?;
    let folder = config.data_dir.clone();
    let target = arguments.target.clone();
    let manifest = tokio::task::spawn_blocking(move || copy_all(&folder, &target)).await??;
    report(&manifest, &arguments.target, "The backup is in", arguments.json)?;
    Ok(if manifest.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the result of a backup or a restore; damage goes to standard error.
pub(super) fn report(manifest: &Manifest, folder: &Path, done: &str, as_json: bool) -> Result<()> {
    let bytes: u64 = manifest.files.values().map(|file| file.bytes).sum();
    if as_json {
        let result = serde_json::json!({
            "folder": folder, "sessions": manifest.sessions, "files": manifest.files.len(), "bytes": bytes,
            "problems": manifest.problems,
        });
        return output::line(result);
    }
    output::line(format_args!(
        "{done} {}. Chats: {}, files: {}, bytes: {bytes}; {}.",
        folder.display(),
        manifest.sessions,
        manifest.files.len(),
        if manifest.problems.is_empty() { "verified" } else { "not everything could be verified" }
    ))?;
    for problem in &manifest.problems {
        output::note(format_args!("damaged: {problem}"));
    }
    if !manifest.problems.is_empty() {
        output::note("Everything else is intact. An older backup may contain what is damaged here.");
    }
    Ok(())
}

/// Copies the data folder to a new or empty folder. Removes what it wrote when it fails.
fn copy_all(source: &Path, target: &Path) -> Result<Manifest> {
    let is_occupied = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error).with_context(|| format!("cannot use {}", target.display())),
    };
    if is_occupied {
        bail!("{} exists and is not empty; name a new folder", target.display());
    }
    let is_new = !target.exists();
    let copied = write_backup(source, target);
    if copied.is_err() {
        // An error here is dropped: the person must see why the backup failed.
        let removed = if is_new { fs::remove_dir_all(target) } else { remove_contents(target) };
        drop(removed);
    }
    copied.map_err(|error| {
        let full = error.chain().any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::StorageFull)
                || cause.to_string().contains("disk is full")
        });
        if full {
            error.context(format!("the disk is full; the backup does not fit into {}", target.display()))
        } else {
            error
        }
    })
}

fn remove_contents(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(())
}

fn write_backup(source: &Path, target: &Path) -> Result<Manifest> {
    store::make_private_folder(target).with_context(|| format!("cannot create {}", target.display()))?;
    let VerifyReport { sessions, mut problems } = copy_database_and_artifacts(source, target)?;
    copy_contents(source, target)?;
    problems.extend(copy_user_folders(source, target)?);
    let mut files = BTreeMap::new();
    for path in files_below(target)? {
        let name = path.strip_prefix(target).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        files.insert(name, digest_file(&path)?);
    }
    let program = env!("CARGO_PKG_VERSION").to_owned();
    let created_at = SystemClock.now();
    let manifest = Manifest { version: Manifest::VERSION, program, created_at, sessions, problems, files };
    let path = target.join(MANIFEST);
    let mut file = create(&path)?;
    serde_json::to_writer_pretty(&mut file, &manifest)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    sync_all_folders(target)?;
    Ok(manifest)
}

/// Copies the database and the artifacts that the copy refers to. When an artifact was deleted meanwhile, copies the
/// database again, so that the copy does not refer to it.
fn copy_database_and_artifacts(source: &Path, target: &Path) -> Result<VerifyReport> {
    let mut reporter = ProgressReporter::new();
    let copy = target.join(DATABASE);
    let mut rounds = 0;
    loop {
        rounds += 1;
        if copy.exists() {
            fs::remove_file(&copy)?;
        }
        let mut verified =
            store::copy_database(&source.join(DATABASE), &copy, &mut |progress| reporter.report(progress))
                .context("cannot copy the database")?;
        let artifacts = store::artifact_files(&copy).unwrap_or_default();
        let missing = copy_artifacts(source, target, &artifacts, &mut reporter)?;
        // An artifact that the live database does not have either belonged to a chat that was deleted since.
        let live = if missing.is_empty() {
            Vec::new()
        } else {
            store::artifact_files(&source.join(DATABASE)).unwrap_or_default()
        };
        let was_deleted = missing.iter().any(|file| !live.contains(file));
        if was_deleted && rounds < MAX_ROUNDS {
            continue;
        }
        remove_unknown_artifacts(target, &artifacts)?;
        let missing = missing.iter().map(|file| format!("the file {} is missing", file.display()));
        verified.problems.extend(missing);
        return Ok(verified);
    }
}

/// Copies artifacts that the backup does not have yet; returns those that do not exist.
fn copy_artifacts(
    source: &Path,
    target: &Path,
    artifacts: &[PathBuf],
    reporter: &mut ProgressReporter,
) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    for (done, file) in artifacts.iter().enumerate() {
        reporter.report(BackupProgress::Files { done: done as u64, total: artifacts.len() as u64 });
        let to = target.join(ARTIFACTS).join(file);
        if to.is_file() {
            continue;
        }
        match copy_file(&source.join(ARTIFACTS).join(file), &to) {
            Err(error) if is_missing(&error) => missing.push(file.clone()),
            copied => copied?,
        }
    }
    Ok(missing)
}

/// Removes artifacts of an earlier round that the last copy of the database does not refer to.
fn remove_unknown_artifacts(target: &Path, artifacts: &[PathBuf]) -> Result<()> {
    let known: Vec<_> = artifacts.iter().map(|file| target.join(ARTIFACTS).join(file)).collect();
    for file in files_below(&target.join(ARTIFACTS))? {
        if !known.contains(&file) {
            fs::remove_file(&file)?;
        }
    }
    Ok(())
}

/// Copies the contents that the change sets of the copied database refer to. One that does not exist was removed because the
/// limit was reached, or with its chat.
fn copy_contents(source: &Path, target: &Path) -> Result<()> {
    let mut reporter = ProgressReporter::new();
    // The verification has reported what cannot be read.
    let contents = store::contents_in_database(&target.join(DATABASE)).unwrap_or_default();
    let mut kept = HashMap::new();
    for (done, (workspace, content)) in contents.iter().enumerate() {
        reporter.report(BackupProgress::Files { done: done as u64, total: contents.len() as u64 });
        let Some(file) = engine::content_file(workspace, content) else { continue };
        // A workspace without a folder has no contents.
        let kept = kept.entry(workspace).or_insert_with(|| engine::contents_to_read(source, workspace).ok());
        let Some(kept) = kept else { continue };
        match kept.get(content) {
            Ok(bytes) => write_copy(&mut bytes.as_slice(), &target.join(&file))?,
            Err(error) if error.code == FailureCode::NotFound => {}
            Err(error) => output::note(format_args!("A kept content is left out: {error}")),
        }
    }
    Ok(())
}

/// Copies the user's own files; returns the problems with those that could not be copied.
fn copy_user_folders(source: &Path, target: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for folder in USER_FOLDERS {
        for file in files_below(&source.join(folder))? {
            let name = file.strip_prefix(source).unwrap_or(&file).to_owned();
            if let Err(error) = copy_file(&file, &target.join(&name)) {
                problems.push(format!("{}: {error:#}", name.display()));
            }
        }
    }
    Ok(problems)
}

/// Returns all files below a folder, sorted. Symbolic links are not followed.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Syncs a folder and all folders below it to disk.
pub(super) fn sync_all_folders(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_all_folders(&entry.path())?;
        }
    }
    Ok(store::sync_folder(folder)?)
}

/// Copies one file and syncs the copy to disk. Only its owner can read the copy.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    write_copy(&mut source, to)
}

fn write_copy(source: &mut impl Read, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        store::make_private_folder(folder)?;
    }
    let mut target = create(to)?;
    io::copy(source, &mut target).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(target.sync_all()?)
}

fn create(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| format!("cannot write {}", path.display()))
}

fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
        || error
            .root_cause()
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

pub(super) fn digest_file(path: &Path) -> Result<FileDigest> {
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut buffer).with_context(|| format!("cannot read {}", path.display()))?;
        if read == 0 {
            let sha256 = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            return Ok(FileDigest { bytes, sha256 });
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
}

/// Prints the progress to standard error, once a second and only when an operation takes longer than that.
pub(super) struct ProgressReporter {
    next: Instant,
}

impl ProgressReporter {
    pub(super) fn new() -> Self {
        Self { next: Instant::now() + Duration::from_secs(1) }
    }

    pub(super) fn report(&mut self, progress: BackupProgress) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + Duration::from_secs(1);
        match progress {
            BackupProgress::Copying { done, total: all } => {
                output::note(format_args!("copying the database: {done} of {all} pages"));
            }
            BackupProgress::Files { done, total: all } => {
                output::note(format_args!("copying files: {done} of {all}"))
            }
            BackupProgress::Verifying { done, total: all } => {
                output::note(format_args!("verifying: {done} of {all} chats"))
            }
        }
    }
}

#[cfg(test)]
#[path = "backup_tests.rs"]
mod tests;
