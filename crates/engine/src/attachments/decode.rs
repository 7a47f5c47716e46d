//! Bytes to text, whatever encoding they are in; nothing when they are no text.
//!
//! A mark at the beginning counts first, then UTF-8, which other encodings hardly ever happen to be, then UTF-16 without a
//! mark, then what the client says, then a guess by the frequency of letters.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

/// The guess looks at so many bytes.
const LOOKED_AT: usize = 256 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// With `\n` at the ends of lines and without control characters.
    pub(super) text: String,
    pub(super) encoding: &'static str,
}

impl Decoded {
    pub(super) fn empty() -> Self {
        Self { text: String::new(), encoding: UTF_8.name() }
    }
}

pub(super) fn decode(bytes: &[u8], charset: Option<&str>) -> Option<Decoded> {
    let marked = Encoding::for_bom(bytes).map(|(encoding, length)| (encoding, &bytes[length..]));
    let (encoding, rest) = match marked {
        Some(marked) => marked,
        None => (encoding_of(bytes, charset)?, bytes),
    };
    let (text, has_errors) = encoding.decode_without_bom_handling(rest);
    // A character that was cut off at the end is no sign of anything.
    let text = if has_errors { text.strip_suffix('\u{fffd}').unwrap_or(&text) } else { &text };
    is_readable(text, has_errors).then(|| Decoded { text: plain(text), encoding: encoding.name() })
}

fn encoding_of(bytes: &[u8], charset: Option<&str>) -> Option<&'static Encoding> {
    if std::str::from_utf8(bytes).is_ok_and(|text| is_readable(text, false)) {
        // Japanese mail: nothing but ASCII, and escapes between the alphabets.
        let escapes = bytes.windows(2).any(|pair| pair == b"\x1b$") && bytes.is_ascii();
        return Some(if escapes && guess(bytes) == ISO_2022_JP { ISO_2022_JP } else { UTF_8 });
    }
    if let Some(encoding) = utf16(bytes) {
        return Some(encoding);
    }
    if is_mostly_utf8(bytes) {
        return Some(UTF_8);
    }
    if !bytes.iter().all(|byte| is_text_byte(*byte)) {
        return None;
    }
    let named = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let fits = |encoding: &&'static Encoding| !encoding.decode_without_bom_handling(bytes).1;
    Some(named.filter(fits).unwrap_or_else(|| guess(bytes)))
}

/// UTF-8 with its last character cut off, or with a few broken ones among many that are whole.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut broken) = (0_usize, 0_usize);
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        whole += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        let rest = std::str::from_utf8(chunk.invalid()).err();
        let is_cut_off = chunks.peek().is_none() && rest.is_some_and(|rest| rest.error_len().is_none());
        broken += usize::from(rest.is_some() && !is_cut_off);
    }
    whole > 0 && whole >= 8 * broken
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(LOOKED_AT)], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether the bytes are UTF-16 without a mark. Only seen where there is some ASCII between: spaces, digits, line ends.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    utf16(bytes).is_some()
}

fn utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 4 || !bytes.contains(&0) {
        return None;
    }
    let little = ascii_units(bytes, u16::from_le_bytes);
    let big = ascii_units(bytes, u16::from_be_bytes);
    let (encoding, ascii) = if little >= big { (UTF_16LE, little) } else { (UTF_16BE, big) };
    let (text, _, failed) = encoding.decode(&bytes[..bytes.len() / 2 * 2]);
    let count = text.chars().count();
    let usual = text.chars().filter(|character| is_usual(*character)).count();
    let clean = text.chars().all(|character| !character.is_ascii() || is_text_byte(character as u8));
    (!failed && clean && ascii * 200 >= count && usual * 20 >= count * 19).then_some(encoding)
}

fn ascii_units(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> usize {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    units.filter(|unit| u8::try_from(*unit).is_ok_and(|byte| byte.is_ascii() && is_text_byte(byte))).count()
}

/// Characters of the scripts that most text is written in.
fn is_usual(character: char) -> bool {
    matches!(character,
        '\t'..='~' | '\u{a0}'..='\u{17f}' | '\u{370}'..='\u{6ff}' | '\u{900}'..='\u{e7f}' | '\u{2000}'..='\u{206f}'
        | '\u{20a0}'..='\u{22ff}' | '\u{2500}'..='\u{25ff}' | '\u{3000}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ffef}' | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a byte can stand in text: control characters cannot, but for those of terminals and printers.
pub(super) fn is_text_byte(byte: u8) -> bool {
    byte >= b' ' || matches!(byte, 7..=13 | 27)
}

/// A few characters that no text has are forgiven: logs have zeros where a machine went down.
fn is_readable(text: &str, has_errors: bool) -> bool {
    let (mut count, mut odd) = (0_usize, 0_usize);
    for character in text.chars() {
        count += 1;
        let is_odd = match character {
            '\u{fffd}' => has_errors,
            '\u{80}'..='\u{9f}' => true,
            character => u8::try_from(character).is_ok_and(|byte| !is_text_byte(byte)),
        };
        odd += usize::from(is_odd);
    }
    odd * 100 <= count
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
