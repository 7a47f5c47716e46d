//! Checks the write-ahead log before SQLite opens it.
//!
//! SQLite reads the log up to the first WAL frame whose checksum is wrong and ignores the rest, as if a crash had cut it
//! off there. This check tells damage from the cut of a crash, repairs what it can and reports the rest.
//!
//! What a crash can leave: `kill -9` cuts the transaction that was being written, so no commit follows the broken WAL
//! frame. A power loss may also take any part of what was not synced: with durability `power` that is the transaction in
//! progress and the relaxed ones before it, at most [`MAX_UNSYNCED_COMMITS`]. If more commits follow a broken WAL frame, it
//! was whole once, so this is damage. A broken WAL frame that becomes whole when one of its bits is flipped is damage as
//! well; it is repaired if there is only one such bit.

mod file;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::writer::MAX_UNSYNCED_COMMITS;
use file::{Diagnosis, FRAME_HEADER, HEADER, Patch, WalFile};

/// More broken WAL frames than this are not repaired one by one.
const MAX_REPAIRS: usize = 16;

/// What was found in a damaged write-ahead log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalFinding {
    /// WAL frames in the log as it was found. Each holds one page of the database.
    pub frames: u64,
    /// WAL frames that were repaired by flipping one bit.
    pub repaired: u64,
    /// WAL frames with one flipped bit that cannot be identified. They are used as they are, with a new checksum, so that
    /// the frames behind them are not lost.
    pub kept: u64,
    /// WAL frames behind the damage, which are lost.
    pub cut: u64,
    /// Whether this is certainly damage. If not, a power loss may have left it, of writes that had not been synced.
    pub certain: bool,
    /// A copy of the log as it was found.
    pub copy: Option<PathBuf>,
}

impl std::fmt::Display for WalFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { frames, repaired, kept, cut, .. } = self;
        match (self.certain, cut) {
            (_, 0) if *kept > 0 => write!(
                f,
                "the write-ahead log was damaged in {} of {frames} frames; {kept} could not be repaired and are used as \
                 they are: `concertino doctor` names the chats they touch",
                kept + repaired
            )?,
            (_, 0) => write!(
                f,
                "the write-ahead log was damaged in {repaired} of {frames} frames; they were repaired, nothing is lost"
            )?,
            (true, _) => write!(
                f,
                "the write-ahead log is damaged: the last {cut} of {frames} frames are lost, and with them the newest \
                 events of some chats; restore a backup with `concertino restore` if they matter"
            )?,
            (false, _) => write!(
                f,
                "the last {cut} of {frames} frames of the write-ahead log are not whole; after a power loss these are \
                 writes that had not been acknowledged, otherwise they are damaged"
            )?,
        }
        match &self.copy {
            Some(copy) => write!(f, ". The log as it was found: {}", copy.display()),
            None => Ok(()),
        }
    }
}

