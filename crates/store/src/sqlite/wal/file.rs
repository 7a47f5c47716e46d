//! The bytes of a write-ahead log: a header, then WAL frames of one page each. The format is SQLite's
//! (<https://sqlite.org/fileformat2.html#the_write_ahead_log>). The checksum of a WAL frame covers the frames before it,
//! and both salts of the header are repeated in every frame of the same log.

/// Bytes of the header of the file.
pub(super) const HEADER: usize = 32;
/// Bytes of the header of a WAL frame, in front of its page.
pub(super) const FRAME_HEADER: usize = 24;
const VERSION: u32 = 3_007_000;
/// Size of the pages of our databases.
const PAGE: usize = 4096;

/// SQLite's checksum of the log: two sums over pairs of 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum {
    first: u32,
    second: u32,
}

/// Bytes to write at an offset of the file.
#[derive(Debug, PartialEq)]
pub(super) struct Patch {
    pub(super) offset: usize,
    pub(super) bytes: Vec<u8>,
}

/// What is wrong with a WAL frame.
pub(super) enum Diagnosis {
    /// One bit was flipped; in memory it is flipped back already.
    Repaired(Patch),
    /// One bit was flipped, but several bits could be the one.
    OneOfSeveral,
    /// It was never whole, or more than one bit is wrong.
    Torn,
}

/// WAL frames whose checksums continue the stored one of the frame before, and how many of them end a transaction.
pub(super) struct IntactFrames {
    pub(super) frames: usize,
    pub(super) commits: usize,
}

pub(super) struct WalFile {
    bytes: Vec<u8>,
    page: usize,
    big_endian: bool,
    salts: [u8; 8],
}

