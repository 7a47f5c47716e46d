//! `concertino restore`: copies a backup into the data folder, after checking its files, and verifies the result.

use std::{
    fs,
    path::{Component, Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use clap::Args;
use engine::SystemClock;
use protocol::Clock;

use super::backup::{
    ARTIFACTS, CONTENTS, DATABASE, MANIFEST, Manifest, ProgressReporter, USER_FOLDERS, copy_file,
    digest_file, report, sync_all_folders,
};
use crate::{config::Config, data_dir::DataDir, output};

#[derive(Args)]
pub(crate) struct RestoreArguments {
    /// A folder written by `concertino backup`.
    #[arg(value_name = "FOLDER")]
    source: PathBuf,
    /// Restore into a data folder that has chats; they are moved aside, not deleted.
    #[arg(long)]
    force: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn restore(config: &Config, arguments: RestoreArguments) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    let _lock = data.lock().context("nothing was restored")?;
    let (source, target, force) = (arguments.source.clone(), config.data_dir.clone(), arguments.force);
    let manifest = tokio::task::spawn_blocking(move || restore_folder(&source, &target, force)).await??;
    report(&manifest, &config.data_dir, "The backup was restored to", arguments.json)?;
    Ok(if manifest.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Restores the backup and returns its manifest with the problems found now.
pub(super) fn restore_folder(source: &Path, target: &Path, force: bool) -> Result<Manifest> {
    let mut manifest = read_manifest(source)?;
    let occupied: Vec<_> = restored_names().into_iter().filter(|name| target.join(name).exists()).collect();
    if !occupied.is_empty() && !force {
        bail!(
            "{} already has data ({}). Move it aside with --force, or name another folder with --data-dir",
            target.display(),
            occupied.join(", ")
        );
    }
    // Everything is copied to a folder of its own first: a failure leaves the data folder as it is.
    let staging = target.join(".restore.part");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    store::make_private_folder(&staging)?;
    let mut problems = copy_files(source, &staging, &manifest)?;
    let mut reporter = ProgressReporter::new();
    let verified = store::verify_database(&staging.join(DATABASE), &mut |progress| reporter.report(progress))
        .with_context(|| format!("the database of the backup {} cannot be read", source.display()))?;
    problems.extend(verified.problems);
    let files = store::artifact_files(&staging.join(DATABASE)).unwrap_or_default();
    let missing = files.iter().filter(|file| !staging.join(ARTIFACTS).join(file).is_file());
    problems.extend(missing.map(|file| format!("the file {} is missing", file.display())));
    sync_all_folders(&staging)?;
    if !occupied.is_empty() {
        move_aside(target, &occupied)?;
    }
    for name in restored_names() {
        if staging.join(name).exists() {
            fs::rename(staging.join(name), target.join(name))?;
        }
    }
    fs::remove_dir_all(&staging)?;
    store::sync_folder(target)?;
    manifest.sessions = verified.sessions;
    manifest.problems = problems;
    Ok(manifest)
}

fn read_manifest(source: &Path) -> Result<Manifest> {
    let path = source.join(MANIFEST);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{} is not a backup: cannot read {}", source.display(), path.display()))?;
    let manifest: Manifest = serde_json::from_str(&text)
        .with_context(|| format!("the backup is damaged: {} is not valid", path.display()))?;
    if manifest.version != Manifest::VERSION {
        bail!(
            "the backup has format {}, which this version cannot read; restore it with the version that wrote it ({})",
            manifest.version,
            manifest.program
        );
    }
    Ok(manifest)
}

/// Copies the files of the backup; returns the problems with files that differ from the manifest.
fn copy_files(source: &Path, target: &Path, manifest: &Manifest) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (name, expected) in &manifest.files {
        let relative = backup_path(name)?;
        let copy = target.join(relative);
        copy_file(&source.join(relative), &copy)?;
        if digest_file(&copy)? != *expected {
            problems.push(format!("{name} is not as it was backed up"));
        }
    }
    Ok(problems)
}

/// Moves the present data to a folder `before-restore-…` of the data folder.
fn move_aside(target: &Path, names: &[&str]) -> Result<()> {
    let aside = target.join(format!("before-restore-{}", SystemClock.now().0));
    store::make_private_folder(&aside)?;
    for name in names {
        fs::rename(target.join(name), aside.join(name))?;
    }
    store::sync_folder(&aside)?;
    output::note(format_args!("The previous data was moved to {}.", aside.display()));
    Ok(())
}

/// The files and folders of a data folder that a restore replaces. The token stays as it is.
fn restored_names() -> Vec<&'static str> {
    let mut names = vec![
        DATABASE,
        "concertino.db-wal",
        "concertino.db-shm",
        "concertino.db-journal",
        ARTIFACTS,
        CONTENTS,
    ];
    names.extend(USER_FOLDERS);
    names
}

/// Checks that a name of the manifest is a path below the backup, and one that a backup can have.
fn backup_path(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    let first = path.components().next();
    let is_known = [DATABASE, ARTIFACTS, CONTENTS]
        .into_iter()
        .chain(USER_FOLDERS)
        .any(|known| first == Some(Component::Normal(known.as_ref())));
    if !is_known || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        bail!("the manifest names a file that no backup has: {name:?}");
    }
    Ok(path)
}
