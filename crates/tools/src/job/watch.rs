//! The newest output of a job, for people who watch it.

use std::{collections::VecDeque, sync::Arc};

use protocol::JobEvent;

use super::Job;

/// A piece of output that is sent at once has at most so many bytes.
const PIECE: usize = 64 << 10;

/// The newest bytes of an output, within a bound.
pub(super) struct Newest {
    kept: VecDeque<u8>,
    limit: usize,
    total: u64,
}

/// A piece of output.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    /// The place of its first byte in the whole output.
    offset: u64,
    text: String,
    /// The place after its last byte.
    end: u64,
}

impl Newest {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: VecDeque::new(), limit, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = bytes.get(bytes.len().saturating_sub(self.limit)..).unwrap_or_default();
        let surplus = (self.kept.len() + bytes.len()).saturating_sub(self.limit);
        self.kept.drain(..surplus);
        self.kept.extend(bytes);
    }

    /// How many bytes came in all.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The output from this offset on, or from the oldest that is kept. A character that is not complete yet waits, unless
    /// the output has ended.
    fn piece(&self, offset: u64, has_ended: bool) -> Piece {
        let oldest = self.total - self.kept.len() as u64;
        let offset = offset.clamp(oldest, self.total);
        let skip = usize::try_from(offset - oldest).unwrap_or(usize::MAX);
        let mut bytes: Vec<u8> = self.kept.iter().skip(skip).take(PIECE).copied().collect();
        let is_last = has_ended && offset + bytes.len() as u64 == self.total;
        if !is_last {
            bytes.truncate(whole_characters(&bytes));
        }
        let end = offset + bytes.len() as u64;
        Piece { offset, text: String::from_utf8_lossy(&bytes).into_owned(), end }
    }
}

/// The length without an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        match bytes.get(at) {
            Some(0xC2..=0xDF) if back < 2 => return at,
            Some(0xE0..=0xEF) if back < 3 => return at,
            Some(0xF0..=0xF4) if back < 4 => return at,
            Some(0x80..=0xBF) => {}
            _ => break,
        }
    }
    bytes.len()
}

/// Follows the output of a job.
pub struct JobWatch {
    job: Arc<Job>,
    changes: tokio::sync::watch::Receiver<u64>,
    offset: u64,
    is_over: bool,
}

impl JobWatch {
    pub(super) fn new(job: Arc<Job>, offset: u64) -> Self {
        let changes = job.changes();
        Self { job, changes, offset, is_over: false }
    }

    /// The next piece of output, or how the command ended; then `None`.
    pub async fn next(&mut self) -> Option<JobEvent> {
        while !self.is_over {
            // Before looking, so that nothing that comes meanwhile is missed.
            self.changes.mark_unchanged();
            let (piece, has_ended) = {
                let state = self.job.state.lock();
                let has_ended = state.exit.is_some();
                (state.newest.piece(self.offset, has_ended), has_ended)
            };
            self.offset = piece.end;
            if !piece.text.is_empty() {
                return Some(JobEvent::Output { offset: piece.offset, text: piece.text });
            }
            if has_ended {
                self.is_over = true;
                return Some(JobEvent::Ended { job: self.job.info() });
            }
            // The sender lives as long as the job.
            self.changes.changed().await.ok()?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(newest: &Newest, mut offset: u64, has_ended: bool) -> (u64, String) {
        let first = newest.piece(offset, has_ended).offset;
        let mut text = String::new();
        loop {
            let piece = newest.piece(offset, has_ended);
            if piece.text.is_empty() {
                return (first, text);
            }
            text.push_str(&piece.text);
            offset = piece.end;
        }
    }

    #[test]
    fn a_reader_gets_the_newest_output_from_where_it_was() {
        let mut newest = Newest::new(8);
        newest.push(b"abcdef");
        assert_eq!(pieces(&newest, 0, false), (0, "abcdef".to_owned()));
        assert_eq!(pieces(&newest, 4, false), (4, "ef".to_owned()));
        newest.push(b"ghijkl");
        assert_eq!(pieces(&newest, 4, false), (4, "efghijkl".to_owned()));
        assert_eq!(pieces(&newest, 0, false), (4, "efghijkl".to_owned()));
        assert_eq!(pieces(&newest, 99, true), (12, String::new()));
    }

    #[test]
    fn a_character_waits_until_it_is_complete() {
        let mut newest = Newest::new(100);
        let text = "aé漢🎻".as_bytes();
        for end in 0..=text.len() {
            let mut newest = Newest::new(100);
            newest.push(&text[..end]);
            let (_, seen) = pieces(&newest, 0, false);
            assert!("aé漢🎻".starts_with(&seen), "{end}: {seen}");
        }
        newest.push(b"a\xe6\xbc");
        assert_eq!(pieces(&newest, 0, false).1, "a");
        assert_eq!(pieces(&newest, 0, true).1, "a\u{fffd}");
    }

    #[test]
    fn long_output_comes_in_pieces() {
        let mut newest = Newest::new(300_000);
        let text = "漢字🎻\n".repeat(20_000);
        newest.push(text.as_bytes());
        let kept = text.len() as u64;
        assert_eq!(newest.total(), kept);
        let (_, seen) = pieces(&newest, 0, false);
        assert_eq!(seen, text);
    }
}
