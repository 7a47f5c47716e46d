//! One answer of the demo model, and its events: small deltas of its text and of the JSON of its calls.

use protocol::{FinishReason, ToolSpec, Usage};
use serde_json::Value;

use super::utterance::is_han;
use crate::model::{AssistantContent, ModelEvent, ModelMessage, ModelRequest, UserContent};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Say(String),
    /// A sentence of reasoning, then a tool call.
    Call {
        thought: String,
        tool: String,
        input: Value,
    },
    /// The same with several calls.
    Calls {
        thought: String,
        calls: Vec<DemoCall>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct DemoCall {
    pub(super) tool: String,
    pub(super) input: Value,
}

impl Reply {
    pub(super) fn events(&self, id: &str, request: &ModelRequest) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        let (written, thought, finish) = match self {
            Self::Say(text) => {
                events.extend(deltas(text).into_iter().map(ModelEvent::Text));
                (text.len(), 0, FinishReason::Stop)
            }
            Self::Call { thought, tool, input } => {
                events.extend(deltas(thought).into_iter().map(ModelEvent::Reasoning));
                let written = call(&mut events, 0, id.to_owned(), tool, input);
                (thought.len() + written, thought.len(), FinishReason::ToolCalls)
            }
            Self::Calls { thought, calls } => {
                events.extend(deltas(thought).into_iter().map(ModelEvent::Reasoning));
                let mut written = thought.len();
                for (index, DemoCall { tool, input }) in (0_u32..).zip(calls) {
                    let id = if index == 0 { id.to_owned() } else { format!("{id}_{index}") };
                    written += call(&mut events, index, id, tool, input);
                }
                (written, thought.len(), FinishReason::ToolCalls)
            }
        };
        events.push(ModelEvent::Usage(usage(read_bytes(request), written, thought)));
        events.push(ModelEvent::Finished(finish));
        events
    }
}

/// Adds the events of one call; returns the length of its arguments in bytes.
fn call(events: &mut Vec<ModelEvent>, index: u32, id: String, tool: &str, input: &Value) -> usize {
    events.push(ModelEvent::ToolStarted { index, id: Some(id), name: tool.to_owned() });
    let input = input.to_string();
    events.extend(pieces(&input).into_iter().map(|delta| ModelEvent::ToolDelta { index, delta }));
    input.len()
}

/// Splits a text after every third word, or every eighth Chinese character.
fn deltas(text: &str) -> Vec<String> {
    const WORDS: u32 = 3;
    const CHARACTERS: u32 = 8;
    let mut deltas = Vec::new();
    let mut delta = String::new();
    let (mut words, mut characters) = (0, 0);
    let mut following = text.chars().skip(1);
    for character in text.chars() {
        delta.push(character);
        words += u32::from(character.is_whitespace());
        characters += u32::from(is_han(character));
        let next_goes_on = following.next().is_some_and(|next| !is_han(next) && !next.is_alphanumeric());
        let enough =
            (words >= WORDS && character.is_whitespace()) || (characters >= CHARACTERS && is_han(character));
        if enough && !next_goes_on {
            deltas.push(std::mem::take(&mut delta));
            (words, characters) = (0, 0);
        }
    }
    if !delta.is_empty() {
        deltas.push(delta);
    }
    deltas
}

/// Splits JSON into a few pieces, as providers stream it.
fn pieces(json: &str) -> Vec<String> {
    const PIECE: usize = 24;
    let characters: Vec<char> = json.chars().collect();
    let size = PIECE.min(characters.len().div_ceil(2)).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// Estimates the usage: four bytes are about one token.
fn usage(read: usize, written: usize, thought: usize) -> Usage {
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
    Usage {
        input_tokens: tokens(read),
        output_tokens: tokens(written),
        total_tokens: tokens(read).saturating_add(tokens(written)),
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: tokens(thought),
    }
}

fn read_bytes(request: &ModelRequest) -> usize {
    let tools: usize = request.tools.iter().map(tool_bytes).sum();
    request.system.len() + tools + request.messages.iter().map(|sent| message_bytes(sent)).sum::<usize>()
}

fn tool_bytes(tool: &ToolSpec) -> usize {
    tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()
}

fn message_bytes(message: &ModelMessage) -> usize {
    match message {
        ModelMessage::User { content } => content
            .iter()
            .map(|part| match part {
                UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => {
                    text.len()
                }
                UserContent::File { filename, .. } => filename.as_ref().map_or(0, String::len),
            })
            .sum(),
        ModelMessage::Assistant { content } => content
            .iter()
            .map(|part| match part {
                AssistantContent::Text(text) | AssistantContent::Reasoning { text, .. } => text.len(),
                AssistantContent::ToolCall { call, .. } => call.name.len() + call.input.to_string().len(),
            })
            .sum(),
        ModelMessage::Tool { text, .. } => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_are_small_and_lose_nothing() {
        for text in [
            "One two three four five, six.\n\n- seven",
            "我是内置的演示模型，按固定规则回答问题，不是真正的语言模型。",
            "",
            "word",
        ] {
            assert_eq!(deltas(text).concat(), text);
        }
        assert_eq!(deltas("one two three four"), ["one two three ", "four"]);
        assert!(deltas("我是内置的演示模型，按固定规则回答问题。").len() >= 2);
    }

    #[test]
    fn arguments_come_in_more_than_one_piece() {
        assert_eq!(pieces("{}"), ["{", "}"]);
        assert_eq!(pieces(r#"{"时区":"Asia/Tokyo"}"#).concat(), r#"{"时区":"Asia/Tokyo"}"#);
    }
}