/// Checks the log of this database, repairs what can be repaired, and keeps a copy of a damaged log. No process may have
/// the database open. `stamp` is part of the name of the copy.
pub fn check_wal(database: &Path, stamp: &str) -> io::Result<Option<WalFinding>> {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    let path = PathBuf::from(path);
    let bytes = match File::open(&path) {
        Ok(mut file) => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            bytes
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(Examined { mut finding, patches }) = examine(bytes) else { return Ok(None) };
    let mut copy = path.clone().into_os_string();
    copy.push(format!(".damaged-{stamp}"));
    let copy = PathBuf::from(copy);
    fs::copy(&path, &copy)?;
    File::open(&copy)?.sync_all()?;
    finding.copy = Some(copy);
    if !patches.is_empty() {
        let mut file = OpenOptions::new().write(true).open(&path)?;
        for patch in patches {
            file.seek(SeekFrom::Start(patch.offset as u64))?;
            file.write_all(&patch.bytes)?;
        }
        file.sync_all()?;
    }
    Ok(Some(finding))
}

/// The copies of damaged logs that were kept beside this database.
pub(super) fn kept_copies(database: &Path) -> Vec<PathBuf> {
    let name = format!("{}-wal.damaged-", database.file_name().unwrap_or_default().to_string_lossy());
    let folder = database.parent().unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = entries
        .filter(|path| path.file_name().is_some_and(|found| found.to_string_lossy().starts_with(&name)))
        .collect();
    found.sort();
    found
}

/// The result of [`examine`].
#[derive(Debug, PartialEq)]
struct Examined {
    finding: WalFinding,
    patches: Vec<Patch>,
}

/// Finds out what is wrong with the bytes of a log, and which bytes to change; `None` when nothing is.
fn examine(bytes: Vec<u8>) -> Option<Examined> {
    if bytes.len() < HEADER + FRAME_HEADER {
        return None;
    }
    let mut patches: Vec<Patch> = Vec::new();
    let (mut repaired, mut kept) = (0, 0);
    let mut log = match WalFile::read(bytes) {
        Ok(log) => log,
        Err(bytes) => match WalFile::read_repaired(bytes) {
            Ok((log, patch)) => {
                patches.push(patch);
                repaired += 1;
                log
            }
            Err(bytes) => return without_header(bytes),
        },
    };
    let frames = log.frames();
    let mut seed = log.header_checksum();
    let mut at = 0;
    // Checksum of the previous WAL frame as it will be, once a frame got a new checksum: checksums are chained, so all
    // frames behind it get new ones, too.
    let mut rewritten = None;
    while at < frames {
        if let Some(next) = log.check(at, seed) {
            if let Some(before) = rewritten {
                let checksum = log.computed_checksum(at, before);
                patches.push(log.with_checksum(at, checksum));
                rewritten = Some(checksum);
            }
            seed = next;
            at += 1;
            continue;
        }
        match log.diagnose(at, seed) {
            Diagnosis::Repaired(patch) if repaired + kept < MAX_REPAIRS => {
                patches.push(patch);
                repaired += 1;
            }
            Diagnosis::OneOfSeveral if repaired + kept < MAX_REPAIRS => {
                let checksum = log.computed_checksum(at, rewritten.unwrap_or(seed));
                patches.push(log.with_checksum(at, checksum));
                rewritten = Some(checksum);
                seed = log.stored_checksum(at);
                kept += 1;
                at += 1;
            }
            _ => break,
        }
    }
    let behind = log.intact_after(at);
    if behind.commits == 0 && patches.is_empty() {
        return None;
    }
    let finding = WalFinding {
        frames: frames as u64,
        repaired: repaired as u64,
        kept: kept as u64,
        cut: if behind.commits == 0 { 0 } else { behind.frames as u64 + 1 },
        certain: !patches.is_empty() || behind.commits > MAX_UNSYNCED_COMMITS + 1,
        copy: None,
    };
    Some(Examined { finding, patches })
}

/// The header cannot be read, so the whole log is lost. Its WAL frames show whether there was one.
fn without_header(bytes: Vec<u8>) -> Option<Examined> {
    let log = WalFile::assumed(bytes)?;
    let behind = log.intact_after(0);
    let finding = WalFinding {
        frames: log.frames() as u64,
        repaired: 0,
        kept: 0,
        cut: behind.frames as u64 + 1,
        certain: true,
        copy: None,
    };
    (behind.commits > 0).then_some(Examined { finding, patches: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// A log of many transactions, as `kill -9` leaves it.
    fn log(transactions: usize) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE a (x);
                 INSERT INTO a VALUES (randomblob(60000)); PRAGMA wal_checkpoint(TRUNCATE);",
            )
            .unwrap();
        for number in 0..transactions {
            let bytes = i64::try_from(100 + 700 * (number % 9)).unwrap();
            connection.execute("INSERT INTO a VALUES (randomblob(?1))", [bytes]).unwrap();
        }
        fs::read(folder.path().join("a.db-wal")).unwrap()
    }

    #[test]
    fn a_whole_log_and_one_cut_anywhere_by_a_crash_are_no_finding() {
        let whole = log(20);
        assert_eq!(examine(whole.clone()), None);
        for cut in (0..whole.len()).step_by(997) {
            assert_eq!(examine(whole[..cut].to_vec()), None, "cut at {cut}");
            // A file that was longer before: what is behind the cut is of an earlier log.
            let mut older = whole[..cut].to_vec();
            let len = older.len();
            older.extend(whole[len..].iter().map(|byte| byte.wrapping_mul(7).wrapping_add(1)));
            assert_eq!(examine(older), None, "torn at {cut}");
        }
    }

    #[test]
    fn one_flipped_bit_anywhere_is_found_and_repaired_where_it_is_known_which() {
        let whole = log(12);
        let frame = FRAME_HEADER + 4096;
        let mut places: Vec<usize> = (0..HEADER * 8).step_by(5).collect();
        places.extend((0..FRAME_HEADER * 8).map(|bit| (HEADER + 3 * frame) * 8 + bit));
        places.extend((0..whole.len() * 8).step_by(9973));
        places.push(whole.len() * 8 - 1);
        let (count, mut repaired) = (places.len(), 0);
        for bit in places {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Examined { finding, patches } =
                examine(damaged.clone()).unwrap_or_else(|| panic!("bit {bit} is not found"));
            assert!(finding.certain, "bit {bit}: {finding:?}");
            assert_eq!((finding.repaired + finding.kept, finding.cut), (1, 0), "bit {bit}: {finding:?}");
            for Patch { offset, bytes } in patches {
                damaged[offset..offset + bytes.len()].copy_from_slice(&bytes);
            }
            assert_eq!(examine(damaged.clone()), None, "bit {bit}: SQLite reads all of it now");
            if finding.repaired == 1 {
                repaired += 1;
                assert!(damaged == whole, "bit {bit}");
            }
        }
        assert!(repaired > count / 2, "{repaired} of {count}");
    }

    #[test]
    fn a_hole_is_damage_when_more_follows_than_a_power_loss_can_leave() {
        let whole = log(MAX_UNSYNCED_COMMITS + 30);
        let frame = FRAME_HEADER + 4096;
        let hole = |at: usize| {
            let mut bytes = whole.clone();
            bytes[HEADER + at * frame + 100..HEADER + at * frame + 900].fill(0xa5);
            examine(bytes)
        };
        let early = hole(2).unwrap().finding;
        assert!(early.certain && early.cut > 100, "{early:?}");
        let late = hole((whole.len() - HEADER) / frame - 6).unwrap().finding;
        assert!(!late.certain && late.cut > 1, "{late:?}");
        assert_eq!(hole((whole.len() - HEADER) / frame - 1), None, "no commit follows");
        let mut headless = whole.clone();
        headless[..HEADER].fill(0);
        assert!(examine(headless).unwrap().finding.certain);
    }
}
