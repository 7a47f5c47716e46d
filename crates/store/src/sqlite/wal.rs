//! A look at the write-ahead log before SQLite opens it. SQLite reads it up to the first frame whose checksum is wrong and
//! takes everything behind for the torn end of a crash. This tells damage apart from a torn end, and says so.
//!
//! What a crash can leave: `kill -9` cuts the transaction that was being written, so no commit follows the broken frame. A
//! power loss may also lose any part of what was not synced: with durability `power` that is the transaction in flight and
//! the relaxed ones before it, at most [`UNSYNCED`]. Where more commits follow a broken frame, it was whole once: damage. A
//! broken frame that becomes whole when one bit of it is turned over is damage as well, wherever it is; when only one bit
//! can be meant, it is repaired.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::writer::UNSYNCED;

const HEADER: usize = 32;
const FRAME: usize = 24;
const VERSION: u32 = 3_007_000;
/// More broken frames than this are not repaired one by one.
const REPAIRS: usize = 16;

/// What was found in a write-ahead log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalFinding {
    /// Of 4 kB each, in the log before.
    pub frames: u64,
    /// Frames that became whole again by turning over one bit.
    pub repaired: u64,
    /// Frames with one flipped bit of which it is not known which one it is: they are used as they are, with another
    /// checksum, so that the frames behind them are not lost.
    pub kept: u64,
    /// Frames behind the damage, which cannot be used any more.
    pub cut: u64,
    /// Whether this is damage for certain. If not, it can also be what a power loss leaves of writes that had not been
    /// synced.
    pub certain: bool,
    /// The log as it was found.
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

/// Looks at the log of this database, repairs what can be repaired, and keeps a copy of a damaged log. No process may
/// have the database open. `stamp` goes into the name of the copy.
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
    let Some((mut finding, patches)) = examine(bytes) else { return Ok(None) };
    let mut copy = path.clone().into_os_string();
    copy.push(format!(".damaged-{stamp}"));
    let copy = PathBuf::from(copy);
    fs::copy(&path, &copy)?;
    File::open(&copy)?.sync_all()?;
    finding.copy = Some(copy);
    if !patches.is_empty() {
        let mut file = OpenOptions::new().write(true).open(&path)?;
        for (place, bytes) in patches {
            file.seek(SeekFrom::Start(place as u64))?;
            file.write_all(&bytes)?;
        }
        file.sync_all()?;
    }
    Ok(Some(finding))
}

/// The damaged logs that were kept beside this database.
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

type Sum = (u32, u32);
/// Bytes to write, and where.
type Patch = (usize, Vec<u8>);

/// What is wrong with a frame.
enum Diagnosis {
    /// Its one flipped bit was turned over: the place in the file, and the byte.
    Repaired(usize, u8),
    /// One bit of it was flipped, but several would explain it.
    OneOfSeveral,
    /// It was never whole, or more than one bit is wrong.
    Torn,
}

/// The log in memory.
struct Log {
    bytes: Vec<u8>,
    page: usize,
    big_endian: bool,
    salts: [u8; 8],
}

/// What is wrong with these bytes, and the bytes that repair it.
fn examine(bytes: Vec<u8>) -> Option<(WalFinding, Vec<Patch>)> {
    if bytes.len() < HEADER + FRAME {
        return None;
    }
    let mut patches: Vec<Patch> = Vec::new();
    let (mut repaired, mut kept) = (0, 0);
    let mut log = match Log::read(bytes) {
        Ok(log) => log,
        Err(bytes) => match Log::repaired(bytes) {
            Ok((log, patch)) => {
                patches.push((patch.0, vec![patch.1]));
                repaired += 1;
                log
            }
            Err(bytes) => return headless(bytes).map(|finding| (finding, Vec::new())),
        },
    };
    let frames = log.frames();
    let mut seed = log.header_sum();
    let mut at = 0;
    // The sum to go on with where a frame got another checksum: all frames behind it get another one, too.
    let mut sealed = None;
    while at < frames {
        if let Some(next) = log.check(at, seed) {
            if let Some(before) = sealed {
                let sum = log.computed(at, before);
                patches.push(log.seal(at, sum));
                sealed = Some(sum);
            }
            seed = next;
            at += 1;
            continue;
        }
        match log.diagnose(at, seed) {
            Diagnosis::Repaired(place, byte) if repaired + kept < REPAIRS => {
                patches.push((place, vec![byte]));
                repaired += 1;
            }
            Diagnosis::OneOfSeveral if repaired + kept < REPAIRS => {
                let sum = log.computed(at, sealed.unwrap_or(seed));
                patches.push(log.seal(at, sum));
                sealed = Some(sum);
                seed = log.stored_sum(at);
                kept += 1;
                at += 1;
            }
            _ => break,
        }
    }
    let (behind, commits) = if at < frames { log.chained_after(at) } else { (0, 0) };
    if commits == 0 && patches.is_empty() {
        return None;
    }
    let finding = WalFinding {
        frames: frames as u64,
        repaired: repaired as u64,
        kept: kept as u64,
        cut: if commits == 0 { 0 } else { behind as u64 + 1 },
        certain: !patches.is_empty() || commits > UNSYNCED + 1,
        copy: None,
    };
    Some((finding, patches))
}

