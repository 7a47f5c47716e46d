//! `concertino restore`: a backup becomes the data folder, after its files were checked, and is verified there.

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
    ARTIFACTS, DATABASE, MANIFEST, Manifest, OWN, Teller, copy_file, mark, report, sync_all_folders,
};
use crate::{config::Config, data_dir::DataDir};

#[derive(Args)]
pub(crate) struct RestoreArguments {
    /// A folder that `concertino backup` made.
    #[arg(value_name = "FOLDER")]
    source: PathBuf,
    /// Also into a data folder that has chats: they are moved aside first, not deleted.
    #[arg(long)]
    force: bool,
    /// For programs: what was done and what is damaged.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn restore(config: &Config, arguments: RestoreArguments) -> Result<ExitCode> {
    let data = DataDir::open(config)?;
    let _lock = data.lock().context("nothing was restored")?;
    let (source, target, force) = (arguments.source.clone(), config.data_dir.clone(), arguments.force);
    let manifest = tokio::task::spawn_blocking(move || put_back(&source, &target, force)).await??;
    report(&manifest, &config.data_dir, "The backup was restored to", arguments.json)?;
    Ok(if manifest.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn put_back(source: &Path, target: &Path, force: bool) -> Result<Manifest> {
    let path = source.join(MANIFEST);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{} is no backup: {} cannot be read", source.display(), path.display()))?;
    let mut manifest: Manifest =
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
    if manifest.version != Manifest::VERSION {
        bail!(
            "the backup is of a newer kind ({}); restore it with the program that made it",
            manifest.version
        );
    }
    let there: Vec<_> = moved().into_iter().filter(|name| target.join(name).exists()).collect();
    if !there.is_empty() && !force {
        bail!(
            "{} has chats already ({}). With --force they are moved aside; or name another folder with --data-dir",
            target.display(),
            there.join(", ")
        );
    }
    // All of it beside its place first: a failure leaves the data folder as it is.
    let beside = target.join(".restore.part");
    if beside.exists() {
        fs::remove_dir_all(&beside)?;
    }
    store::make_private_folder(&beside)?;
    let mut problems = Vec::new();
    for (name, wanted) in &manifest.files {
        let relative = plain(name)?;
        let copy = beside.join(relative);
        copy_file(&source.join(relative), &copy)?;
        if mark(&copy)? != *wanted {
            problems.push(format!("{name} is not as it was backed up"));
        }
    }
    let mut said = Teller::new();
    let verified = store::verify_database(&beside.join(DATABASE), &mut |progress| said.tell(progress))
        .with_context(|| format!("the database of the backup {} cannot be read", source.display()))?;
    problems.extend(verified.problems);
    let files = store::artifact_files(&beside.join(DATABASE)).unwrap_or_default();
    let missing = files.iter().filter(|file| !beside.join(ARTIFACTS).join(file).is_file());
    problems.extend(missing.map(|file| format!("the file {} is missing", file.display())));
    sync_all_folders(&beside)?;
    if !there.is_empty() {
        let aside = target.join(format!("before-restore-{}", SystemClock.now().0));
        store::make_private_folder(&aside)?;
        for name in there {
            fs::rename(target.join(name), aside.join(name))?;
        }
        store::sync_folder(&aside)?;
        eprintln!("What was there before is in {}.", aside.display());
    }
    for name in moved() {
        if beside.join(name).exists() {
            fs::rename(beside.join(name), target.join(name))?;
        }
    }
    fs::remove_dir_all(&beside)?;
    store::sync_folder(target)?;
    manifest.sessions = verified.sessions;
    manifest.problems = problems;
    Ok(manifest)
}

/// What belongs to the chats in a data folder. The token stays as it is.
fn moved() -> Vec<&'static str> {
    let mut names =
        vec![DATABASE, "concertino.db-wal", "concertino.db-shm", "concertino.db-journal", ARTIFACTS];
    names.extend(OWN);
    names
}

/// A name in the manifest leads to nowhere but below the backup.
fn plain(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    let first = path.components().next();
    let known = [DATABASE, ARTIFACTS]
        .into_iter()
        .chain(OWN)
        .any(|known| first == Some(Component::Normal(known.as_ref())));
    if !known || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        bail!("the manifest names a file that no backup has: {name:?}");
    }
    Ok(path)
}
