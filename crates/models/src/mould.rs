//! Most events of an answer differ from the one before in nothing but their text. Once one has been read in full,
//! the next of the same mould are read by comparing bytes.
//!
//! Exact, not a guess: what stands before the text leads a JSON reader into a string; text without a quote, a
//! backslash or a control character keeps it there; what stands behind the text is what it was.

#[derive(Debug)]
pub struct Mould {
    before: Vec<u8>,
    behind: Vec<u8>,
}

/// Longer frames are rare and not worth remembering.
const MAX_BYTES: usize = 1024;

impl Mould {
    /// Takes the form of an event; `text` is a part of `data`, as the reader found it.
    pub fn of(data: &[u8], text: &str) -> Option<Self> {
        let start = (text.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let end = start.checked_add(text.len())?;
        let (before, behind) = (data.get(..start)?, data.get(end..)?);
        let quoted = before.last() == Some(&b'"') && behind.first() == Some(&b'"');
        let small = before.len() + behind.len() <= MAX_BYTES;
        (quoted && small && data.get(start..end)? == text.as_bytes() && is_plain(text.as_bytes()))
            .then(|| Self { before: before.to_vec(), behind: behind.to_vec() })
    }

    /// The text of an event of this form.
    pub fn text<'a>(&self, data: &'a [u8]) -> Option<&'a str> {
        let text = data.strip_prefix(self.before.as_slice())?.strip_suffix(self.behind.as_slice())?;
        if !is_plain(text) {
            return None;
        }
        std::str::from_utf8(text).ok()
    }
}

/// Whether the bytes mean themselves inside a JSON string. Looks at all of them, which is faster than stopping early.
fn is_plain(text: &[u8]) -> bool {
    !text.iter().fold(false, |special, byte| special | (*byte < 0x20) | (*byte == b'"') | (*byte == b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mould() -> Mould {
        let data = br#"{"a":{"text":"Hi"},"b":1}"#;
        Mould::of(data, std::str::from_utf8(&data[14..16]).unwrap()).unwrap()
    }

    #[test]
    fn an_event_that_differs_in_its_text_alone_is_read() {
        assert_eq!(mould().text(br#"{"a":{"text":"there"},"b":1}"#), Some("there"));
        assert_eq!(mould().text(r#"{"a":{"text":"会"},"b":1}"#.as_bytes()), Some("会"));
        assert_eq!(mould().text(br#"{"a":{"text":""},"b":1}"#), Some(""));
    }

    #[test]
    fn anything_else_is_left_to_the_reader() {
        for other in [
            &br#"{"a":{"text":"x"},"b":2}"#[..],
            br#"{"a":{"text":"a\n"},"b":1}"#,
            br#"{"a":{"text":"x","text":"y"},"b":1}"#,
            b"{\"a\":{\"text\":\"\xff\"},\"b\":1}",
            b"{\"a\":{\"text\":\"a\nb\"},\"b\":1}",
            br#"{"a":{"text":""#,
            b"",
        ] {
            assert_eq!(mould().text(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn a_text_from_elsewhere_makes_no_mould() {
        assert!(Mould::of(br#"{"text":"Hi"}"#, "Hi").is_none());
        let data = br#"{"text":"a\"b"}"#;
        assert!(Mould::of(data, std::str::from_utf8(&data[9..13]).unwrap()).is_none());
    }
}