impl WalFile {
    /// Returns the bytes when the header is not whole.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, Vec<u8>> {
        let magic = number(&bytes, 0);
        let page = number(&bytes, 8) as usize;
        let is_known = magic & !1 == 0x377f_0682
            && number(&bytes, 4) == VERSION
            && page.is_power_of_two()
            && (512..=65536).contains(&page);
        let big_endian = magic & 1 == 1;
        if !is_known || Checksum::ZERO.over(&bytes[..24], big_endian) != Checksum::stored(&bytes, 24) {
            return Err(bytes);
        }
        let mut salts = [0; 8];
        salts.copy_from_slice(&bytes[16..24]);
        Ok(Self { bytes, page, big_endian, salts })
    }

    /// Flips the one bit of the header that makes it whole; returns the bytes when there is no such bit.
    pub(super) fn read_repaired(mut bytes: Vec<u8>) -> Result<(Self, Patch), Vec<u8>> {
        for bit in 0..HEADER * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            match Self::read(bytes) {
                Ok(log) if log.check(0, log.header_checksum()).is_some() => {
                    let patch = Patch { offset: bit / 8, bytes: vec![log.bytes[bit / 8]] };
                    return Ok((log, patch));
                }
                Ok(log) => bytes = log.bytes,
                Err(back) => bytes = back,
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Err(bytes)
    }

    /// A log whose header is lost, with what the header usually says. The salts are taken from the first WAL frame.
    pub(super) fn assumed(bytes: Vec<u8>) -> Option<Self> {
        if bytes.len() < HEADER + 2 * (FRAME_HEADER + PAGE) {
            return None;
        }
        let mut salts = [0; 8];
        salts.copy_from_slice(&bytes[HEADER + 8..HEADER + 16]);
        Some(Self { bytes, page: PAGE, big_endian: false, salts })
    }

    pub(super) fn header_checksum(&self) -> Checksum {
        Checksum::stored(&self.bytes, 24)
    }

    /// How many WAL frames the file has.
    pub(super) fn frames(&self) -> usize {
        (self.bytes.len() - HEADER) / (FRAME_HEADER + self.page)
    }

    fn offset(&self, at: usize) -> usize {
        HEADER + at * (FRAME_HEADER + self.page)
    }

    fn frame(&self, at: usize) -> &[u8] {
        let from = self.offset(at);
        &self.bytes[from..from + FRAME_HEADER + self.page]
    }

    pub(super) fn stored_checksum(&self, at: usize) -> Checksum {
        Checksum::stored(self.frame(at), 16)
    }

    /// Not so for a WAL frame that was left by an earlier log in the same file.
    fn is_of_this_log(&self, at: usize) -> bool {
        self.frame(at)[8..16] == self.salts
    }

    /// Returns the checksum of a WAL frame, when it is whole. `seed` is the checksum of the frame before.
    pub(super) fn check(&self, at: usize, seed: Checksum) -> Option<Checksum> {
        if at >= self.frames() || !self.is_of_this_log(at) {
            return None;
        }
        let found = self.computed_checksum(at, seed);
        (found == self.stored_checksum(at)).then_some(found)
    }

    pub(super) fn computed_checksum(&self, at: usize, seed: Checksum) -> Checksum {
        let frame = self.frame(at);
        seed.over(&frame[..8], self.big_endian).over(&frame[FRAME_HEADER..], self.big_endian)
    }

    /// The patch that gives a WAL frame this checksum.
    pub(super) fn with_checksum(&self, at: usize, checksum: Checksum) -> Patch {
        let bytes = [checksum.first.to_be_bytes(), checksum.second.to_be_bytes()].concat();
        Patch { offset: self.offset(at) + 16, bytes }
    }

    /// Finds the bit that must be flipped in a broken WAL frame to make it whole.
    pub(super) fn diagnose(&mut self, at: usize, seed: Checksum) -> Diagnosis {
        let from = self.offset(at);
        let frame = self.frame(at);
        let wrong_salt_bits: Vec<usize> =
            (0..64).filter(|bit| (frame[8 + bit / 8] ^ self.salts[bit / 8]) >> (bit % 8) & 1 == 1).collect();
        let candidates = match wrong_salt_bits[..] {
            [] => self.flipped_bits(at, seed),
            [bit] => vec![8 * 8 + bit],
            // A frame of an earlier log: this log ended before it.
            _ => return Diagnosis::Torn,
        };
        let mut whole = Vec::new();
        for bit in candidates {
            let byte = from + bit / 8;
            self.bytes[byte] ^= 1 << (bit % 8);
            // The frame behind it was written with the checksum of the whole frame.
            let fits = self.check(at, seed).is_some_and(|checksum| {
                at + 1 >= self.frames()
                    || !self.is_of_this_log(at + 1)
                    || self.check(at + 1, checksum).is_some()
            });
            if fits {
                whole.push((byte, self.bytes[byte]));
            }
            self.bytes[byte] ^= 1 << (bit % 8);
        }
        match whole[..] {
            [] => Diagnosis::Torn,
            [(offset, value)] => {
                self.bytes[offset] = value;
                Diagnosis::Repaired(Patch { offset, bytes: vec![value] })
            }
            _ => Diagnosis::OneOfSeveral,
        }
    }

    /// The bits of the WAL frame, counted from its start, any of which would make its checksum right if flipped.
    ///
    /// The sums are linear in the words, so the effect of one bit on the result is known without adding everything up
    /// again. The upper bits of several words can have the same effect.
    fn flipped_bits(&self, at: usize, seed: Checksum) -> Vec<usize> {
        let frame = self.frame(at);
        let stored = self.stored_checksum(at);
        let found = self.computed_checksum(at, seed);
        let first = stored.first.wrapping_sub(found.first);
        let second = stored.second.wrapping_sub(found.second);
        let mut bits = Vec::new();
        // Bits of the checksum itself.
        for bit in 0..64 {
            let word = 16 + bit / 32 * 4;
            let wrong = [found.first ^ stored.first, found.second ^ stored.second];
            let (wanted, other) = if bit < 32 { (wrong[0], wrong[1]) } else { (wrong[1], wrong[0]) };
            if other == 0 && wanted == 1 << (bit % 32) {
                bits.push((word + 3 - bit % 32 / 8) * 8 + bit % 8);
            }
        }
        // Bits that it covers, from the last pair of words to the first.
        let mut of_first = Checksum { first: 1, second: 1 };
        let mut of_second = Checksum { first: 0, second: 1 };
        let pairs = (0..self.page / 8).rev().map(|pair| FRAME_HEADER + pair * 8).chain([0]);
        for pair in pairs {
            for (word, effect) in [(pair, of_first), (pair + 4, of_second)] {
                for bit in 0..32 {
                    let byte = if self.big_endian { 3 - bit / 8 } else { bit / 8 };
                    let is_set = frame[word + byte] >> (bit % 8) & 1 == 1;
                    let change = if is_set { (1_u32 << bit).wrapping_neg() } else { 1 << bit };
                    if effect.first.wrapping_mul(change) == first
                        && effect.second.wrapping_mul(change) == second
                    {
                        bits.push((word + byte) * 8 + bit % 8);
                    }
                }
            }
            (of_first, of_second) = (of_first.one_pair_earlier(), of_second.one_pair_earlier());
        }
        bits
    }

    /// The intact WAL frames behind this one; none when this is the end of the log.
    pub(super) fn intact_after(&self, at: usize) -> IntactFrames {
        let mut intact = IntactFrames { frames: 0, commits: 0 };
        for next in at + 1..self.frames() {
            if self.check(next, self.stored_checksum(next - 1)).is_some() {
                intact.frames += 1;
                intact.commits += usize::from(number(self.frame(next), 4) != 0);
            }
        }
        intact
    }
}

impl Checksum {
    const ZERO: Self = Self { first: 0, second: 0 };

    fn stored(bytes: &[u8], at: usize) -> Self {
        Self { first: number(bytes, at), second: number(bytes, at + 4) }
    }

    /// Continues the checksum over these bytes.
    fn over(self, bytes: &[u8], big_endian: bool) -> Self {
        let word = |four: &[u8]| {
            let mut own = [0; 4];
            own.copy_from_slice(four);
            if big_endian { u32::from_be_bytes(own) } else { u32::from_le_bytes(own) }
        };
        bytes.chunks_exact(8).fold(self, |Self { first, second }, pair| {
            let first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
            Self { first, second: second.wrapping_add(word(&pair[4..])).wrapping_add(first) }
        })
    }

    /// The effect that a word one pair earlier has on the result, from the effect of this word.
    fn one_pair_earlier(self) -> Self {
        let Self { first, second } = self;
        Self { first: first.wrapping_add(second), second: first.wrapping_add(second.wrapping_mul(2)) }
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(four)
}
