//! Keeps what a tool produces within limits. Cuts fall on character boundaries, and the wording is neutral: a text
//! that sounds like a failure makes models call again.

use std::io;

use serde_json::{Value, json};

/// The longest string in a snapshot of a running call, in bytes; its end is kept, the newest output.
const SNAPSHOT_STRING: usize = 64 * 1024;
/// The largest snapshot, in serialised characters.
const SNAPSHOT: usize = 256 * 1024;

/// The output as it is, or a preview whose serialised form stays within the limit.
pub(crate) fn output(output: Value, limit: usize) -> Value {
    let characters = serialised_characters(&output);
    if characters <= limit { output } else { preview(output, characters, limit) }
}

/// A text for the model, cut at its end.
pub(crate) fn text(mut text: String, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else { return text };
    let characters = text.chars().count();
    text.truncate(end);
    text.push_str(&format!("… (the first {limit} of {characters} characters)"));
    text
}

/// What a running call shows.
pub(crate) fn snapshot(mut shown: Value) -> Value {
    keep_ends(&mut shown);
    output(shown, SNAPSHOT)
}

/// Values of tools are as deep as their types or as parsed JSON, so the recursion is bounded.
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

fn preview(output: Value, characters: usize, limit: usize) -> Value {
    let text = match output {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let note = "The output is longer than what is shown; `preview` is its beginning.";
    let mut shown = json!({ "truncated": true, "characters": characters, "preview": "", "note": note });
    let room = limit.saturating_sub(serialised_characters(&shown));
    shown["preview"] = Value::from(&text[..prefix_within(&text, room)]);
    shown
}

/// How many bytes of the text fit into so many characters of JSON.
fn prefix_within(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (place, character) in text.char_indices() {
        used += match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => 1,
        };
        if used > room {
            return place;
        }
    }
    text.len()
}

fn serialised_characters(value: &Value) -> usize {
    let mut count = Characters(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        // A `Value` has text keys and the counter takes every byte, so this cannot be; assume the worst.
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
        fn bounded_output_is_never_longer_than_its_limit(text in ".{0,600}", limit in 150usize..700) {
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