impl Log {
    /// Gives the bytes back when the header is not whole.
    fn read(bytes: Vec<u8>) -> Result<Self, Vec<u8>> {
        let magic = number(&bytes, 0);
        let page = number(&bytes, 8) as usize;
        let known = magic & !1 == 0x377f_0682
            && number(&bytes, 4) == VERSION
            && page.is_power_of_two()
            && (512..=65536).contains(&page);
        let big_endian = magic & 1 == 1;
        if !known || sum(big_endian, (0, 0), &bytes[..24]) != (number(&bytes, 24), number(&bytes, 28)) {
            return Err(bytes);
        }
        let mut salts = [0; 8];
        salts.copy_from_slice(&bytes[16..24]);
        Ok(Self { bytes, page, big_endian, salts })
    }

    /// The same with one bit of the header turned over.
    fn repaired(mut bytes: Vec<u8>) -> Result<(Self, (usize, u8)), Vec<u8>> {
        for bit in 0..HEADER * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            match Self::read(bytes) {
                Ok(log) if log.check(0, log.header_sum()).is_some() => {
                    let patch = (bit / 8, log.bytes[bit / 8]);
                    return Ok((log, patch));
                }
                Ok(log) => bytes = log.bytes,
                Err(back) => bytes = back,
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Err(bytes)
    }

    fn header_sum(&self) -> Sum {
        (number(&self.bytes, 24), number(&self.bytes, 28))
    }

    fn frames(&self) -> usize {
        (self.bytes.len() - HEADER) / (FRAME + self.page)
    }

    fn frame(&self, at: usize) -> &[u8] {
        let from = HEADER + at * (FRAME + self.page);
        &self.bytes[from..from + FRAME + self.page]
    }

    fn stored_sum(&self, at: usize) -> Sum {
        (number(self.frame(at), 16), number(self.frame(at), 20))
    }

    fn is_of_this_log(&self, at: usize) -> bool {
        self.frame(at)[8..16] == self.salts
    }

    /// The sum to go on with, when the frame is whole.
    fn check(&self, at: usize, seed: Sum) -> Option<Sum> {
        if at >= self.frames() || !self.is_of_this_log(at) {
            return None;
        }
        let found = self.computed(at, seed);
        (found == self.stored_sum(at)).then_some(found)
    }

    fn computed(&self, at: usize, seed: Sum) -> Sum {
        let frame = self.frame(at);
        sum(self.big_endian, sum(self.big_endian, seed, &frame[..8]), &frame[FRAME..])
    }

    /// Gives the frame this checksum.
    fn seal(&self, at: usize, sum: Sum) -> Patch {
        let place = HEADER + at * (FRAME + self.page) + 16;
        (place, [sum.0.to_be_bytes(), sum.1.to_be_bytes()].concat())
    }

    /// What must be turned over in a broken frame to make it whole.
    fn diagnose(&mut self, at: usize, seed: Sum) -> Diagnosis {
        let from = HEADER + at * (FRAME + self.page);
        let frame = self.frame(at);
        let wrong: Vec<usize> =
            (0..64).filter(|bit| (frame[8 + bit / 8] ^ self.salts[bit / 8]) >> (bit % 8) & 1 == 1).collect();
        let candidates = match wrong[..] {
            [] => self.flipped_bits(at, seed),
            [bit] => vec![8 * 8 + bit],
            // A frame of an earlier log: this one ended before it.
            _ => return Diagnosis::Torn,
        };
        let mut whole = Vec::new();
        for bit in candidates {
            let byte = from + bit / 8;
            self.bytes[byte] ^= 1 << (bit % 8);
            // A frame behind it was written with the true sum of this one.
            let fits = self.check(at, seed).is_some_and(|sum| {
                at + 1 >= self.frames() || !self.is_of_this_log(at + 1) || self.check(at + 1, sum).is_some()
            });
            if fits {
                whole.push((byte, self.bytes[byte]));
            }
            self.bytes[byte] ^= 1 << (bit % 8);
        }
        match whole[..] {
            [] => Diagnosis::Torn,
            [(byte, value)] => {
                self.bytes[byte] = value;
                Diagnosis::Repaired(byte, value)
            }
            _ => Diagnosis::OneOfSeveral,
        }
    }

    /// The bits of the frame, counted from its start, any of which would make its checksum right. The sums are linear in
    /// the words, so what one bit adds at the end is known without adding everything up again. The upper bits of several
    /// words can have the same effect.
    fn flipped_bits(&self, at: usize, seed: Sum) -> Vec<usize> {
        let frame = self.frame(at);
        let stored = self.stored_sum(at);
        let found = self.computed(at, seed);
        let (first, second) = (stored.0.wrapping_sub(found.0), stored.1.wrapping_sub(found.1));
        let mut bits = Vec::new();
        // The checksum itself.
        for bit in 0..64 {
            let word = 16 + bit / 32 * 4;
            let wanted = if bit < 32 { found.0 ^ stored.0 } else { found.1 ^ stored.1 };
            let other = if bit < 32 { found.1 ^ stored.1 } else { found.0 ^ stored.0 };
            if other == 0 && wanted == 1 << (bit % 32) {
                bits.push((word + 3 - bit % 32 / 8) * 8 + bit % 8);
            }
        }
        // What it covers, from the last pair of words to the first.
        let (mut of_first, mut of_second): (Sum, Sum) = ((1, 1), (0, 1));
        let step = |(one, two): Sum| (one.wrapping_add(two), one.wrapping_add(two.wrapping_mul(2)));
        let pairs = (0..self.page / 8).rev().map(|pair| FRAME + pair * 8).chain([0]);
        for pair in pairs {
            for (word, effect) in [(pair, of_first), (pair + 4, of_second)] {
                for bit in 0..32 {
                    let byte = if self.big_endian { 3 - bit / 8 } else { bit / 8 };
                    let is_set = frame[word + byte] >> (bit % 8) & 1 == 1;
                    let change = if is_set { (1_u32 << bit).wrapping_neg() } else { 1 << bit };
                    if effect.0.wrapping_mul(change) == first && effect.1.wrapping_mul(change) == second {
                        bits.push((word + byte) * 8 + bit % 8);
                    }
                }
            }
            (of_first, of_second) = (step(of_first), step(of_second));
        }
        bits
    }

    /// Frames behind this one that follow each other as they were written, and how many of them end a transaction.
    fn chained_after(&self, at: usize) -> (usize, usize) {
        let (mut frames, mut commits) = (0, 0);
        for next in at + 1..self.frames() {
            if self.check(next, self.stored_sum(next - 1)).is_some() {
                frames += 1;
                commits += usize::from(number(self.frame(next), 4) != 0);
            }
        }
        (frames, commits)
    }
}

/// The header is lost, and with it the log. Whether there was one is seen by its frames.
fn headless(bytes: Vec<u8>) -> Option<WalFinding> {
    const PAGE: usize = 4096;
    if bytes.len() < HEADER + 2 * (FRAME + PAGE) {
        return None;
    }
    let mut salts = [0; 8];
    salts.copy_from_slice(&bytes[HEADER + 8..HEADER + 16]);
    let log = Log { bytes, page: PAGE, big_endian: false, salts };
    let (behind, commits) = log.chained_after(0);
    let finding = WalFinding {
        frames: log.frames() as u64,
        repaired: 0,
        kept: 0,
        cut: behind as u64 + 1,
        certain: true,
        copy: None,
    };
    (commits > 0).then_some(finding)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(four)
}

/// SQLite's checksum of the log, over pairs of words.
fn sum(big_endian: bool, seed: Sum, bytes: &[u8]) -> Sum {
    let word = |four: &[u8]| {
        let mut own = [0; 4];
        own.copy_from_slice(four);
        if big_endian { u32::from_be_bytes(own) } else { u32::from_le_bytes(own) }
    };
    bytes.chunks_exact(8).fold(seed, |(first, second), pair| {
        let first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
        (first, second.wrapping_add(word(&pair[4..])).wrapping_add(first))
    })
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
        let frame = FRAME + 4096;
        let mut places: Vec<usize> = (0..HEADER * 8).step_by(5).collect();
        places.extend((0..FRAME * 8).map(|bit| (HEADER + 3 * frame) * 8 + bit));
        places.extend((0..whole.len() * 8).step_by(9973));
        places.push(whole.len() * 8 - 1);
        let (count, mut repaired) = (places.len(), 0);
        for bit in places {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let (finding, patches) =
                examine(damaged.clone()).unwrap_or_else(|| panic!("bit {bit} is not found"));
            assert!(finding.certain, "bit {bit}: {finding:?}");
            assert_eq!((finding.repaired + finding.kept, finding.cut), (1, 0), "bit {bit}: {finding:?}");
            for (place, bytes) in patches {
                damaged[place..place + bytes.len()].copy_from_slice(&bytes);
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
        let whole = log(UNSYNCED + 30);
        let frame = FRAME + 4096;
        let hole = |at: usize| {
            let mut bytes = whole.clone();
            bytes[HEADER + at * frame + 100..HEADER + at * frame + 900].fill(0xa5);
            examine(bytes)
        };
        let (early, _) = hole(2).unwrap();
        assert!(early.certain && early.cut > 100, "{early:?}");
        let (late, _) = hole((whole.len() - HEADER) / frame - 6).unwrap();
        assert!(!late.certain && late.cut > 1, "{late:?}");
        assert_eq!(hole((whole.len() - HEADER) / frame - 1), None, "no commit follows");
        let mut headless = whole.clone();
        headless[..HEADER].fill(0);
        assert!(examine(headless).unwrap().0.certain);
    }
}
