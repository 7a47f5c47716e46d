//! The data folder: the database, the owner's token, and the lock that keeps a second process from using them.

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

use crate::{config::Config, output};

pub(crate) struct DataDir {
    folder: PathBuf,
}

impl DataDir {
    pub(crate) fn open(config: &Config) -> Result<Self> {
        let folder = config.data_dir.clone();
        make_private_folder(&folder).with_context(|| {
            format!("cannot create the data folder {}; name another with --data-dir", folder.display())
        })?;
        restrict(&folder, 0o700)?;
        Ok(Self { folder })
    }

    /// The folder with the user's own provider files.
    pub(crate) fn providers(&self) -> PathBuf {
        self.folder.join("providers")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join("concertino.db")
    }

    /// Opens the database. Checks its write-ahead log first, unless another process has the database open.
    pub(crate) fn store(&self, config: &Config) -> Result<SqliteStore> {
        let finding = self.check_wal()?;
        self.open_store(config, finding)
    }

    /// Opens the database for a process that holds the lock of the folder, so a damaged write-ahead log can be repaired.
    pub(crate) fn store_locked(&self, config: &Config) -> Result<SqliteStore> {
        let finding = self.check_wal_now()?;
        self.open_store(config, finding)
    }

    fn open_store(&self, config: &Config, finding: Option<WalFinding>) -> Result<SqliteStore> {
        let path = self.database();
        let store = SqliteStore::open_with(&path, config.durability).map_err(|error| match error {
            StoreError::Corrupt(what) => anyhow::anyhow!(
                "the database {} is damaged and cannot be opened ({what}). Restore a backup with: concertino restore \
                 <folder> --force",
                path.display()
            ),
            error => anyhow::Error::new(error).context("cannot open the database"),
        })?;
        if let Some(finding) = finding.filter(|finding| finding.certain) {
            store.note_damage("write-ahead log", finding);
        }
        Ok(store)
    }

    /// Checks the write-ahead log, unless another process has the database open.
    pub(crate) fn check_wal(&self) -> Result<Option<WalFinding>> {
        match self.try_lock()? {
            Some(_lock) => self.check_wal_now(),
            None => Ok(None),
        }
    }

    fn check_wal_now(&self) -> Result<Option<WalFinding>> {
        let stamp = SystemClock.now().0.to_string();
        let finding =
            store::check_wal(&self.database(), &stamp).context("cannot read the write-ahead log")?;
        if let Some(finding) = &finding {
            output::note(format_args!("concertino: {finding}"));
        }
        Ok(finding)
    }

    /// The folder with the user's own agents.
    pub(crate) fn agents(&self) -> PathBuf {
        self.folder.join("agents")
    }

    /// Locks the folder for this process, or fails when another process uses it. The lock ends with the process.
    pub(crate) fn lock(&self) -> Result<File> {
        self.try_lock()?.with_context(|| {
            format!(
                "another concertino uses {}. Stop it, or name another folder with --data-dir",
                self.folder.display()
            )
        })
    }

    /// Locks the folder; returns `None` when another process has the lock.
    pub(crate) fn try_lock(&self) -> Result<Option<File>> {
        // The folder itself is locked: a lock file could be deleted, and a second process would lock a new one.
        if let Ok(folder) = File::open(&self.folder) {
            match folder.try_lock() {
                Ok(()) => return Ok(Some(folder)),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => {
                    tracing::debug!(%error, "this system cannot lock a folder; locking a file in it instead");
                }
            }
        }
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).open(self.folder.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).context("cannot lock the data folder"),
        }
    }

    /// Returns the owner's token: from the settings, else from the token file, which is created when it is missing.
    pub(crate) fn token(&self, config: &Config) -> Result<String> {
        if let Some(token) = &config.token {
            check_token(token).with_context(|| {
                format!("the token in {TOKEN_SETTINGS} is not accepted; set another, or remove it to have one created")
            })?;
            return Ok(token.clone());
        }
        let path = self.token_file();
        let mut text = String::new();
        match File::open(&path) {
            Ok(mut file) => {
                file.read_to_string(&mut text)?;
                let token = text.trim();
                check_token(token).with_context(|| {
                    format!(
                        "the token in {} is not accepted; remove the file to have another created",
                        path.display()
                    )
                })?;
                Ok(token.to_owned())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let token = new_token()?;
                self.write_token(&token)?;
                Ok(token)
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Replaces the token file atomically; only its owner can read it.
    pub(crate) fn write_token(&self, token: &str) -> Result<()> {
        let path = self.token_file();
        let new = self.folder.join("token.new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot replace {}", new.display()));
            }
            _ => {}
        }
        write_secret(&new, token)?;
        fs::rename(&new, &path).with_context(|| format!("cannot write {}", path.display()))?;
        sync_folder(&self.folder).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// Describes where the owner's token comes from, for messages.
    pub(crate) fn token_source(&self, config: &Config) -> String {
        match config.token {
            Some(_) => TOKEN_SETTINGS.to_owned(),
            None => self.token_file().display().to_string(),
        }
    }
}

/// Where a token can be set, for messages.
const TOKEN_SETTINGS: &str = "CONCERTINO_TOKEN or concertino.toml";
/// The fewest characters of a token that a person chose.
const MIN_TOKEN_CHARS: usize = 20;
/// How many different characters it must have.
const MIN_DIFFERENT_CHARS: usize = 8;

/// Checks that a token is hard to guess and can be sent in a header.
fn check_token(token: &str) -> Result<()> {
    let mut letters: Vec<char> = token.chars().collect();
    let length = letters.len();
    letters.sort_unstable();
    letters.dedup();
    let is_weak = length < MIN_TOKEN_CHARS || letters.len() < MIN_DIFFERENT_CHARS;
    if is_weak || !token.chars().all(|letter| letter.is_ascii_graphic()) {
        bail!(
            "a token needs at least {MIN_TOKEN_CHARS} characters, {MIN_DIFFERENT_CHARS} of them different, all ASCII and \
             without spaces; `openssl rand -hex 32` makes a good one"
        );
    }
    Ok(())
}

/// Returns a new token of 256 random bits.
pub(crate) fn new_token() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the operating system returned no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the SHA-256 of a token; the database has only that.
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
    Ok(file.sync_all()?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_can_be_guessed_or_not_be_sent_are_refused() {
        for weak in [
            "",
            "x",
            "nineteen-characters",
            "abababababababababababab",
            "a token with spaces in it",
            "ünïcödé-0123456789-abcdef",
        ] {
            assert!(check_token(weak).is_err(), "{weak}");
        }
        for good in ["abcdefghij0123456789", &new_token().unwrap(), "d9b2d63d-a233-4123-847a-717b8a4a1d2c"] {
            assert!(check_token(good).is_ok(), "{good}");
        }
    }
}
