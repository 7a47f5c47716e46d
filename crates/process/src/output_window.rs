//! Keeps the beginning and the end of an output within a bound.

use std::collections::VecDeque;

/// The head and the tail of an output, within a number of bytes; counts what lies between.
#[derive(Clone, Debug)]
pub struct OutputWindow {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    total: u64,
}

/// The text of an [`OutputWindow`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowText {
    /// The beginning, or everything when nothing was left out.
    pub head: String,
    /// The end; empty when nothing was left out.
    pub tail: String,
    /// Bytes between the two.
    pub omitted: u64,
    /// Bytes of the whole output.
    pub total: u64,
}

impl WindowText {
    /// The text with a line that says how much was left out.
    pub fn joined(&self) -> String {
        if self.omitted == 0 {
            return self.head.clone();
        }
        format!("{}\n… {} bytes left out …\n{}", self.head, self.omitted, self.tail)
    }
}

impl OutputWindow {
    /// Keeps at most `limit` bytes, half of them from the beginning.
    pub fn new(limit: usize) -> Self {
        let head_limit = limit / 2;
        Self { head: Vec::new(), head_limit, tail: VecDeque::new(), tail_limit: limit - head_limit, total: 0 }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = (self.head_limit - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let kept = rest.len().min(self.tail_limit);
        let (_, rest) = rest.split_at(rest.len() - kept);
        let surplus = (self.tail.len() + kept).saturating_sub(self.tail_limit);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    /// Bytes pushed so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The text as it is now. Bytes that are no UTF-8 become replacement characters; a character is never cut in two.
    pub fn text(&self) -> WindowText {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let kept = (self.head.len() + tail.len()) as u64;
        if kept == self.total {
            let all = [self.head.as_slice(), &tail].concat();
            let head = String::from_utf8_lossy(&all).into_owned();
            return WindowText { head, tail: String::new(), omitted: 0, total: self.total };
        }
        let head = whole_end(&self.head);
        let tail = whole_start(&tail);
        WindowText {
            head: String::from_utf8_lossy(head).into_owned(),
            tail: String::from_utf8_lossy(tail).into_owned(),
            omitted: self.total - (head.len() + tail.len()) as u64,
            total: self.total,
        }
    }
}

/// Without an incomplete character at the end.
fn whole_end(bytes: &[u8]) -> &[u8] {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let Some(&byte) = bytes.get(at) else { break };
        let length = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => break,
        };
        return if length > back { bytes.get(..at).unwrap_or(bytes) } else { bytes };
    }
    bytes
}

/// Without the end of a character at the start.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|byte| (0x80..=0xBF).contains(*byte)).count();
    bytes.get(cut..).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keeps_everything_below_the_limit() {
        let mut window = OutputWindow::new(10);
        window.push(b"abc");
        window.push("dé".as_bytes());
        let text = window.text();
        assert_eq!(text, WindowText { head: "abcdé".into(), tail: String::new(), omitted: 0, total: 6 });
        assert_eq!(text.joined(), "abcdé");
    }

    #[test]
    fn keeps_head_and_tail_above_it() {
        let mut window = OutputWindow::new(6);
        window.push(b"0123456789");
        let text = window.text();
        assert_eq!(text, WindowText { head: "012".into(), tail: "789".into(), omitted: 4, total: 10 });
        assert_eq!(text.joined(), "012\n… 4 bytes left out …\n789");
    }

    #[test]
    fn limit_zero_keeps_nothing() {
        let mut window = OutputWindow::new(0);
        window.push(b"abc");
        assert_eq!(
            window.text(),
            WindowText { head: String::new(), tail: String::new(), omitted: 3, total: 3 }
        );
    }

    proptest! {
        /// However the output is cut into chunks, head and tail are whole characters of it.
        #[test]
        fn cuts_no_character(text in "[a-zé漢🎻\n]{0,80}", limit in 0usize..60, sizes in prop::collection::vec(1usize..9, 1..20)) {
            let mut window = OutputWindow::new(limit);
            let mut rest = text.as_bytes();
            for size in sizes.iter().cycle() {
                if rest.is_empty() { break; }
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                window.push(chunk);
                rest = after;
            }
            let seen = window.text();
            prop_assert_eq!(seen.total, text.len() as u64);
            prop_assert!(text.starts_with(&seen.head), "{:?}", seen);
            prop_assert!(text.ends_with(&seen.tail), "{:?}", seen);
            prop_assert_eq!(seen.head.len() as u64 + seen.tail.len() as u64 + seen.omitted, seen.total);
            prop_assert!(seen.head.len() + seen.tail.len() <= limit);
            if text.len() <= limit { prop_assert_eq!(&seen.head, &text); }
        }
    }
}
