//! Lines of files: where they begin and end, cut lines, offsets past the end.

use proptest::prelude::*;

use super::*;

fn lines(bytes: &[u8], first: u64, count: u64) -> Result<Lines, FileError> {
    read_lines(bytes, &LogicalPath::parse("file").unwrap(), first, count, &Watch::ALWAYS)
}

fn texts(lines: &Lines) -> Vec<(u64, &str)> {
    lines.lines.iter().map(|line| (line.number, line.text.as_str())).collect()
}

#[test]
fn some_lines_of_a_file_are_returned() {
    let found = lines(b"a\nb\r\n\nd", 2, 2).unwrap();
    assert_eq!((texts(&found), found.total), (vec![(2, "b"), (3, "")], None));
    let found = lines(b"a\nb\n", 1, 10).unwrap();
    assert_eq!((texts(&found), found.total), (vec![(1, "a"), (2, "b")], Some(2)));
    let found = lines(b"a\nb\n", 1, 2).unwrap();
    assert_eq!((texts(&found), found.total), (vec![(1, "a"), (2, "b")], Some(2)));
    assert_eq!(lines(b"", 1, 10).unwrap().total, Some(0));
}

#[test]
fn a_line_past_the_end_is_an_error() {
    for (bytes, first) in [(&b"a\nb\n"[..], 3), (b"a\nb", 3), (b"", 2), (b"a", u64::MAX)] {
        let error = lines(bytes, first, 1).unwrap_err();
        assert_eq!(error.code, FailureCode::InvalidArgument, "{first}");
        assert!(error.message.contains("is past its end"), "{error}");
    }
}

#[test]
fn long_lines_are_cut_at_the_end_of_a_character_and_counted() {
    let text = format!("{}äöü\r\nshort\n", "x".repeat(499));
    let found = lines(text.as_bytes(), 1, 2).unwrap();
    assert_eq!(found.lines[0], Line { number: 1, text: "x".repeat(499), cut: 6 });
    assert_eq!(found.lines[1], Line { number: 2, text: "short".to_owned(), cut: 0 });
    let exact = format!("{}\r\n", "x".repeat(500));
    assert_eq!(lines(exact.as_bytes(), 1, 1).unwrap().lines[0].cut, 0);
}

#[test]
fn other_encodings_are_read_and_binary_files_refused() {
    let utf16: Vec<u8> = "\u{feff}eins\r\nzwei 你\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let found = lines(&utf16, 2, 1).unwrap();
    assert_eq!((texts(&found), found.encoding), (vec![(2, "zwei 你")], "UTF-16LE"));
    assert_eq!(texts(&lines(b"\xef\xbb\xbfone\n", 1, 1).unwrap()), [(1, "one")]);
    assert_eq!(lines(&[0, 1, 2, 3, 255, 254], 1, 1).unwrap_err().code, FailureCode::UnsupportedMediaType);
}

/// A file that never ends and counts how much of it was read.
struct Endless(usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0 += buffer.len();
        assert!(self.0 < 64 << 20, "much more was read than needed");
        for (place, byte) in buffer.iter_mut().enumerate() {
            *byte = if place % 80 == 79 { b'\n' } else { b'x' };
        }
        Ok(buffer.len())
    }
}

#[test]
fn the_rest_of_a_big_file_is_not_read() {
    let path = LogicalPath::parse("file").unwrap();
    let found = read_lines(Endless(0), &path, 100_000, 3, &Watch::ALWAYS).unwrap();
    assert_eq!(found.lines.len(), 3);
    assert_eq!(found.total, None);
}

#[test]
fn reading_stops_when_it_is_cancelled() {
    let path = LogicalPath::parse("file").unwrap();
    let watch = Watch { cancelled: &|| true, ..Watch::ALWAYS };
    let error = read_lines(Endless(0), &path, u64::MAX, 3, &watch).unwrap_err();
    assert_eq!(error.code, FailureCode::Cancelled);
}

proptest! {
    #[test]
    fn lines_are_those_of_the_text(text in "[a-zä\n\r]{0,200}", first in 1_u64..20, count in 0_u64..20) {
        let expected: Vec<&str> = text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        match lines(text.as_bytes(), first, count) {
            Err(_) => prop_assert!(first > (expected.len() as u64).max(1)),
            Ok(found) => {
                let from = (first as usize - 1).min(expected.len());
                let to = (from + count as usize).min(expected.len());
                let found: Vec<&str> = found.lines.iter().map(|line| line.text.as_str()).collect();
                prop_assert_eq!(found, &expected[from..to]);
            }
        }
    }
}
