//! The titles and summaries that the demo model writes. They are extracted from the text of the conversation by rules.

use super::utterance::is_han;
use crate::model::{ModelMessage, ModelRequest, UserContent};

/// The longest title, in characters.
const TITLE: usize = 48;
/// The longest title that is mostly Chinese.
const CHINESE_TITLE: usize = 16;
/// Words that a title must not end with.
const SMALL_WORDS: [&str; 26] = [
    "a", "an", "the", "and", "or", "but", "in", "on", "at", "to", "of", "for", "with", "from", "by",
    "around", "into", "as", "over", "about", "my", "your", "our", "their", "that", "which",
];
/// The longest line of a summary, in characters.
const LINE: usize = 240;
/// The most lines of a summary.
const LINES: usize = 40;
const BY_RULES: &str = "What was said so far, put together by rules:";

/// Polite openings, which are not part of the subject.
const POLITE: [&str; 18] = [
    "please",
    "can you",
    "could you",
    "would you",
    "will you",
    "i want you to",
    "i want to",
    "i would like to",
    "i'd like to",
    "help me to",
    "help me",
    "hey",
    "hi",
    "hello",
    "请你",
    "请",
    "帮我",
    "你能",
];

/// Writes a title, without quotes or markup.
pub(super) fn title(request: &ModelRequest) -> String {
    let conversation = conversation(request);
    let Some(first) = said_by_person(&conversation).next() else { return "A conversation".to_owned() };
    let line = first.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let sentence = line.split_inclusive(['.', '!', '?', '。', '！', '？']).next().unwrap_or(line);
    let subject = without_politeness(sentence.trim());
    let subject = if subject.is_empty() { line } else { subject };
    let han = subject.chars().filter(|c| is_han(*c)).count();
    let most =
        if han * 2 >= subject.chars().filter(|c| !c.is_whitespace()).count() { CHINESE_TITLE } else { TITLE };
    let text = cut(subject, most);
    let text = text.trim_matches(|c: char| !c.is_alphanumeric() && c != ')');
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => "A conversation".to_owned(),
    }
}

/// Shortens a text at the end of a clause or, without one, of a word.
fn cut(subject: &str, most: usize) -> String {
    let whole = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    if whole.chars().count() <= most {
        return whole;
    }
    let room: String = whole.chars().take(most + 1).collect();
    if let Some((clauses, _)) = room.rsplit_once(['，', '；', '、', ',', ';']) {
        return clauses.to_owned();
    }
    let Some((words, _)) = room.rsplit_once(' ') else { return whole.chars().take(most).collect() };
    let mut words: Vec<&str> = words.split(' ').collect();
    while words.len() > 1 && words.last().is_some_and(|word| SMALL_WORDS.contains(&&*word.to_lowercase())) {
        words.pop();
    }
    words.join(" ")
}

/// Writes a summary: earlier summaries and what the person wrote, one line each.
pub(super) fn summary(request: &ModelRequest) -> String {
    let conversation = conversation(request);
    let mut lines: Vec<String> = Vec::new();
    for block in blocks(&conversation) {
        let kept = match block {
            Block::Person(text) => format!("- The person said: {}", short(text)),
            Block::Summary(text) => text.trim_start_matches(BY_RULES).trim().to_owned(),
            Block::Other => continue,
        };
        lines.push(kept);
    }
    // The oldest and the newest lines are the most important ones.
    if lines.len() > LINES {
        let left_out = lines.len() - LINES;
        lines.splice(LINES / 2..LINES / 2 + left_out, [format!("- ({left_out} more messages)")]);
    }
    format!("{BY_RULES}\n{}", lines.join("\n"))
}

enum Block<'a> {
    Person(&'a str),
    /// An earlier summary.
    Summary(&'a str),
    Other,
}

/// Splits the conversation into blocks. The server writes one block per message, which starts with its author.
fn blocks(conversation: &str) -> impl Iterator<Item = Block<'_>> {
    conversation.split("\n\n").filter(|block| !block.trim().is_empty()).map(|block| {
        let block = block.trim();
        if let Some(text) = block.strip_prefix("Person: ") {
            Block::Person(text)
        } else if let Some(text) = block.strip_prefix("Earlier: ") {
            Block::Summary(text)
        } else {
            Block::Other
        }
    })
}

