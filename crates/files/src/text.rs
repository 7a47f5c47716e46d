//! Bytes to text and back, whatever encoding they are in; nothing when they are no text.
//!
//! A mark at the beginning counts first, then UTF-8, which other encodings hardly ever happen to be, then UTF-16 without a
//! mark, then what the caller was told, then a guess by the frequency of letters. The encoding is kept with the text, so that
//! an edit is written back in it.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

/// The guess looks at so many bytes.
const LOOKED_AT: usize = 256 << 10;

/// So many bytes are looked at before the next decision.
const AT_ONCE: usize = 4096;

/// An encoding, and whether the text begins with its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding {
    encoding: &'static Encoding,
    marked: bool,
}

/// A file as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// As in the file: ends of lines and control characters are kept, the mark is not.
    pub text: String,
    pub encoding: TextEncoding,
    /// Whether encoding the text gives the same bytes again. If not, an edit would damage what it does not touch.
    pub lossless: bool,
}

impl TextEncoding {
    pub const UTF_8: Self = Self { encoding: UTF_8, marked: false };

    /// The encoding's usual name: `UTF-8`, `GBK`, `windows-1252`.
    pub fn name(self) -> &'static str {
        self.encoding.name()
    }

    pub fn encoding(self) -> &'static Encoding {
        self.encoding
    }

    pub fn is_utf8(self) -> bool {
        self.encoding == UTF_8
    }

    fn mark(self) -> &'static [u8] {
        match self.encoding {
            _ if !self.marked => b"",
            encoding if encoding == UTF_16LE => b"\xff\xfe",
            encoding if encoding == UTF_16BE => b"\xfe\xff",
            _ => b"\xef\xbb\xbf",
        }
    }

    /// The text without its mark, and whether some bytes could not be read and were replaced.
    pub fn decode(self, bytes: &[u8]) -> (String, bool) {
        let bytes = bytes.strip_prefix(self.mark()).unwrap_or(bytes);
        let (text, has_errors) = self.encoding.decode_without_bom_handling(bytes);
        (text.into_owned(), has_errors)
    }

    /// The bytes of a text, with the mark; `None` when the encoding lacks one of its characters.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = self.mark().to_vec();
        if self.encoding == UTF_16LE {
            bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        } else if self.encoding == UTF_16BE {
            bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
        } else {
            let (encoded, encoding, has_errors) = self.encoding.encode(text);
            if has_errors || encoding != self.encoding {
                return None;
            }
            bytes.extend_from_slice(&encoded);
        }
        Some(bytes)
    }
}

/// Reads a whole file as text; `None` when it is no text.
pub fn decode(bytes: &[u8]) -> Option<Text> {
    let encoding = detect(bytes, None)?;
    if encoding == TextEncoding::UTF_8
        && let Some(text) = plain_utf8(bytes)
    {
        return Some(Text { text: text.to_owned(), encoding, lossless: true });
    }
    let (text, has_errors) = encoding.decode(bytes);
    if !is_readable(&text, has_errors) {
        return None;
    }
    let lossless = !has_errors && encoding.encode(&text).as_deref() == Some(bytes);
    Some(Text { text, encoding, lossless })
}

/// The text itself, where a file is plain UTF-8 without a mark.
pub fn plain_utf8(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (is_readable(text, false) && detect(bytes, None) == Some(TextEncoding::UTF_8)).then_some(text)
}

/// The encoding of a file, by its bytes or its beginning; `None` when it is no text. `charset` is what somebody says it is.
pub fn detect(bytes: &[u8], charset: Option<&str>) -> Option<TextEncoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(TextEncoding { encoding, marked: true });
    }
    Some(TextEncoding { encoding: unmarked(bytes, charset)?, marked: false })
}

