//! Writes a text as a JSON string, with the same bytes as serde but faster: a long chat is megabytes of text.

/// The bytes that are checked together. Most blocks contain nothing that must be escaped.
const BLOCK: usize = 64;

const HEX: &[u8; 16] = b"0123456789abcdef";

pub fn write(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    for block in text.as_bytes().chunks(BLOCK) {
        // Without an early exit the compiler vectorises the check.
        if block.iter().fold(true, |plain, byte| plain & is_plain(*byte)) {
            out.extend_from_slice(block);
        } else {
            block.iter().for_each(|byte| escape(out, *byte));
        }
    }
    out.push(b'"');
}

fn is_plain(byte: u8) -> bool {
    (byte >= b' ') & (byte != b'"') & (byte != b'\\')
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' => out.extend_from_slice(br#"\""#),
        b'\\' => out.extend_from_slice(br"\\"),
        b'\n' => out.extend_from_slice(br"\n"),
        b'\r' => out.extend_from_slice(br"\r"),
        b'\t' => out.extend_from_slice(br"\t"),
        0x08 => out.extend_from_slice(br"\b"),
        0x0c => out.extend_from_slice(br"\f"),
        control @ 0..=0x1f => {
            out.extend_from_slice(br"\u00");
            out.extend([HEX[usize::from(control >> 4)], HEX[usize::from(control & 15)]]);
        }
        plain => out.push(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_serde_writes_it() {
        let all: String = ('\0'..='\u{2ff}').collect();
        let long = "Straße 会议 😀\n".repeat(40);
        for text in ["", "plain", "\"", "a\\b\u{7f}", &all, &long, &all.repeat(3)] {
            for from in (0..text.len().min(70)).filter(|from| text.is_char_boundary(*from)) {
                let text = &text[from..];
                let mut out = Vec::new();
                write(&mut out, text);
                assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(text).unwrap());
            }
        }
    }
}
