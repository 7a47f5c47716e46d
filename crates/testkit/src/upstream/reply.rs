//! Turns the acts of a script into the pieces of a streamed response, and sends them.

use std::{io, time::Duration};

use futures::{Stream, stream};
use serde_json::{Value, json};

use super::Act;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Send(String),
    Wait(Duration),
    Cut,
}

/// The number of request tokens to report when tokens are not counted.
pub(super) const READ: u64 = 10;

/// The whole response to one request. `made` counts the tool calls of the turn, so that ids are new; `attempt` counts how
/// often this step was started before; `read` is the number of request tokens.
pub(super) fn pieces(
    acts: &[Act],
    pace_ms: u64,
    size: usize,
    made: usize,
    attempt: u32,
    read: u64,
) -> Vec<Piece> {
    let mut out = vec![delta(&json!({ "role": "assistant", "content": "" }))];
    let mut calls = 0;
    let say = |out: &mut Vec<Piece>, text: &str, wrap: &dyn Fn(&str) -> Value| {
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size.max(1)) {
            if pace_ms > 0 {
                out.push(Piece::Wait(Duration::from_millis(pace_ms)));
            }
            out.push(delta(&wrap(&piece.iter().collect::<String>())));
        }
    };
    for act in acts {
        match act {
            Act::Reason { text } => say(&mut out, text, &|piece| json!({ "reasoning_content": piece })),
            Act::Text { text } => say(&mut out, text, &|piece| json!({ "content": piece })),
            Act::Fill { bytes } => {
                const WORDS: &str = "and so on, and so on, ";
                let text: String = WORDS.chars().cycle().take(*bytes).collect();
                say(&mut out, &text, &|piece| json!({ "content": piece }));
            }
            Act::Call { tool, input } => {
                let index = calls;
                let id = format!("{}_{}", id_of(input), made + index);
                let function = json!({ "name": tool, "arguments": "" });
                let call = json!({ "index": index, "id": id, "type": "function", "function": function });
                out.push(delta(&json!({ "tool_calls": [call] })));
                say(
                    &mut out,
                    &input.to_string(),
                    &|piece| json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }),
                );
                calls += 1;
            }
            Act::Stall { ms } => out.push(Piece::Wait(Duration::from_millis(*ms))),
            Act::Cut { first } if attempt < *first => {
                out.push(Piece::Cut);
                return out;
            }
            Act::Cut { .. } | Act::Fail { .. } => {}
        }
    }
    let reason = if calls > 0 { "tool_calls" } else { "stop" };
    out.push(event(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })));
    let usage = json!({ "prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5,
        "prompt_tokens_details": { "cached_tokens": 4 }, "completion_tokens_details": { "reasoning_tokens": 2 } });
    out.push(event(&json!({ "choices": [], "usage": usage })));
    out.push(Piece::Send("data: [DONE]\n\n".to_owned()));
    out
}

/// The id contains the first text of the input: readable in logs, and unique when inputs are.
fn id_of(input: &Value) -> String {
    let text = input.as_object().and_then(|fields| fields.values().find_map(Value::as_str));
    format!("call_{}", text.unwrap_or("x").replace(|character: char| !character.is_ascii_alphanumeric(), "_"))
}

fn delta(delta: &Value) -> Piece {
    event(&json!({ "choices": [{ "index": 0, "delta": delta }] }))
}

fn event(json: &Value) -> Piece {
    Piece::Send(format!("data: {json}\n\n"))
}

/// Streams the pieces as a body; a cut is an error, which closes the connection.
pub(super) fn play(pieces: Vec<Piece>) -> impl Stream<Item = Result<String, io::Error>> {
    stream::unfold(pieces.into_iter(), |mut pieces| async move {
        loop {
            match pieces.next()? {
                Piece::Send(text) => return Some((Ok(text), pieces)),
                Piece::Wait(time) => tokio::time::sleep(time).await,
                Piece::Cut => return Some((Err(io::Error::other("cut as the script says")), pieces)),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pieces: &[Piece]) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Send(text) => text.clone(),
            Piece::Wait(time) => format!("({} ms)\n\n", time.as_millis()),
            Piece::Cut => "(cut)\n\n".to_owned(),
        };
        pieces.iter().map(text).collect()
    }

    #[test]
    fn text_comes_in_pieces_of_whole_characters_at_its_pace() {
        let said = sent(&pieces(&[Act::Text { text: "äöü".to_owned() }], 3, 2, 0, 0, READ));
        assert!(said.contains(r#""content":"äö""#) && said.contains(r#""content":"ü""#), "{said}");
        assert_eq!(said.matches("(3 ms)").count(), 2, "{said}");
        assert!(said.contains(r#""finish_reason":"stop""#) && said.ends_with("data: [DONE]\n\n"), "{said}");
    }

    #[test]
    fn calls_are_numbered_through_the_turn_and_cuts_stop_after_their_count() {
        let call = Act::Call { tool: "echo".to_owned(), input: json!({ "text": "k1 a" }) };
        let said = sent(&pieces(&[call.clone(), Act::Cut { first: 1 }], 0, 100, 2, 0, READ));
        assert!(said.contains(r#""id":"call_k1_a_2""#) && said.ends_with("(cut)\n\n"), "{said}");
        let said = sent(&pieces(&[call, Act::Cut { first: 1 }], 0, 100, 2, 1, READ));
        assert!(said.contains(r#""finish_reason":"tool_calls""#), "{said}");
    }
}
