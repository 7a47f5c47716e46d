//! A fast reader for messages as clients nearly always write them: `id`, `role` and `parts` without blanks between them,
//! with text and file parts. Messages in any other form are left to serde, which also reports errors. This only saves
//! time for histories of tens of thousands of messages.

use std::borrow::Cow;

use memchr::memchr2;

use super::{FlatPart, PlantedMessage, Text};
use crate::message::Role;

/// Reads the message at the start of the text, if it is a plain one, and returns it with its end. `parts` is a buffer.
pub(super) fn message<'a>(
    text: &'a str,
    mut parts: Vec<FlatPart<'a>>,
) -> Option<(PlantedMessage<'a>, usize)> {
    let mut reader = Reader { text, at: 0 };
    let (mut id, mut role) = (None, None);
    let mut has_parts = false;
    reader.eat(b'{')?;
    loop {
        if id.is_none() && reader.skips(r#""id":"#) {
            id = Some(reader.string()?);
        } else if role.is_none() && reader.skips(r#""role":"user""#) {
            role = Some(Role::User);
        } else if role.is_none() && reader.skips(r#""role":"assistant""#) {
            role = Some(Role::Assistant);
        } else if !has_parts && reader.skips(r#""parts":"#) {
            has_parts = true;
            reader.parts(&mut parts)?;
        } else {
            return None;
        }
        if !reader.goes_on(b'}')? {
            break;
        }
    }
    let message = PlantedMessage { id: id?, role: role?, metadata: None, parts };
    has_parts.then_some((message, reader.at))
}

/// Bytes of a short string.
const SHORT: usize = 16;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<u8> {
        let next = self.text.as_bytes().get(self.at).copied()?;
        self.at += 1;
        Some(next)
    }

    fn skips(&mut self, known: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_next = rest.starts_with(known.as_bytes());
        if is_next {
            self.at += known.len();
        }
        is_next
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Reads a comma (`true`) or the end of the list (`false`).
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        match self.next()? {
            b',' => Some(true),
            next if next == end => Some(false),
            _ => None,
        }
    }

    fn parts(&mut self, parts: &mut Vec<FlatPart<'a>>) -> Option<()> {
        self.eat(b'[')?;
        if self.text.as_bytes().get(self.at) == Some(&b']') {
            self.at += 1;
            return Some(());
        }
        loop {
            parts.push(self.part()?);
            if !self.goes_on(b']')? {
                return Some(());
            }
        }
    }

    fn part(&mut self) -> Option<FlatPart<'a>> {
        let (mut kind, mut text, mut media_type, mut url, mut filename) = (None, None, None, None, None);
        self.eat(b'{')?;
        loop {
            if kind.is_none() && self.skips(r#""type":"text""#) {
                kind = Some(Cow::Borrowed("text"));
            } else if kind.is_none() && self.skips(r#""type":"#) {
                kind = Some(self.string()?);
            } else if text.is_none() && self.skips(r#""text":"#) {
                text = Some(Text(self.string()?));
            } else if media_type.is_none() && self.skips(r#""mediaType":"#) {
                media_type = Some(Text(self.string()?));
            } else if url.is_none() && self.skips(r#""url":"#) {
                url = Some(Text(self.string()?));
            } else if filename.is_none() && self.skips(r#""filename":"#) {
                filename = Some(Text(self.string()?));
            } else if self.skips(r#""state":"#) {
                self.string()?;
            } else {
                return None;
            }
            if !self.goes_on(b'}')? {
                return Some(FlatPart { kind: kind?, text, media_type, url, filename });
            }
        }
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.eat(b'"')?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        // Ids are too short for a vectorised search.
        for (place, byte) in (start..).zip(bytes.get(start..)?.iter().take(SHORT)) {
            match byte {
                b'"' => {
                    self.at = place + 1;
                    return self.text.get(start..place).map(Cow::Borrowed);
                }
                b'\\' | 0..b' ' => break,
                _ => {}
            }
        }
        let mut escaped = false;
        loop {
            self.at += memchr2(b'"', b'\\', bytes.get(self.at..)?)?;
            if bytes.get(self.at) == Some(&b'"') {
                break;
            }
            escaped = true;
            self.at += 2;
        }
        let text = self.text.get(start..self.at)?;
        self.at += 1;
        if escaped {
            return serde_json::from_str(self.text.get(start - 1..self.at)?).ok().map(Cow::Owned);
        }
        // A loop without an early exit is vectorised.
        let control = text.bytes().fold(false, |control, byte| control | (byte < b' '));
        (!control).then_some(Cow::Borrowed(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: [&str; 4] = [
        r#"{"id":"a","role":"user","parts":[{"type":"text","text":"x\n\"y\" \u00e9 \ud83d\ude00 会"}]}"#,
        r#"{"id":"b","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"","state":"done"}]}"#,
        r#"{"parts":[],"role":"user","id":"\\"}"#,
        r#"{"id":"c","role":"user","parts":[{"url":"data:,","type":"file","mediaType":"a/b","filename":"f"}]},"#,
    ];

    fn by_serde(text: &str) -> Option<(PlantedMessage<'_>, usize)> {
        let mut messages = serde_json::Deserializer::from_str(text).into_iter();
        let message = messages.next()?.ok()?;
        Some((message, messages.byte_offset()))
    }

    #[test]
    fn a_plain_message_is_read_as_serde_reads_it() {
        for text in PLAIN {
            let read = message(text, Vec::new());
            assert!(read.is_some(), "{text}");
            assert_eq!(format!("{read:?}"), format!("{:?}", by_serde(text)));
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_serde() {
        for text in [
            "",
            r#"{"id":"a","role":"system","parts":[]}"#,
            r#"{"id":"a","role":"user"}"#,
            r#"{"id":"a","id":"b","role":"user","parts":[]}"#,
            r#"{"id":"a","role":"user","parts":[],"metadata":{}}"#,
            r#"{"id":"a","role":"user","parts":[{"text":"no kind"}]}"#,
            r#"{"id":"a","role":"user","parts":[{"type":"text","text":"a","text":"b"}]}"#,
            r#"{"id":"a","role":"user","parts":[{"type":"text","text":"\ud83d"}]}"#,
            "{\"id\":\"a\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"\n\"}]}",
            r#"{"id":"a\"#,
        ] {
            assert!(message(text, Vec::new()).is_none(), "{text}");
        }
    }

    #[test]
    fn whatever_is_broken_in_a_message_is_never_read_differently() {
        let with = *br#"{}[]",:\u0 xn"#;
        let mut read = 0;
        for text in PLAIN {
            for place in 0..text.len() {
                let mut broken = vec![[&text.as_bytes()[..place], &text.as_bytes()[place + 1..]].concat()];
                for byte in with {
                    let mut other = text.as_bytes().to_vec();
                    other[place] = byte;
                    broken.push(other.clone());
                    other.insert(place, text.as_bytes()[place]);
                    broken.push(other);
                }
                for text in broken.iter().filter_map(|broken| std::str::from_utf8(broken).ok()) {
                    if let Some(by_hand) = message(text, Vec::new()) {
                        read += 1;
                        assert_eq!(format!("{:?}", Some(by_hand)), format!("{:?}", by_serde(text)), "{text}");
                    }
                }
            }
        }
        assert!(read > 500, "{read}");
    }
}
