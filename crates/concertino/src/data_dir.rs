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

    /// Opens the database for a process that holds the lock of the folder: a damaged write-ahead log may be mended.
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
        // The folder itself: a file in it could be deleted and made anew, and a second process would lock the new one.
        if let Ok(folder) = File::open(&self.folder) {
            match folder.try_lock() {
                Ok(()) => return Ok(Some(folder)),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => {
                    tracing::debug!(%error, "this system cannot lock a folder; a file in it is locked");
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

    /// The owner's token: the one of the settings, or of the file, which is made when there is none.
    pub(crate) fn token(&self, config: &Config) -> Result<String> {
        if let Some(token) = &config.token {
            check(token).with_context(|| {
                format!("the token of {SET} cannot be used; set another, or none to have one made")
            })?;
            return Ok(token.clone());
        }
        let path = self.token_file();
        let mut text = String::new();
        match File::open(&path) {
            Ok(mut file) => {
                file.read_to_string(&mut text)?;
                let token = text.trim();
                check(token).with_context(|| {
                    format!(
                        "the token in {} cannot be used; remove the file to have another made",
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

    /// Readable by its owner only, and replaced whole: nobody reads half a token.
    pub(crate) fn write_token(&self, token: &str) -> Result<()> {
        let path = self.token_file();
        let beside = self.folder.join("token.new");
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot replace {}", beside.display()));
            }
            _ => {}
        }
        write_secret(&beside, token)?;
        fs::rename(&beside, &path).with_context(|| format!("cannot write {}", path.display()))?;
        sync_folder(&self.folder).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// Where the owner's token comes from, for a person.
    pub(crate) fn token_source(&self, config: &Config) -> String {
        match config.token {
            Some(_) => SET.to_owned(),
            None => self.token_file().display().to_string(),
        }
    }
}

/// Where a token can be set from outside.
const SET: &str = "CONCERTINO_TOKEN or concertino.toml";
/// A token that a person chose must be at least this long, in characters.
const SHORTEST: usize = 20;
/// So many of its characters must differ.
const FEWEST: usize = 8;

/// Whether a token is hard to guess and fits into a header.
fn check(token: &str) -> Result<()> {
    let mut letters: Vec<char> = token.chars().collect();
    let length = letters.len();
    letters.sort_unstable();
    letters.dedup();
    if length < SHORTEST || letters.len() < FEWEST || !token.chars().all(|letter| letter.is_ascii_graphic()) {
        bail!(
            "it must have at least {SHORTEST} characters, {FEWEST} of them different, all of them ASCII and no \
             spaces; `openssl rand -hex 32` makes a good one"
        );
    }
    Ok(())
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
    fn tokens_that_can_be_guessed_or_sent_by_nobody_are_refused() {
        for weak in [
            "",
            "x",
            "nineteen-characters",
            "abababababababababababab",
            "a token with spaces in it",
            "ünïcödé-0123456789-abcdef",
        ] {
            assert!(check(weak).is_err(), "{weak}");
        }
        for good in ["abcdefghij0123456789", &new_token().unwrap(), "d9b2d63d-a233-4123-847a-717b8a4a1d2c"] {
            assert!(check(good).is_ok(), "{good}");
        }
    }
}
