//! Reads streamed events that differ from the one before only in their text by comparing bytes instead of parsing JSON
//! (ADR 5).
//!
//! The result is exact: the bytes before the text end inside a JSON string, a text without quotes, backslashes and
//! control characters does not leave the string, and the bytes after the text are unchanged.

/// The bytes of an event around its text.
#[derive(Debug)]
pub struct EventTemplate {
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The largest template; larger events are rare.
const MAX_BYTES: usize = 1024;

impl EventTemplate {
    /// The template of an event that was parsed; `text` must be a part of `data`.
    pub fn of(data: &[u8], text: &str) -> Option<Self> {
        let start = (text.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let end = start.checked_add(text.len())?;
        let (before, after) = (data.get(..start)?, data.get(end..)?);
        let quoted = before.last() == Some(&b'"') && after.first() == Some(&b'"');
        let small = before.len() + after.len() <= MAX_BYTES;
        (quoted && small && data.get(start..end)? == text.as_bytes() && is_plain(text.as_bytes()))
            .then(|| Self { before: before.to_vec(), after: after.to_vec() })
    }

    /// The text of an event that fits the template.
    pub fn text<'a>(&self, data: &'a [u8]) -> Option<&'a str> {
        let text = data.strip_prefix(self.before.as_slice())?.strip_suffix(self.after.as_slice())?;
        if !is_plain(text) {
            return None;
        }
        std::str::from_utf8(text).ok()
    }
}

/// Whether no byte is special inside a JSON string. Checks all bytes, which is faster than stopping early.
fn is_plain(text: &[u8]) -> bool {
    !text.iter().fold(false, |special, byte| special | (*byte < 0x20) | (*byte == b'"') | (*byte == b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template() -> EventTemplate {
        let data = br#"{"a":{"text":"Hi"},"b":1}"#;
        EventTemplate::of(data, std::str::from_utf8(&data[14..16]).unwrap()).unwrap()
    }

    #[test]
    fn an_event_that_differs_in_its_text_alone_is_read() {
        assert_eq!(template().text(br#"{"a":{"text":"there"},"b":1}"#), Some("there"));
        assert_eq!(template().text(r#"{"a":{"text":"会"},"b":1}"#.as_bytes()), Some("会"));
        assert_eq!(template().text(br#"{"a":{"text":""},"b":1}"#), Some(""));
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
            assert_eq!(template().text(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn a_text_from_elsewhere_makes_no_template() {
        assert!(EventTemplate::of(br#"{"text":"Hi"}"#, "Hi").is_none());
        let data = br#"{"text":"a\"b"}"#;
        assert!(EventTemplate::of(data, std::str::from_utf8(&data[9..13]).unwrap()).is_none());
    }
}
