//! `concertino backup`: the data folder as it is at one moment, copied while the server runs, and verified.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Args;
use engine::SystemClock;
use protocol::{Clock, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{BackupProgress, VerifyReport};

use crate::{config::Config, data_dir::DataDir};

pub(super) const DATABASE: &str = "concertino.db";
pub(super) const ARTIFACTS: &str = "artifacts";
/// What a person wrote; the token is not among it: it is a secret, and a restored folder gets one of its own.
pub(super) const OWN: [&str; 2] = ["providers", "agents"];
pub(super) const MANIFEST: &str = "manifest.json";
/// Files that were made and deleted while others were copied make another copy of the database necessary.
const ROUNDS: usize = 10;

#[derive(Args)]
pub(crate) struct BackupArguments {
    /// A folder that is not there yet, or is empty.
    #[arg(value_name = "FOLDER")]
    target: PathBuf,
    /// For programs: what was done and what is damaged.
    #[arg(long)]
    json: bool,
}

/// What a backup holds; each file with its size and its SHA-256.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) version: u32,
    pub(super) program: String,
    pub(super) created_at: Timestamp,
    pub(super) sessions: usize,
    /// What was damaged when the backup was made.
    pub(super) problems: Vec<String>,
    pub(super) files: BTreeMap<String, FileMark>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct FileMark {
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
            "there is nothing to back up in {}; name the data folder with --data-dir",
            config.data_dir.display()
        );
    }
    data.check_log()?;
    let folder = config.data_dir.clone();
    let target = arguments.target.clone();
    let manifest = tokio::task::spawn_blocking(move || copy_all(&folder, &target)).await??;
    report(&manifest, &arguments.target, "The backup is in", arguments.json)?;
    Ok(if manifest.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says what was done; what is damaged goes to standard error.
pub(super) fn report(manifest: &Manifest, place: &Path, done: &str, as_json: bool) -> Result<()> {
    let bytes: u64 = manifest.files.values().map(|file| file.bytes).sum();
    if as_json {
        let said = serde_json::json!({
            "folder": place, "sessions": manifest.sessions, "files": manifest.files.len(), "bytes": bytes,
            "problems": manifest.problems,
        });
        println!("{said}");
        return Ok(());
    }
    println!(
        "{done} {}. Chats: {}, files: {}, bytes: {bytes}; {}.",
        place.display(),
        manifest.sessions,
        manifest.files.len(),
        if manifest.problems.is_empty() { "verified" } else { "not everything could be verified" }
    );
    for problem in &manifest.problems {
        eprintln!("damaged: {problem}");
    }
    if !manifest.problems.is_empty() {
        eprintln!("Everything else is whole. An older backup may have what is damaged here.");
    }
    Ok(())
}

fn copy_all(source: &Path, target: &Path) -> Result<Manifest> {
    let taken = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error).with_context(|| format!("cannot use {}", target.display())),
    };
    if taken {
        bail!("{} is there already and is not empty; name a new folder", target.display());
    }
    let made = !target.exists();
    let copied = fill(source, target);
    if copied.is_err() {
        // What is left of it is of no use; the failure is what matters.
        let removed = if made { fs::remove_dir_all(target) } else { empty(target) };
        drop(removed);
    }
    copied.map_err(|error| {
        let full = error.chain().any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::StorageFull)
                || cause.to_string().contains("disk is full")
        });
        if full {
            error.context(format!("there is no room for the backup at {}", target.display()))
        } else {
            error
        }
    })
}

fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(())
}

fn fill(source: &Path, target: &Path) -> Result<Manifest> {
    store::make_private_folder(target).with_context(|| format!("cannot make {}", target.display()))?;
    let mut said = Teller::new();
    let mut rounds = 0;
    let VerifyReport { sessions, mut problems } = loop {
        rounds += 1;
        let copy = target.join(DATABASE);
        if copy.exists() {
            fs::remove_file(&copy)?;
        }
        let verified =
            store::copy_database(&source.join(DATABASE), &copy, &mut |progress| said.tell(progress))
                .context("the database cannot be copied")?;
        let files = store::artifact_files(&copy).unwrap_or_default();
        let mut missing = Vec::new();
        for (done, file) in files.iter().enumerate() {
            said.tell(BackupProgress::Files { done: done as u64, total: files.len() as u64 });
            let to = target.join(ARTIFACTS).join(file);
            if to.is_file() {
                continue;
            }
            match copy_file(&source.join(ARTIFACTS).join(file), &to) {
                Err(error) if is_missing(&error) => missing.push(file.clone()),
                copied => copied?,
            }
        }
        // A file that is gone belonged to a chat that was deleted since: a newer copy does not refer to it.
        let live = if missing.is_empty() {
            Vec::new()
        } else {
            store::artifact_files(&source.join(DATABASE)).unwrap_or_default()
        };
        let deleted = missing.iter().any(|file| !live.contains(file));
        if deleted && rounds < ROUNDS {
            continue;
        }
        let known: Vec<_> = files.iter().map(|file| target.join(ARTIFACTS).join(file)).collect();
        for file in files_below(&target.join(ARTIFACTS))? {
            if !known.contains(&file) {
                fs::remove_file(&file)?;
            }
        }
        let mut verified = verified;
        verified
            .problems
            .extend(missing.iter().map(|file| format!("the file {} is missing", file.display())));
        break verified;
    };
    for own in OWN {
        for file in files_below(&source.join(own))? {
            let name = file.strip_prefix(source).unwrap_or(&file).to_owned();
            if let Err(error) = copy_file(&file, &target.join(&name)) {
                problems.push(format!("{}: {error:#}", name.display()));
            }
        }
    }
    let mut files = BTreeMap::new();
    for path in files_below(target)? {
        let name = path.strip_prefix(target).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        files.insert(name, mark(&path)?);
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

/// Everything below a folder that is a file; links are not followed.
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

pub(super) fn sync_all_folders(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_all_folders(&entry.path())?;
        }
    }
    Ok(store::sync_folder(folder)?)
}

/// Copies one file; the copy is its owner's alone and is on the disk.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    if let Some(folder) = to.parent() {
        store::make_private_folder(folder)?;
    }
    let mut target = create(to)?;
    io::copy(&mut source, &mut target).with_context(|| format!("cannot write {}", to.display()))?;
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

pub(super) fn mark(path: &Path) -> Result<FileMark> {
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut buffer).with_context(|| format!("cannot read {}", path.display()))?;
        if read == 0 {
            let sha256 = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            return Ok(FileMark { bytes, sha256 });
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
}

/// Says how far it is, on standard error, once it takes longer than a moment.
pub(super) struct Teller {
    next: Instant,
}

impl Teller {
    pub(super) fn new() -> Self {
        Self { next: Instant::now() + Duration::from_secs(1) }
    }

    pub(super) fn tell(&mut self, progress: BackupProgress) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + Duration::from_secs(1);
        match progress {
            BackupProgress::Copying { done, total } => {
                eprintln!("copying the database: {done} of {total} pages")
            }
            BackupProgress::Files { done, total } => eprintln!("copying files: {done} of {total}"),
            BackupProgress::Verifying { done, total } => eprintln!("verifying: {done} of {total} chats"),
        }
    }
}
