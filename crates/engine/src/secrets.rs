//! Secrets that people gave to agents: each is a file, encrypted with a key that is a file beside them. Logs, messages and
//! models only have references to them (`secret://<id>`).
//!
//! Both files are readable by their owner only. Encryption keeps the values out of backups, searches and crash dumps of
//! the folder that leave the key behind; whoever can read the key can read the secrets.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use protocol::user_input::SECRET_PREFIX;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest, Sha256};
use store::{make_private_folder, sync_folder};

use crate::session_name::SessionName;

const KEY_BYTES: usize = 32;
/// The file with the key.
const KEY_FILE: &str = "key";

/// Why a secret could not be stored or read. The texts never contain the secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("this server has no data folder")]
    NoFolder,
    #[error("there is no such secret")]
    Unknown,
    #[error("its file or the key is damaged")]
    Damaged,
    #[error("the system has no random numbers")]
    NoRandom,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The secrets of all chats.
pub(crate) struct SecretVault {
    folder: Option<PathBuf>,
    /// Held while the key is made, so that it is made once.
    making_key: Mutex<()>,
}

impl SecretVault {
    /// `data_dir` is the server's own folder.
    pub(crate) fn new(data_dir: Option<&Path>) -> Self {
        Self { folder: data_dir.map(|folder| folder.join("secrets")), making_key: Mutex::new(()) }
    }

    /// Stores a secret of a chat; returns the reference to it. When this returns, it survives a crash.
    pub(crate) fn put(&self, chat: &SessionName, id: &str, secret: &str) -> Result<String, SecretError> {
        let root = self.folder.as_deref().ok_or(SecretError::NoFolder)?;
        make_private_folder(root)?;
        let key = self.key(root)?;
        let mut nonce = [0_u8; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| SecretError::NoRandom)?;
        let mut sealed = secret.as_bytes().to_vec();
        let aad = Aad::from(context(chat, id));
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            .map_err(|_| SecretError::Damaged)?;
        let folder = root.join(folder_name(chat));
        make_private_folder(&folder)?;
        write(&folder, id, &[&nonce, sealed.as_slice()])?;
        Ok(format!("{SECRET_PREFIX}{id}"))
    }

    /// The secret of a chat that a reference stands for.
    pub(crate) fn get(&self, chat: &SessionName, reference: &str) -> Result<String, SecretError> {
        let root = self.folder.as_deref().ok_or(SecretError::NoFolder)?;
        let id = reference.strip_prefix(SECRET_PREFIX).filter(|id| is_id(id)).ok_or(SecretError::Unknown)?;
        let mut sealed = match fs::read(root.join(folder_name(chat)).join(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SecretError::Unknown),
            read => read?,
        };
        let key = self.key(root)?;
        let (nonce, sealed) = sealed.split_at_mut_checked(NONCE_LEN).ok_or(SecretError::Damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SecretError::Damaged)?;
        let opened = key.open_in_place(nonce, Aad::from(context(chat, id)), sealed);
        let opened = opened.map_err(|_| SecretError::Damaged)?;
        String::from_utf8(opened.to_vec()).map_err(|_| SecretError::Damaged)
    }

    /// Removes the secrets of a chat.
    pub(crate) fn forget(&self, chat: &SessionName) -> io::Result<()> {
        let Some(root) = &self.folder else { return Ok(()) };
        match fs::remove_dir_all(root.join(folder_name(chat))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Reads the key, or makes it.
    fn key(&self, root: &Path) -> Result<LessSafeKey, SecretError> {
        let _one = self.making_key.lock();
        let mut key = [0_u8; KEY_BYTES];
        match File::open(root.join(KEY_FILE)) {
            Ok(mut file) => file.read_exact(&mut key).map_err(|_| SecretError::Damaged)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                getrandom::fill(&mut key).map_err(|_| SecretError::NoRandom)?;
                write(root, KEY_FILE, &[&key])?;
            }
            Err(error) => return Err(error.into()),
        }
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| SecretError::Damaged)?;
        Ok(LessSafeKey::new(key))
    }
}

/// Writes a file that only its owner can read; it is complete or does not exist.
fn write(folder: &Path, name: &str, pieces: &[&[u8]]) -> io::Result<()> {
    let partial = folder.join(format!("{name}.part"));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&partial)?;
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.sync_all()?;
    fs::rename(&partial, folder.join(name))?;
    sync_folder(folder)
}

/// What a secret belongs to. A file that was moved to another chat cannot be opened there.
fn context(chat: &SessionName, id: &str) -> Vec<u8> {
    [chat.workspace.as_str(), chat.session.as_str(), id].join("\0").into_bytes()
}

/// People choose the ids of chats, so the folder is named after their hash.
fn folder_name(chat: &SessionName) -> String {
    let hash = Sha256::digest(context(chat, ""));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use protocol::{SessionId, WorkspaceId};

    use super::*;

    fn chat(id: &str) -> SessionName {
        SessionName { workspace: WorkspaceId::new("w"), session: SessionId::new(id) }
    }

    #[test]
    fn a_secret_is_read_by_its_own_chat_only_and_forgotten_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let vault = SecretVault::new(Some(folder.path()));
        let reference = vault.put(&chat("a"), "id1", "hunter2").unwrap();
        assert_eq!(reference, "secret://id1");
        let again = SecretVault::new(Some(folder.path()));
        assert_eq!(again.get(&chat("a"), &reference).unwrap(), "hunter2", "also after a restart");
        assert!(matches!(vault.get(&chat("b"), &reference), Err(SecretError::Unknown)));
        assert!(matches!(vault.get(&chat("a"), "secret://../key"), Err(SecretError::Unknown)));
        vault.forget(&chat("a")).unwrap();
        assert!(matches!(vault.get(&chat("a"), &reference), Err(SecretError::Unknown)));
        vault.forget(&chat("a")).unwrap();
    }

    #[test]
    fn the_files_are_private_and_do_not_contain_the_secret() {
        let folder = tempfile::tempdir().unwrap();
        let vault = SecretVault::new(Some(folder.path()));
        vault.put(&chat("a"), "id1", "hunter2").unwrap();
        let root = folder.path().join("secrets");
        let secret = root.join(folder_name(&chat("a"))).join("id1");
        for file in [root.join(KEY_FILE), secret.clone()] {
            let bytes = fs::read(&file).unwrap();
            assert!(!bytes.windows(7).any(|bytes| bytes == b"hunter2"));
            #[cfg(unix)]
            assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&file).unwrap()) & 0o777, 0o600);
        }
        // A copy in the folder of another chat is no secret of that chat.
        let other = root.join(folder_name(&chat("b")));
        fs::create_dir(&other).unwrap();
        fs::copy(&secret, other.join("id1")).unwrap();
        assert!(matches!(vault.get(&chat("b"), "secret://id1"), Err(SecretError::Damaged)));
        fs::write(&secret, b"short").unwrap();
        assert!(matches!(vault.get(&chat("a"), "secret://id1"), Err(SecretError::Damaged)));
    }

    #[test]
    fn without_a_folder_nothing_is_stored() {
        assert!(matches!(SecretVault::new(None).put(&chat("a"), "i", "s"), Err(SecretError::NoFolder)));
    }
}
