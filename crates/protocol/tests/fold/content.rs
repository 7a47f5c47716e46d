//! What logs are filled with: text in several scripts, JSON of every shape, cut at any character.
//!
//! No object key is `__proto__`: the client's JSON parser refuses it, so it is not part of a legal stream.

use protocol::{EditedCall, Fallback, Limit, MessageFacts, StopReason, Stopped, ToolCallId, Usage};
use serde_json::{Map, Value, json};

use test_support::Rng;

const PIECES: [&str; 20] = [
    "a",
    "the answer ",
    "is ",
    "42. ",
    "\n\n",
    "```rust\nfn main() {}\n```",
    "\t",
    "\"quoted\" ",
    "back\\slash ",
    "</script>",
    "你好，",
    "世界。",
    "日本語の",
    "문장 ",
    "مرحبا ",
    "e\u{301}",
    "👩‍👩‍👧‍👦",
    "🇨🇳",
    "\u{2028}",
    "\u{0}\u{7f}",
];
const KEYS: [&str; 10] =
    ["path", "text", "from_line", "actionName", "选项", "a b", "", "constructor", "type", "id"];

/// Never empty.
pub fn text(rng: &mut Rng, most_pieces: usize) -> String {
    (0..rng.between(1, most_pieces)).map(|_| *rng.pick(&PIECES)).collect()
}

/// The text in pieces, none of them empty; joined they are the text again.
pub fn cut(rng: &mut Rng, text: &str, most_pieces: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let longest = characters.len().div_ceil(most_pieces).max(1) * 2;
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let end = (at + rng.between(1, longest)).min(characters.len());
        pieces.push(characters[at..end].iter().collect());
        at = end;
    }
    pieces
}

pub fn value(rng: &mut Rng, depth: usize) -> Value {
    let kinds = if depth == 0 { 6 } else { 8 };
    match rng.below(kinds) {
        0 => Value::Null,
        1 => Value::Bool(rng.percent(50)),
        2 => json!(rng.below(100_000) as i64 - 50_000),
        3 => json!((rng.below(1_000_000) as f64) / 128.0),
        4 | 5 => Value::String(text(rng, 4)),
        6 => (0..rng.below(4)).map(|_| value(rng, depth - 1)).collect(),
        _ => Value::Object(object(rng, depth - 1)),
    }
}

pub fn object(rng: &mut Rng, depth: usize) -> Map<String, Value> {
    (0..rng.below(4)).map(|_| ((*rng.pick(&KEYS)).to_owned(), value(rng, depth))).collect()
}

/// Facts of the kind an engine adds: nested, partly replacing each other.
pub fn facts(rng: &mut Rng) -> Box<MessageFacts> {
    let mut facts = MessageFacts::default();
    for _ in 0..rng.between(1, 3) {
        match rng.below(9) {
            0 => facts.usage = Some(Usage { input_tokens: rng.below(1000) as u64, ..Usage::default() }),
            1 => facts.usage = Some(Usage { cache_write_tokens: rng.below(10) as u64, ..Usage::default() }),
            2 => facts.fallbacks = Some((0..rng.below(3)).map(|_| fallback(rng)).collect()),
            3 => facts.error = Some(text(rng, 3)),
            4 => facts.cost = Some(rng.below(1_000_000) as f64 / 1e6),
            5 => facts.limit = Some(*rng.pick(&[Limit::Steps, Limit::Tokens, Limit::Money, Limit::Time])),
            6 => {
                let (reason, tool) = (StopReason::RepeatedFailure, text(rng, 1));
                facts.stopped = Some(Stopped { reason, tool, times: rng.below(9) });
            }
            7 => {
                let call = ToolCallId::new(*rng.pick(&["c1", "c2", "选项", "constructor"]));
                facts.edited_calls.insert(call, EditedCall { input: value(rng, 2) });
            }
            _ => facts.structured_output = Some(value(rng, 2)),
        }
    }
    Box::new(facts)
}

fn fallback(rng: &mut Rng) -> Fallback {
    Fallback { from: text(rng, 1), to: text(rng, 1), reason: text(rng, 2) }
}