fn said_by_person(conversation: &str) -> impl Iterator<Item = &str> {
    blocks(conversation).filter_map(|block| match block {
        Block::Person(text) => Some(text),
        Block::Summary(_) | Block::Other => None,
    })
}

/// The conversation that the request contains.
fn conversation(request: &ModelRequest) -> String {
    let texts = request.messages.iter().filter_map(|message| match &**message {
        ModelMessage::User { content } => Some(content),
        ModelMessage::Assistant { .. } | ModelMessage::Tool { .. } => None,
    });
    let texts: Vec<&str> = texts
        .flatten()
        .filter_map(|content| match content {
            UserContent::Text(text) | UserContent::Facts(text) => Some(text.as_str()),
            UserContent::Attached(_) | UserContent::File { .. } => None,
        })
        .collect();
    let all = texts.join("\n\n");
    let inner = all.split_once("<conversation>").and_then(|(_, rest)| rest.rsplit_once("</conversation>"));
    inner.map_or(all.clone(), |(inner, _)| inner.to_owned())
}

fn without_politeness(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..3 {
        let polite = POLITE.iter().find(|polite| {
            rest.get(..polite.len()).is_some_and(|start| start.eq_ignore_ascii_case(polite))
                && rest[polite.len()..].chars().next().is_none_or(|c| !c.is_ascii_alphanumeric())
        });
        match polite {
            Some(polite) => rest = rest[polite.len()..].trim_start_matches(|c: char| !c.is_alphanumeric()),
            None => break,
        }
    }
    rest
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(conversation: &str) -> ModelRequest {
        let text = format!("Do it.\n<conversation>\n{conversation}\n</conversation>\nNow.");
        let message = ModelMessage::User { content: vec![UserContent::Text(text)] };
        ModelRequest { messages: vec![message.into()], ..ModelRequest::default() }
    }

    #[test]
    fn a_title_names_the_subject_in_the_persons_own_words() {
        for (said, title_) in [
            (
                "Please, can you plan a trip to São Paulo for my family of five? Thanks.",
                "Plan a trip to São Paulo for my family of five",
            ),
            (
                "let me know how the tides work around the harbour of a small island and why",
                "Let me know how the tides work",
            ),
            (
                "let sub-agents find out the time in three cities",
                "Let sub-agents find out the time in three cities",
            ),
            ("what time is it in Tokyo?", "What time is it in Tokyo"),
            ("帮我制定一个学习小提琴的计划，每天半小时，一共三个月", "制定一个学习小提琴的计划"),
            ("hello", "Hello"),
            ("???", "A conversation"),
        ] {
            assert_eq!(title(&request(&format!("Person: {said}\n\nAgent: ok"))), title_, "{said}");
        }
        assert_eq!(title(&request("")), "A conversation");
    }

    #[test]
    fn a_summary_keeps_what_the_person_said_and_what_was_summarised_before() {
        let text = summary(&request(
            "Earlier: - The person said: my cat is called Mo\n\nPerson: and my dog Rex\n\nAgent: nice\n\nResult of x: 1",
        ));
        assert!(text.contains("my cat is called Mo") && text.contains("and my dog Rex"), "{text}");
        assert!(!text.contains("nice") && !text.contains("Result"), "{text}");
    }

    #[test]
    fn a_long_summary_keeps_the_beginning_and_the_end() {
        let all: Vec<String> = (0..200).map(|n| format!("Person: number {n}")).collect();
        let text = summary(&request(&all.join("\n\n")));
        assert!(
            text.contains("number 3") && text.contains("number 199") && text.contains("more messages"),
            "{text}"
        );
        assert!(text.lines().count() <= LINES + 2, "{text}");
    }
}
