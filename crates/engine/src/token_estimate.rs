//! Estimates how many tokens something takes. The count of a provider is always preferred; this estimates what was added
//! since, and what no provider has counted.

use models::{AssistantContent, ModelMessage, UserContent};
use protocol::ToolSpec;

/// What a message costs beside its text.
const MESSAGE: u64 = 4;
/// A picture or a document, wherever it comes from.
const FILE: u64 = 1_500;

/// Hundredths of a token: prose has fewer per letter than code, Chinese has about one per character.
fn hundredths(character: char) -> u64 {
    match character {
        character if character.is_ascii() => 29,
        '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => 120,
        _ => 60,
    }
}

pub(crate) fn of_text(text: &str) -> u64 {
    text.chars().map(hundredths).sum::<u64>().div_ceil(100)
}

/// The same, but no more than `most`, and without reading what lies behind that.
pub(crate) fn of_text_up_to(text: &str, most: u64) -> u64 {
    match first_beyond(text.char_indices(), most) {
        Some(_) => most,
        None => of_text(text),
    }
}

/// The first character that does not fit into so many tokens.
pub(crate) fn first_beyond(
    mut characters: impl Iterator<Item = (usize, char)>,
    tokens: u64,
) -> Option<(usize, char)> {
    let mut room = tokens.saturating_mul(100);
    characters.find(|(_, character)| {
        let size = hundredths(*character);
        let fits = size <= room;
        room = room.saturating_sub(size);
        !fits
    })
}

pub(crate) fn of_message(message: &ModelMessage) -> u64 {
    let content = match message {
        ModelMessage::User { content } => content.iter().map(of_user).sum(),
        ModelMessage::Assistant { content } => content.iter().map(of_assistant).sum(),
        ModelMessage::Tool { text, .. } => of_text(text),
    };
    content + MESSAGE
}

pub(crate) fn of_tools(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| {
        of_text(&tool.name) + of_text(&tool.description) + of_text(&tool.input_schema.to_string()) + MESSAGE
    };
    tools.iter().map(one).sum()
}

fn of_user(content: &UserContent) -> u64 {
    match content {
        UserContent::Text(text) | UserContent::Facts(text) | UserContent::Attached(text) => of_text(text),
        UserContent::File { .. } => FILE,
    }
}

fn of_assistant(content: &AssistantContent) -> u64 {
    match content {
        AssistantContent::Text(text) | AssistantContent::Reasoning { text, .. } => of_text(text),
        AssistantContent::ToolCall { call, .. } => of_text(&call.name) + of_text(&call.input.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near_what_tokenisers_count_and_never_more_than_the_bytes() {
        let prose = "The quick brown fox jumps over the lazy dog, and nobody is surprised by it any more. "
            .repeat(10);
        assert!((190..280).contains(&of_text(&prose)), "{}", of_text(&prose));
        let chinese = "敏捷的棕色狐狸跳过了懒狗".repeat(10);
        assert!((90..160).contains(&of_text(&chinese)), "{}", of_text(&chinese));
        for text in [prose.as_str(), chinese.as_str(), "é", "a", "😀😀", "{\"a\":[1,2]}"] {
            assert!(of_text(text) <= text.len() as u64, "{text}");
        }
    }
}
