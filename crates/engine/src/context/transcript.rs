//! Model messages as text: what a model is given to summarise or to name. Pure and bounded.

use std::sync::Arc;

use models::{AssistantContent, ModelMessage, UserContent};

use super::compaction::{is_summary, summary_in};
use crate::token_estimate;

/// How much of one thing is shown, in characters, until all of it fits.
const LEVELS: [usize; 4] = [2_000, 800, 300, 120];
/// What was said is shown longer than what a tool gave.
const SAID: usize = 4;

/// The conversation in as many pieces as needed, each of at most about `tokens`, and at most `most` of them: then things
/// are shown shorter, and if that does not help, the middle is left out.
pub(crate) fn pieces(messages: &[Arc<ModelMessage>], tokens: u64, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut pieces = Vec::new();
    for level in LEVELS {
        pieces = packed(blocks(messages, level), tokens);
        if pieces.len() <= most {
            return pieces;
        }
    }
    let left_out = pieces.len() - most;
    let middle = most.div_ceil(2);
    let gap = pieces.drain(middle..middle + left_out).map(|piece| piece.len()).sum::<usize>();
    if let Some(before) = pieces.get_mut(middle - 1) {
        before.push_str(&format!("\n\n[about {gap} characters of the conversation are left out here]"));
    }
    pieces
}

/// One block for each thing that was said, called or given, in order.
pub(crate) fn blocks(messages: &[Arc<ModelMessage>], limit: usize) -> Vec<String> {
    let mut blocks = Vec::new();
    for message in messages {
        match &**message {
            ModelMessage::User { content } => {
                blocks.extend(content.iter().filter_map(|content| asked(content, limit)));
            }
            ModelMessage::Assistant { content } => {
                blocks.extend(content.iter().filter_map(|content| said(content, limit)));
            }
            ModelMessage::Tool { tool, text, is_error, .. } => {
                let failed = if *is_error { " (failed)" } else { "" };
                blocks.push(format!("Result of {tool}{failed}: {}", block(text, limit)));
            }
        }
    }
    blocks
}

fn asked(content: &UserContent, limit: usize) -> Option<String> {
    Some(match content {
        // Never shortened: it is short, and all there is of what came before.
        UserContent::Facts(text) if is_summary(text) => {
            format!("Earlier: {}", block(summary_in(text), usize::MAX))
        }
        UserContent::Facts(_) => return None,
        UserContent::Text(text) => format!("Person: {}", block(text, SAID * limit)),
        UserContent::Attached(text) => format!("File of the person: {}", block(text, limit)),
        UserContent::File { media_type, filename, .. } => {
            format!("Person: (a file: {}, {media_type})", filename.as_deref().unwrap_or("without a name"))
        }
    })
}

fn said(content: &AssistantContent, limit: usize) -> Option<String> {
    match content {
        AssistantContent::Text(text) => Some(format!("Agent: {}", block(text, SAID * limit))),
        AssistantContent::Reasoning { .. } => None,
        AssistantContent::ToolCall { call, .. } => {
            Some(format!("Call of {}: {}", call.name, block(&call.input.to_string(), limit)))
        }
    }
}

/// Text without empty lines, so that a block ends where the next begins, and without the marks around the whole.
fn block(text: &str, limit: usize) -> String {
    let clipped = clip(text, limit);
    let text = clipped.as_deref().unwrap_or(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.join("\n").replace("<conversation>", "").replace("</conversation>", "")
}

fn packed(blocks: Vec<String>, tokens: u64) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut room = 0;
    for block in blocks {
        let size = token_estimate::of_text(&block) + 1;
        match pieces.last_mut() {
            Some(piece) if size <= room => {
                piece.push_str("\n\n");
                piece.push_str(&block);
                room -= size;
            }
            _ => {
                room = tokens.saturating_sub(size);
                pieces.push(block);
            }
        }
    }
    pieces
}

/// The beginning and the end of a text that is longer than `limit` characters.
pub(crate) fn clip(text: &str, limit: usize) -> Option<String> {
    let count = text.chars().count();
    if count <= limit {
        return None;
    }
    let (head, tail) = (limit * 7 / 10, limit * 2 / 10);
    let head: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    let left_out = count - head.chars().count() - tail;
    Some(format!("{head}\n[{left_out} characters are left out here]\n{end}"))
}

/// What was said, without a model: the summary before, then how each request began; the newest requests matter most.
pub(crate) fn digest(messages: &[Arc<ModelMessage>], characters: usize) -> String {
    const REQUEST: usize = 160;
    let contents = messages.iter().filter_map(|message| match &**message {
        ModelMessage::User { content } => Some(content),
        ModelMessage::Assistant { .. } | ModelMessage::Tool { .. } => None,
    });
    let (mut before, mut lines) = (String::new(), Vec::new());
    for content in contents.flatten() {
        match content {
            UserContent::Facts(text) if is_summary(text) => {
                let summary = summary_in(text);
                before = clip(summary, characters / 2).unwrap_or_else(|| summary.to_owned());
            }
            UserContent::Text(text) => {
                let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                lines.push(format!("- {}", clip(&line, REQUEST).unwrap_or(line).replace('\n', " ")));
            }
            UserContent::Facts(_) | UserContent::Attached(_) | UserContent::File { .. } => {}
        }
    }
    let mut room = characters.saturating_sub(before.chars().count());
    let mut kept: Vec<String> = Vec::new();
    for line in lines.iter().rev() {
        let length = line.chars().count() + 1;
        if length > room {
            break;
        }
        room -= length;
        kept.push(line.clone());
    }
    kept.reverse();
    let asked =
        if kept.is_empty() { String::new() } else { format!("What the person asked:\n{}", kept.join("\n")) };
    [before, asked].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(text: &str) -> Arc<ModelMessage> {
        Arc::new(ModelMessage::User { content: vec![UserContent::Text(text.to_owned())] })
    }

    #[test]
    fn pieces_hold_everything_while_it_fits_and_its_ends_when_it_does_not() {
        let messages: Vec<_> =
            (0..300).map(|n| person(&format!("line {n}\n\nmore {}", "x ".repeat(40)))).collect();
        let all = pieces(&messages, 2_000, 100);
        assert!((2..30).contains(&all.len()), "{}", all.len());
        assert!((0..300).all(|n| all.iter().any(|piece| piece.contains(&format!("line {n}\n")))));
        let some = pieces(&messages, 500, 3);
        assert_eq!(some.len(), 3);
        assert!(some[0].contains("line 0\n") && some[2].contains("line 299\n"), "{some:?}");
        assert!(some.iter().any(|piece| piece.contains("are left out here")), "{some:?}");
    }

    #[test]
    fn a_clipped_text_keeps_its_ends_and_whole_characters() {
        assert_eq!(clip("äöü", 3), None);
        let text: String = ('a'..='z').cycle().take(1_000).collect();
        let clipped = clip(&text, 100).unwrap();
        assert!(clipped.starts_with("abcdef") && clipped.ends_with(&text[980..]), "{clipped}");
        assert!(clipped.contains("910 characters"), "{clipped}");
        assert!(clip(&"猫".repeat(50), 10).unwrap().starts_with("猫猫猫猫猫猫猫\n"));
    }

    #[test]
    fn a_digest_is_bounded_and_keeps_the_newest_requests() {
        let messages: Vec<_> = (0..500).map(|n| person(&format!("request {n}"))).collect();
        let text = digest(&messages, 400);
        assert!(text.len() < 450 && text.contains("request 499") && !text.contains("request 3\n"), "{text}");
    }
}