fn unmarked(bytes: &[u8], charset: Option<&str>) -> Option<&'static Encoding> {
    if std::str::from_utf8(bytes).is_ok_and(|text| is_readable(text, false)) {
        // Japanese mail: nothing but ASCII, and escapes between the alphabets.
        let escapes = memchr::memmem::find(bytes, b"\x1b$").is_some() && bytes.is_ascii();
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
    detector.feed(bytes.get(..LOOKED_AT).unwrap_or(bytes), true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether the bytes are UTF-16 without a mark. Only seen where there is some ASCII between: spaces, digits, line ends.
pub fn is_utf16(bytes: &[u8]) -> bool {
    utf16(bytes).is_some()
}

fn utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 4 || !bytes.contains(&0) {
        return None;
    }
    let little = ascii_units(bytes, u16::from_le_bytes);
    let big = ascii_units(bytes, u16::from_be_bytes);
    let (encoding, ascii) = if little >= big { (UTF_16LE, little) } else { (UTF_16BE, big) };
    let (text, _, failed) = encoding.decode(bytes.get(..bytes.len() / 2 * 2).unwrap_or(bytes));
    let count = text.chars().count();
    let usual = text.chars().filter(|character| is_usual(*character)).count();
    let clean = text.chars().all(|character| !character.is_ascii() || is_text_byte(character as u8));
    (!failed && clean && ascii * 200 >= count && usual * 20 >= count * 19).then_some(encoding)
}

fn ascii_units(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> usize {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
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
pub fn is_text_byte(byte: u8) -> bool {
    byte >= b' ' || matches!(byte, 7..=13 | 27)
}

/// Whether a decoded text is one. A few characters that no text has are forgiven: logs have zeros where a machine went
/// down.
pub fn is_readable(text: &str, has_errors: bool) -> bool {
    // Most texts have nothing odd, which is quickly seen.
    let may_be_odd =
        |odd: bool, byte: &u8| odd | !is_text_byte(*byte) | (*byte == 0xc2) | (has_errors & (*byte == 0xef));
    if !text.as_bytes().chunks(AT_ONCE).any(|bytes| bytes.iter().fold(false, may_be_odd)) {
        return true;
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_edit_is_written_back_in_the_encoding_of_the_file() {
        for (bytes, name, text) in [
            (&b"a\r\nb"[..], "UTF-8", "a\r\nb"),
            (b"\xef\xbb\xbfx", "UTF-8", "x"),
            (b"\xff\xfea\0\n\0", "UTF-16LE", "a\n"),
            (b"\xfe\xff\0a\0\n", "UTF-16BE", "a\n"),
            (b"n\xe4chste Stra\xdfe, f\xfcr \xc4pfel", "windows-1252", "nächste Straße, für Äpfel"),
            (b"", "UTF-8", ""),
        ] {
            let decoded = decode(bytes).unwrap();
            assert_eq!((decoded.encoding.name(), decoded.text.as_str()), (name, text));
            assert!(decoded.lossless, "{name}");
            assert_eq!(decoded.encoding.encode(&decoded.text).unwrap(), bytes);
        }
    }

    #[test]
    fn a_character_that_the_encoding_lacks_is_not_replaced() {
        let decoded = decode(b"n\xe4chste Stra\xdfe, f\xfcr \xc4pfel").unwrap();
        assert_eq!(decoded.encoding.encode("你好"), None);
    }

    #[test]
    fn damaged_text_is_read_but_not_lossless() {
        let mut bytes = "启动完成，一切正常\n".repeat(100).into_bytes();
        bytes.extend(b"\xff\n");
        let decoded = decode(&bytes).unwrap();
        assert_eq!((decoded.encoding.name(), decoded.lossless), ("UTF-8", false));
    }

    #[test]
    fn bytes_that_are_no_text_are_not_decoded() {
        let counting: Vec<u8> = (0..=255).collect();
        for bytes in
            [&counting[..], &[0, 1, 2, 3], &[0; 64], b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0"]
        {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_lossless_gives_the_same_bytes_again(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(decoded) = decode(&bytes).filter(|decoded| decoded.lossless) {
                prop_assert_eq!(decoded.encoding.encode(&decoded.text), Some(bytes));
            }
        }

        #[test]
        fn text_in_utf8_is_always_lossless(text in "\\PC{0,200}") {
            prop_assert!(decode(text.as_bytes()).unwrap().lossless);
        }
    }
}
