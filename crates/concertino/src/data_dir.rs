//! The data directory: the database, the token, and the lock that keeps a second process out.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use engine::SystemClock;
use protocol::Clock;
use sha2::{Digest, Sha256};
use store::{SqliteStore, StoreError, WalFinding, make_private_folder, sync_folder};

use crate::config::Config;

pub(crate) struct DataDir {
    folder: PathBuf,
}

impl DataDir {
    pub(crate) fn open(config: &Config) -> Result<Self> {
        let folder = config.data_dir.clone();
        make_private_folder(&folder).with_context(|| {
            format!("cannot make the data folder {}; name another with --data-dir", folder.display())
        })?;
        restrict(&folder, 0o700)?;
        Ok(Self { folder })
    }

    /// Where the user's own provider files are.
    pub(crate) fn providers(&self) -> PathBuf {
        self.folder.join("providers")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join("concertino.db")
    }

    /// Opens the database, with the durability that is set. Its write-ahead log is looked at first, unless another
    /// process has the database open.
    pub(crate) fn store(&self, config: &Config) -> Result<SqliteStore> {
        let finding = self.check_log()?;
        self.open_store(config, finding)
    }

    /// The same for whoever holds the lock.
    pub(crate) fn store_locked(&self, config: &Config) -> Result<SqliteStore> {
        let finding = self.check_log_now()?;
        self.open_store(config, finding)
    }

    fn open_store(&self, config: &Config, finding: Option<WalFinding>) -> Result<SqliteStore> {
        let path = self.database();
        let store = SqliteStore::open_with(&path, config.durability).map_err(|error| match error {
            StoreError::Corrupt(what) => anyhow::anyhow!(
                "the database {} is damaged and cannot be opened ({what}). Restore a backup: concertino restore <folder> \
                 --force",
                path.display()
            ),
            error => anyhow::Error::new(error).context("cannot open the database"),
        })?;
        if let Some(finding) = finding.filter(|finding| finding.certain) {
            store.note_damage("write-ahead log", finding);
        }
        Ok(store)
    }

    /// Looks at the write-ahead log when no other process has the database open.
    pub(crate) fn check_log(&self) -> Result<Option<WalFinding>> {
        match self.try_lock()? {
            Some(_lock) => self.check_log_now(),
            None => Ok(None),
        }
    }

    fn check_log_now(&self) -> Result<Option<WalFinding>> {
        let stamp = SystemClock.now().0.to_string();
        let finding =
            store::check_wal(&self.database(), &stamp).context("cannot read the write-ahead log")?;
        if let Some(finding) = &finding {
            eprintln!("concertino: {finding}");
        }
        Ok(finding)
    }

    /// Where the user's own agents are.
    pub(crate) fn agents(&self) -> PathBuf {
        self.folder.join("agents")
    }

    /// One process per folder; the lock goes with the process.
    pub(crate) fn lock(&self) -> Result<File> {
        self.try_lock()?.with_context(|| {
            format!(
                "another concertino uses {}. Stop it, or name another folder with --data-dir",
                self.folder.display()
            )
        })
    }

    /// `None`: another process has it.
    pub(crate) fn try_lock(&self) -> Result<Option<File>> {
        let path = self.folder.join("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).context("cannot lock the data folder"),
        }
    }

    /// The first token, made when there is none; readable by its owner only.
    pub(crate) fn token(&self, config: &Config) -> Result<String> {
        if let Some(token) = &config.token {
            return Ok(token.clone());
        }
        let path = self.folder.join("token");
        let mut text = String::new();
        match File::open(&path) {
            Ok(mut file) => {
                file.read_to_string(&mut text)?;
                let token = text.trim();
                if token.is_empty() {
                    bail!("the token file {} is empty; remove it to get a new token", path.display());
                }
                Ok(token.to_owned())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let token = new_token()?;
                write_secret(&path, &token)?;
                Ok(token)
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }
}

/// 256 random bits.
pub(crate) fn new_token() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(crate) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn write_secret(path: &Path, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path).with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    Ok(sync_folder(path.parent().unwrap_or(Path::new("")))?)
}

#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("cannot protect {}", path.display()))
}

#[cfg(not(unix))]
fn restrict(_path: &Path, _mode: u32) -> Result<()> {
    Ok(())
}
