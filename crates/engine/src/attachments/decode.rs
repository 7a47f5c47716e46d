//! Bytes to plain text, whatever encoding they are in; nothing when they are no text. `files::text` finds the encoding.

use files::text::{TextEncoding, detect, is_readable};
pub(super) use files::text::{is_text_byte, is_utf16};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// With `\n` at the ends of lines and without control characters.
    pub(super) text: String,
    pub(super) encoding: &'static str,
}

impl Decoded {
    pub(super) fn empty() -> Self {
        Self { text: String::new(), encoding: TextEncoding::UTF_8.name() }
    }
}

/// `charset` is what the client says the encoding is.
pub(super) fn decode(bytes: &[u8], charset: Option<&str>) -> Option<Decoded> {
    let encoding = detect(bytes, charset)?;
    let (text, has_errors) = encoding.decode(bytes);
    // A character that was cut off at the end is no sign of anything.
    let text = if has_errors { text.strip_suffix('\u{fffd}').unwrap_or(&text) } else { &text };
    is_readable(text, has_errors).then(|| Decoded { text: plain(text), encoding: encoding.name() })
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                plain.push('\n');
            }
            '\n' | '\t' => plain.push(character),
            character if character.is_control() => {}
            character => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use data_url::forgiving_base64::decode_to_vec;
    use proptest::prelude::*;

    use super::{super::samples::SAMPLES, *};

    #[test]
    fn every_common_encoding_is_read() {
        for (name, base64, text) in SAMPLES {
            let bytes = decode_to_vec(base64.as_bytes()).unwrap();
            let decoded = decode(&bytes, None).unwrap_or_else(|| panic!("{name} is no text"));
            assert_eq!(decoded.text, text, "{name} was taken for {}", decoded.encoding);
        }
    }

    #[test]
    fn what_the_client_says_decides_where_the_bytes_do_not() {
        let bytes = b"\xc4\xe3\xba\xc3";
        assert_eq!(decode(bytes, Some("gbk")).unwrap().text, "你好");
        assert_eq!(decode(bytes, Some("big5")).unwrap().encoding, "Big5");
        assert_eq!(decode("你好".as_bytes(), Some("gbk")).unwrap().text, "你好", "UTF-8 is what it is");
        assert!(decode(bytes, Some("no such thing")).is_some());
    }

    #[test]
    fn a_little_damage_is_forgiven() {
        let cut = &"2026-01-05 启动完成，一切正常".as_bytes()[..30];
        assert!(decode(cut, None).unwrap().text.starts_with("2026-01-05 启动"));
        let mut log = "启动完成，一切正常\n".repeat(100).into_bytes();
        log.extend([0; 5]);
        log.extend(b"\xff\n");
        let decoded = decode(&log, None).unwrap();
        assert_eq!((decoded.encoding, decoded.text.lines().count()), ("UTF-8", 101));
        assert!(!decoded.text.contains('\0'));
    }

    #[test]
    fn ends_of_lines_and_control_characters_are_made_plain() {
        assert_eq!(decode(b"a\r\nb\rc\n\x1b[1md\x07\t", None).unwrap().text, "a\nb\nc\n[1md\t");
    }

    #[test]
    fn bytes_that_are_no_text_are_not_decoded() {
        let counting: Vec<u8> = (0..=255).collect();
        for bytes in
            [&counting[..], &[0, 1, 2, 3], &[0; 64], b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0"]
        {
            assert_eq!(decode(bytes, None), None, "{bytes:?}");
            assert_eq!(decode(bytes, Some("windows-1252")), None, "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn anything_is_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), label in "[a-z0-9-]{0,12}") {
            if let Some(decoded) = decode(&bytes, Some(&label)) {
                prop_assert!(!decoded.text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
                prop_assert!(decoded.text.len() <= bytes.len() * 3 + 3);
            }
        }

        #[test]
        fn text_in_utf8_is_always_read(text in "\\PC{0,200}") {
            prop_assert_eq!(decode(text.as_bytes(), None).unwrap().text, text.trim_start_matches('\u{feff}'));
        }

        #[test]
        fn lines_in_utf16_are_read_without_a_mark(lines in prop::collection::vec("[a-zA-Z0-9 ,;äöü你好世界日本語]{1,30}", 2..20)) {
            let text = lines.join("\n");
            for encode in [u16::to_le_bytes, u16::to_be_bytes] {
                let bytes: Vec<u8> = text.encode_utf16().flat_map(encode).collect();
                prop_assert_eq!(&decode(&bytes, None).unwrap().text, &text);
            }
        }
    }
}
