//! Bounds the output of tools. Texts are cut at character boundaries, and the notes are neutral: a text that sounds like
//! a failure makes models repeat the call.

use std::io;

use protocol::Artifact;
use serde_json::{Value, json};

/// The longest string in a snapshot of a running call, in bytes; its end, the newest output, is kept.
const SNAPSHOT_STRING: usize = 64 * 1024;
/// The largest snapshot, in serialised characters.
const SNAPSHOT: usize = 256 * 1024;

/// Output that is longer than its limit.
pub(crate) struct LongOutput {
    text: String,
    is_json: bool,
    /// Of the serialised output.
    characters: usize,
}

impl LongOutput {
    /// Returns the output itself if it is within the limit.
    pub(crate) fn of(output: Value, limit: usize) -> Result<Value, Self> {
        let characters = serialised_characters(&output);
        if characters <= limit {
            return Ok(output);
        }
        Err(match output {
            Value::String(text) => Self { text, is_json: false, characters },
            other => Self { text: other.to_string(), is_json: true, characters },
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn media_type(&self) -> &'static str {
        if self.is_json { "application/json" } else { "text/plain; charset=utf-8" }
    }

    pub(crate) fn extension(&self) -> &'static str {
        if self.is_json { "json" } else { "txt" }
    }

    /// The beginning and the end of the output, within the limit, and the address of the whole.
    pub(crate) fn preview(&self, limit: usize, kept: Option<&Artifact>) -> Value {
        let mut shown = json!({ "truncated": true, "characters": self.characters });
        let mut note =
            "The output is longer than what is shown; `preview` has its beginning and its end.".to_owned();
        if let Some(artifact) = kept {
            let address = format!("/api/artifacts/{}", artifact.id);
            note.push_str(&format!(
                " The whole of it is kept as `{}`; the person can download it at {address}.",
                artifact.name
            ));
            shown["artifact"] = json!({
                "id": artifact.id, "name": artifact.name, "mediaType": artifact.media_type,
                "bytes": artifact.bytes, "url": address,
            });
        }
        shown["note"] = note.into();
        shown["preview"] = "".into();
        let gap = |characters: usize| format!("\n\n[… {characters} characters left out …]\n\n");
        // Four more characters, because each line break is two in JSON.
        let marker = gap(self.characters).chars().count() + 4;
        let room = limit.saturating_sub(serialised_characters(&shown) + marker);
        let head = &self.text[..prefix_within(&self.text, room - room / 4)];
        let rest = &self.text[head.len()..];
        let tail = &rest[rest.len() - suffix_within(rest, room / 4)..];
        let left_out = rest[..rest.len() - tail.len()].chars().count();
        shown["preview"] = format!("{head}{}{tail}", gap(left_out)).into();
        shown
    }
}

/// The output, or a preview whose serialised form is within the limit.
fn output(output: Value, limit: usize) -> Value {
    LongOutput::of(output, limit).unwrap_or_else(|long| long.preview(limit, None))
}

/// Cuts the end of a text for the model.
pub(crate) fn text(mut text: String, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else { return text };
    let characters = text.chars().count();
    text.truncate(end);
    text.push_str(&format!("… (the first {limit} of {characters} characters)"));
    text
}

/// Bounds a snapshot of a running call.
pub(crate) fn snapshot(mut shown: Value) -> Value {
    keep_ends(&mut shown);
    output(shown, SNAPSHOT)
}

/// Cuts the beginnings of long strings. Values are as deep as their types or as parsed JSON, so the recursion is bounded.
fn keep_ends(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            if let Some(excess) = text.len().checked_sub(SNAPSHOT_STRING) {
                let start = (excess..=text.len()).find(|start| text.is_char_boundary(*start));
                text.drain(..start.unwrap_or(text.len()));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(keep_ends),
        Value::Object(fields) => fields.values_mut().for_each(keep_ends),
    }
}

/// The number of bytes at the start of the text that fit into `room` characters of JSON.
fn prefix_within(text: &str, room: usize) -> usize {
    text[..].chars().scan(0, |used, character| within(used, character, room)).sum()
}

/// The number of bytes at the end of the text that fit into `room` characters of JSON.
fn suffix_within(text: &str, room: usize) -> usize {
    text.chars().rev().scan(0, |used, character| within(used, character, room)).sum()
}

/// The bytes of one more character, or `None` if there is no room for it.
fn within(used: &mut usize, character: char, room: usize) -> Option<usize> {
    *used += match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    };
    (*used <= room).then(|| character.len_utf8())
}

fn serialised_characters(value: &Value) -> usize {
    let mut count = Characters(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        // Cannot happen: a `Value` has text keys and the counter accepts every byte. Assume the worst.
        Err(_) => usize::MAX,
    }
}

struct Characters(usize);

impl io::Write for Characters {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_start = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
        self.0 += bytes.iter().filter(is_start).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn output_within_the_limit_is_left_alone() {
        let short = json!({ "text": "日本" });
        assert_eq!(output(short.clone(), 13), short);
        assert_eq!(output(short, 12)["characters"], 13);
    }

    #[test]
    fn a_long_text_is_previewed_as_text_and_other_output_as_json() {
        let long = output("é".repeat(1000).into(), 300);
        assert_eq!(long["truncated"], true);
        assert_eq!(long["characters"], 1002);
        assert!(long["preview"].as_str().unwrap().starts_with("éé"));
        assert!(
            output(json!({ "rows": vec![1; 500] }), 300)["preview"]
                .as_str()
                .unwrap()
                .starts_with("{\"rows\":[1,")
        );
    }

    #[test]
    fn a_snapshot_keeps_the_newest_end_of_its_strings() {
        let long = format!("{}end", "é".repeat(SNAPSHOT_STRING));
        let kept = snapshot(json!({ "stdout": [long] }));
        let kept = kept["stdout"][0].as_str().unwrap();
        assert!(kept.len() <= SNAPSHOT_STRING && kept.ends_with("éend"));
    }

    #[test]
    fn a_snapshot_of_many_strings_is_bounded_as_a_whole() {
        let many = Value::from(vec!["x".repeat(SNAPSHOT_STRING); 20]);
        assert!(serialised_characters(&snapshot(many)) <= SNAPSHOT);
    }

    proptest! {
        #[test]
        fn bounded_output_is_never_longer_than_its_limit(text in ".{0,600}", limit in 300usize..700) {
            let bounded = output(json!({ "text": text }), limit);
            prop_assert!(serialised_characters(&bounded) <= limit);
        }

        #[test]
        fn a_cut_text_keeps_its_beginning(text in ".{0,60}", limit in 0usize..60) {
            let cut = super::text(text.clone(), limit);
            let beginning: String = text.chars().take(limit).collect();
            prop_assert!(cut.starts_with(&beginning));
            prop_assert_eq!(cut == text, text.chars().count() <= limit);
        }
    }
}
